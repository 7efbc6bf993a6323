//! Whole runs as units: two sides, each run several times.
//!
//! What differs between two runs of the same program (where its pages lie, what the machine does
//! meanwhile) shows in no interval from within one run. So the means of runs are the sample, on the log
//! scale, as at the highest level of Kalibera & Jones, "Rigorous Benchmarking in Reasonable Time", ISMM
//! 2013; noise within runs is in the variance of their means. Runs at unrelated times: Welch's t
//! (Welch 1947; Satterthwaite 1946). Runs that alternate: Student's t over the differences of pairs
//! (Student 1908). Too few runs to know by how much they differ: what earlier runs of the same cases
//! have shown, by their pooled variance.

use crate::dependence::{mean_and_squares, variance};
use crate::estimate::{Estimate, Method, Ratio, Seconds, TAIL};
use crate::special::{t_quantile, t_sf};

/// Fewer runs a side than this do not tell by how much runs differ: where a machine has two speeds, two
/// runs a side meet one each by chance in one of eight comparisons.
pub const MIN_RUNS: usize = 3;

/// The log of a ratio of means, with its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogRatio {
    value: f64,
    error: f64,
    /// Degrees of freedom of the error.
    freedom: f64,
    method: Method,
}

/// Differences between runs of the same case on a machine: standard deviation of the log of a run's mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BetweenRuns {
    /// The standard deviation, nearly a share of the mean.
    pub deviation: f64,
    /// Number of runs behind it; 0 if it is assumed.
    pub runs: usize,
}

impl BetweenRuns {
    /// The assumed deviation: the upper end of what was seen on shared virtual machines.
    pub const ASSUMED: Self = Self {
        deviation: 0.15,
        runs: 0,
    };
    /// Fewer runs tell less than [`Self::ASSUMED`] does.
    pub const MIN_RUNS: usize = 5;
    /// A machine that was this quiet for a while need not stay so.
    const QUIETEST: f64 = 0.05;
    /// Degrees of freedom of the assumed deviation, which was not estimated from a sample.
    const ASSUMED_FREEDOM: f64 = 1_000.0;

    /// Out of the means of each case's runs, of `runs` different runs in all. The variance is pooled over the
    /// cases; since those of one run share its luck, the degrees of freedom are the runs'.
    pub fn of(cases: &[Vec<Seconds>], runs: usize) -> Self {
        let (mut squares, mut freedom) = (0.0, 0.0);
        for logs in cases.iter().filter_map(|means| logs(means)) {
            squares += mean_and_squares(&logs).1;
            freedom += logs.len() as f64 - 1.0;
        }
        if runs < Self::MIN_RUNS || freedom < Self::MIN_RUNS as f64 - 1.0 {
            return Self::ASSUMED;
        }
        Self {
            deviation: (squares / freedom).sqrt().max(Self::QUIETEST),
            runs,
        }
    }

    fn freedom(&self) -> f64 {
        if self.runs == 0 {
            Self::ASSUMED_FREEDOM
        } else {
            self.runs as f64 - 1.0
        }
    }
}

impl LogRatio {
    /// Runs of both sides at unrelated times; `None` with fewer than two of a side.
    pub fn between_runs(new: &[Seconds], old: &[Seconds]) -> Option<Self> {
        let (a, b) = (logs(new)?, logs(old)?);
        let (da, db) = (a.len() as f64 - 1.0, b.len() as f64 - 1.0);
        if da < 1.0 || db < 1.0 {
            return None;
        }
        let (va, vb) = (variance(&a) / a.len() as f64, variance(&b) / b.len() as f64);
        let sum = va + vb;
        let freedom = if sum > 0.0 {
            sum * sum / (va * va / da + vb * vb / db)
        } else {
            da.min(db)
        };
        Some(Self {
            value: mean(&a) - mean(&b),
            error: sum.sqrt(),
            freedom,
            method: Method::RunsWelchT,
        })
    }

    /// Runs that alternate: the new and the old one of each pair. `None` with fewer than two pairs.
    pub fn of_pairs(pairs: &[(Seconds, Seconds)]) -> Option<Self> {
        let (new, old): (Vec<_>, Vec<_>) = pairs.iter().copied().unzip();
        let (new, old) = (logs(&new)?, logs(&old)?);
        let differences: Vec<f64> = new.iter().zip(&old).map(|(a, b)| a - b).collect();
        let count = differences.len() as f64;
        (count >= 2.0).then(|| Self {
            value: mean(&differences),
            error: (variance(&differences) / count).sqrt(),
            freedom: count - 1.0,
            method: Method::RunsPairedT,
        })
    }

