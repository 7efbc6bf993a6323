//! How a load is driven, apart from the server.

use std::num::NonZeroU32;
use std::time::Duration;

use keymark_bench::{Load, Pacing};

use crate::error::LoadError;
use crate::tls::Weak;

/// A load's settings; [`LoadSettings::new`] has sensible ones.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadSettings {
    /// Who asks: users in a closed loop, or arrivals in an open one.
    pub load: Load,
    /// So many connections at most are open at once for arrivals; what is due then waits, and its wait counts.
    pub most_in_flight: NonZeroU32,
    /// In which users come one after the other; arrivals are not concerned.
    pub ramp: Duration,
    /// How long transactions begin; what is then under way is cut off and counts neither way.
    pub duration: Duration,
    /// Before this the load is not settled, whatever its transactions: servers make their first connections and allocations.
    pub warm_up: Duration,
    /// Which of the loads of its case it is.
    pub round: u32,
    /// When a transaction is given up.
    pub timeouts: Timeouts,
    /// Threads of the client, at most one a core that it may use.
    pub threads: NonZeroU32,
    /// For pauses, arrivals and the sample of transactions.
    pub seed: u64,
    /// So many transactions at most are kept whole.
    pub sample: usize,
    /// Whether keys below 2048 bits are accepted.
    pub weak: Weak,
}

/// When a transaction is given up. They are looked at every ten milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// For the TCP connection.
    pub connect: Duration,
    /// For the handshake, from the connection on.
    pub handshake: Duration,
    /// For the transaction, from its start on.
    pub whole: Duration,
}

impl Timeouts {
    /// For one transaction with a server that has nothing else to do: half a minute in all.
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
            Pacing::Closed | Pacing::Thinking(_) => self.load.concurrency.get(),
            Pacing::Open(_) => self.most_in_flight.get(),
        }
    }

    pub(crate) fn check(&self) -> Result<(), LoadError> {
        if self.duration.is_zero() {
            return Err(LoadError::Settings("a load needs a duration"));
        }
        let rate = self.load.pacing.rate();
        if rate.is_some_and(|rate| rate.per_second() < 1e-3) {
            return Err(LoadError::Settings(
                "arrivals need a rate between one in 1000 seconds and 1,000,000,000 a second",
            ));
        }
        Ok(())
    }
}
