//! Tokens behind a network: the part of each operation that waits for it, the sessions in which this overlaps, and a quota.

use std::time::Duration;

use keymark_bench::{Network, Sampler, ServiceTime};
use keymark_report::units::{self, counted};
use keymark_stats::{Demand, PerSecond, Seconds, ServiceTimes};

use super::document::BEST;
use super::{CapacityQuestion, Service};

/// Source of a round trip's distribution.
const DRAWS: u32 = 20_000;

/// Way to tokens behind a network, as asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NetworkQuestion {
    /// Round trip of a call; without one the profile's.
    pub round_trip: Option<Duration>,
    /// Calls to the token for one operation.
    pub calls: u32,
    /// Operations that are admitted; without one the profile's.
    pub quota: Option<PerSecond>,
}

/// Part of the network in service times.
#[derive(Debug, Clone)]
pub struct NetworkPart {
    /// Mean time in which an operation waits for the network.
    pub wait: Seconds,
    /// Operations that are admitted, of all tokens together.
    pub quota: Option<PerSecond>,
    /// Service times without the network.
    token: ServiceTimes,
}

impl Service {
    /// Puts the token behind a network: one session does nothing else while its calls are under way.
    pub fn behind(self, profile: &Network, asked: &NetworkQuestion) -> Self {
        let given = asked.round_trip.map(ServiceTime::Constant);
        let round_trip = given.as_ref().or(profile.round_trip.as_ref());
        let quota = asked
            .quota
            .or(profile.quota.map(|quota| PerSecond(quota.into())));
        if round_trip.is_none() && quota.is_none() {
            return self;
        }
        let mut sampler = Sampler::new(1);
        let mut delay = |round_trip| {
            let calls = (0..asked.calls).map(|_| sampler.draw(round_trip));
            Seconds(calls.sum::<Duration>().as_secs_f64())
        };
        let delays: Vec<Seconds> = match round_trip {
            None => Vec::new(),
            Some(constant @ ServiceTime::Constant(_)) => vec![delay(constant)],
            Some(varies) => (0..DRAWS).map(|_| delay(varies)).collect(),
        };
        let times = self.times.plus(&delays);
        Self {
            network: Some(NetworkPart {
                wait: Seconds(times.mean().0 - self.times.mean().0),
                quota,
                token: self.times,
            }),
            times,
            ..self
        }
    }
}

impl CapacityQuestion {
    /// Returns the rate if nobody waits for a token.
    fn rate(&self) -> PerSecond {
        match self.demand {
            Demand::Arrivals(rate) => rate,
            Demand::Users { count, pause } => {
                PerSecond(f64::from(count) / (pause.0 / 2.0 + self.service.times.mean().0))
            }
        }
    }

    /// Returns the quota and the share of the operations that it refuses; none if it admits all.
    pub(super) fn refused(&self) -> Option<(PerSecond, f64)> {
        let quota = self.service.network.as_ref()?.quota?;
        let share = 1.0 - quota.0 / self.rate().0;
        (share > 0.0).then_some((quota, share))
    }

    /// Returns the time of these tokens that is waiting, and the sessions with which fewer suffice.
    pub(super) fn over_network(&self, tokens: u32) -> Option<String> {
        let NetworkPart { wait, token, .. } = self.service.network.as_ref()?;
        if wait.0 <= 0.0 {
            return None;
        }
        let share = wait.0 / (wait.0 + token.mean().0);
        let waiting = format!(
            "With one session each, the time of {:.1} of {} is waiting for the network.",
            share * f64::from(tokens),
            counted(tokens, "token")
        );
        let overlapped = Self {
            service: Service {
                times: token.clone(),
                network: None,
                ..self.service.clone()
            },
            p99: self.p99.map(|limit| Seconds(limit.0 - wait.0)),
            ..self.clone()
        };
        // Users would ask again at another time.
        let arrive = matches!(self.demand, Demand::Arrivals(_));
        let fewest = overlapped
            .fewest(BEST)
            .filter(|fewest| arrive && *fewest < tokens);
        let remedy = fewest.map(|fewest| {
            let sessions = (1.0 / (1.0 - share)).ceil();
            format!(
                " With {sessions} sessions each: {}.",
                counted(fewest, "token")
            )
        });
        Some(waiting + &remedy.unwrap_or_default())
    }

    /// Part of the network in the service time, in words: `, 20.0 ms of it network, quota 1000/s`.
    pub(super) fn network_words(&self) -> String {
        let Some(NetworkPart { wait, quota, .. }) = &self.service.network else {
            return String::new();
        };
        let wait = (wait.0 > 0.0).then(|| format!(", {} of it network", units::duration(*wait)));
        let quota = quota.map(|quota| format!(", quota {}", units::rate(quota)));
        wait.unwrap_or_default() + &quota.unwrap_or_default()
    }
}
