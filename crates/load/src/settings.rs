//! Settings of a load, apart from the server.

use std::num::NonZeroU32;
use std::time::Duration;

use keymark_bench::{Load, Pacing};

use crate::error::LoadError;
use crate::tls::Weak;

/// A load's settings; [`LoadSettings::new`] has sensible ones.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadSettings {
    /// Users in a closed loop, or arrivals in an open one.
    pub load: Load,
    /// Limit of connections at once for arrivals; later ones wait, and their wait counts.
    pub most_in_flight: NonZeroU32,
    /// Time in which users come one after the other; it does not concern arrivals.
    pub ramp: Duration,
    /// Time in which transactions begin; those under way at its end are cut off and count neither way.
    pub duration: Duration,
    /// Shortest time until the load is settled: servers make their first connections and allocations.
    pub warm_up: Duration,
    /// Number of the load among those of its case, from 0.
    pub round: u32,
    /// Limits of a transaction.
    pub timeouts: Timeouts,
    /// Threads of the client, at most one a core that it may use.
    pub threads: NonZeroU32,
    /// Seed of pauses, arrivals and the sample of transactions.
    pub seed: u64,
    /// Limit of transactions that are kept whole.
    pub sample: usize,
    /// Acceptance of keys below 2048 bits.
    pub weak: Weak,
}

/// Limits of a transaction, checked every ten milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// Limit of the TCP connection.
    pub connect: Duration,
    /// Limit of the handshake, from the connection on.
    pub handshake: Duration,
    /// Limit of the transaction, from its start on.
    pub whole: Duration,
}

impl Timeouts {
    /// Limits of one transaction with an idle server: half a minute in all.
    pub const ALONE: Self = Self {
        connect: Duration::from_secs(10),
        handshake: Duration::from_secs(20),
        whole: Duration::from_secs(30),
    };
}

impl Default for Timeouts {
    /// Ten seconds to connect, and a minute each for the rest, as nginx's `client_header_timeout` and Apache's `TimeOut`
    /// allow a client.
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            handshake: Duration::from_secs(60),
            whole: Duration::from_secs(60),
        }
    }
}

impl LoadSettings {
    /// Connections that an open loop may have at once.
    pub const IN_FLIGHT: NonZeroU32 = NonZeroU32::new(1000).unwrap();

    /// Any load, on one thread.
    pub fn new(load: Load, duration: Duration) -> Self {
        Self {
            load,
            most_in_flight: Self::IN_FLIGHT,
            ramp: Duration::ZERO,
            duration,
            warm_up: Duration::from_secs(1),
            round: 0,
            timeouts: Timeouts::default(),
            threads: NonZeroU32::MIN,
            seed: 0,
            sample: 1000,
            weak: Weak::Refused,
        }
    }

    /// Connections that may be open at once.
    pub(crate) const fn connections(&self) -> u32 {
        match self.load.pacing {
            Pacing::Closed | Pacing::Thinking(_) => self.load.workers.get(),
            Pacing::Open(_) => self.most_in_flight.get(),
        }
    }

    pub(crate) fn check(&self) -> Result<(), LoadError> {
        if self.duration.is_zero() {
            return Err(LoadError::Impossible("a load needs a duration".to_owned()));
        }
        let rate = self.load.pacing.rate();
        if rate.is_some_and(|rate| rate.per_second() < 1e-3) {
            let reason =
                "arrivals need a rate between one in 1000 seconds and 1,000,000,000 per second";
            return Err(LoadError::Impossible(reason.to_owned()));
        }
        Ok(())
    }
}
