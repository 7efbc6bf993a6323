//! The figures of a run beside those that somebody published of the same operations.

use keymark_bench::{Algorithm, Case, DeviceName, Load, Operation, Record, StackName};
use keymark_stats::{Estimate, Seconds};

use super::Analysis;
use crate::pictures::{self, DotRow};
use crate::{Block, Cell, RemarkKind, Section, TableOf};

/// What somebody published of the device that a twin stands for.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedFigure {
    /// The twin.
    pub device: DeviceName,
    /// Algorithm of the key.
    pub algorithm: Algorithm,
    /// What was asked of it.
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

/// A figure with where it is from.
struct Line<'a> {
    case: &'a Case,
    mean: Cell,
    n: Option<u64>,
    source: String,
}

impl Analysis {
    /// One table with both, operation by operation, and the data of its picture. `None` if the articles have nothing of
    /// what was measured.
    pub fn beside(&self, record: &Record, articles: &[Record]) -> Option<Section> {
        let (mut lines, mut means, mut done) = (Vec::new(), Vec::new(), Vec::<&Case>::new());
        let mut some = false;
        for row in &self.rows {
            if done.iter().any(|case| asks_the_same(case, &row.case)) {
                continue;
            }
            done.push(&row.case);
            let own = self.rows.iter();
            let own = own.filter(|other| asks_the_same(&other.case, &row.case));
            for own in own.filter(|own| own.mean().is_some()) {
                let mean = own.summary.as_ref().map(|summary| summary.mean.into());
                lines.push(Line {
                    case: &own.case,
                    mean: mean.unwrap_or_else(|| own.mean().into()),
                    n: own.n(),
                    source: format!("run {}", record.id),
                });
                means.extend(DotRow::mean(own));
            }
            for article in articles {
                let theirs = article.cases.iter();
                let theirs = theirs.filter(|each| asks_the_same(&each.case, &row.case));
                for (case, published) in
                    theirs.filter_map(|each| Some((&each.case, each.published.as_ref()?)))
                {
                    some = true;
                    lines.push(Line {
                        case,
                        mean: published.mean.into(),
                        n: published.n,
                        source: article.id.to_string(),
                    });
                    means.push(DotRow::of(case, Estimate::bare(published.mean)));
                }
            }
        }
        let table = TableOf::cases(lines, |line| line.case)
            .value("mean (95 % interval)", |line| line.mean.clone())
            .optional(1, "n", |line| line.n)
            .name("source", |line| line.source.clone())
            .provenance(|line| line.case.provenance)
            .table();
        let text = "published figures come from other machines and programs, and have no interval: they are shown \
                    beside the run's own and are part of none of them";
        let tolerance = Seconds(record.plan.settings.tolerance.as_secs_f64());
        let title = "mean time of an operation, beside published figures";
        let picture = pictures::means(title, tolerance, means);
        let remark = Block::remark(RemarkKind::MixedProvenance, text);
        let blocks = [Block::Table(table)].into_iter();
        let blocks = blocks
            .chain(picture.map(Block::Picture))
            .chain([remark])
            .collect();
        some.then(|| Section::headed("beside published figures", blocks))
    }
}

/// All but the device; articles differ in the length of the message by bytes only.
pub(crate) fn asks_the_same(a: &Case, b: &Case) -> bool {
    a.algorithm == b.algorithm
        && a.operation == b.operation
        && a.stack == b.stack
        && a.parameters == b.parameters
        && a.load == b.load
}

#[cfg(test)]
mod tests {
    use keymark_bench::case::StackName;
    use keymark_bench::record::CaseRecord;

    use super::*;
    use crate::exchange::Shipped;
    use keymark_testkit::record::{block, case, mixed as record};

    #[test]
    fn published_rows_stand_beside_the_runs_and_say_what_they_are() {
        let mut run = record("run");
        let mut own = CaseRecord::new(case("rsa2048", StackName::GNUPG));
        own.blocks = vec![block(0, &[16_000_000, 17_000_000]), block(1, &[15_000_000])];
        run.plan.cases = vec![own.case.clone()];
        run.cases = vec![own];
        let lwn = Shipped::named("lwn-2017").unwrap().record().unwrap();
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
        // Signatures of 2019 are nothing beside decryption.
        let other = Shipped::named("zeitgitter").unwrap().record().unwrap();
        assert_eq!(analysis.beside(&run, &[other]), None);
    }
}
