//! Comparisons: which cases changed, by how much, and whether that is more than noise; of machines the slowest.

use itertools::Itertools;
use keymark_bench::{Case, CaseId, Operation, USUAL};
use keymark_stats::{Estimate, Ratio};
use serde::Serialize;

use super::Finding;
use crate::compare::{Comparison, Grounds, Pair, PairVerdict, Sides};
use crate::{grouped, non_empty};

/// Changes of a side against the first, or against cases of its own.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SideChanges {
    /// The side, where there are several, and what it is compared with.
    pub side: Option<String>,
    /// Number of compared cases.
    pub cases: usize,
    /// Slower cases, the largest change first.
    pub slower: Vec<CaseChange>,
    /// Faster cases, the largest change first.
    pub faster: Vec<CaseChange>,
    /// Number of cases that are the same within [`SideChanges::equivalence`].
    pub same: usize,
    /// Undecided cases, in order.
    pub undecided: Vec<CaseChange>,
    /// Difference up to which cases are the same, as a share.
    pub equivalence: f64,
    /// Noise that is allowed for, as a share.
    pub noise: f64,
    /// Runs of the side with fewer.
    pub runs: usize,
    /// What would decide; none if nothing is undecided.
    pub advice: Option<&'static str>,
}

/// Ratio of a case's times.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CaseChange {
    /// The first case.
    pub case: String,
    /// The second case, if it is another one.
    pub other: Option<String>,
    /// Second time over the first.
    pub ratio: Estimate<Ratio>,
    /// Place of the pair.
    pub row: CaseId,
}

/// The slowest machine for an operation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SlowestMachine {
    /// The operation.
    pub operation: Operation,
    /// The machine.
    pub machine: String,
    /// The fastest one.
    pub fastest: String,
    /// The case that is furthest behind.
    pub change: CaseChange,
    /// The library that calculates; none if it is keymark's own.
    pub library: Option<String>,
    /// The same case in keymark's own library: if it is as slow, the library is not the cause.
    pub control: Option<CaseChange>,
    /// True if the control is also slower.
    pub control_is_slower: bool,
    /// True if the control is less slow for certain: the library is the cause.
    pub by_library: bool,
    /// Versions of the library that differ.
    pub versions: Option<String>,
}

/// Changes of each side, or the slowest machine for each operation.
pub(super) fn finding(comparison: &Comparison) -> Option<Finding> {
    if comparison.sides_are == Sides::Machines
        && let Some(machines) = non_empty(slowest(comparison))
    {
        return Some(Finding::SlowestMachines { machines });
    }
    let sides = 0..comparison.sides.len().max(1);
    let sides = non_empty(sides.filter_map(|side| of_side(comparison, side)))?;
    Some(Finding::Changes { sides })
}

fn change(place: usize, pair: &Pair) -> CaseChange {
    let [case, other] = [&pair.old, &pair.new].map(ToString::to_string);
    CaseChange {
        other: (pair.old.key() != pair.new.key() && case != other).then_some(other),
        case,
        ratio: pair.ratio,
        row: CaseId::at(place),
    }
}

