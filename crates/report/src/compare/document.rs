//! A comparison as a document.

use std::collections::BTreeSet;

use keymark_stats::{MIN_RUNS, Ratio};

use super::{Comparison, Grounds, Pair};
use crate::analysis::{case_cells, case_columns};
use crate::document::{
    Block, Cell, Column, Document, Remark, RemarkKind, Section, Table, TableRow,
};
use crate::units;

/// The report of a comparison. Each row has the device and the provenance of its first case.
#[must_use]
pub fn document(comparison: &Comparison) -> Document {
    let mut columns = case_columns();
    columns.extend([
        Column::name("against"),
        Column::value("first").leave(2),
        Column::value("second").leave(3),
        Column::value("ratio (95 % interval)").shorten(1),
        Column::value("verdict"),
        Column::provenance(),
        Column::provenance_of("against provenance"),
    ]);
    let mut table = Table::new(columns);
    table.rows = comparison.pairs.iter().map(row).collect();
    let mut blocks = vec![Block::Table(table)];
    blocks.extend(reasons(comparison).into_iter().map(Block::Remark));
    blocks.extend(
        assumptions(&comparison.pairs)
            .into_iter()
            .map(Block::Remark),
    );
    Document::of(vec![Section::bare(blocks)])
}

/// What verdicts rest on, once for all rows.
fn reasons(comparison: &Comparison) -> Vec<Remark> {
    let grounds: BTreeSet<Grounds> = comparison.pairs.iter().map(|pair| pair.grounds).collect();
    let said = grounds.into_iter().filter_map(|grounds| {
        let kind = match grounds {
            Grounds::FewRuns => RemarkKind::SingleRuns,
            Grounds::Copies | Grounds::Alternating | Grounds::Series => RemarkKind::Units,
            Grounds::Exact | Grounds::Nothing => return None,
        };
        Some(Remark::new(kind, reason(comparison, grounds)?))
    });
    said.collect()
}

fn reason(comparison: &Comparison, grounds: Grounds) -> Option<String> {
    let cases = comparison.pairs.iter().filter(|p| p.grounds == grounds);
    let (cases, noise) = (cases.count(), percent(comparison.noise.on(grounds)));
    let [old, new] = comparison.runs;
    let corrected = match cases {
        1 => format!("differences up to {noise} count as noise"),
        _ => format!(
            "verdicts allow for {cases} cases (Holm 1979), and differences up to {noise} count as noise"
        ),
    };
    match grounds {
        Grounds::Copies => (cases > 1).then(|| format!("two copies in one run: {corrected}")),
        Grounds::Alternating => Some(format!(
            "{} pairs of runs, one of each in turn, which are the units: {corrected}",
            old.min(new)
        )),
        Grounds::Series => Some(format!(
            "{old} runs against {new}, which are the units: {corrected}, since the machine changes between series \
             ('bench --against PROGRAM' lets two programs take turns)"
        )),
        Grounds::FewRuns => Some(few(comparison)),
        Grounds::Exact | Grounds::Nothing => None,
    }
}

/// Why single runs tell little, and what tells more.
fn few(comparison: &Comparison) -> String {
    let [old, new] = comparison.runs;
    let machine = comparison.machine;
    let deviation = percent(machine.deviation);
    let known = match machine.runs {
        0 => format!(
            "runs of the same case are assumed to differ by {deviation} (standard deviation) for want of \
             earlier ones"
        ),
        runs => format!(
            "runs of the same case differ by {deviation} here (standard deviation, of {runs} earlier runs)"
        ),
    };
    let evidence = comparison
        .pairs
        .iter()
        .filter(|p| p.grounds == Grounds::FewRuns);
    // The least that any of them can tell apart.
    let least = evidence
        .filter_map(|pair| Some(pair.ratio.high?.0 / pair.ratio.value.0))
        .fold(f64::INFINITY, f64::min);
    let sides = match (old, new) {
        (1, 1) => "between single runs".to_owned(),
        _ => format!("with {old} against {new} runs, a series being {MIN_RUNS} at least"),
    };
    let factor = if least.is_finite() {
        format!("by a factor below {} ", units::ratio(Ratio(least)))
    } else {
        String::new()
    };
    format!(
        "{sides}, figures that differ {factor}are not distinguishable: {known}; 'bench --repeat 5' makes a \
         series, 'bench --against PROGRAM' compares two programs"
    )
}

fn percent(share: f64) -> String {
    format!("{} %", (share * 1e3).round() / 10.0)
}

/// Figures whose device time nobody measured, each once.
fn assumptions(pairs: &[Pair]) -> BTreeSet<Remark> {
    let cases = pairs
        .iter()
        .flat_map(|pair| [&pair.old, &pair.new].into_iter().zip(pair.assumed));
    let said = cases.filter_map(|(case, assumed)| {
        let text = format!(
            "{}: the device's time of {} {} is assumed, {}: nobody measured it",
            case.device, case.algorithm, case.operation, assumed?
        );
        Some(Remark::new(RemarkKind::Basis, text))
    });
    said.collect()
}

fn row(pair: &Pair) -> TableRow {
    let mut cells = case_cells(&pair.old);
    cells.extend([
        if pair.new.device == pair.old.device {
            Cell::text("itself")
        } else {
            Cell::Device(pair.new.device.clone())
        },
        Cell::Duration(pair.old_mean),
        Cell::Duration(pair.new_mean),
        Cell::RatioEstimate(pair.ratio),
        Cell::text(pair.verdict),
        Cell::Provenance(pair.new.provenance),
    ]);
    TableRow::of(&pair.old, cells)
}
