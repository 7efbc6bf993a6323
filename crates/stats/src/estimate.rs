//! A figure with its interval and the method that gave it: never a bare number.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::quantity::{Quantity, Seconds};

/// Confidence of every interval of this crate.
pub const CONFIDENCE: f64 = 0.95;

/// The probability left out on each side of an interval.
pub(crate) const TAIL: f64 = (1.0 - CONFIDENCE) / 2.0;

/// From the shortest to the longest duration that assumptions leave open: no interval of confidence.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Band {
    /// The shortest.
    pub low: Seconds,
    /// The longest.
    pub high: Seconds,
}

/// How an interval was obtained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Method {
    /// No interval: a single observation says nothing about spread.
    PointOnly,
    /// Studentized bootstrap over blocks or batches.
    BootstrapT,
    /// Student's t over blocks, batches or samples, when too few to resample.
    StudentT,
    /// Order statistics by inversion of a cluster-corrected proportion.
    Woodruff,
    /// Exact binomial order statistics.
    OrderStatistics,
    /// Percentile bootstrap over blocks or batches.
    ClusterBootstrap,
    /// Studentized bootstrap of the log ratio, two independent cases.
    LogRatioBootstrapT,
    /// Student's t on the log ratio, two independent cases.
    WelchT,
    /// Student's t on the log ratio over shared stretches of the run.
    PairedStudentT,
    /// Weighted least squares with a percentile bootstrap over windows.
    UslBootstrap,
    /// That of the mean at the mean speed of the machine.
    ControlVariate,
    /// Recovered from the intervals of the two terms of a difference.
    Mover,
    /// Student's t on the difference over stretches of the run.
    PairedDifference,
    /// Student's t over the means of runs.
    RunsStudentT,
    /// Welch's t over the means of two series of runs.
    RunsWelchT,
    /// Student's t over pairs of runs that alternated.
    RunsPairedT,
    /// Too few runs for an interval of their own: by what runs on the machine differ by.
    FewRuns,
    /// Several ratios in one, their errors added as if they were one and the same.
    AllTogether,
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PointOnly => "point estimate, no interval",
            Self::BootstrapT => {
                "bootstrap-t over blocks (Efron & Tibshirani 1993, ch. 12; Davison & Hinkley 1997, §3.8)"
            }
            Self::StudentT => "Student's t over batches (Law & Kelton 2000, §9.5.3)",
            Self::Woodruff => "Woodruff interval with block variance (Woodruff 1952)",
            Self::OrderStatistics => "binomial order statistics (Hahn & Meeker 1991, §5.2)",
            Self::ClusterBootstrap => {
                "percentile bootstrap over blocks (Davison & Hinkley 1997, §3.8)"
            }
            Self::LogRatioBootstrapT => {
                "bootstrap-t of the log ratio, independent (Efron & Tibshirani 1993, ch. 12)"
            }
            Self::WelchT => "Welch's t of the log ratio (Welch 1947; Satterthwaite 1946)",
            Self::PairedStudentT => "Student's t of the log ratio over shared stretches of the run (Student 1908)",
            Self::UslBootstrap => {
                "weighted least squares, percentile bootstrap over windows (Gunther 2007, ch. 5)"
            }
            Self::ControlVariate => {
                "bootstrap-t or Student's t at the machine's mean speed, by a control variate (Lavenberg & Welch 1981)"
            }
            Self::PairedDifference => {
                "Student's t of the difference over stretches of the run (Student 1908)"
            }
            Self::Mover => "variance recovered from two intervals (Zou & Donner 2008)",
            Self::RunsStudentT => "Student's t over the means of runs (Kalibera & Jones 2013)",
            Self::RunsWelchT => {
                "Welch's t of the log ratio over the means of runs (Kalibera & Jones 2013; Welch 1947)"
            }
            Self::RunsPairedT => {
                "Student's t of the log ratio over pairs of runs (Kalibera & Jones 2013; Student 1908)"
            }
            Self::FewRuns => {
                "standard deviation between earlier runs, pooled (Kalibera & Jones 2013)"
            }
            Self::AllTogether => {
                "geometric mean of ratios (Fleming & Wallace 1986), with their errors assumed to be identical"
            }
        })
    }
}

