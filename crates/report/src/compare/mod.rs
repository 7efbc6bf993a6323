//! Sides against a baseline, runs being the units; cases against a case of their own run, where what the machine does to
//! both cancels; or the two copies of each case within one run.

pub(crate) mod conditions;
mod judge;
mod machines;
mod pair;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::slice::from_ref;

use itertools::Itertools;
use keymark_bench::baseline::Baseline;
use keymark_bench::case::{Case, CaseKey, DeviceName, Provenance};
use keymark_bench::record::{CaseRecord, Record};
use keymark_bench::series::InSeries;
use keymark_stats::{BetweenRuns, LogRatio, MIN_RUNS, Seconds, independent, paired};

use crate::pivot::normalize_device_name;

pub use conditions::{Caution, Difference, machine_name};
pub use judge::{Criteria, GeometricMean, Judgement, Noise};
pub use machines::Sides;
pub use pair::{Grounds, Pair, PairVerdict};

/// Runs of one thing: a machine, a version, a device, an article.
#[derive(Debug, Clone, PartialEq)]
pub struct Side {
    pub name: String,
    /// Its runs, the oldest first.
    pub runs: Vec<Record>,
}

/// A side in brief.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SideLine {
    pub name: String,
    /// Number of its runs.
    pub runs: usize,
}

/// A case that could not be compared, because a side has no figure of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingCase {
    /// The side without a figure.
    pub side: usize,
    /// The case, as its baseline's side names it.
    pub case: Case,
}

/// Cases and what they are compared with, pair by pair.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Pairs in the order of the baseline's first run.
    pub pairs: Vec<Pair>,
    /// Cases without a figure on one side.
    pub missing: Vec<MissingCase>,
    /// The baseline is the first, unless cases are compared with one of their own run's.
    pub sides: Vec<SideLine>,
    pub sides_are: Sides,
    /// Differences between sides in machine, programs and settings.
    pub differences: Vec<Difference>,
    /// Differences between runs of these cases on this machine.
    pub machine: BetweenRuns,
    pub criteria: Criteria,
}

impl Comparison {
    /// Every side against the first. Cases are paired by everything; where two sides have no device in common, by what an
    /// article's devices are (a twin, this CPU); and by all but the device, where they are none of these either.
    pub fn of(sides: &[Side], machine: BetweenRuns, criteria: Criteria) -> Self {
        let mut comparison = Self::empty(sides, machine, criteria);
        let Some((baseline, others)) = sides.split_first() else {
            return comparison;
        };
        let before = cases(&baseline.runs);
        let others = others.iter().map(|other| {
            let after = cases(&other.runs);
            let mut in_common = [Devices::Common, Devices::Alike].into_iter();
            let devices = in_common.find(|by| {
                let known: HashSet<_> = before.iter().map(|case| by.of(case)).collect();
                after.iter().any(|case| known.contains(&by.of(case)))
            });
            let devices = devices.unwrap_or(Devices::Different);
            let same = after
                .into_iter()
                .into_group_map_by(|case| what(case, devices));
            (&other.runs, same, devices)
        });
        let others: Vec<_> = others.collect();
        for a in &before {
            let old = CaseOf::new(0, &baseline.runs, a);
            for (number, (runs, same, devices)) in (1..).zip(&others) {
                let matching = same.get(&what(a, *devices)).into_iter().flatten();
                let of_side = |b| {
                    let pair = between_sides(old, CaseOf::new(number, runs, b), &machine)?;
                    Some(Pair {
                        side: number,
                        ..pair
                    })
                };
                let pairs: Vec<Pair> = matching.filter_map(of_side).collect();
                if pairs.is_empty() && old.has_figure() {
                    let case = a.clone();
                    comparison.missing.push(MissingCase { side: number, case });
                }
                comparison.pairs.extend(pairs);
            }
        }
        comparison.decide();
        comparison
    }

    /// The first two copies of every case that is in a plan more than once.
    pub fn of_copies(side: &Side, criteria: Criteria) -> Self {
        let mut comparison = Self::empty(from_ref(side), BetweenRuns::ASSUMED, criteria);
        let runs = &side.runs[..side.runs.len().min(1)];
        let all = cases(runs);
        for first in all.iter().filter(|case| case.replica == 0) {
            let copies = |case: &&Case| case.replica == 1 && case.key() == first.key();
            if let Some(second) = all.iter().find(copies) {
                let pair = in_turn(runs, first, second).map(|pair| Pair {
                    grounds: Grounds::Copies,
                    ..pair
                });
                comparison.add(pair, [first, second].map(|case| CaseOf::new(0, runs, case)));
            }
        }
        comparison.decide();
        comparison
    }

