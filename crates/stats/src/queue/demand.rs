//! Who asks: arrivals at random, or users who wait for their answer and pause.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::ServiceTimes;
use crate::quantity::{PerSecond, Seconds};
use crate::resample::{Stream, rng};

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Demand {
    /// A Poisson process: so many a second, whoever waits.
    Arrivals(PerSecond),
    /// A closed loop, the model of machines and who repairs them (Palm 1947; Gross et al., "Fundamentals of Queueing
    /// Theory", 4th ed. 2008, §2.7).
    Users {
        /// How many.
        count: u32,
        /// The longest pause before asking; pauses are uniform between none and this.
        pause: Seconds,
    },
}

impl Demand {
    /// The users at which some begin to wait: those that as many tokens serve in the time of a pause and an operation
    /// (Denning & Buzen, "The Operational Analysis of Queueing Network Models", 1978, §5). None of arrivals.
    pub fn knee(self, times: &ServiceTimes, tokens: u32) -> Option<f64> {
        let Self::Users { pause, .. } = self else {
            return None;
        };
        let service = times.mean().0;
        Some(f64::from(tokens) * (pause.0 / 2.0 + service) / service)
    }
}

/// The instants of arrival, in order.
pub(super) struct Arrivals {
    demand: Demand,
    rng: ChaCha8Rng,
    clock: f64,
    /// When each user asks next. Bits of positive numbers are in the order of the numbers.
    due: BinaryHeap<Reverse<u64>>,
}

impl Arrivals {
    pub(super) fn of(demand: Demand, seed: u64) -> Self {
        let mut all = Self {
            demand,
            rng: rng(seed, Stream::Arrivals),
            clock: 0.0,
            due: BinaryHeap::new(),
        };
        if let Demand::Users { count, .. } = demand {
            (0..count).for_each(|_| all.answered(0.0));
        }
        all
    }

    pub(super) fn next(&mut self) -> f64 {
        match self.demand {
            // 1 − u is never zero.
            Demand::Arrivals(rate) => self.clock -= (1.0 - self.rng.random::<f64>()).ln() / rate.0,
            Demand::Users { .. } => {
                let next = self.due.pop().map(|Reverse(bits)| f64::from_bits(bits));
                self.clock = next.unwrap_or(self.clock);
            }
        }
        self.clock
    }

    /// Who had that answer asks again.
    pub(super) fn answered(&mut self, at: f64) {
        if let Demand::Users { pause, .. } = self.demand {
            let again = at + pause.0 * self.rng.random::<f64>();
            self.due.push(Reverse(again.to_bits()));
        }
    }
}
