//! Verdicts and alarms, with all pairs considered.
//!
//! One figure over many cases: the geometric mean of their ratios, the only mean of which it does not matter what they
//! are ratios to (Fleming & Wallace, "How Not to Lie with Statistics: The Correct Way to Summarize Benchmark Results",
//! CACM 29, 1986). It is about these cases, each counted once, and not about the time that all of them take.

use keymark_bench::Provenance;
use keymark_stats::{Estimate, LogRatio, Ratio, Seconds, holm, holm_levels, mean_of_runs};

use crate::grouped;

use super::{Comparison, Grounds, Pair, PairVerdict};

/// Probability of any false difference in a comparison, and of any false "same".
const RISK: f64 = 0.05;
/// Probability for one direction: of any false alarm, and of each of the two tests of a "same", so that the 95 %
/// interval lies within the margin.
const RISK_OF_ONE_SIDE: f64 = RISK / 2.0;

/// Thresholds of a comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Criteria {
    /// Differences up to this are none.
    pub noise: Noise,
    /// Largest difference that counts as the same.
    pub equivalence: f64,
}

impl Default for Criteria {
    fn default() -> Self {
        Self {
            noise: Noise::default(),
            equivalence: 0.02,
        }
    }
}

impl Criteria {
    /// Within what the interval of a pair with these grounds has to lie to be called the same. Series at different
    /// times differ by more than their runs tell: by the noise, for which there must be room. `None` if there is not.
    pub fn margin(self, grounds: Grounds) -> Option<f64> {
        let series = grounds == Grounds::Series;
        let unseen = if series { self.noise.apart } else { 0.0 };
        let margin = (1.0 + self.equivalence) / (1.0 + unseen) - 1.0;
        (margin > 0.0).then_some(margin)
    }

    /// A verdict with the interval that it is read from, at the level of its test: the one that leaves out 1, if the sides
    /// differ; the one within the margin, if they are the same.
    fn read(
        self,
        evidence: &LogRatio,
        grounds: Grounds,
        [differing, same]: [f64; 2],
    ) -> (Estimate<Ratio>, PairVerdict) {
        let ends = |ratio: &Estimate<Ratio>| Some((ratio.low?.0, ratio.high?.0));
        let ratio = evidence.ratio_at(differing, self.noise.on(grounds));
        if let Some(verdict) = ends(&ratio).and_then(|(low, high)| beside(low, high)) {
            return (ratio, verdict);
        }
        let alike = self.margin(grounds).and_then(|margin| {
            // The noise for which there has to be room is also in the interval.
            let unseen = (1.0 + self.equivalence) / (1.0 + margin) - 1.0;
            let alike = evidence.ratio_at(same, unseen);
            let (low, high) = ends(&alike)?;
            let most = 1.0 + self.equivalence;
            (low > most.recip() && high < most).then_some(alike)
        });
        if let Some(alike) = alike {
            return (alike, PairVerdict::Same);
        }
        // Without the noise there would be a difference.
        let bare = ends(&evidence.ratio_at(differing, 0.0));
        match bare.and_then(|(low, high)| beside(low, high)) {
            Some(_) => (ratio, PairVerdict::WithinNoise),
            None => (ratio, PairVerdict::Indistinguishable),
        }
    }
}

/// Returns the verdict of an interval that leaves out 1.
fn beside(low: f64, high: f64) -> Option<PairVerdict> {
    if low > 1.0 {
        Some(PairVerdict::Slower)
    } else {
        (high < 1.0).then_some(PairVerdict::Faster)
    }
}

/// Differences up to this are none, whatever the intervals say: runs of one series share what the machine
/// does at that time, and so do not know by how much two series differ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Noise {
    /// Noise of cases measured in turn.
    pub interleaved: f64,
    /// Noise of series at different times.
    pub apart: f64,
}

impl Default for Noise {
    /// Returns the noise of a shared virtual machine: series of five runs were called different in 3 % of comparisons
    /// with it, in 9 % with half of it, in 15 % without (docs/methodology/across-runs.md).
    fn default() -> Self {
        Self {
            interleaved: 0.02,
            apart: 0.10,
        }
    }
}

impl Noise {
    /// Returns one noise for both.
    pub const fn of(share: f64) -> Self {
        Self {
            interleaved: share,
            apart: share,
        }
    }

    /// Returns the noise of a pair with these grounds. Intervals of single runs include it.
    pub const fn on(self, grounds: Grounds) -> f64 {
        match grounds {
            Grounds::Copies | Grounds::SameRun | Grounds::SameRuns | Grounds::Alternating => {
                self.interleaved
            }
            Grounds::Series => self.apart,
            Grounds::FewRuns | Grounds::Exact | Grounds::Nothing => 0.0,
        }
    }
}

/// Pairs by a limit to slow-downs. All others are shown to be within it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Judgement<'a> {
    /// Slower by more than the limit.
    pub slower: Vec<&'a Pair>,
    /// Neither shown to be slower by more than the limit, nor shown to be within it.
    pub undecided: Vec<&'a Pair>,
}