    /// Too few runs of a side to tell by how much they differ. `within` is what the runs tell of themselves,
    /// if both sides are single ones.
    pub fn of_few(
        new: &[Seconds],
        old: &[Seconds],
        machine: &BetweenRuns,
        within: Option<&Estimate<Ratio>>,
    ) -> Option<Self> {
        let (a, b) = (logs(new)?, logs(old)?);
        let shares = 1.0 / a.len() as f64 + 1.0 / b.len() as f64;
        let within = within.and_then(|ratio| Self::of_interval(ratio, machine.freedom()));
        let within = within.map_or(0.0, |within| within.error);
        Some(Self {
            value: mean(&a) - mean(&b),
            error: (machine.deviation * shares.sqrt()).hypot(within),
            freedom: machine.freedom(),
            method: Method::FewRuns,
        })
    }

    /// Returns the evidence of a ratio with an interval (Altman & Bland, "How to obtain the P value from a confidence
    /// interval", BMJ 343, 2011), by the wider side. `None` if it has no interval.
    pub fn of_interval(ratio: &Estimate<Ratio>, freedom: f64) -> Option<Self> {
        let value = ratio.value.0.ln();
        let half = (value - ratio.low?.0.ln()).max(ratio.high?.0.ln() - value);
        (value.is_finite() && half.is_finite() && freedom > 0.0).then(|| Self {
            value,
            error: half / t_quantile(1.0 - TAIL, freedom),
            freedom,
            method: ratio.method,
        })
    }

    /// Several ratios in one: their geometric mean, on which it does not depend which side they are taken to (Fleming
    /// & Wallace, "How Not to Lie with Statistics", CACM 29, 1986). Ratios that were measured together share errors, by
    /// how much is not known: here they are added as if they were one and the same, so that the interval is rather too
    /// wide. `None` of nothing.
    pub fn together(ratios: &[Self]) -> Option<Self> {
        let of = |part: &dyn Fn(&Self) -> f64| -> Vec<f64> { ratios.iter().map(part).collect() };
        let freedom = ratios.iter().map(|ratio| ratio.freedom).reduce(f64::min)?;
        Some(Self {
            value: mean(&of(&|ratio| ratio.value)),
            error: mean(&of(&|ratio| ratio.error)),
            freedom,
            method: Method::AllTogether,
        })
    }

    /// The ratio, with its 95 % interval.
    pub fn ratio(&self) -> Estimate<Ratio> {
        self.ratio_at(2.0 * TAIL, 0.0)
    }

    /// The ratio, with the interval that leaves it out with a probability of `risk`, longer at both ends by the share by
    /// which the sides may differ besides. It leaves out 1 just where [`Self::p_differs_by`] that share is below the risk.
    pub fn ratio_at(&self, risk: f64, besides: f64) -> Estimate<Ratio> {
        let spread = if self.error > 0.0 {
            t_quantile(1.0 - risk / 2.0, self.freedom) * self.error
        } else {
            0.0
        };
        let half = spread + besides.ln_1p();
        let bounds = ((self.value - half).exp(), (self.value + half).exp());
        Estimate::new(self.value.exp(), bounds, self.method).widened()
    }

    /// Returns the probability of so large a difference, in either direction, if there were none beyond the share.
    pub fn p_differs_by(&self, share: f64) -> f64 {
        (2.0 * self.tail(self.value.abs() - share.ln_1p())).min(1.0)
    }

    /// Returns the probability of so slow a new side, if it were slower by at most the share.
    pub fn p_slower_than(&self, share: f64) -> f64 {
        self.tail(self.value - share.ln_1p())
    }

    /// Returns the probability of so fast a new side, if it were slower by the share or more: below 5 %, it is shown
    /// not to be.
    pub fn p_at_least_slower_by(&self, share: f64) -> f64 {
        self.tail(share.ln_1p() - self.value)
    }

    /// How probable a ratio so near 1 would be if the sides differed by the share or more: the larger probability of
    /// two one-sided tests (Schuirmann, "A Comparison of the Two One-Sided Tests Procedure and the Power Approach",
    /// Journal of Pharmacokinetics and Biopharmaceutics 15, 1987). It is below 2.5 % where the 95 % interval lies
    /// between 1/(1 + share) and 1 + share.
    pub fn p_differs_at_least_by(&self, share: f64) -> f64 {
        let margin = share.ln_1p();
        self.tail(margin - self.value)
            .max(self.tail(margin + self.value))
    }

    /// Probability of a deviation of that much or more to one side.
    fn tail(&self, deviation: f64) -> f64 {
        if self.error > 0.0 {
            t_sf(deviation / self.error, self.freedom)
        } else if deviation > 0.0 {
            0.0
        } else {
            1.0
        }
    }
}