fn of_side(comparison: &Comparison, side: usize) -> Option<SideChanges> {
    let pairs = || {
        let all = comparison.pairs.iter().enumerate();
        all.filter(move |(_, pair)| pair.side == side)
    };
    let (_, first) = pairs().next()?;
    let far = |change: &CaseChange| change.ratio.value.0.ln().abs();
    let of = |wanted: PairVerdict| -> Vec<CaseChange> {
        let of = pairs().filter(|(_, pair)| pair.verdict == wanted);
        of.map(|(place, pair)| change(place, pair))
            .sorted_by(|a, b| far(b).total_cmp(&far(a)))
            .collect()
    };
    let is_open = |pair: &Pair| match pair.verdict {
        PairVerdict::Slower | PairVerdict::Faster | PairVerdict::Same => false,
        PairVerdict::WithinNoise | PairVerdict::Indistinguishable | PairVerdict::Unknown => true,
    };
    let open: Vec<(usize, &Pair)> = pairs().filter(|(_, pair)| is_open(pair)).collect();
    let ground = open.first().map_or(first, |(_, pair)| *pair);
    Some(SideChanges {
        side: whose(comparison, side),
        cases: pairs().count(),
        slower: of(PairVerdict::Slower),
        faster: of(PairVerdict::Faster),
        same: of(PairVerdict::Same).len(),
        undecided: open
            .iter()
            .map(|(place, pair)| change(*place, pair))
            .collect(),
        equivalence: comparison.criteria.equivalence,
        noise: if ground.grounds == Grounds::FewRuns {
            comparison.machine.deviation
        } else {
            comparison.criteria.noise.on(ground.grounds)
        },
        runs: ground.runs[0].min(ground.runs[1]),
        advice: (!open.is_empty()).then(|| advice(ground.grounds)),
    })
}

/// What decides a comparison on these grounds.
const fn advice(grounds: Grounds) -> &'static str {
    match grounds {
        Grounds::FewRuns | Grounds::Series => {
            "Use 'bench --repeat 10', or 'bench --against PROGRAM'"
        }
        Grounds::Alternating | Grounds::SameRuns => "Use 'bench --repeat 10'",
        Grounds::Copies | Grounds::SameRun => "Use 'bench' with a longer --case-time",
        Grounds::Exact | Grounds::Nothing => "Published means have no interval",
    }
}

/// Names the side where there are several, and the side that it is compared with unless that is itself.
fn whose(comparison: &Comparison, side: usize) -> Option<String> {
    let within = comparison.pairs.iter().any(|pair| pair.side == 0);
    match comparison.sides.as_slice() {
        [] | [_] => None,
        sides if within => Some(sides[side].name.clone()),
        sides => Some(format!("{} against {}", sides[side].name, sides[0].name)),
    }
}

/// The case of each operation that is furthest behind the fastest machine's.
fn slowest(comparison: &Comparison) -> Vec<SlowestMachine> {
    let pairs = comparison.pairs.iter().enumerate();
    let slower = pairs.filter(|(_, pair)| pair.verdict == PairVerdict::Slower);
    let operations = grouped(slower, |(_, pair)| pair.old.operation).into_iter();
    let found = operations.filter_map(|(operation, slower)| {
        let ratio = |pair: &Pair| pair.ratio.value.0;
        let (place, pair) = slower
            .into_iter()
            .max_by(|(_, a), (_, b)| ratio(a).total_cmp(&ratio(b)))?;
        let library = pair.old.parameters.get("library").map(str::to_owned);
        let control = library.as_ref().and_then(|_| control(comparison, pair));
        let versions = comparison
            .differences
            .iter()
            .find(|known| Some(known.what.trim_end_matches(" loaded")) == library.as_deref());
        Some(SlowestMachine {
            operation,
            machine: comparison.side(pair).to_owned(),
            fastest: comparison.sides[pair.borrowed.unwrap_or(0)].name.clone(),
            change: change(place, pair),
            control_is_slower: control
                .is_some_and(|(_, control)| control.verdict == PairVerdict::Slower),
            by_library: control.is_some_and(|(_, control)| control.ratio.is_below(&pair.ratio)),
            control: control.map(|(place, control)| change(place, control)),
            versions: versions.map(ToString::to_string),
            library,
        })
    });
    found.collect()
}

/// The same case in keymark's own library, which is the same everywhere.
fn control<'c>(comparison: &'c Comparison, slow: &Pair) -> Option<(usize, &'c Pair)> {
    let wanted = Case {
        parameters: slow.old.parameters.clone().replaced("library", USUAL),
        ..slow.old.clone()
    };
    let mut pairs = comparison.pairs.iter().enumerate();
    pairs.find(|(_, other)| other.side == slow.side && other.old == wanted)
}
