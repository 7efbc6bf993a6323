//! Figures as people read them: three or four digits and the unit that suits them.

use std::fmt;
use std::time::Duration;

use itertools::Itertools;
use keymark_stats::{Estimate, PerSecond, Ratio, Seconds};
use serde::Serialize;

/// Unit of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    Count,
    Seconds,
    PerSecond,
    /// A quotient: `1.23`.
    Ratio,
    /// A factor: `×1.23`.
    Times,
    /// A share of a whole that is 1: `50 %`.
    Share,
    /// Distance from a whole that is 0: `+5 %`.
    Change,
}

impl Unit {
    /// Writes a value with its interval: `7.91 ms (7.85–7.98)`.
    pub(crate) fn full(self, estimate: &Estimate<f64>) -> String {
        match self {
            Self::Count => estimate.value.to_string(),
            Self::Seconds => estimated_duration(&estimate.map(Seconds)),
            Self::PerSecond => {
                let value = rate(PerSecond(estimate.value));
                with_interval(value, estimate, |bound| digits(*bound))
            }
            Self::Ratio => estimated_ratio(&estimate.map(Ratio)),
            Self::Times => estimated_gain(&estimate.map(Ratio)),
            Self::Share | Self::Change if estimate.low.is_none() && estimate.high.is_none() => {
                percent(estimate.value)
            }
            Self::Share | Self::Change => estimated_percent(&estimate.map(Ratio)),
        }
    }

    /// Writes the digits that are known, and the interval's width if that is large: `5.8 ms`, `17 ms ±28 %`, `~17 ms`
    /// without an interval, `≥ 8.2 s` without an upper bound.
    pub(crate) fn brief(self, estimate: &Estimate<f64>, bare: Bare) -> String {
        let known = || self.known(estimate);
        match (estimate.low, estimate.high, estimate.relative_half_width()) {
            (_, _, Some(doubt)) if doubt > HARDLY => format!("{} ±{}", known(), width(doubt)),
            (_, _, Some(_)) => known(),
            (Some(low), None, _) => format!("≥ {}", self.rounded(low, Digits::Two)),
            (None, None, _) if bare == Bare::Uncertain => format!("~{}", known()),
            _ => self.rounded(estimate.value, Digits::Three),
        }
    }

    /// Writes the value with the digits that are known: two where the interval is wide or missing.
    pub(crate) fn known(self, estimate: &Estimate<f64>) -> String {
        match estimate.relative_half_width() {
            Some(doubt) if doubt <= WELL => self.rounded(estimate.value, Digits::Three),
            Some(doubt) if doubt <= HARDLY => self.rounded(estimate.value, Digits::Two),
            _ => self.rounded(two_digits(estimate.value), Digits::Two),
        }
    }

    fn rounded(self, value: f64, worth: Digits) -> String {
        match self {
            Self::Seconds => rounded_duration(Seconds(value), worth),
            Self::PerSecond => rounded_rate(PerSecond(value), worth),
            Self::Count | Self::Ratio | Self::Times | Self::Share | Self::Change => {
                self.full(&Estimate::bare(value))
            }
        }
    }
}

/// `7.91 ms`
pub fn duration(time: Seconds) -> String {
    rounded_duration(time, Digits::Three)
}

/// Writes the time that a program took.
pub fn time(time: Duration) -> String {
    duration(Seconds(time.as_secs_f64()))
}

/// `7.9 ms`
pub(crate) fn rounded_duration(time: Seconds, worth: Digits) -> String {
    if time.0 == 0.0 {
        return "0 s".to_owned();
    }
    let (divisor, unit) = unit(time);
    format!("{} {unit}", rounded(time.0 / divisor, worth))
}

/// Significant digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Digits {
    /// Digits of a figure that is known to a few per cent.
    Two,
    /// Digits of a figure that is known better.
    Three,
}

/// Meaning of a missing interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bare {
    /// Too few samples.
    Uncertain,
    /// A published figure.
    Stated,
}

/// A figure with a relative error above this share is marked.
const HARDLY: f64 = 0.1;
/// Share of doubt up to which a third digit counts.
const WELL: f64 = 0.02;

