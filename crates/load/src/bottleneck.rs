//! Whether the client could have asked more.

use std::fmt;
use std::time::Duration;

use keymark_stats::Ratio;

use crate::recorder::Second;
use crate::steady::Span;

/// A thread that works for more than this share of the time is what limits the rate: it answers late.
pub const BUSY: Ratio = Ratio(0.9);

/// Where the limit of a load was, by how long the busiest of the client's threads did not wait for its sockets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bottleneck {
    /// The client itself: rate and response time are its own.
    Client {
        /// Share of the time that its busiest thread worked.
        busy: Ratio,
    },
    /// Not the client.
    Elsewhere {
        /// Share of the time that its busiest thread worked.
        busy: Ratio,
    },
}

impl Bottleneck {
    /// Within the window of the steady state.
    #[allow(clippy::cast_possible_truncation, reason = "seconds of a load")]
    pub(crate) fn within(seconds: &[Second], span: Span) -> Self {
        let window = span.begin.as_secs() as usize..span.end.as_secs() as usize;
        let counted = seconds.get(window).unwrap_or_default();
        let busy: Duration = counted.iter().map(|second| second.busiest).sum();
        let busy = Ratio(busy.as_secs_f64() / span.length().as_secs_f64());
        if busy > BUSY {
            Self::Client { busy }
        } else {
            Self::Elsewhere { busy }
        }
    }

    /// Share of the time that the busiest thread worked.
    #[must_use]
    pub const fn busy(self) -> Ratio {
        match self {
            Self::Client { busy } | Self::Elsewhere { busy } => busy,
        }
    }
}

impl fmt::Display for Bottleneck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let busy = 100.0 * self.busy().0;
        match self {
            Self::Client { .. } => write!(
                f,
                "the client is the bottleneck (busy {busy:.0} % of the time): give it more threads and cores"
            ),
            Self::Elsewhere { .. } => write!(f, "the client was busy {busy:.0} % of the time"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_window_counts() {
        let second = |milliseconds| Second {
            busiest: Duration::from_millis(milliseconds),
            ..Second::default()
        };
        let seconds = [second(1000), second(950), second(930), second(100)];
        let of = |begin, end| {
            let span = Span {
                begin: Duration::from_secs(begin),
                end: Duration::from_secs(end),
            };
            Bottleneck::within(&seconds, span)
        };
        assert!(matches!(of(1, 3), Bottleneck::Client { .. }));
        assert!(matches!(of(1, 4), Bottleneck::Elsewhere { .. }));
        assert!((of(1, 3).busy().0 - 0.94).abs() < 1e-9);
    }
}
