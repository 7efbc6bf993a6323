//! Stop rules and warm-up.

use std::num::NonZeroU32;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Relative half-width of the 95 % interval of the mean: 0.01 is ±1 %.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(try_from = "f64", into = "f64")]
pub struct Precision(f64);

impl Precision {
    /// ±5 %, with which a choice can be made on a machine that others also use.
    pub const USUAL: Self = Self(0.05);

    /// Returns the precision as a fraction.
    pub const fn fraction(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Precision {
    type Error = String;

    fn try_from(fraction: f64) -> Result<Self, Self::Error> {
        if (1e-6..1.0).contains(&fraction) {
            Ok(Self(fraction))
        } else {
            Err(format!(
                "a precision must be between 0.0001% and 100%, not {}%",
                fraction * 100.0
            ))
        }
    }
}

impl From<Precision> for f64 {
    fn from(precision: Precision) -> Self {
        precision.0
    }
}

impl FromStr for Precision {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = text.strip_suffix('%').ok_or_else(|| {
            format!("'{text}' is not a precision: write it in percent, such as 1%")
        })?;
        let percent: f64 = number
            .trim()
            .parse()
            .map_err(|_| format!("'{text}' is not a precision; write it like 1%"))?;
        (percent / 100.0).try_into()
    }
}

/// Rule that ends the measurement of a case.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum StopRule {
    /// Number of operations.
    Runs(NonZeroU32),
    /// Once the mean is known this well, or the time is up.
    Precision {
        /// The precision asked for.
        target: Precision,
        /// Measuring time of one case; none if only the plan's time counts.
        max_time: Option<Duration>,
    },
    /// Length of a load on a server.
    For(Duration),
}

impl StopRule {
    /// Returns the time limit for measuring one case; none if it has none of its own.
    pub const fn time(self) -> Option<Duration> {
        match self {
            Self::Runs(_) => None,
            Self::Precision { max_time, .. } => max_time,
            Self::For(length) => Some(length),
        }
    }
}

/// Why a case stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Stopped {
    /// The stop rule was met.
    RuleMet,
    /// The time was up before the precision was reached.
    OutOfTime,
    /// The user ended the run.
    Interrupted,
    /// An operation failed.
    Failed,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn precision_is_written_in_percent() {
        assert_eq!("5%".parse(), Ok(Precision::USUAL));
        assert_eq!("0.5%".parse::<Precision>().unwrap().fraction(), 0.005);
        for bad in ["1", "-1%", "0%", "100%", "x%", "NaN%", "inf%", ""] {
            assert!(bad.parse::<Precision>().is_err(), "{bad}");
        }
    }
}
