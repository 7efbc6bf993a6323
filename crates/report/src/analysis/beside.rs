//! The figures of a run compared with published ones of the same operations.

use keymark_bench::{Algorithm, Case, CaseKey, DeviceName, Load, Operation, Record, StackName};
use keymark_stats::Seconds;

use super::{Analysis, Row, tables};
use crate::pictures::{self, DotRow};
use crate::{Block, RemarkKind, Section, TableOf, grouped};

/// A published figure of a twin's device.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedFigure {
    /// The twin.
    pub device: DeviceName,
    /// Algorithm of the key.
    pub algorithm: Algorithm,
    pub operation: Operation,
    /// Through which stack.
    pub stack: StackName,
    /// The card's own time, which was derived from the figure.
    pub card: Seconds,
    /// The figure.
    pub whole: Seconds,
}

impl PublishedFigure {
    pub(crate) fn is_beside(&self, case: &Case) -> bool {
        let of_case = (&case.device, case.algorithm, case.operation, case.stack);
        case.load == Load::single()
            && of_case == (&self.device, self.algorithm, self.operation, self.stack)
    }
}

impl Analysis {
    /// Returns a table and a picture of this run's figures with those of articles, operation by operation; `None` if no
    /// article has one.
    pub fn beside(&self, record: &Record, articles: &[Record]) -> Option<Section> {
        let own = format!("run {}", record.id);
        let all = self.rows.iter().cloned().map(|row| (row, own.clone()));
        let published = articles.iter().flat_map(|article| {
            let rows = Self::of(article, &[]).rows.into_iter();
            rows.map(|row| (row, article.id.to_string()))
        });
        let mut groups = grouped(all.chain(published), |(row, _)| asked(&row.case));
        groups.retain(|(_, rows)| rows.iter().any(|(_, source)| *source == own));
        let rows = groups.into_iter().flat_map(|(_, rows)| rows);
        let rows: Vec<(Row, String)> = rows.filter(|(row, _)| row.mean().is_some()).collect();
        if rows.iter().all(|(_, source)| *source == own) {
            return None;
        }
        let table = TableOf::cases(&rows, |(row, _)| &row.case)
            .value("mean (95 % interval)", |(row, _)| tables::mean(row))
            .optional(1, "n", |(row, _)| row.n())
            .name("source", |(_, source)| source.clone())
            .provenance(|(row, _)| row.case.provenance)
            .table();
        let means = rows.iter().filter_map(|(row, _)| DotRow::mean(row));
        let tolerance = Seconds(record.plan.settings.tolerance.as_secs_f64());
        let title = "mean time of an operation, with published figures";
        let picture = pictures::means(title, tolerance, means.collect());
        let text = "published figures come from other machines and programs, and have no interval: they are shown \
                    with the run's own and are part of none of them";
        let remark = Block::remark(RemarkKind::MixedProvenance, text);
        let mut blocks = vec![Block::Table(table)];
        blocks.extend(picture.map(Block::Picture));
        blocks.push(remark);
        Some(Section::headed("compared with published figures", blocks))
    }
}

/// Returns all of a case but the device and the message's length, in which articles differ by bytes only.
fn asked(case: &Case) -> CaseKey {
    CaseKey {
        device: DeviceName::new(""),
        input_bytes: 0,
        ..case.key()
    }
}

/// Returns whether two cases ask the same, maybe of different devices.
pub(crate) fn asks_the_same(a: &Case, b: &Case) -> bool {
    asked(a) == asked(b)
}

#[cfg(test)]
mod tests {
    use keymark_bench::case::StackName;
    use keymark_bench::record::CaseRecord;

    use super::*;
    use keymark_records::published::PublishedTable;
    use keymark_testkit::record::{block, case, mixed as record};

    #[test]
    fn published_rows_stand_beside_the_runs_and_say_what_they_are() {
        let mut run = record("run");
        let mut own = CaseRecord::new(case("rsa2048", StackName::GPG));
        own.blocks = vec![block(0, &[16_000_000, 17_000_000]), block(1, &[15_000_000])];
        run.plan.cases = vec![own.case.clone()];
        run.cases = vec![own];
        let lwn = PublishedTable::named("lwn-2017").unwrap().record().unwrap();
        let analysis = Analysis::of(&run, &[]);
        let section = analysis.beside(&run, std::slice::from_ref(&lwn)).unwrap();
        let Some(Block::Table(table)) = section.blocks.first() else {
            panic!("{section:?}");
        };
        let kinds = table.rows.iter().map(|row| table.provenance(row).unwrap());
        let kinds: Vec<&str> = kinds.collect();
        let mut expected = vec!["measured"];
        expected.extend(["published"; 5]);
        assert_eq!(kinds, expected, "the CPU and four tokens");
        assert!(
            matches!(&section.blocks[1], Block::Picture(chart) if chart.marks().filter_map(|mark| mark.try_as_dot_ref()).count() == 6)
        );
        assert!(
            matches!(&section.blocks[2], Block::Remark(remark) if remark.kind == RemarkKind::MixedProvenance)
        );
        // Signatures of 2019 do not compare with decryption.
        let other = PublishedTable::named("zeitgitter")
            .unwrap()
            .record()
            .unwrap();
        assert_eq!(analysis.beside(&run, &[other]), None);
    }
}