    /// Adds the pair of two cases, or names the one without a figure.
    fn add(&mut self, pair: Option<Pair>, [old, new]: [CaseOf<'_>; 2]) {
        let Some(pair) = pair else {
            let without = if new.has_figure() && !old.has_figure() {
                old
            } else {
                new
            };
            let (side, case) = (without.side, without.case.clone());
            let missing = MissingCase { side, case };
            if !self.missing.contains(&missing) {
                self.missing.push(missing);
            }
            return;
        };
        self.pairs.push(Pair {
            side: new.side,
            borrowed: Some(old.side).filter(|side| *side != new.side),
            ..pair
        });
    }

    fn empty(sides: &[Side], machine: BetweenRuns, criteria: Criteria) -> Self {
        let line = |side: &Side| SideLine {
            name: side.name.clone(),
            runs: side.runs.len(),
        };
        Self {
            pairs: Vec::new(),
            missing: Vec::new(),
            sides: sides.iter().map(line).collect(),
            sides_are: Sides::default(),
            differences: conditions::differences(sides),
            machine,
            criteria,
        }
    }

    /// Returns the name of the compared side.
    pub fn side(&self, pair: &Pair) -> &str {
        self.name_of(pair.side)
    }

    pub(crate) fn name_of(&self, side: usize) -> &str {
        self.sides.get(side).map_or("", |side| &side.name)
    }
}

/// A case with the runs of its side.
#[derive(Clone, Copy)]
struct CaseOf<'a> {
    side: usize,
    runs: &'a [Record],
    case: &'a Case,
}

impl<'a> CaseOf<'a> {
    const fn new(side: usize, runs: &'a [Record], case: &'a Case) -> Self {
        Self { side, runs, case }
    }

    fn measured(self) -> Vec<Measured<'a>> {
        self.runs
            .iter()
            .filter_map(|run| Measured::of(run, self.case))
            .collect()
    }

    fn has_figure(self) -> bool {
        !self.measured().is_empty()
    }
}

/// The mean of a case in a run.
pub(crate) fn run_mean(run: &Record, case: &Case) -> Option<Seconds> {
    Measured::of(run, case).map(|measured| measured.mean)
}

/// Every case of the runs, once.
fn cases(runs: &[Record]) -> Vec<Case> {
    let records = runs.iter().flat_map(|record| &record.cases);
    let cases = records.map(|record| &record.case).unique();
    cases.cloned().collect()
}

/// Rule for matching devices of two sides.
#[derive(Clone, Copy)]
enum Devices {
    Common,
    Alike,
    Different,
}

impl Devices {
    /// Returns the matched name of a case's device.
    fn of(self, case: &Case) -> DeviceName {
        match self {
            Self::Common => case.device.clone(),
            Self::Alike => normalize_device_name(&case.device),
            Self::Different => DeviceName::new(""),
        }
    }
}

/// Returns the common part of compared cases: what they measure, and the number of their copy.
fn what(case: &Case, devices: Devices) -> (CaseKey, u32) {
    let mut key = CaseKey {
        device: devices.of(case),
        ..case.key()
    };
    if !matches!(devices, Devices::Common) {
        // The sources of articles differ in the length of the message by bytes only.
        key.input_bytes = 0;
    }
    (key, case.replica)
}

/// A case in a run that has a mean of it.
#[derive(Clone, Copy)]
struct Measured<'a> {
    run: &'a Record,
    record: &'a CaseRecord,
    mean: Seconds,
}

impl<'a> Measured<'a> {
    fn of(run: &'a Record, case: &Case) -> Option<Self> {
        let record = run.cases.iter().find(|found| found.case == *case)?;
        let mean = pair::mean(record)?;
        Some(Self { run, record, mean })
    }
}

/// A case of one side and one of another.
fn between_sides(before: CaseOf<'_>, after: CaseOf<'_>, machine: &BetweenRuns) -> Option<Pair> {
    let (old, new) = (before.measured(), after.measured());
    if let Some(grounds) = stated(&old, &new) {
        return Pair::new(&old, &new, grounds, None);
    }
    if alternate(before.runs, after.runs) {
        let number = |one: &Measured<'_>| one.run.series.as_ref().map(|series| series.number);
        let neighbours = new.iter().filter_map(|new| {
            let old = old.iter().find(|old| number(old) == number(new))?;
            Some((*old, *new))
        });
        let (old, new): (Vec<_>, Vec<_>) = neighbours.unzip();
        if new.len() >= MIN_RUNS {
            return Pair::of_runs(&old, &new, Grounds::Alternating);
        }
    }
    if old.len() >= MIN_RUNS && new.len() >= MIN_RUNS {
        return Pair::of_runs(&old, &new, Grounds::Series);
    }
    // What two single runs know of themselves.
    let within = match (old.as_slice(), new.as_slice()) {
        ([old], [new]) => {
            let seed = new.run.plan.settings.seed;
            independent(&new.record.latencies(), &old.record.latencies(), seed)
        }
        _ => None,
    };
    let evidence = LogRatio::of_few(&means(&new), &means(&old), machine, within.as_ref());
    Pair::new(&old, &new, Grounds::FewRuns, evidence)
}

