//! One case on both sides.

use keymark_bench::{Assumed, Case, CaseRecord, Outcome, Provenance, Record};
use keymark_stats::{Estimate, LogRatio, Ratio, Seconds, mean_of_runs};

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
    /// What is judged by.
    pub grounds: Grounds,
    /// What it shows, all pairs considered.
    pub verdict: Verdict,
    /// What the devices' times are taken from, the first's and the second's, where nobody measured them.
    pub assumed: [Option<Assumed>; 2],
    /// Of the comparison's sides, the one that is compared.
    pub side: usize,
    /// Of the comparison's sides, the one that the first case is of, for want of a baseline on the own side.
    pub borrowed: Option<usize>,
    pub(crate) evidence: Option<LogRatio>,
    /// Means of the runs of both; of pairs of runs, in their order.
    pub(super) means: [Vec<Seconds>; 2],
}

/// What a pair is judged by.
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
    /// Whether a difference may be called an alarm.
    pub const fn allow_alarm(self) -> bool {
        match self {
            Self::Copies
            | Self::SameRun
            | Self::SameRuns
            | Self::Alternating
            | Self::Series
            | Self::Exact => true,
            Self::FewRuns | Self::Nothing => false,
        }
    }
}

/// What a pair shows: with at most 5 % for any false difference among all pairs, and for any false "same".
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display)]
#[strum(serialize_all = "lowercase")]
pub enum Verdict {
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
    /// Both cases with the means of their runs, which is no verdict yet. `None` if a side has none.
    pub(super) fn new(
        (old, old_means): (&Case, &[Seconds]),
        (new, new_means): (&Case, &[Seconds]),
        grounds: Grounds,
    ) -> Option<Self> {
        let (old_mean, new_mean) = (mean_of_runs(old_means)?, mean_of_runs(new_means)?);
        Some(Self {
            old: old.clone(),
            new: new.clone(),
            old_mean,
            new_mean,
            runs: [old_means.len(), new_means.len()],
            ratio: Estimate::bare(Ratio(new_mean.0 / old_mean.0)),
            grounds,
            verdict: Verdict::Unknown,
            assumed: [None, None],
            side: 0,
            borrowed: None,
            evidence: None,
            means: [old_means.to_vec(), new_means.to_vec()],
        })
    }

    /// With what it is judged by; the ratio is that of the evidence, unless it has one of its own.
    pub(super) fn with(self, evidence: Option<LogRatio>, ratio: Option<Estimate<Ratio>>) -> Self {
        let ratio = ratio.or_else(|| evidence.map(|evidence| evidence.ratio()));
        Self {
            ratio: ratio.unwrap_or(self.ratio),
            evidence,
            ..self
        }
    }

    /// The same, with what is known of the sides' devices.
    pub(super) fn on(self, old: &Record, new: &Record) -> Self {
        let assumed = |case: &Case, record: &Record| {
            let mut devices = record.stores.iter();
            let device = devices.find(|device| device.device == case.device)?;
            device.assumed(case.capability())
        };
        Self {
            assumed: [assumed(&self.old, old), assumed(&self.new, new)],
            ..self
        }
    }
}

/// Predictions are exact: the same question has the same answer.
pub(super) fn is_prediction(case: &Case) -> bool {
    case.provenance == Provenance::Predicted
}

/// The mean of the operations that count, of a load on a server in its steady state; none of a queue that grows, which has
/// no mean to compare.
pub(crate) fn mean(record: &CaseRecord) -> Option<Seconds> {
    if overload(record).is_some() {
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
