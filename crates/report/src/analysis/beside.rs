//! The figures of a run beside those that somebody published of the same operations.

use keymark_bench::case::Case;
use keymark_bench::record::Record;
use keymark_stats::{Estimate, Seconds};

use super::{Analysis, Row, case_cells, case_columns, figures};
use crate::document::{Block, Cell, Column, Figure, Remark, RemarkKind, Section, Table, TableRow};

impl Analysis {
    /// One table with both, operation by operation, and the data of its picture. `None` if the articles have nothing of
    /// what was measured.
    #[must_use]
    pub fn beside(&self, record: &Record, articles: &[Record]) -> Option<Section> {
        let mut columns = case_columns();
        columns.extend([
            Column::value("mean (95 % interval)"),
            Column::value("n").leave(1),
            Column::name("source"),
            Column::provenance(),
        ]);
        let mut table = Table::new(columns);
        let (mut means, mut done): (Vec<_>, Vec<&Case>) = (Vec::new(), Vec::new());
        let mut some = false;
        for row in &self.rows {
            if done.iter().any(|case| asks_the_same(case, &row.case)) {
                continue;
            }
            done.push(&row.case);
            let own = self
                .rows
                .iter()
                .filter(|other| asks_the_same(&other.case, &row.case));
            for own in own.filter(|own| own.mean().is_some()) {
                table.rows.push(of_run(own, record));
                means.extend(figures::mean(own));
            }
            for article in articles {
                let theirs = article
                    .cases
                    .iter()
                    .filter(|each| asks_the_same(&each.case, &row.case));
                for each in theirs {
                    let Some(published) = &each.published else {
                        continue;
                    };
                    some = true;
                    let mean = Estimate::bare(published.mean);
                    let mut cells = case_cells(&each.case);
                    cells.extend([
                        Cell::Duration(published.mean),
                        Cell::or_missing(published.n, Cell::Count),
                        Cell::text(&article.id),
                    ]);
                    table.rows.push(TableRow::of(&each.case, cells));
                    means.push(figures::dot(&each.case, mean));
                }
            }
        }
        let text = "published figures are of other machines and programs, and have no interval: they stand beside the \
                    run's own, and enter none of them";
        let picture = Figure::Means {
            title: "mean time of an operation, beside published ones".to_owned(),
            tolerance: Seconds(record.plan.settings.tolerance.as_secs_f64()),
            means,
        };
        some.then(|| {
            let remark = Remark::new(RemarkKind::MixedProvenance, text);
            Section::headed(
                "beside published figures",
                vec![
                    Block::Table(table),
                    Block::Figure(picture),
                    Block::Remark(remark),
                ],
            )
        })
    }
}

/// All but the device; articles differ in the length of the message by bytes only.
fn asks_the_same(a: &Case, b: &Case) -> bool {
    let of = |case: &Case| {
        (
            case.algorithm,
            case.operation,
            case.stack,
            case.parameters.clone(),
            case.load,
        )
    };
    of(a) == of(b)
}

fn of_run(row: &Row, record: &Record) -> TableRow {
    let mut cells = case_cells(&row.case);
    cells.extend([
        row.summary.as_ref().map_or_else(
            || Cell::or_missing(row.mean(), Cell::Duration),
            |summary| Cell::DurationEstimate(summary.mean),
        ),
        Cell::or_missing(row.n(), Cell::Count),
        Cell::text(format!("run {}", record.id)),
    ]);
    TableRow::of(&row.case, cells)
}

#[cfg(test)]
mod tests {
    use keymark_bench::case::{Provenance, StackName};
    use keymark_bench::record::CaseRecord;

    use super::*;
    use crate::exchange::Shipped;
    use crate::testing::{block, case, record};

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
        let kinds: Vec<Provenance> = table.rows.iter().map(|row| row.provenance).collect();
        let mut expected = vec![Provenance::Measured];
        expected.extend([Provenance::Published; 5]);
        assert_eq!(kinds, expected, "the CPU and four tokens");
        assert!(
            matches!(&section.blocks[1], Block::Figure(Figure::Means { means, .. }) if means.len() == 6)
        );
        assert!(
            matches!(&section.blocks[2], Block::Remark(remark) if remark.kind == RemarkKind::MixedProvenance)
        );
        // Signatures of 2019 are nothing beside decryption.
        let other = Shipped::named("zeitgitter").unwrap().record().unwrap();
        assert_eq!(analysis.beside(&run, &[other]), None);
    }
}