/// Geometric mean of the means of runs, which is what ratios on the log scale are of; `None` of nothing.
pub fn mean_of_runs(means: &[Seconds]) -> Option<Seconds> {
    logs(means).map(|logs| Seconds(mean(&logs).exp()))
}

/// The mean of a case over runs, with Student's t over the runs; without bounds for a single one.
pub fn estimate_of_runs(means: &[Seconds]) -> Option<Estimate<Seconds>> {
    let logs = logs(means)?;
    let (count, value) = (logs.len() as f64, mean(&logs));
    if logs.len() < 2 {
        return Some(Estimate::bare(value.exp()).widened());
    }
    let half = t_quantile(1.0 - TAIL, count - 1.0) * (variance(&logs) / count).sqrt();
    let bounds = ((value - half).exp(), (value + half).exp());
    Some(Estimate::new(value.exp(), bounds, Method::RunsStudentT).widened())
}

/// Standard deviation of the log of run means; `None` with fewer than two.
pub fn deviation_of_runs(means: &[Seconds]) -> Option<Ratio> {
    let logs = logs(means)?;
    (logs.len() >= 2).then(|| Ratio(variance(&logs).sqrt()))
}

/// `None` of nothing, or if one has none.
fn logs(means: &[Seconds]) -> Option<Vec<f64>> {
    let positive = !means.is_empty() && means.iter().all(|mean| mean.0 > 0.0);
    positive.then(|| means.iter().map(|mean| mean.0.ln()).collect())
}

