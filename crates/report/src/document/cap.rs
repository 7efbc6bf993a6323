//! Documents that a browser can show: what is beyond a limit is left out, and that is said.

use super::{Block, Document, Figure, Remark, RemarkKind, Section};

impl Document {
    /// With no more than so many rows in a table, so many things in a picture and so many warnings.
    #[must_use]
    pub fn capped(mut self, limit: usize) -> Self {
        self.sections = self
            .sections
            .into_iter()
            .map(|section| capped(section, limit))
            .collect();
        let warnings = self.warnings.len();
        if warnings > limit {
            self.warnings.truncate(limit);
            self.warnings.push(left_out(limit, warnings, "warnings"));
        }
        self
    }
}

fn capped(section: Section, limit: usize) -> Section {
    let mut blocks = Vec::with_capacity(section.blocks.len());
    for mut block in section.blocks {
        let cut = match &mut block {
            Block::Table(table) => cut(&mut table.rows, limit, "rows"),
            Block::Figure(figure) => figure.cap(limit),
            Block::Remark(_) => None,
        };
        blocks.push(block);
        blocks.extend(cut.map(Block::Remark));
    }
    Section { blocks, ..section }
}

impl Figure {
    fn cap(&mut self, limit: usize) -> Option<Remark> {
        match self {
            Self::Means { means, .. } | Self::Matrix { means, .. } => cut(means, limit, "means"),
            Self::Security { means, .. } => cut(means, limit, "means"),
            Self::Distributions { distributions, .. } => cut(distributions, limit, "distributions"),
            Self::Histograms { histograms, .. } => cut(histograms, limit, "histograms"),
            Self::Layers { stacks, .. } => cut(stacks, limit, "operations"),
            Self::Throughput { curves, .. } => cut(curves, limit, "curves"),
            Self::ResponseTimes { curves, .. } => cut(curves, limit, "curves"),
            Self::Samples { timelines, .. } => cut(timelines, limit, "cases"),
            Self::Predictions { predictions, .. } => cut(predictions, limit, "predictions"),
        }
    }
}

fn cut<T>(list: &mut Vec<T>, limit: usize, what: &str) -> Option<Remark> {
    let all = list.len();
    list.truncate(limit);
    (all > limit).then(|| left_out(limit, all, what))
}

fn left_out(limit: usize, all: usize, what: &str) -> Remark {
    let text = format!(
        "the first {limit} of {all} {what} are shown: 'keymark export RUN --format csv' has all rows, \
         '--format document' everything"
    );
    Remark::new(RemarkKind::Capped, text)
}

#[cfg(test)]
mod tests {
    use keymark_bench::case::{DeviceName, Provenance};

    use super::*;
    use crate::document::{Cell, Column, Table, TableRow};

    fn table(rows: usize) -> Document {
        let mut table = Table::new(vec![Column::name("x")]);
        table.rows = (0..rows)
            .map(|row| TableRow {
                device: DeviceName::software(),
                provenance: Provenance::Measured,
                cells: vec![Cell::Count(row as u64)],
            })
            .collect();
        Document::of(vec![Section::bare(vec![Block::Table(table)])])
    }

    #[test]
    fn what_is_left_out_is_said_and_nothing_else_is() {
        assert_eq!(table(3).capped(3), table(3));
        let capped = table(25_000).capped(3);
        assert_eq!(capped.tables().next().unwrap().rows.len(), 3);
        let Some(Block::Remark(remark)) = capped.sections[0].blocks.get(1) else {
            panic!("nothing is said: {capped:?}");
        };
        assert_eq!(remark.kind, RemarkKind::Capped);
        assert!(
            remark.text.starts_with("the first 3 of 25000 rows"),
            "{}",
            remark.text
        );
    }
}
