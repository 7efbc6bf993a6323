//! How the time of a server's case is divided into rounds of short loads, so that what the machine does meanwhile meets all
//! cases alike.

use std::time::Duration;

/// Shorter loads have too little beside their beginning.
const SHORTEST: Duration = Duration::from_millis(2500);
/// More rounds tell little more of their spread.
const MOST: u32 = 8;
/// What a server that has been loaded before needs until it is settled again.
const WARM: Duration = Duration::from_millis(250);

/// One load of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub(crate) duration: Duration,
    pub(crate) seed: u64,
    pub(crate) round: u32,
    /// Before this nothing counts.
    pub(crate) warm_up: Duration,
}

impl Stretch {
    /// That of a case that has no other one.
    pub(crate) const fn alone(duration: Duration, seed: u64) -> Self {
        Self {
            duration,
            seed,
            round: 0,
            warm_up: Duration::from_secs(1),
        }
    }
}

/// How the time of a case is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rounds {
    pub(super) number: u32,
    each: Duration,
}

impl Rounds {
    pub(super) const fn one(duration: Duration) -> Self {
        Self {
            number: 1,
            each: duration,
        }
    }

    pub(super) fn of(duration: Duration) -> Self {
        let number = (duration.as_millis() / SHORTEST.as_millis()) as u32;
        let number = number.clamp(1, MOST);
        Self {
            number,
            each: duration / number,
        }
    }

    pub(super) fn stretch(self, round: u32, seed: u64) -> Stretch {
        let alone = Stretch::alone(self.each, seed);
        Stretch {
            round,
            warm_up: if round == 0 { alone.warm_up } else { WARM },
            ..alone
        }
    }

    /// Whether a load that settled then has too little left.
    pub(super) fn are_too_short(self, settled: Option<Duration>) -> bool {
        self.number > 1 && settled.is_none_or(|settled| settled > self.each / 2)
    }

    /// One load in place of all but the first.
    pub(super) fn joined(self) -> Self {
        Self::one(self.each * (self.number - 1))
    }
}