/// A value with its bounds, if it has any; a side without one is left open.
fn with_interval<T>(value: String, estimate: &Estimate<T>, bound: impl Fn(&T) -> String) -> String {
    if estimate.low.is_none() && estimate.high.is_none() {
        return value;
    }
    let side = |side: &Option<T>| side.as_ref().map_or_else(|| "?".to_owned(), &bound);
    format!("{value} ({}–{})", side(&estimate.low), side(&estimate.high))
}

/// `7.91 ms (7.85–7.98)`; a side without a bound is left open.
pub fn estimated_duration(estimate: &Estimate<Seconds>) -> String {
    let (divisor, unit) = unit(estimate.value);
    let number = |time: &Seconds| digits(time.0 / divisor);
    let value = format!("{} {unit}", number(&estimate.value));
    with_interval(value, estimate, number)
}

/// `1 figure`, `2 figures`
pub fn counted<N: PartialEq + From<u8> + fmt::Display>(number: N, what: &str) -> String {
    let s = if number == N::from(1) { "" } else { "s" };
    format!("{number} {what}{s}")
}

/// `a, b and 4 more`, with `most` names at most
pub fn first_names<T: fmt::Display>(names: impl IntoIterator<Item = T>, most: usize) -> String {
    let mut names = names.into_iter();
    let first = names.by_ref().take(most).join(", ");
    match names.count() {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

/// `2 s`, `450 µs`: a chosen time, which is exact.
pub fn chosen(time: Duration) -> String {
    if time.is_zero() {
        return duration(Seconds(0.0));
    }
    let (divisor, unit) = unit(Seconds(time.as_secs_f64()));
    // Nanoseconds as a share of the largest unit: what is beyond is floating-point noise.
    let number = (time.as_secs_f64() / divisor * 1e9).round() / 1e9;
    format!("{number} {unit}")
}

/// `1.23`
pub fn ratio(ratio: Ratio) -> String {
    digits(ratio.0)
}

/// `1.23 (1.21–1.25)`; the value alone where there is no interval, or nothing to be uncertain of.
pub fn estimated_ratio(estimate: &Estimate<Ratio>) -> String {
    let exact = estimate.low == Some(estimate.value) && estimate.high == Some(estimate.value);
    if exact {
        return ratio(estimate.value);
    }
    with_interval(ratio(estimate.value), estimate, |bound| ratio(*bound))
}

/// `126/s`
pub fn rate(rate: PerSecond) -> String {
    rounded_rate(rate, Digits::Three)
}

/// `130/s`
pub(crate) fn rounded_rate(rate: PerSecond, worth: Digits) -> String {
    format!("{}/s", rounded(rate.0, worth))
}

/// `×1.83`
pub fn gain(gain: Ratio) -> String {
    format!("×{}", digits(gain.0))
}

/// `×1.83 (1.79–1.87)`
pub fn estimated_gain(estimate: &Estimate<Ratio>) -> String {
    format!("×{}", estimated_ratio(estimate))
}

/// `12.3 %`
pub fn percent(share: f64) -> String {
    format!("{} %", digits(share * 100.0))
}

/// `12 %`, `3.4 %`: a width of an interval, which is an estimate itself, rounded up, and no finer than a tenth of a per cent.
pub(crate) fn width(share: f64) -> String {
    let percent = share * 100.0;
    if percent > 10.0 {
        format!("{:.0} %", percent.ceil())
    } else {
        format!("{} %", ((percent * 10.0).ceil() / 10.0).max(0.1))
    }
}

/// `5.0 %`: a share that is estimated may be nought, of which no digit is significant.
pub fn tenths_of_percent(share: Ratio) -> String {
    format!("{:.1} %", share.0 * 100.0)
}

/// `5.0 % (4.8–5.2)`
pub fn estimated_percent(estimate: &Estimate<Ratio>) -> String {
    with_interval(tenths_of_percent(estimate.value), estimate, |bound| {
        format!("{:.1}", bound.0 * 100.0)
    })
}

/// Returns the unit that suits a time, in seconds, with its name.
pub(crate) fn unit(time: Seconds) -> (f64, &'static str) {
    match time.0.abs() {
        seconds if seconds >= 0.9995 => (1.0, "s"),
        seconds if seconds >= 0.999_5e-3 => (1e-3, "ms"),
        seconds if seconds >= 0.999_5e-6 => (1e-6, "µs"),
        _ => (1e-9, "ns"),
    }
}

/// Three significant digits, and never fewer than the whole number has.
fn digits(number: f64) -> String {
    rounded(number, Digits::Three)
}

/// Replaces all digits but the first two by zeros.
pub(crate) fn two_digits(number: f64) -> f64 {
    let unit = 10_f64.powf(number.abs().log10().floor() - 1.0);
    if unit > 0.0 {
        (number / unit).round() * unit
    } else {
        number
    }
}

/// Writes that many significant digits, and never fewer than the whole number has.
fn rounded(number: f64, worth: Digits) -> String {
    let decimals = match (worth, number.abs()) {
        (Digits::Three, n) if n >= 99.95 => 0,
        (Digits::Three, n) if n >= 9.995 => 1,
        (Digits::Three, n) if n >= 0.9995 => 2,
        (Digits::Three, _) => 3,
        (Digits::Two, n) if n >= 9.95 => 0,
        (Digits::Two, n) if n >= 0.995 => 1,
        (Digits::Two, _) => 2,
    };
    format!("{number:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use keymark_stats::Method;

    #[test]
    fn units_and_digits_suit_the_size() {
        let cases = [
            (8.218, "8.22 s"),
            (0.9999, "1.00 s"),
            (0.0427, "42.7 ms"),
            (0.999_6e-3, "1.00 ms"),
            (15.25e-6, "15.2 µs"),
            (83e-9, "83.0 ns"),
            (-0.002, "-2.00 ms"),
            (0.0, "0 s"),
        ];
        for (seconds, text) in cases {
            assert_eq!(duration(Seconds(seconds)), text);
        }
        for (time, text) in [
            (Duration::from_secs(2), "2 s"),
            (Duration::from_millis(1500), "1.5 s"),
            (Duration::from_micros(450), "450 µs"),
            (Duration::ZERO, "0 s"),
        ] {
            assert_eq!(chosen(time), text);
        }
        assert_eq!(gain(Ratio(1.834)), "×1.83");
        let widths = [0.000_4, 0.001_94, 0.034, 0.05, 0.1, 0.285].map(width);
        assert_eq!(widths, ["0.1 %", "0.2 %", "3.4 %", "5 %", "10 %", "29 %"]);
        assert_eq!(rate(PerSecond(126.4)), "126/s");
        assert_eq!(rate(PerSecond(1.2)), "1.20/s");
        assert_eq!(percent(0.1234), "12.3 %");
    }

    #[test]
    fn intervals_share_the_unit_and_show_open_sides() {
        let estimate = Estimate {
            value: Seconds(0.0079),
            low: Some(Seconds(0.00785)),
            high: None,
            confidence: 0.95,
            method: Method::BootstrapT,
        };
        assert_eq!(estimated_duration(&estimate), "7.90 ms (7.85–?)");
    }

    #[test]
    fn a_brief_figure_has_the_digits_that_are_known() {
        let words = |low: Option<f64>, high: Option<f64>, bare| {
            let estimate = Estimate {
                low,
                high,
                ..Estimate::bare(0.01234)
            };
            Unit::Seconds.brief(&estimate, bare)
        };
        let cases = [
            (Some(0.0122), Some(0.0125), Bare::Uncertain, "12.3 ms"),
            (Some(0.0118), Some(0.0128), Bare::Uncertain, "12 ms"),
            (Some(0.0108), Some(0.0138), Bare::Uncertain, "12 ms ±13 %"),
            (Some(0.0108), None, Bare::Uncertain, "≥ 11 ms"),
            (None, None, Bare::Uncertain, "~12 ms"),
            (None, None, Bare::Stated, "12.3 ms"),
        ];
        for (low, high, bare, text) in cases {
            assert_eq!(words(low, high, bare), text);
        }
        assert_eq!([two_digits(18_895.0), two_digits(0.0)], [19_000.0, 0.0]);
        assert_eq!(rounded_rate(PerSecond(126.4), Digits::Two), "126/s");
        assert_eq!(rounded_duration(Seconds(0.00996), Digits::Two), "10 ms");
    }
}
