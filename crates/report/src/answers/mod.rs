//! What a run means, in three to six sentences: first what nobody would expect, then what a decision depends on, at last
//! how certain it is. Each has its figure, the rows that it rests on, and says nothing that their intervals do not
//! carry: what overlaps is alike.

mod changes;
pub(crate) mod devices;
mod figure;
pub(crate) mod keys;
pub(crate) mod layers;
mod machines;
mod passphrase;
mod patience;
mod servers;
mod services;
#[cfg(test)]
mod tests;
pub(crate) mod workers;

use std::collections::BTreeMap;

use keymark_bench::case::Provenance;
use keymark_bench::record::{Record, RunState};

use crate::analysis::{Analysis, Row, figure_of};
use crate::grouped;
use crate::units::{self, counted};

pub use crate::document::{Statement, Topic};
pub use changes::of_comparison;
pub use patience::WAITING;

/// More sentences than this are not read; the last one says how certain the others are.
const MOST: usize = 6;

/// What most readers come for.
pub fn answers(analysis: &Analysis, record: &Record) -> Vec<Statement> {
    if analysis.rows.iter().all(|row| row.mean().is_none()) {
        return vec![nothing(&analysis.rows)];
    }
    let mut all: Vec<Statement> = services::services(analysis).into_iter().collect();
    // What most users have comes before what is faster elsewhere.
    all.extend(passphrase::passphrase(analysis));
    all.extend(devices::striking(analysis));
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

/// The first of each topic, then the second, until there are enough; in the order of the topics.
fn chosen(all: Vec<Statement>, most: usize) -> Vec<Statement> {
    let topics = grouped(all, |statement| statement.topic);
    let turns = topics.into_iter().flat_map(|(topic, of)| {
        // What a token's software does on this CPU is said where there is room.
        let last = if topic == Topic::Tokens { most } else { 0 };
        (last..).zip(of)
    });
    let mut turns: Vec<(usize, Statement)> = turns.collect();
    turns.sort_by_key(|(turn, statement)| (*turn, statement.topic));
    turns.truncate(most);
    turns.sort_by_key(|(turn, statement)| (statement.topic, *turn));
    turns.into_iter().map(|(_, statement)| statement).collect()
}

/// That there is nothing to answer with.
pub(super) fn nothing(rows: &[Row]) -> Statement {
    let failed = rows.iter().filter(|row| row.failure.is_some());
    let text = match (rows.len(), failed.clone().count()) {
        (0, _) => "This run has no case, and so no answer.".to_owned(),
        (all, 0) => format!(
            "This run has no figure: nothing measured in {}.",
            counted(all, "case")
        ),
        (all, failed) => format!(
            "This run has no figure: {failed} of {} failed.",
            counted(all, "case")
        ),
    };
    Statement::new(Topic::Certainty, text, failed.map(|row| row.id))
}

/// The last sentence of every answer.
pub(super) fn certainty(analysis: &Analysis, record: &Record) -> Statement {
    let rows = &analysis.rows;
    let mut parts = vec![kinds(rows)];
    parts.extend(precision(rows));
    match rows.iter().filter(|row| row.failure.is_some()).count() {
        0 => {}
        failed => parts.push(format!("{failed} of {} cases failed", rows.len())),
    }
    match record.state {
        RunState::Interrupted | RunState::Unfinished => {
            parts.push("the run ended early".to_owned());
        }
        RunState::Finished | RunState::Published => {}
    }
    // What a model or an article says is the same each time.
    let ran = rows.iter().any(|row| row.case.provenance.is_of_a_run());
    if ran && record.series.is_none() {
        parts.push("another run may differ by more".to_owned());
    }
    Statement::new(
        Topic::Certainty,
        format!("How certain: {}.", parts.join("; ")),
        [],
    )
}

/// How many figures there are of each kind.
fn kinds(rows: &[Row]) -> String {
    let mut kinds: BTreeMap<Provenance, usize> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.mean().is_some()) {
        *kinds.entry(row.case.provenance).or_default() += 1;
    }
    let said: Vec<String> = kinds
        .iter()
        .map(|(kind, number)| format!("{number} {kind}"))
        .collect();
    let noun = figure_of(rows);
    match (kinds.iter().next(), said.as_slice()) {
        (Some((kind, 1)), [_]) => format!("one {noun}, {kind}"),
        (Some((kind, all)), [_]) => format!("all {all} {noun}s are {kind}"),
        _ => format!(
            "of {} {noun}s {}",
            kinds.values().sum::<usize>(),
            said.join(", ")
        ),
    }
}

/// What may be off by all of itself is hardly known.
const HARDLY: f64 = 1.0;

/// By how much half of the figures may be off, and the worst of them.
fn precision(rows: &[Row]) -> Option<String> {
    let widths: Vec<Option<f64>> = rows.iter().filter_map(Row::doubt).collect();
    let mut known: Vec<f64> = widths.iter().copied().flatten().collect();
    known.sort_by(f64::total_cmp);
    let open = widths.len() - known.len();
    let told = |(half, most): (&f64, &f64)| {
        let (half_hardly, most_hardly) = (*half >= HARDLY, *most >= HARDLY);
        let (half, most) = (units::width(*half), units::width(*most));
        match (known.len(), half_hardly, most_hardly) {
            (1, true, _) => "hardly known at all".to_owned(),
            (_, true, _) => "most of them hardly known at all".to_owned(),
            (_, false, true) => format!("half of them known to ±{half}, some hardly at all"),
            (1, false, false) => format!("known to ±{most}"),
            _ if half == most => format!("known to ±{half} or better"),
            _ => format!("half of them known to ±{half}, all to ±{most}"),
        }
    };
    let bounds = known.get(known.len() / 2).zip(known.last()).map(told);
    match (bounds, open) {
        (None, 0) => None,
        (None, _) => Some("too few samples to say how well any is known".to_owned()),
        (Some(bounds), 0) => Some(bounds),
        (Some(bounds), open) => Some(format!(
            "{bounds}; {} without an interval",
            counted(open, figure_of(rows))
        )),
    }
}
