//! Sides against a baseline, runs being the units; cases against a case of their own run, where what the machine does to
//! both cancels; or the two copies of each case within one run.

pub(crate) mod conditions;
mod judge;
mod machines;
mod pair;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};

use keymark_bench::baseline::Baseline;
use keymark_bench::case::{Case, CaseKey, DeviceName};
use keymark_bench::record::{CaseRecord, Record};
use keymark_bench::series::InSeries;
use keymark_stats::{BetweenRuns, Estimate, LogRatio, MIN_RUNS, Seconds, independent, paired};

use crate::pivot::name_in_runs;

pub use conditions::Difference;
pub use judge::{Criteria, GeometricMean, Judgement, Noise};
pub use machines::Sides;
pub use pair::{Grounds, Pair, Verdict};

pub(crate) use conditions::facts_of;
pub(crate) use pair::mean;

/// Runs that stand for one thing: a machine, a version, a device, an article.
#[derive(Debug, Clone, PartialEq)]
pub struct Side {
    /// As it was asked for.
    pub name: String,
    /// Its runs, the oldest first.
    pub runs: Vec<Record>,
}

/// A side in brief.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SideLine {
    /// As it was asked for.
    pub name: String,
    /// Number of its runs.
    pub runs: usize,
}

/// Cases and what they are compared with, pair by pair.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// In the order of the baseline's first run.
    pub pairs: Vec<Pair>,
    /// The baseline is the first, unless cases are compared with one of their own run's.
    pub sides: Vec<SideLine>,
    /// What these are.
    pub sides_are: Sides,
    /// What is not the same on all sides, besides what they were measured for.
    pub differences: Vec<Difference>,
    /// By how much runs of these cases differ here.
    pub machine: BetweenRuns,
    /// What is taken for no difference, and what for the same.
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
        let after: Vec<Vec<Case>> = others.iter().map(|other| cases(&other.runs)).collect();
        let others: Vec<(TwoSides<'_>, Alike<'_>, Devices)> = others
            .iter()
            .zip(&after)
            .map(|(other, after)| {
                let mut in_common = [Devices::Common, Devices::Alike].into_iter();
                let devices = in_common.find(|by| {
                    let known: HashSet<_> = before.iter().map(|case| by.of(case)).collect();
                    after.iter().any(|case| known.contains(&by.of(case)))
                });
                let devices = devices.unwrap_or(Devices::Different);
                let two = TwoSides::new(&baseline.runs, &other.runs, machine);
                let mut same = Alike::new();
                for case in after {
                    same.entry(what(case, devices)).or_default().push(case);
                }
                (two, same, devices)
            })
            .collect();
        for a in &before {
            for (number, (two, same, devices)) in (1..).zip(&others) {
                let matching = same.get(&what(a, *devices)).into_iter().flatten();
                let pairs = matching.filter_map(|b| two.pair(a, b));
                comparison.pairs.extend(pairs.map(|pair| Pair {
                    side: number,
                    ..pair
                }));
            }
        }
        comparison.decide();
        comparison
    }

    /// The first two copies of every case that stands in a plan more than once.
    pub fn of_copies(side: &Side, criteria: Criteria) -> Self {
        let mut comparison =
            Self::empty(std::slice::from_ref(side), BetweenRuns::ASSUMED, criteria);
        let Some(record) = side.runs.first() else {
            return comparison;
        };
        let second = |a: &CaseRecord| {
            let mut cases = record.cases.iter();
            cases.find(|b| b.case.replica == 1 && b.case.key() == a.case.key())
        };
        let firsts = record.cases.iter().filter(|a| a.case.replica == 0);
        let pairs = firsts.filter_map(|a| in_one_run(record, a, second(a)?, Grounds::Copies));
        comparison.pairs = pairs.collect();
        comparison.decide();
        comparison
    }

    fn empty(sides: &[Side], machine: BetweenRuns, criteria: Criteria) -> Self {
        let line = |side: &Side| SideLine {
            name: side.name.clone(),
            runs: side.runs.len(),
        };
        Self {
            pairs: Vec::new(),
            sides: sides.iter().map(line).collect(),
            sides_are: Sides::default(),
            differences: conditions::differences(sides),
            machine,
            criteria,
        }
    }

    /// What is compared with the baseline in a pair: its side's name.
    pub fn side(&self, pair: &Pair) -> &str {
        self.sides.get(pair.side).map_or("", |side| &side.name)
    }
}