/// Returns the grounds of figures that keymark did not measure. Predictions are exact: the same question has the same
/// answer.
fn stated(old: &[Measured<'_>], new: &[Measured<'_>]) -> Option<Grounds> {
    let mut both = old.iter().chain(new);
    let kind = |one: &Measured<'_>| one.record.case.provenance;
    if both.clone().all(|one| kind(one) == Provenance::Predicted) {
        return Some(Grounds::Exact);
    }
    let is_published = |one: &Measured<'_>| one.record.published.is_some();
    both.any(is_published).then_some(Grounds::Nothing)
}

fn means(measured: &[Measured<'_>]) -> Vec<Seconds> {
    measured.iter().map(|one| one.mean).collect()
}

/// Returns whether the runs of the sides alternate.
fn alternate(old: &[Record], new: &[Record]) -> bool {
    let both = series(old).zip(series(new));
    both.is_some_and(|(a, b)| {
        a.against.as_ref() == Some(&b.id) && b.against.as_ref() == Some(&a.id)
    })
}

/// The series that all of these runs are of.
fn series(runs: &[Record]) -> Option<&InSeries> {
    let first = runs.first()?.series.as_ref()?;
    let mut all = runs.iter().map(|record| record.series.as_ref());
    all.all(|series| series.is_some_and(|series| series.id == first.id))
        .then_some(first)
}

impl Comparison {
    /// Every case against the one that the pattern makes of it: of the same side, where that has one, measured in turn in
    /// the same runs; else of the first side that has one.
    pub fn against(
        pattern: &Baseline,
        sides: &[Side],
        machine: BetweenRuns,
        criteria: Criteria,
    ) -> Self {
        let mut comparison = Self::empty(sides, machine, criteria);
        let all: Vec<Vec<Case>> = sides.iter().map(|side| cases(&side.runs)).collect();
        for (number, side) in sides.iter().enumerate() {
            for case in &all[number] {
                let own = pattern.of(case, &all[number]).map(|at| (number, at));
                let elsewhere = || {
                    let mut others = all.iter().enumerate();
                    others.find_map(|(other, cases)| Some((other, pattern.of(case, cases)?)))
                };
                let Some((other, at)) = own.or_else(elsewhere) else {
                    continue;
                };
                let old = CaseOf::new(other, &sides[other].runs, &all[other][at]);
                let new = CaseOf::new(number, &side.runs, case);
                if old.case == case && other == number {
                    continue;
                }
                let pair = match other == number {
                    true => in_turn(&side.runs, old.case, case),
                    false => between_sides(old, new, &machine),
                };
                comparison.add(pair, [old, new]);
            }
        }
        comparison.decide();
        comparison
    }
}

/// Two cases of the same runs: runs are the units if there are enough, else what was measured side by side in each.
fn in_turn(runs: &[Record], old: &Case, new: &Case) -> Option<Pair> {
    let both = |run| Some((Measured::of(run, old)?, Measured::of(run, new)?));
    let (old, new): (Vec<_>, Vec<_>) = runs.iter().filter_map(both).unzip();
    let first = (old.get(..1)?, new.get(..1)?);
    if let Some(grounds) = stated(first.0, first.1) {
        return Pair::new(first.0, first.1, grounds, None);
    }
    if old.len() >= MIN_RUNS {
        return Pair::of_runs(&old, &new, Grounds::SameRuns);
    }
    let each = old.iter().zip(&new);
    let mut each = each.map(|(old, new)| in_one_run(old, new));
    if old.len() == 1 {
        return each.next()?;
    }
    let ratios: Option<Vec<LogRatio>> = each.map(|pair| pair?.evidence).collect();
    let evidence = ratios.and_then(|ratios| LogRatio::together(&ratios));
    Pair::new(&old, &new, Grounds::SameRun, evidence)
}

/// Two cases of one run, over the stretches in which both were measured.
fn in_one_run(old: &Measured<'_>, new: &Measured<'_>) -> Option<Pair> {
    let (a, b) = (old.record.latencies(), new.record.latencies());
    let ratio = paired(&b, &a, old.run.plan.settings.seed)?;
    let units = a.block_count().min(b.block_count());
    let evidence = LogRatio::of_interval(&ratio, units.saturating_sub(1) as f64);
    let pair = Pair::new(from_ref(old), from_ref(new), Grounds::SameRun, evidence)?;
    Some(Pair { ratio, ..pair })
}
