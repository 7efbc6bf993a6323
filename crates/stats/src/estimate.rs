//! A figure with its unit, its interval and the method that gave it: never a bare number.

use serde::{Deserialize, Serialize};

/// Confidence of every interval of this crate.
pub(crate) const CONFIDENCE: f64 = 0.95;

/// The probability left out on each side of an interval.
pub(crate) const TAIL: f64 = (1.0 - CONFIDENCE) / 2.0;

/// From the shortest to the longest duration that assumptions leave open: no interval of confidence.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Band {
    /// The shortest.
    pub low: Seconds,
    /// The longest.
    pub high: Seconds,
}

/// Origin of an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, strum::Display)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Method {
    /// No interval: a single observation says nothing about spread.
    #[strum(to_string = "point estimate, no interval")]
    PointOnly,
    /// Studentized bootstrap over blocks or batches.
    #[strum(
        to_string = "bootstrap-t over blocks (Efron & Tibshirani 1993, ch. 12; Davison & Hinkley 1997, §3.8)"
    )]
    BootstrapT,
    /// Student's t over blocks, batches or samples, when too few to resample.
    #[strum(to_string = "Student's t over batches (Law & Kelton 2000, §9.5.3)")]
    StudentT,
    /// Order statistics by inversion of a cluster-corrected proportion.
    #[strum(to_string = "Woodruff interval with block variance (Woodruff 1952)")]
    Woodruff,
    /// Exact binomial order statistics.
    #[strum(to_string = "binomial order statistics (Hahn & Meeker 1991, §5.2)")]
    OrderStatistics,
    /// Percentile bootstrap over blocks or batches.
    #[strum(to_string = "percentile bootstrap over blocks (Davison & Hinkley 1997, §3.8)")]
    ClusterBootstrap,
    /// Studentized bootstrap of the log ratio, two independent cases.
    #[strum(
        to_string = "bootstrap-t of the log ratio, independent (Efron & Tibshirani 1993, ch. 12)"
    )]
    LogRatioBootstrapT,
    /// Student's t on the log ratio, two independent cases.
    #[strum(to_string = "Welch's t of the log ratio (Welch 1947; Satterthwaite 1946)")]
    WelchT,
    /// Student's t on the log ratio over shared stretches of the run.
    #[strum(
        to_string = "Student's t of the log ratio over shared stretches of the run (Student 1908)"
    )]
    PairedStudentT,
    /// Weighted least squares with a percentile bootstrap over windows.
    #[strum(
        to_string = "weighted least squares, percentile bootstrap over windows (Gunther 2007, ch. 5)"
    )]
    UslBootstrap,
    /// The mean's method at the mean speed of the machine.
    #[strum(
        to_string = "bootstrap-t or Student's t at the machine's mean speed, by a control variate (Lavenberg & Welch 1981)"
    )]
    ControlVariate,
    /// Recovered from the intervals of the two terms of a difference.
    #[strum(to_string = "variance recovered from two intervals (Zou & Donner 2008)")]
    Mover,
    /// Student's t on the difference over stretches of the run.
    #[strum(to_string = "Student's t of the difference over stretches of the run (Student 1908)")]
    PairedDifference,
    /// Student's t over the means of runs.
    #[strum(to_string = "Student's t over the means of runs (Kalibera & Jones 2013)")]
    RunsStudentT,
    /// Welch's t over the means of two series of runs.
    #[strum(
        to_string = "Welch's t of the log ratio over the means of runs (Kalibera & Jones 2013; Welch 1947)"
    )]
    RunsWelchT,
    /// Student's t over pairs of runs that alternated.
    #[strum(
        to_string = "Student's t of the log ratio over pairs of runs (Kalibera & Jones 2013; Student 1908)"
    )]
    RunsPairedT,
    /// Too few runs for an interval of their own: by what runs on the machine differ by.
    #[strum(to_string = "standard deviation between earlier runs, pooled (Kalibera & Jones 2013)")]
    FewRuns,
    /// Several ratios in one, their errors added as if they were one and the same.
    #[strum(
        to_string = "geometric mean of ratios (Fleming & Wallace 1986), with their errors assumed to be identical"
    )]
    AllTogether,
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
    /// Origin of the interval.
    pub method: Method,
}