impl Comparison {
    /// Gives each pair its verdict: a difference beyond noise, or the same, each with all pairs considered.
    pub(super) fn decide(&mut self) {
        let criteria = self.criteria;
        let (mut differing, mut same): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
        for (pair, evidence) in self.evident() {
            differing.push(evidence.p_differs_by(criteria.noise.on(pair.grounds)));
            let margin = criteria.margin(pair.grounds);
            same.push(margin.map_or(1.0, |margin| evidence.p_differs_at_least_by(margin)));
        }
        let levels = holm_levels(&differing, RISK);
        let mut levels = levels.into_iter().zip(holm_levels(&same, RISK_OF_ONE_SIDE));
        for pair in &mut self.pairs {
            let exact = pair.ratio.value.0;
            let evidence = pair.evidence;
            let evidence = evidence.and_then(|evidence| Some((evidence, levels.next()?)));
            pair.verdict = match (pair.grounds, evidence) {
                (Grounds::Exact, _) => beside(exact, exact).unwrap_or(PairVerdict::Same),
                (_, None) => PairVerdict::Unknown,
                (grounds, Some((evidence, (differing, same)))) => {
                    let (ratio, verdict) =
                        criteria.read(&evidence, grounds, [differing, 2.0 * same]);
                    pair.ratio = ratio;
                    verdict
                }
            };
        }
    }

    fn evident(&self) -> impl Iterator<Item = (&Pair, &LogRatio)> {
        self.pairs
            .iter()
            .filter_map(|pair| Some((pair, pair.evidence.as_ref()?)))
    }

    /// Judges each pair by a limit: the share, or the noise where that is more. Alarms are raised with at most 2.5 % for any
    /// false one. A pair is within the limit where the upper end of its one-sided 95 % interval is. All pairs have to be within
    /// it for a pass, so that a false pass has at most 5 % without a correction for their number (Berger, "Multiparameter
    /// Hypothesis Testing and Acceptance Sampling", Technometrics 24, 1982). Predictions are exact.
    pub fn slower_than(&self, share: f64) -> Judgement<'_> {
        let limit = |pair: &Pair| share.max(self.criteria.noise.on(pair.grounds));
        let judged = self
            .evident()
            .filter(|(pair, _)| pair.grounds.allow_alarm());
        let slower = judged.map(|(pair, evidence)| evidence.p_slower_than(limit(pair)));
        let mut adjusted = holm(&slower.collect::<Vec<_>>()).into_iter();
        let mut judgement = Judgement::default();
        for pair in &self.pairs {
            let evidence = pair.evidence.filter(|_| pair.grounds.allow_alarm());
            let (is_slower, is_within) = match evidence {
                _ if pair.grounds == Grounds::Exact => {
                    let above = pair.ratio.value.0 > 1.0 + share;
                    (above, !above)
                }
                Some(evidence) => (
                    adjusted.next().is_some_and(|p| p < RISK_OF_ONE_SIDE),
                    evidence.p_at_least_slower_by(limit(pair)) < RISK,
                ),
                None => (false, false),
            };
            if is_slower {
                judgement.slower.push(pair);
            } else if !is_within {
                judgement.undecided.push(pair);
            }
        }
        judgement
    }
}

/// The geometric mean of one side's ratios, of one kind of figures.
#[derive(Debug, Clone, PartialEq)]
pub struct GeometricMean {
    pub side: usize,
    /// The kind of the baseline's figures, and of the side's.
    pub provenance: [Provenance; 2],
    /// Over how many cases.
    pub cases: usize,
    /// Their geometric mean; without interval where the ratios have none.
    pub ratio: Estimate<Ratio>,
}

impl Comparison {
    /// Returns a mean for each side and kind of figures: kinds are never mixed.
    pub fn geometric_means(&self) -> Vec<GeometricMean> {
        let groups = grouped(&self.pairs, |pair| {
            (pair.side, [pair.old.provenance, pair.new.provenance])
        });
        let mean = |((side, provenance), group): ((usize, [Provenance; 2]), Vec<&Pair>)| {
            Some(GeometricMean {
                side,
                provenance,
                cases: group.len(),
                ratio: ratio(&group)?,
            })
        };
        groups.into_iter().filter_map(mean).collect()
    }
}

/// Returns the geometric mean. Where runs are the units, each run's mean over the cases is one figure, so that the
/// interval has what a run does to all of its cases; else the errors of the ratios are added.
fn ratio(group: &[&Pair]) -> Option<Estimate<Ratio>> {
    let first = group.first()?;
    let grounds = first.grounds;
    let alike = group.iter().all(|pair| {
        pair.grounds == grounds
            && pair.means.each_ref().map(Vec::len) == first.means.each_ref().map(Vec::len)
    });
    let over_cases = |side: usize| -> Option<Vec<Seconds>> {
        let runs = 0..first.means[side].len();
        let of_run = |run: usize| {
            let means: Vec<Seconds> = group.iter().map(|pair| pair.means[side][run]).collect();
            mean_of_runs(&means)
        };
        runs.map(of_run).collect()
    };
    let evidence = if alike && grounds.are_runs() {
        grounds.of_runs([&over_cases(0)?, &over_cases(1)?])
    } else {
        let known: Vec<LogRatio> = group.iter().filter_map(|pair| pair.evidence).collect();
        LogRatio::together(&known).filter(|_| known.len() == group.len())
    };
    match evidence {
        Some(evidence) => Some(evidence.ratio()),
        None => {
            let ratios = group.iter().map(|pair| Seconds(pair.ratio.value.0));
            let mean = mean_of_runs(&ratios.collect::<Vec<_>>())?;
            Some(Estimate::bare(Ratio(mean.0)))
        }
    }
}
