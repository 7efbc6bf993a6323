//! One side against another, runs being the units; or the two copies of each case within one run.

mod document;
mod judge;
mod pair;
#[cfg(test)]
mod tests;

use keymark_bench::case::{Case, CaseKey};
use keymark_bench::record::{CaseRecord, Record};
use keymark_bench::series::InSeries;
use keymark_stats::{BetweenRuns, Estimate, LogRatio, MIN_RUNS, Seconds, independent, paired};

pub use document::document;
pub use judge::{Judgement, Noise};
pub use pair::{Grounds, Pair, Verdict};

/// Two sides, case by case.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// In the order of the first side's first run.
    pub pairs: Vec<Pair>,
    /// Number of runs of the first side and of the second.
    pub runs: [usize; 2],
    /// By how much runs of these cases differ here.
    pub machine: BetweenRuns,
    /// What is taken for no difference.
    pub noise: Noise,
}

impl Comparison {
    /// Runs of one side against runs of another. Cases are paired by everything but the device if the sides
    /// have no device in common (another machine's name, an article's spelling).
    #[must_use]
    pub fn of(old: &[Record], new: &[Record], machine: BetweenRuns, noise: Noise) -> Self {
        let sides = Sides {
            old,
            new,
            alternating: alternate(old, new),
            machine,
        };
        let cases = |side: &'_ [Record]| -> Vec<Case> {
            let mut cases: Vec<Case> = Vec::new();
            for record in side.iter().flat_map(|record| &record.cases) {
                if !cases.contains(&record.case) {
                    cases.push(record.case.clone());
                }
            }
            cases
        };
        let (before, after) = (cases(old), cases(new));
        let common = before
            .iter()
            .any(|a| after.iter().any(|b| a.device == b.device));
        let same = |a: &Case, b: &Case| {
            let wanted = if common {
                b.key()
            } else {
                CaseKey {
                    device: a.device.clone(),
                    // The sources of articles differ in the length of the message by bytes only.
                    input_bytes: a.input_bytes,
                    ..b.key()
                }
            };
            a.key() == wanted && a.replica == b.replica
        };
        let pairs = before.iter().flat_map(|a| {
            let others = after.iter().filter(move |b| same(a, b));
            others.filter_map(|b| sides.pair(a, b))
        });
        let mut comparison = Self {
            pairs: pairs.collect(),
            runs: [old.len(), new.len()],
            machine,
            noise,
        };
        comparison.decide();
        comparison
    }

    /// The first two copies of every case that stands in a plan more than once.
    #[must_use]
    pub fn of_copies(record: &Record, noise: Noise) -> Self {
        let second = |a: &CaseRecord| {
            record
                .cases
                .iter()
                .find(|b| b.case.replica == 1 && b.case.key() == a.case.key())
        };
        let seed = record.plan.settings.seed;
        let pairs = record.cases.iter().filter(|a| a.case.replica == 0);
        let pairs = pairs.filter_map(|a| {
            let b = second(a)?;
            let means = (vec![pair::mean(a)?], vec![pair::mean(b)?]);
            let ratio = paired(&b.latencies(), &a.latencies(), seed)?;
            let units = a.latencies().block_count().min(b.latencies().block_count());
            let evidence = LogRatio::of_interval(&ratio, units.saturating_sub(1) as f64);
            let pair = Pair::new((&a.case, &means.0), (&b.case, &means.1), Grounds::Copies)?;
            Some(pair.with(evidence, Some(ratio)).on(record, record))
        });
        let mut comparison = Self {
            pairs: pairs.collect(),
            runs: [1, 1],
            machine: BetweenRuns::ASSUMED,
            noise,
        };
        comparison.decide();
        comparison
    }
}

/// The mean of a case in a run.
pub(crate) fn run_mean(run: &Record, case: &Case) -> Option<Seconds> {
    let mut cases = run.cases.iter();
    pair::mean(cases.find(|found| found.case == *case)?)
}

/// What is compared.
struct Sides<'a> {
    old: &'a [Record],
    new: &'a [Record],
    alternating: bool,
    machine: BetweenRuns,
}

impl Sides<'_> {
    fn pair(&self, a: &Case, b: &Case) -> Option<Pair> {
        let (old, new) = (with(self.old, a), with(self.new, b));
        let means = |side: &[(&Record, &CaseRecord, Seconds)]| -> Vec<Seconds> {
            side.iter().map(|(_, _, mean)| *mean).collect()
        };
        let (old_means, new_means) = (means(&old), means(&new));
        let both = old.iter().chain(&new);
        let published = both.clone().any(|(_, case, _)| case.published.is_some());
        let (first, second) = (old.first()?, new.first()?);
        let (grounds, evidence) = if pair::is_prediction(a) && pair::is_prediction(b) {
            (Grounds::Exact, None)
        } else if published {
            (Grounds::Nothing, None)
        } else if let Some(pairs) = self.neighbours(&old, &new) {
            (Grounds::Alternating, LogRatio::of_pairs(&pairs))
        } else if old.len() >= MIN_RUNS && new.len() >= MIN_RUNS {
            let evidence = LogRatio::between_runs(&new_means, &old_means);
            (Grounds::Series, evidence)
        } else {
            let single = old.len() == 1 && new.len() == 1;
            let within = single.then(|| within(first, second)).flatten();
            let evidence = LogRatio::of_few(&new_means, &old_means, &self.machine, within.as_ref());
            (Grounds::FewRuns, evidence)
        };
        let pair = Pair::new((a, &old_means), (b, &new_means), grounds)?;
        Some(pair.with(evidence, None).on(first.0, second.0))
    }

    /// Both means of each pair of runs, if the series alternate and there are enough.
    fn neighbours(
        &self,
        old: &[(&Record, &CaseRecord, Seconds)],
        new: &[(&Record, &CaseRecord, Seconds)],
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
fn within(
    old: &(&Record, &CaseRecord, Seconds),
    new: &(&Record, &CaseRecord, Seconds),
) -> Option<Estimate<keymark_stats::Ratio>> {
    let seed = new.0.plan.settings.seed;
    independent(&new.1.latencies(), &old.1.latencies(), seed)
}

/// The case in each run that has a mean of it.
fn with<'a>(side: &'a [Record], case: &Case) -> Vec<(&'a Record, &'a CaseRecord, Seconds)> {
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