/// The mean of a case in a run.
pub(crate) fn run_mean(run: &Record, case: &Case) -> Option<Seconds> {
    let mut cases = run.cases.iter();
    pair::mean(cases.find(|found| found.case == *case)?)
}

/// Every case of the runs, once.
fn cases(runs: &[Record]) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut known: HashMap<What, Vec<usize>> = HashMap::new();
    for record in runs.iter().flat_map(|record| &record.cases) {
        let alike = known
            .entry(what(&record.case, Devices::Common))
            .or_default();
        if alike.iter().all(|other| cases[*other] != record.case) {
            alike.push(cases.len());
            cases.push(record.case.clone());
        }
    }
    cases
}

/// What a case measures, and which of its copies it is.
type What = (CaseKey, u32);

/// The cases of a side that measure the same.
type Alike<'a> = HashMap<What, Vec<&'a Case>>;

/// What two sides have in common of their devices.
#[derive(Clone, Copy)]
enum Devices {
    Common,
    Alike,
    Different,
}

impl Devices {
    /// By which a case's device is told from others.
    fn of(self, case: &Case) -> DeviceName {
        match self {
            Self::Common => case.device.clone(),
            Self::Alike => name_in_runs(&case.device),
            Self::Different => DeviceName::new(""),
        }
    }
}

/// What is the same of cases that are compared.
fn what(case: &Case, devices: Devices) -> What {
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

/// What is compared.
struct TwoSides<'a> {
    old: &'a [Record],
    new: &'a [Record],
    alternating: bool,
    machine: BetweenRuns,
}

/// A run with a case of it that has a mean.
type WithMean<'a> = (&'a Record, &'a CaseRecord, Seconds);

impl<'a> TwoSides<'a> {
    fn new(old: &'a [Record], new: &'a [Record], machine: BetweenRuns) -> Self {
        Self {
            old,
            new,
            alternating: alternate(old, new),
            machine,
        }
    }

    fn pair(&self, a: &Case, b: &Case) -> Option<Pair> {
        let (old, new) = (with(self.old, a), with(self.new, b));
        let means = |side: &[WithMean<'_>]| -> Vec<Seconds> {
            side.iter().map(|(_, _, mean)| *mean).collect()
        };
        let (old_means, new_means) = (means(&old), means(&new));
        let mut both = old.iter().chain(&new);
        let published = both.any(|(_, case, _)| case.published.is_some());
        let (first, second) = (old.first()?, new.first()?);
        let pair = |grounds| Pair::new((a, &old_means), (b, &new_means), grounds);
        let (pair, evidence) = if pair::is_prediction(a) && pair::is_prediction(b) {
            (pair(Grounds::Exact)?, None)
        } else if published {
            (pair(Grounds::Nothing)?, None)
        } else if let Some(pairs) = self.neighbours(&old, &new) {
            let (new, old): (Vec<_>, Vec<_>) = pairs.iter().copied().unzip();
            let pair = Pair::new((a, &old), (b, &new), Grounds::Alternating)?;
            (pair, LogRatio::of_pairs(&pairs))
        } else if old.len() >= MIN_RUNS && new.len() >= MIN_RUNS {
            let evidence = LogRatio::between_runs(&new_means, &old_means);
            (pair(Grounds::Series)?, evidence)
        } else {
            let single = old.len() == 1 && new.len() == 1;
            let within = single.then(|| within(first, second)).flatten();
            let evidence = LogRatio::of_few(&new_means, &old_means, &self.machine, within.as_ref());
            (pair(Grounds::FewRuns)?, evidence)
        };
        Some(pair.with(evidence, None).on(first.0, second.0))
    }

    /// Both means of each pair of runs, if the series alternate and there are enough.
    fn neighbours(
        &self,
        old: &[WithMean<'_>],
        new: &[WithMean<'_>],
    ) -> Option<Vec<(Seconds, Seconds)>> {
        if !self.alternating {
            return None;
        }
        let number = |record: &Record| record.series.as_ref().map(|series| series.number);
        let pairs = new.iter().filter_map(|(run, _, mean)| {
            let mut others = old.iter();
            let other = others.find(|(other, _, _)| number(other) == number(run))?;
            Some((*mean, other.2))
        });
        let pairs: Vec<_> = pairs.collect();
        (pairs.len() >= MIN_RUNS).then_some(pairs)
    }
}

/// What two single runs know of themselves.
fn within(old: &WithMean<'_>, new: &WithMean<'_>) -> Option<Estimate<keymark_stats::Ratio>> {
    let seed = new.0.plan.settings.seed;
    independent(&new.1.latencies(), &old.1.latencies(), seed)
}

/// The case in each run that has a mean of it.
fn with<'a>(side: &'a [Record], case: &Case) -> Vec<WithMean<'a>> {
    let found = side.iter().filter_map(|record| {
        let mut cases = record.cases.iter();
        let found = cases.find(|found| found.case == *case)?;
        Some((record, found, pair::mean(found)?))
    });
    found.collect()
}