/// A value with its interval.
///
/// Invariant: `low <= value <= high` where the bounds exist.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate<T> {
    /// The point estimate.
    pub value: T,
    /// Lower bound; `None` if so few samples cannot bound this side.
    pub low: Option<T>,
    /// Upper bound; `None` if so few samples cannot bound this side.
    pub high: Option<T>,
    /// Nominal coverage of the interval, between 0 and 1.
    pub confidence: f64,
    /// How the interval was obtained.
    pub method: Method,
}

/// Plain numbers, as a method computes them.
impl Estimate<f64> {
    pub(crate) const fn new(value: f64, (low, high): (f64, f64), method: Method) -> Self {
        Self {
            value,
            low: Some(low),
            high: Some(high),
            confidence: CONFIDENCE,
            method,
        }
    }

    /// Whether its interval is narrower than the other's, each as a share of the value.
    pub(crate) fn is_narrower_than(&self, other: &Self) -> bool {
        let width = |of: &Self| match (of.low, of.high) {
            (Some(low), Some(high)) => (high - low) / of.value.abs(),
            _ => f64::INFINITY,
        };
        width(self) < width(other)
    }

    /// With a unit, and an interval that holds the value: one from resamples may miss it.
    pub(crate) fn widened<T: Quantity>(self) -> Estimate<T> {
        Estimate {
            value: T::from_f64(self.value),
            low: self.low.map(|low| T::from_f64(low.min(self.value))),
            high: self.high.map(|high| T::from_f64(high.max(self.value))),
            confidence: CONFIDENCE,
            method: self.method,
        }
    }
}

impl<T: Quantity> Estimate<T> {
    /// Half the interval's width as a share of the value; `None` if a side is
    /// unbounded or the value is not positive.
    pub fn relative_half_width(&self) -> Option<f64> {
        let (low, high) = (self.low?.to_f64(), self.high?.to_f64());
        let value = self.value.to_f64();
        (value > 0.0).then(|| (high - low) / 2.0 / value)
    }
}

impl<T> Estimate<T> {
    /// A value whose interval nobody knows: an article's, or one of too little to tell.
    pub const fn bare(value: T) -> Self {
        Self {
            value,
            low: None,
            high: None,
            confidence: CONFIDENCE,
            method: Method::PointOnly,
        }
    }

    /// The same estimate in another unit. `f` must be increasing.
    pub fn map<U>(self, f: impl Fn(T) -> U) -> Estimate<U> {
        Estimate {
            value: f(self.value),
            low: self.low.map(&f),
            high: self.high.map(&f),
            confidence: self.confidence,
            method: self.method,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::Seconds;

    #[test]
    fn half_width_needs_both_sides() {
        let mut e: Estimate<Seconds> = Estimate::new(2.0, (1.9, 2.3), Method::BootstrapT).widened();
        assert!((e.relative_half_width().unwrap() - 0.1).abs() < 1e-12);
        e.high = None;
        assert_eq!(e.relative_half_width(), None);
    }

    #[test]
    fn map_changes_the_unit() {
        let e: Estimate<Seconds> = Estimate {
            high: None,
            ..Estimate::new(2.0, (1.0, 3.0), Method::Woodruff).widened()
        };
        let ms = e.map(|s| s.0 * 1e3);
        assert_eq!((ms.value, ms.low, ms.high), (2000.0, Some(1000.0), None));
    }

    #[test]
    fn an_interval_that_misses_its_value_is_widened_to_hold_it() {
        let e: Estimate<f64> = Estimate::new(2.0, (2.5, 3.0), Method::ClusterBootstrap).widened();
        assert_eq!((e.low, e.high), (Some(2.0), Some(3.0)));
        let e: Estimate<f64> = Estimate::new(2.0, (1.0, 1.5), Method::ClusterBootstrap).widened();
        assert_eq!((e.low, e.high), (Some(1.0), Some(2.0)));
    }
}

#[cfg(test)]
#[path = "estimate/tests.rs"]
mod computed;
