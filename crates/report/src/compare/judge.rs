//! Verdicts and alarms, with all pairs considered.

use keymark_stats::holm;

use super::{Comparison, Grounds, Pair, Verdict};

/// What any false verdict among all of a comparison may have for probability.
const RISK: f64 = 0.05;
/// That of alarms, which are about one of two directions: none is raised for what is not called slower.
const RISK_OF_ALARM: f64 = RISK / 2.0;

/// Differences up to this are none, whatever the intervals say: runs of one series share what the machine
/// does at that time, and so do not know by how much two series differ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Noise {
    /// Of what was measured in turn.
    pub interleaved: f64,
    /// Of series at different times.
    pub apart: f64,
}

impl Default for Noise {
    /// On a shared virtual machine, series of five runs were called different in 3 % of comparisons with this,
    /// in 9 % with half of it, in 15 % without (METHODOLOGY.md).
    fn default() -> Self {
        Self {
            interleaved: 0.02,
            apart: 0.10,
        }
    }
}

impl Noise {
    /// The same for both.
    #[must_use]
    pub const fn of(share: f64) -> Self {
        Self {
            interleaved: share,
            apart: share,
        }
    }

    /// Of a pair with these grounds. What single runs differ by is in their intervals.
    #[must_use]
    pub const fn on(self, grounds: Grounds) -> f64 {
        match grounds {
            Grounds::Copies | Grounds::Alternating => self.interleaved,
            Grounds::Series => self.apart,
            Grounds::FewRuns | Grounds::Exact | Grounds::Nothing => 0.0,
        }
    }
}

/// Whether anything is slower by more than a limit.
#[derive(Debug, Clone, PartialEq)]
pub enum Judgement<'a> {
    /// These are; perhaps none.
    Slower(Vec<&'a Pair>),
    /// Nothing can be judged: there are too few runs of a side.
    TooFewRuns,
    /// Nothing can be judged: no pair has an interval.
    NoInterval,
}

impl Comparison {
    /// Gives each pair its verdict.
    pub(super) fn decide(&mut self) {
        let noise = self.noise;
        let probabilities: Vec<f64> = self
            .evident()
            .map(|(pair, evidence)| evidence.p_differs_by(noise.on(pair.grounds)))
            .collect();
        let mut adjusted = holm(&probabilities).into_iter();
        for pair in &mut self.pairs {
            let ratio = pair.ratio.value.0;
            let differs = match (pair.grounds, pair.evidence) {
                (Grounds::Exact, _) => Some(ratio.total_cmp(&1.0).is_ne()),
                (_, Some(_)) => adjusted.next().map(|p| p < RISK),
                (_, None) => None,
            };
            pair.verdict = match (differs, pair.grounds) {
                (None, _) => Verdict::Unknown,
                (Some(true), _) if ratio > 1.0 => Verdict::Slower,
                (Some(true), _) => Verdict::Faster,
                (Some(false), Grounds::FewRuns) => Verdict::Indistinguishable,
                (Some(false), _) => Verdict::NoDifference,
            };
        }
    }

    fn evident(&self) -> impl Iterator<Item = (&Pair, &keymark_stats::LogRatio)> {
        let pairs = self.pairs.iter();
        pairs.filter_map(|pair| Some((pair, pair.evidence.as_ref()?)))
    }

    /// Which pairs are slower by more than the share and by more than noise, with at most 2.5 % for any false
    /// alarm; of predictions, which are.
    #[must_use]
    pub fn slower_than(&self, share: f64) -> Judgement<'_> {
        let judged: Vec<_> = self
            .evident()
            .filter(|(pair, _)| pair.grounds.allow_alarm())
            .collect();
        let exact = |pair: &&Pair| pair.grounds == Grounds::Exact;
        if judged.is_empty() && !self.pairs.iter().any(|pair| exact(&pair)) {
            return if self.pairs.iter().any(|p| p.grounds == Grounds::FewRuns) {
                Judgement::TooFewRuns
            } else {
                Judgement::NoInterval
            };
        }
        let probabilities: Vec<f64> = judged
            .iter()
            .map(|(pair, evidence)| evidence.p_slower_than(share.max(self.noise.on(pair.grounds))))
            .collect();
        let adjusted = holm(&probabilities);
        let alarms = judged
            .iter()
            .zip(adjusted)
            .filter(|(_, p)| *p < RISK_OF_ALARM);
        let mut slower: Vec<&Pair> = alarms.map(|((pair, _), _)| *pair).collect();
        let predicted = self.pairs.iter().filter(exact);
        slower.extend(predicted.filter(|pair| pair.ratio.value.0 > 1.0 + share));
        Judgement::Slower(slower)
    }
}