/// Plain numbers, as a method computes them.
impl Estimate<f64> {
    pub(crate) const fn new(value: f64, (low, high): (f64, f64), method: Method) -> Self {
        Self::bounded(value, (Some(low), Some(high)), method)
    }

    /// Returns a value that may lack a bound on either side.
    pub(crate) const fn bounded(
        value: f64,
        (low, high): (Option<f64>, Option<f64>),
        method: Method,
    ) -> Self {
        Self {
            value,
            low,
            high,
            confidence: CONFIDENCE,
            method,
        }
    }

    /// Returns whether its interval is narrower than the other's, each as a share of the value.
    pub(crate) fn is_narrower_than(&self, other: &Self) -> bool {
        let share = |of: &Self| {
            of.width()
                .map_or(f64::INFINITY, |width| width / of.value.abs())
        };
        share(self) < share(other)
    }

    /// Adds a unit and widens the interval to the value, which one from resamples may miss.
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
    /// The interval's width; `None` if a side is unbounded.
    pub(crate) fn width(&self) -> Option<f64> {
        Some(self.high?.to_f64() - self.low?.to_f64())
    }

    /// Half the interval's width as a share of the value; `None` if a side is
    /// unbounded or the value is not positive.
    pub fn relative_half_width(&self) -> Option<f64> {
        let (width, value) = (self.width()?, self.value.to_f64());
        (value > 0.0).then(|| width / 2.0 / value)
    }

    /// Returns whether the half-width is within a share of the value, which is positive for certain.
    pub fn is_within(&self, share: f64) -> bool {
        let is_positive = self.low.is_some_and(|low| low.to_f64() > 0.0);
        let width = self.relative_half_width();
        is_positive && width.is_some_and(|width| width <= share)
    }

    /// Returns whether it is less for certain: the intervals do not overlap.
    pub fn is_below(&self, other: &Self) -> bool {
        let ends = self.high.zip(other.low);
        ends.is_some_and(|(high, low)| high.to_f64() < low.to_f64())
    }

    /// Returns the quotient of positive values, at least as wide as that of independent ones.
    pub fn over(&self, other: &Self) -> Estimate<Ratio> {
        let quotient = |a: Option<T>, b: Option<T>| {
            let (a, b) = (a?.to_f64(), b?.to_f64());
            (b > 0.0).then(|| Ratio(a / b))
        };
        Estimate {
            value: Ratio(self.value.to_f64() / other.value.to_f64()),
            low: quotient(self.low, other.high),
            high: quotient(self.high, other.low),
            confidence: self.confidence,
            method: self.method,
        }
    }
}

impl Estimate<Ratio> {
    /// Returns the ratio of the same two the other way round.
    pub fn inverse(&self) -> Self {
        let one = |ratio: Ratio| Ratio(1.0 / ratio.0);
        Self {
            value: one(self.value),
            low: self.high.map(one),
            high: self.low.filter(|low| low.0 > 0.0).map(one),
            ..*self
        }
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

    /// Returns a value without doubt.
    pub const fn exact(value: T) -> Self
    where
        T: Copy,
    {
        Self {
            low: Some(value),
            high: Some(value),
            ..Self::bare(value)
        }
    }

    /// Converts the estimate by an increasing function.
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

impl Estimate<Seconds> {
    /// A prediction, with its band in place of an interval.
    pub const fn banded(value: Seconds, band: Band) -> Self {
        Self {
            low: Some(band.low),
            high: Some(band.high),
            ..Self::bare(value)
        }
    }
}

/// A number with a unit, convertible to and from the plain number.
pub trait Quantity: Copy {
    /// Wraps a plain number given in the quantity's own unit.
    fn from_f64(value: f64) -> Self;
    /// The plain number in the quantity's own unit.
    fn to_f64(self) -> f64;
}

impl Quantity for f64 {
    fn from_f64(value: f64) -> Self {
        value
    }
    fn to_f64(self) -> f64 {
        self
    }
}

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(transparent)]
        pub struct $name(pub f64);

