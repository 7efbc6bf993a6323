//! The meaning of a run in three to six sentences: first surprises, then the figures for a decision, at last how certain
//! they are. Each names its rows and says no more than their intervals carry: overlapping figures are alike.

mod changes;
pub(crate) mod devices;
mod figure;
mod keys;
mod layers;
mod patience;
mod servers;
mod services;
#[cfg(test)]
mod tests;
mod workers;

use itertools::Itertools;
use keymark_bench::record::{Record, RunState};

use crate::analysis::{Analysis, Row, figure_of};
use crate::grouped;
use crate::units::{self, counted};

pub use crate::document::{Statement, Topic};
pub use changes::of_comparison;
pub(crate) use figure::{VAGUE, marked};

/// Most sentences of an answer; the last one says how certain the others are.
const MOST: usize = 6;

/// Returns the answer of a run.
pub fn answers(analysis: &Analysis, record: &Record) -> Vec<Statement> {
    if analysis.rows.iter().all(|row| row.mean().is_none()) {
        return vec![nothing(&analysis.rows)];
    }
    let mut all: Vec<Statement> = services::services(analysis).into_iter().collect();
    // A passphrase, which most users have, comes before faster devices.
    all.extend(patience::passphrase(analysis));
    all.extend(devices::striking(analysis, record));
    all.extend(devices::devices(analysis));
    all.extend(patience::patience(analysis, record));
    all.extend(patience::predictions(analysis, record));
    all.extend(servers::servers(analysis));
    all.extend(keys::keys(analysis));
    all.extend(workers::workers(analysis, record.environment.cores));
    all.extend(layers::layers(analysis));
    let mut chosen = chosen(all, MOST - 1);
    if chosen.len() < MOST - 1 && chosen.iter().all(|said| said.topic != Topic::Patience) {
        chosen.extend(patience::nothing_is_slow(analysis, record));
    }
    chosen.push(certainty(analysis, record));
    chosen
}

/// Returns the first of each topic, then the second, until there are enough; in the order of the topics.
fn chosen(all: Vec<Statement>, most: usize) -> Vec<Statement> {
    let topics = grouped(all, |statement| statement.topic).into_iter();
    let turns = topics.flat_map(|(topic, of)| {
        // A token's software on this CPU comes where there is room.
        let last = if topic == Topic::Tokens { most } else { 0 };
        (last..).zip(of)
    });
    let chosen = turns.sorted_by_key(|(turn, statement)| (*turn, statement.topic));
    let chosen = chosen.take(most);
    let chosen = chosen.sorted_by_key(|(turn, statement)| (statement.topic, *turn));
    chosen.map(|(_, statement)| statement).collect()
}

/// Says that there is nothing to answer with.
fn nothing(rows: &[Row]) -> Statement {
    let failed = rows.iter().filter(|row| row.failure.is_some());
    let all = counted(rows.len(), "case");
    let text = match (rows.len(), failed.clone().count()) {
        (0, _) => "This run has no case, and so no answer.".to_owned(),
        (_, 0) => format!("This run has no figure: nothing measured in {all}."),
        (_, failed) => format!("This run has no figure: {failed} of {all} failed."),
    };
    Statement::new(Topic::Certainty, text, failed.map(|row| row.id))
}

/// Says how many figures there are of each kind, how well they are known, and what else limits them.
fn certainty(analysis: &Analysis, record: &Record) -> Statement {
    let rows = &analysis.rows;
    let failed = rows.iter().filter(|row| row.failure.is_some()).count();
    let is_early = match record.state {
        RunState::Interrupted | RunState::Unfinished => true,
        RunState::Finished | RunState::Published => false,
    };
    // Models and articles say the same each time.
    let ran = rows.iter().any(|row| row.case.provenance.is_of_a_run());
    let parts = [
        Some(kinds(rows)),
        precision(rows),
        (failed > 0).then(|| format!("{failed} of {} cases failed", rows.len())),
        is_early.then(|| "the run ended early".to_owned()),
        (ran && record.series.is_none()).then(|| "another run may differ by more".to_owned()),
    ];
    let text = format!("How certain: {}.", parts.into_iter().flatten().join("; "));
    Statement::new(Topic::Certainty, text, [])
}

/// Returns `of 36 means 34 measured, 2 virtual`.
fn kinds(rows: &[Row]) -> String {
    let figures = rows.iter().filter(|row| row.mean().is_some());
    let kinds = figures.clone().counts_by(|row| row.case.provenance);
    let noun = figure_of(rows);
    match (kinds.iter().exactly_one(), figures.count()) {
        (Ok((kind, _)), 1) => format!("one {noun}, {kind}"),
        (Ok((kind, _)), all) => format!("all {all} {noun}s are {kind}"),
        (Err(_), all) => {
            let kinds = kinds.iter().sorted();
            let kinds = kinds.map(|(kind, number)| format!("{number} {kind}"));
            format!("of {all} {noun}s {}", { kinds }.join(", "))
        }
    }
}

/// Doubt from which on a figure is hardly known.
const HARDLY: f64 = 1.0;

/// Returns the doubt of half of the figures, and of the worst.
fn precision(rows: &[Row]) -> Option<String> {
    let widths: Vec<Option<f64>> = rows.iter().filter_map(Row::doubt).collect();
    let known = widths.iter().copied().flatten();
    let known: Vec<f64> = known.sorted_by(f64::total_cmp).collect();
    let bounds = known.get(known.len() / 2).zip(known.last());
    let bounds = bounds.map(|(half, most)| {
        let hardly = (*half >= HARDLY, *most >= HARDLY);
        let (half, most) = (units::width(*half), units::width(*most));
        match (known.len(), hardly) {
            (1, (true, _)) => "hardly known at all".to_owned(),
            (_, (true, _)) => "most of them hardly known at all".to_owned(),
            (_, (false, true)) => format!("half of them known to ±{half}, some hardly at all"),
            (1, _) => format!("known to ±{most}"),
            _ if half == most => format!("known to ±{half} or better"),
            _ => format!("half of them known to ±{half}, all to ±{most}"),
        }
    });
    let open = widths.len() - known.len();
    let counted = counted(open, figure_of(rows));
    match (bounds, open) {
        (bounds, 0) => bounds,
        (None, _) => Some("too few samples to say how well any is known".to_owned()),
        (Some(bounds), _) => Some(format!("{bounds}; {counted} without an interval")),
    }
}
