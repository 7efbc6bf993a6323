//! A case on both sides.

use keymark_bench::{Assumed, Case, CaseRecord, Outcome};
use keymark_stats::{Estimate, LogRatio, Ratio, Seconds, mean_of_runs};

use super::{Measured, means};
use crate::analysis::latencies::overload;

/// A pair of cases that measure the same thing.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// The case on the first side.
    pub old: Case,
    /// The case on the second.
    pub new: Case,
    /// Mean of the first; of several runs, the geometric mean of theirs.
    pub old_mean: Seconds,
    /// Mean of the second.
    pub new_mean: Seconds,
    /// Runs of the first and of the second that have the case.
    pub runs: [usize; 2],
    /// Second over first; without interval if either is an article's bare mean.
    pub ratio: Estimate<Ratio>,
    pub grounds: Grounds,
    /// The result, with all pairs considered.
    pub verdict: PairVerdict,
    /// Basis of assumed device times of both cases.
    pub assumed: [Option<Assumed>; 2],
    /// Place of the compared side.
    pub side: usize,
    /// Place of the baseline's side, if the own side has no baseline.
    pub borrowed: Option<usize>,
    pub(crate) evidence: Option<LogRatio>,
    /// Means of the runs of both; of pairs of runs, in their order.
    pub(super) means: [Vec<Seconds>; 2],
}

/// Evidence of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grounds {
    /// Two copies in one plan, measured in the same rounds.
    Copies,
    /// Two cases of one run.
    SameRun,
    /// Two cases of the same runs: the ratios within these are the units.
    SameRuns,
    /// Series whose runs alternate: pairs of runs are the units.
    Alternating,
    /// Several runs of each side, at unrelated times: runs are the units.
    Series,
    /// Too few runs of a side to tell by how much they differ.
    FewRuns,
    /// Predictions: the same question has the same answer.
    Exact,
    /// A bare mean.
    Nothing,
}

impl Grounds {
    /// Returns whether a difference may raise an alarm.
    pub const fn allow_alarm(self) -> bool {
        !matches!(self, Self::FewRuns | Self::Nothing)
    }

    /// Returns whether runs, or pairs of them, are the units.
    pub(super) const fn are_runs(self) -> bool {
        matches!(self, Self::SameRuns | Self::Alternating | Self::Series)
    }

    /// Returns the evidence of runs as units.
    pub(super) fn of_runs(self, [old, new]: [&[Seconds]; 2]) -> Option<LogRatio> {
        if self == Self::Series {
            return LogRatio::between_runs(new, old);
        }
        let pairs: Vec<_> = new.iter().copied().zip(old.iter().copied()).collect();
        LogRatio::of_pairs(&pairs)
    }
}

/// Result of a pair, with at most 5 % for any false difference among all pairs, and for any false "same".
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display)]
#[strum(serialize_all = "lowercase")]
pub enum PairVerdict {
    /// The second is slower.
    Slower,
    /// The second is faster.
    Faster,
    /// Neither is, by more than the margin: the interval lies within it.
    Same,
    /// The runs tell a difference that is no larger than what is taken for noise.
    #[strum(to_string = "within noise")]
    WithinNoise,
    /// The runs tell neither a difference nor that there is none.
    #[strum(to_string = "not distinguishable")]
    Indistinguishable,
    /// There is no interval to judge by.
    #[strum(to_string = "no interval")]
    Unknown,
}

impl Pair {
    /// Both cases with the means of their runs and what they are judged by, which is no verdict yet. `None` if a side has
    /// none.
    pub(super) fn new(
        old: &[Measured<'_>],
        new: &[Measured<'_>],
        grounds: Grounds,
        evidence: Option<LogRatio>,
    ) -> Option<Self> {
        let (first, second) = (old.first()?, new.first()?);
        let means = [old, new].map(means);
        let (old_mean, new_mean) = (mean_of_runs(&means[0])?, mean_of_runs(&means[1])?);
        let bare = Estimate::bare(Ratio(new_mean.0 / old_mean.0));
        Some(Self {
            old: first.record.case.clone(),
            new: second.record.case.clone(),
            old_mean,
            new_mean,
            runs: means.each_ref().map(Vec::len),
            ratio: evidence.map_or(bare, |evidence| evidence.ratio()),
            grounds,
            verdict: PairVerdict::Unknown,
            assumed: [first, second].map(assumed),
            side: 0,
            borrowed: None,
            evidence,
            means,
        })
    }

    /// Returns a pair whose units are runs.
    pub(super) fn of_runs(
        old: &[Measured<'_>],
        new: &[Measured<'_>],
        grounds: Grounds,
    ) -> Option<Self> {
        let evidence = grounds.of_runs([&means(old), &means(new)]);
        Self::new(old, new, grounds, evidence)
    }
}

fn assumed(of: &Measured<'_>) -> Option<Assumed> {
    let case = &of.record.case;
    let device = of
        .run
        .stores
        .iter()
        .find(|device| device.device == case.device)?;
    device.assumed(case.capability())
}

/// The mean of the operations that count, of a load on a server in its steady state; none of a queue that grows, which has
/// no mean to compare, and of a case that failed.
pub(crate) fn mean(record: &CaseRecord) -> Option<Seconds> {
    if overload(record).is_some() || record.failure().is_some() {
        return None;
    }
    if let Some(published) = &record.published {
        return Some(published.mean);
    }
    if let Some(load) = &record.server_load {
        return load.mean(|second| &second.whole);
    }
    let done = record.samples().filter(|s| s.outcome == Outcome::Done);
    let n = done.count();
    let latencies = record.blocks.iter().flat_map(|block| block.latencies_ns());
    let sum: f64 = latencies.map(|latency| latency as f64).sum();
    (n > 0).then(|| Seconds(sum / n as f64 / 1e9))
}