/// Whether the runs of the sides were made in turn.
fn alternate(old: &[Record], new: &[Record]) -> bool {
    let series = |side: &'_ [Record]| -> Option<InSeries> {
        let first = side.first()?.series.clone()?;
        let mut all = side.iter().map(|record| record.series.as_ref());
        all.all(|series| series.is_some_and(|series| series.id == first.id))
            .then_some(first)
    };
    match (series(old), series(new)) {
        (Some(a), Some(b)) => {
            a.against.as_ref() == Some(&b.id) && b.against.as_ref() == Some(&a.id)
        }
        _ => false,
    }
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
                let baseline = &all[other][at];
                let pair = if other != number {
                    TwoSides::new(&sides[other].runs, &side.runs, machine).pair(baseline, case)
                } else if baseline != case {
                    in_turn(&side.runs, baseline, case)
                } else {
                    None
                };
                let borrowed = Some(other).filter(|other| *other != number);
                comparison.pairs.extend(pair.map(|pair| Pair {
                    side: number,
                    borrowed,
                    ..pair
                }));
            }
        }
        comparison.decide();
        comparison
    }
}

/// Two cases of the same runs: runs are the units if there are enough, else what was measured side by side in each.
fn in_turn(runs: &[Record], old: &Case, new: &Case) -> Option<Pair> {
    let found: Vec<(&Record, &CaseRecord, &CaseRecord)> = with(runs, new)
        .into_iter()
        .filter_map(|(run, new, _)| {
            let mut cases = run.cases.iter();
            let old = cases.find(|found| found.case == *old)?;
            pair::mean(old)?;
            Some((run, old, new))
        })
        .collect();
    let (first, a, b) = *found.first()?;
    if pair::is_prediction(old) && pair::is_prediction(new) {
        return exactly(first, a, b, Grounds::Exact);
    }
    if a.published.is_some() || b.published.is_some() {
        return exactly(first, a, b, Grounds::Nothing);
    }
    let pairs: Vec<(Seconds, Seconds)> = found
        .iter()
        .filter_map(|(_, old, new)| Some((pair::mean(new)?, pair::mean(old)?)))
        .collect();
    let (new_means, old_means): (Vec<_>, Vec<_>) = pairs.iter().copied().unzip();
    if pairs.len() >= MIN_RUNS {
        let pair = Pair::new((old, &old_means), (new, &new_means), Grounds::SameRuns)?;
        return Some(pair.with(LogRatio::of_pairs(&pairs), None).on(first, first));
    }
    if found.len() == 1 {
        return in_one_run(first, a, b, Grounds::SameRun);
    }
    let ratios: Vec<LogRatio> = found
        .iter()
        .filter_map(|(run, a, b)| in_one_run(run, a, b, Grounds::SameRun)?.evidence)
        .collect();
    let evidence = LogRatio::together(&ratios).filter(|_| ratios.len() == found.len());
    let pair = Pair::new((old, &old_means), (new, &new_means), Grounds::SameRun)?;
    Some(pair.with(evidence, None).on(first, first))
}

/// Without an interval.
fn exactly(run: &Record, old: &CaseRecord, new: &CaseRecord, grounds: Grounds) -> Option<Pair> {
    let means = ([pair::mean(old)?], [pair::mean(new)?]);
    let pair = Pair::new((&old.case, &means.0), (&new.case, &means.1), grounds)?;
    Some(pair.on(run, run))
}

/// Two cases of one run, over the stretches in which both were measured.
fn in_one_run(run: &Record, old: &CaseRecord, new: &CaseRecord, grounds: Grounds) -> Option<Pair> {
    let means = ([pair::mean(old)?], [pair::mean(new)?]);
    let (a, b) = (old.latencies(), new.latencies());
    let ratio = paired(&b, &a, run.plan.settings.seed)?;
    let units = a.block_count().min(b.block_count());
    let evidence = LogRatio::of_interval(&ratio, units.saturating_sub(1) as f64);
    let pair = Pair::new((&old.case, &means.0), (&new.case, &means.1), grounds)?;
    Some(pair.with(evidence, Some(ratio)).on(run, run))
}
