//! Where the time goes: what each layer adds to the one below it, for the same key and message.

use keymark_bench::algorithm::Algorithm;
use keymark_bench::case::{Case, DeviceName, Protection, StackName};
use keymark_bench::operation::Operation;
use keymark_stats::{Estimate, Seconds, difference};

use super::Row;
use crate::units;

/// Below this share of the whole, the operation is lost in the overhead.
const LOST: f64 = 0.1;

/// What one layer adds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Layer {
    /// The difference is above zero with 95 % confidence.
    Adds(Estimate<Seconds>),
    /// The interval of the difference holds zero: at most so much.
    AtMost(Seconds),
    /// The upper layer is faster than the lower: its library does the arithmetic in less time.
    Less(Estimate<Seconds>),
}

/// One key and operation, layer by layer.
#[derive(Debug, Clone, PartialEq)]
pub struct Breakdown {
    /// Algorithm of the key.
    pub algorithm: Algorithm,
    /// What was asked of it.
    pub operation: Operation,
    /// On which device.
    pub device: DeviceName,
    /// The bare operation in a library.
    pub arithmetic: Option<Estimate<Seconds>>,
    /// What the agent adds to it: its socket, reading the key, its own library's arithmetic.
    pub agent: Option<Layer>,
    /// What a passphrase adds to the agent: S2K and decryption of the key.
    pub unprotection: Option<Layer>,
    /// What the gpg process adds to the agent: start, parsing, everything but the key.
    pub process: Option<Layer>,
    /// The whole: one gpg process.
    pub whole: Option<Estimate<Seconds>>,
}

impl Breakdown {
    /// Share of the bare operation in the whole.
    #[must_use]
    pub fn arithmetic_share(&self) -> Option<f64> {
        Some(self.arithmetic?.value.0 / self.whole?.value.0)
    }

    /// Whether the whole tells next to nothing about the operation.
    #[must_use]
    pub fn is_lost_in_overhead(&self) -> bool {
        self.arithmetic_share().is_some_and(|share| share < LOST)
    }
}

/// Every key and operation that was measured through more than one stack.
pub(super) fn breakdowns(rows: &[Row]) -> Vec<Breakdown> {
    let mut found: Vec<Breakdown> = Vec::new();
    for row in rows {
        let Case {
            algorithm,
            operation,
            device,
            ..
        } = &row.case;
        let known = found
            .iter()
            .any(|b| (b.algorithm, b.operation, &b.device) == (*algorithm, *operation, device));
        if known {
            continue;
        }
        let mean = |stack, protection| {
            rows.iter()
                .find(|other| {
                    let case = &other.case;
                    (case.algorithm, case.operation, &case.device)
                        == (*algorithm, *operation, device)
                        && (case.stack, case.protection) == (stack, protection)
                        && (case.concurrency(), case.replica) == (1, 0)
                        && case.load.pacing == keymark_bench::case::Pacing::Closed
                })
                .and_then(|other| Some(other.summary.as_ref()?.mean))
        };
        let raw = mean(StackName::Raw, Protection::None);
        let agent = mean(StackName::Agent, Protection::None);
        let cached = mean(StackName::Agent, Protection::Cached);
        let gnupg = mean(StackName::Gnupg, Protection::None);
        let layer = |upper: Option<Estimate<Seconds>>, lower: Option<Estimate<Seconds>>| {
            Some(added(&upper?, &lower?))
        };
        let breakdown = Breakdown {
            algorithm: *algorithm,
            operation: *operation,
            device: device.clone(),
            arithmetic: raw,
            agent: layer(agent, raw),
            unprotection: layer(cached, agent),
            process: layer(gnupg, agent),
            whole: gnupg,
        };
        if breakdown.agent.is_some()
            || breakdown.process.is_some()
            || breakdown.unprotection.is_some()
        {
            found.push(breakdown);
        }
    }
    found
}

/// A difference below zero is never shown as a cost.
fn added(upper: &Estimate<Seconds>, lower: &Estimate<Seconds>) -> Layer {
    let difference = difference(upper, lower);
    match (difference.low, difference.high) {
        (_, Some(high)) if high.0 < 0.0 => Layer::Less(difference),
        (Some(low), _) if low.0 > 0.0 => Layer::Adds(difference),
        (_, Some(high)) => Layer::AtMost(high),
        // No interval from so few samples: the value is all there is, if it is a cost at all.
        (_, None) if difference.value.0 > 0.0 => Layer::Adds(difference),
        (_, None) => Layer::AtMost(Seconds(difference.value.0.max(0.0))),
    }
}

impl std::fmt::Display for Layer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Adds(difference) => f.write_str(&units::duration(difference.value)),
            Self::AtMost(high) => write!(f, "< {}", units::duration(*high)),
            Self::Less(difference) => f.write_str(&units::duration(difference.value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use keymark_stats::Method;

    fn estimate(value: f64, half: f64) -> Estimate<Seconds> {
        let (low, high) = (Some(Seconds(value - half)), Some(Seconds(value + half)));
        Estimate {
            value: Seconds(value),
            low,
            high,
            confidence: 0.95,
            method: Method::BootstrapT,
        }
    }

    #[test]
    fn a_disturbed_difference_is_never_negative_time() {
        assert!(
            matches!(added(&estimate(5.0, 0.1), &estimate(1.0, 0.1)), Layer::Adds(d) if (d.value.0 - 4.0).abs() < 1e-9)
        );
        let Layer::AtMost(high) = added(&estimate(1.0, 0.3), &estimate(1.1, 0.4)) else {
            panic!()
        };
        assert!((high.0 - 0.4).abs() < 1e-9, "-0.1 + 0.5");
        assert!(matches!(
            added(&estimate(1.0, 0.1), &estimate(2.0, 0.1)),
            Layer::Less(_)
        ));
    }
}