        impl Quantity for $name {
            fn from_f64(value: f64) -> Self {
                Self(value)
            }
            fn to_f64(self) -> f64 {
                self.0
            }
        }
    };
}

quantity! {
    /// A duration in seconds.
    Seconds
}
quantity! {
    /// A quotient of two quantities of one kind; 1 means equal.
    Ratio
}
quantity! {
    /// A rate in events per second.
    PerSecond
}

/// Nanoseconds in a second.
pub(crate) const NS: f64 = 1e9;

impl Seconds {
    /// Returns seconds from nanoseconds.
    pub fn from_nanos(nanos: f64) -> Self {
        Self(nanos / NS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::Seconds;

    #[test]
    fn half_width_needs_both_sides() {
        let mut e: Estimate<Seconds> = Estimate::new(2.0, (1.9, 2.3), Method::BootstrapT).widened();
        assert!((e.relative_half_width().unwrap() - 0.1).abs() < 1e-12);
        e.high = None;
        assert_eq!(e.relative_half_width(), None);
    }

    #[test]
    fn an_interval_that_misses_its_value_is_widened_to_hold_it() {
        let e: Estimate<f64> = Estimate::new(2.0, (2.5, 3.0), Method::ClusterBootstrap).widened();
        assert_eq!((e.low, e.high), (Some(2.0), Some(3.0)));
        let e: Estimate<f64> = Estimate::new(2.0, (1.0, 1.5), Method::ClusterBootstrap).widened();
        assert_eq!((e.low, e.high), (Some(1.0), Some(2.0)));
    }
}

/// Computed intervals hold their value before they are widened.
#[cfg(test)]
mod computed {
    use proptest::prelude::*;

    use crate::estimate::Estimate;
    use crate::ratio::Side;
    use crate::{Blocks, RunDependence, Sorted, Window, mean, quantile, ratio, throughput};

    fn any_blocks() -> impl Strategy<Value = Blocks> {
        let duration = prop_oneof![0..50_u64, 1_000..2_000_u64, 1..10_000_000_000_u64];
        let blocks = prop::collection::vec(prop::collection::vec(duration, 1..20), 1..30);
        blocks.prop_map(|blocks| Blocks::from_blocks((0..).zip(blocks)))
    }

    /// Windows with as many completions as each block has samples.
    fn windows(blocks: &Blocks) -> Vec<Window> {
        let window = |(round, durations): (u32, &[u64])| Window {
            completed: durations.iter().map(|_| 1.0).sum(),
            length_ns: durations.iter().sum::<u64>().max(1),
            round,
        };
        blocks.iter().map(window).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..Default::default() })]

        #[test]
        fn bounds_hold_the_value_before_they_are_widened(
            x in any_blocks(),
            y in any_blocks(),
            p in 0.0..1.0_f64,
            seed in any::<u64>(),
        ) {
            let computed = [
                mean::computed(&x, &RunDependence::default(), seed),
                quantile::computed(&x, &Sorted::of(&x), p, &RunDependence::default()),
                throughput::computed(&windows(&x), &RunDependence::default(), seed),
                ratio::apart(&Side::of(&x), &Side::of(&y), seed),
                ratio::in_turn(&Side::of(&x), &Side::of(&y), seed),
            ];
            for Estimate { value, low, high, method, .. } in computed.into_iter().flatten() {
                prop_assert!(low.is_none_or(|low| low <= value), "{method}: {low:?}, {value}");
                prop_assert!(high.is_none_or(|high| value <= high), "{method}: {value}, {high:?}");
            }
        }
    }
}