fn mean(values: &[f64]) -> f64 {
    mean_and_squares(values).0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(logs: &[f64]) -> Vec<Seconds> {
        logs.iter().map(|log| Seconds(log.exp())).collect()
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-4
    }

    #[test]
    fn welch_by_hand() {
        // Equal variances of 0.01 with three runs each: error √(0.02/3), 4 degrees, t = 2.77645.
        let new = runs(&[0.9, 1.0, 1.1]);
        let old = runs(&[0.4, 0.5, 0.6]);
        let ratio = LogRatio::between_runs(&new, &old).unwrap();
        let half = 2.776_45 * (0.02_f64 / 3.0).sqrt();
        let estimate = ratio.ratio();
        assert!(close(estimate.value.0, 0.5_f64.exp()));
        assert!(close(estimate.low.unwrap().0.ln(), 0.5 - half));
        assert!(close(estimate.high.unwrap().0.ln(), 0.5 + half));
        // t = 6.1237 with 4 degrees of freedom.
        assert!(close(ratio.p_differs_by(0.0), 0.003_602));
        assert!(close(ratio.p_slower_than(0.0), 0.001_801));
        assert!(close(ratio.p_slower_than(0.5_f64.exp_m1()), 0.5));
        assert!(close(ratio.p_differs_by(0.5_f64.exp_m1()), 1.0));
        assert_eq!(LogRatio::between_runs(&new[..1], &old), None);
    }

    #[test]
    fn two_one_sided_tests_by_hand() {
        // 0.01 with an error of 0.01/√3 and 2 degrees. To 0.05: t = 6.9282 and 10.392.
        let old = runs(&[0.0, 0.0, 0.0]);
        let new = runs(&[0.0, 0.01, 0.02]);
        let pairs: Vec<_> = new.into_iter().zip(old).collect();
        let ratio = LogRatio::of_pairs(&pairs).unwrap();
        let p = ratio.p_differs_at_least_by(0.05_f64.exp_m1());
        assert!(close(p, 0.010_1), "{p}");
        // The bound is where the interval's further end lies.
        let end = ratio.ratio().high.unwrap().0;
        assert!(close(ratio.p_differs_at_least_by(end - 1.0), 0.025));
        assert!(
            ratio.p_differs_at_least_by(0.0) > 0.5,
            "nothing is within nothing"
        );
        let exact = LogRatio::of_pairs(&[(Seconds(1.0), Seconds(1.0)); 3]).unwrap();
        assert!(exact.p_differs_at_least_by(0.01) < 1e-12);
    }

    #[test]
    fn a_geometric_mean_of_ratios_is_that_of_the_inverse_turned_round() {
        let ratio =
            |logs: [f64; 3]| LogRatio::between_runs(&runs(&logs), &runs(&[0.0, 0.1, 0.2])).unwrap();
        let (a, b) = (ratio([0.4, 0.5, 0.6]), ratio([0.0, 0.1, 0.2]));
        let both = LogRatio::together(&[a, b]).unwrap().ratio();
        // (0.4 + 0) / 2, and half-widths alike: nothing cancels.
        assert!(close(both.value.0.ln(), 0.2));
        let width = |ratio: &LogRatio| ratio.ratio().high.unwrap().0.ln() - ratio.value;
        assert!(close(both.high.unwrap().0.ln() - 0.2, width(&a)));
        assert_eq!(LogRatio::together(&[]), None);
    }

    #[test]
    fn pairs_cancel_what_they_share() {
        // Differences 0.1, 0.2, 0.3: error 0.1/√3, t = 4.30265.
        let old = runs(&[0.0, 2.0, 5.0]);
        let new = runs(&[0.1, 2.2, 5.3]);
        let pairs: Vec<_> = new.into_iter().zip(old).collect();
        let estimate = LogRatio::of_pairs(&pairs).unwrap().ratio();
        assert!(close(estimate.value.0.ln(), 0.2));
        let half = 4.302_65 * 0.1 / 3.0_f64.sqrt();
        assert!(close(estimate.low.unwrap().0.ln(), 0.2 - half));
        assert_eq!(LogRatio::of_pairs(&pairs[..1]), None);
    }

    #[test]
    fn single_runs_differ_by_what_the_machine_does() {
        let machine = BetweenRuns::ASSUMED;
        let of = |ratio: f64| LogRatio::of_few(&[Seconds(ratio)], &[Seconds(1.0)], &machine, None);
        // 1.9623 × 0.15 × √2 = 0.4163.
        let low = of(2.0).unwrap().ratio().low.unwrap().0.ln();
        assert!(close(low, 2.0_f64.ln() - 0.4163), "{low}");
        assert!(of(1.5).unwrap().p_differs_by(0.0) > 0.05);
        assert!(of(1.6).unwrap().p_differs_by(0.0) < 0.05);
        let wide = Estimate::new(1.6, (0.8, 3.2), Method::WelchT).widened();
        let both = LogRatio::of_few(&[Seconds(1.6)], &[Seconds(1.0)], &machine, Some(&wide));
        assert!(both.unwrap().p_differs_by(0.0) > 0.05, "noisy runs");
        assert_eq!(LogRatio::of_few(&[], &[Seconds(1.0)], &machine, None), None);
    }

    #[test]
    fn earlier_runs_tell_the_deviation() {
        // Squares 0.2² × (4 + 1 + 0 + 1 + 4) = 0.4 each, over 2 × 4 degrees: 0.1.
        let case = runs(&[-0.4, -0.2, 0.0, 0.2, 0.4]);
        let known = BetweenRuns::of(&[case.clone(), case.clone()], 5);
        assert!(close(known.deviation, 0.1_f64.sqrt()));
        assert_eq!(known.runs, 5);
        assert_eq!(BetweenRuns::of(&[case], 4), BetweenRuns::ASSUMED);
        let quiet = BetweenRuns::of(&[runs(&[1.0; 8])], 8);
        assert!(close(quiet.deviation, 0.05));
    }

    #[test]
    fn an_interval_gives_its_probability_back() {
        // Altman & Bland's rule: an interval that ends at 1 means P = 0.05.
        let edge = Estimate::new(1.2, (1.0, 1.44), Method::StudentT).widened();
        let edge = LogRatio::of_interval(&edge, 9.0).unwrap();
        assert!(close(edge.p_differs_by(0.0), 0.05));
        let open: Estimate<Ratio> = Estimate::bare(1.2).widened();
        assert_eq!(LogRatio::of_interval(&open, 9.0), None);
    }

    #[test]
    fn equal_runs_without_noise_do_not_differ() {
        let same = LogRatio::between_runs(&runs(&[1.0; 3]), &runs(&[1.0; 3])).unwrap();
        assert!((same.p_differs_by(0.0) - 1.0).abs() < 1e-12);
        let more = LogRatio::between_runs(&runs(&[2.0; 3]), &runs(&[1.0; 3])).unwrap();
        assert!(more.p_differs_by(0.0) < 1e-12 && more.p_slower_than(0.1) < 1e-12);
        assert_eq!(more.ratio().low, Some(more.ratio().value));
    }

    #[test]
    fn a_series_in_one_figure() {
        let means = runs(&[0.0, 0.1, 0.2]);
        let estimate = estimate_of_runs(&means).unwrap();
        assert!(close(estimate.value.0, 0.1_f64.exp()));
        let half = 4.302_65 * 0.1 / 3.0_f64.sqrt();
        assert!(close(estimate.high.unwrap().0.ln(), 0.1 + half));
        assert!(close(deviation_of_runs(&means).unwrap().0, 0.1));
        assert_eq!(estimate_of_runs(&means[..1]).unwrap().low, None);
        assert_eq!(deviation_of_runs(&means[..1]), None);
        assert_eq!(mean_of_runs(&[]), None);
    }
}
