//! Tokens that each serve one operation at a time, in the order in which they were given: how long an operation waits.
//!
//! Exact recursions over simulated operations: Lindley, "The Theory of Queues with a Single Server", 1952, for a token
//! with a queue of its own; Kiefer & Wolfowitz, "On the Theory of Queues with Many Servers", 1955, for a queue that tokens
//! share. Percentiles by non-overlapping batches behind a warm-up (Law & Kelton, "Simulation Modeling and Analysis", 3rd
//! ed. 2000, §9.5), until they are precise; common random numbers (ibid., §11.2) for everything that is compared. What a
//! measured service time leaves open is resampled (Barton & Schruben, "Resampling Methods for Input Modeling", 2001).

mod service_times;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::dependence::mean_and_squares;
use crate::estimate::{Estimate, Method, PerSecond, Seconds};
use crate::resample::{Stream, percentile, rng, t_half_width};

pub use service_times::ServiceTimes;
use service_times::level;

/// Operations are simulated until the 99th percentile is known within this share, or there are [`MOST`].
pub const QUEUE_PRECISION: f64 = 0.03;
/// Operations of the first attempt; each further one doubles them.
const FEWEST: usize = 20_000;
/// Operations at most: tokens that are busy nearly all the time forget slowly.
const MOST: usize = 640_000;
/// A twentieth of the operations each.
const BATCHES: usize = 20;
/// 2^64 over the golden ratio: its multiples are spread evenly, at no period of the tokens (Knuth, "The Art of Computer
/// Programming", vol. 3, §6.4).
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
/// Share of operations before the queue has its usual length.
const WARM_UP: f64 = 0.1;
/// Resamples of a measured service time: the least and the most of this number are 95 % apart.
const RESAMPLES: u64 = 39;
/// Operations with each.
const RESAMPLED: usize = 10_000;

/// Tokens under a demand.
#[derive(Debug, Clone, Copy)]
pub struct Queue<'a> {
    /// Service times.
    pub times: &'a ServiceTimes,
    /// Users or arrivals.
    pub demand: Demand,
    /// Number of tokens, 1 at least.
    pub tokens: u32,
    /// Choice of a token.
    pub distribution: Distribution,
    /// Seed of all random numbers.
    pub seed: u64,
}

/// Response times in the long run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Response {
    /// Operations per second.
    pub rate: PerSecond,
    /// Mean time from asking to the answer.
    pub mean: Seconds,
    /// The 95th percentile.
    pub p95: Seconds,
    /// The 99th percentile, within what simulation leaves open.
    pub p99: Estimate<Seconds>,
    /// The share that takes longer than the limit.
    pub late: Option<f64>,
}

impl Queue<'_> {
    /// Share of the time in which a token works if all arrivals are served; 1 and more cannot be. None of users, who wait.
    pub fn load(&self) -> Option<f64> {
        let Demand::Arrivals(rate) = self.demand else {
            return None;
        };
        Some(rate.0 * self.times.mean().0 / f64::from(self.tokens))
    }

    /// Returns the response times; `None` where more arrive than can be served, so that the queue grows for ever.
    pub fn response(&self, limit: Option<Seconds>) -> Option<Response> {
        if self.load().is_some_and(|load| load >= 1.0) {
            return None;
        }
        let mut run = QueueRun::of(self);
        let (needed, every) = (self.times.needed() as usize, run.every as usize);
        let mut wanted = FEWEST.max(needed / every);
        loop {
            run.extend(wanted);
            let p99 = run.p99();
            let width = p99.relative_half_width().unwrap_or(0.0);
            if width <= QUEUE_PRECISION || 2 * wanted * every > MOST.max(needed) {
                return Some(run.response(self.widened(p99), limit));
            }
            wanted *= 2;
        }
    }

    /// Widens an interval by the doubt of measured service times, as if both errors were maximal at once.
    fn widened(&self, p99: Estimate<Seconds>) -> Estimate<Seconds> {
        if !self.times.is_uncertain() {
            return p99;
        }
        let quick = |times: &ServiceTimes| {
            let queue = Queue { times, ..*self };
            if queue.load().is_some_and(|load| load >= 1.0) {
                return f64::INFINITY;
            }
            let mut run = QueueRun::of(&queue);
            run.extend(RESAMPLED);
            run.p99().value.0
        };
        let usual = quick(self.times);
        let resamples = (0..RESAMPLES).map(|number| self.times.resampled(self.seed ^ number << 32));
        let mut shares: Vec<f64> = resamples.map(|times| quick(&times) / usual).collect();
        let (low, high) = percentile(&mut shares).unwrap_or((1.0, 1.0));
        let times =
            |bound: Option<Seconds>, share: f64| bound.map(|bound| Seconds(bound.0 * share));
        Estimate {
            low: times(p99.low, low.min(1.0)),
            // On a side on which tokens may not keep up, there is no bound.
            high: times(p99.high, high.max(1.0)).filter(|high| high.0.is_finite()),
            method: Method::ClusterBootstrap,
            ..p99
        }
    }
}

/// A simulation under way.
struct QueueRun<'a> {
    arrivals: Arrivals,
    station: Station<'a>,
    /// Operations simulated for each that is kept.
    every: u64,
    /// Arrival and response time of each operation that is kept, in the order of arrival.
    done: Vec<(f64, f64)>,
}

impl<'a> QueueRun<'a> {
    fn of(queue: &Queue<'a>) -> Self {
        Self {
            arrivals: Arrivals::of(queue.demand, queue.seed),
            station: Station::of(queue),
            every: (queue.times.needed() / MOST as f64).ceil().max(1.0) as u64,
            done: Vec::new(),
        }
    }

    fn extend(&mut self, wanted: usize) {
        while self.done.len() < wanted {
            let arrival = self.arrivals.next();
            let response = self.station.serve(arrival);
            self.arrivals.answered(arrival + response);
            if self.station.given.wrapping_mul(SPREAD) <= u64::MAX / self.every {
                self.done.push((arrival, response));
            }
        }
    }

    /// The operations behind the warm-up.
    fn kept(&self) -> &[(f64, f64)] {
        let warm_up = self.done.len() as f64 * WARM_UP;
        &self.done[warm_up as usize..]
    }

    fn p99(&self) -> Estimate<Seconds> {
        let kept = self.kept();
        let batches = kept.chunks_exact(kept.len() / BATCHES);
        let values: Vec<f64> = batches.map(|batch| level_of(batch, 0.99)).collect();
        let (k, (_, squares)) = (values.len(), mean_and_squares(&values));
        let half = t_half_width((squares / (k * (k - 1)) as f64).sqrt(), k);
        let value = level_of(kept, 0.99);
        // Nothing is answered before it is served.
        let low = (value - half).max(self.station.times.level(0.99).0);
        Estimate::new(value, (low, value + half), Method::StudentT).widened()
    }

    fn response(&self, p99: Estimate<Seconds>, limit: Option<Seconds>) -> Response {
        let kept = self.kept();
        let count = kept.len() as f64;
        let between = kept[kept.len() - 1].0 - kept[0].0;
        let late = |limit: Seconds| {
            let late = kept.iter().filter(|(_, time)| *time > limit.0);
            late.count() as f64 / count
        };
        Response {
            rate: PerSecond((count - 1.0) * self.every as f64 / between),
            mean: Seconds(kept.iter().map(|(_, time)| time).sum::<f64>() / count),
            p95: Seconds(level_of(kept, 0.95)),
            p99,
            late: limit.map(late),
        }
    }
}

fn level_of(operations: &[(f64, f64)], share: f64) -> f64 {
    level(operations.iter().map(|(_, time)| *time).collect(), share)
}

/// Source of operations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Demand {
    /// A Poisson process: that number per second, even while others wait.
    Arrivals(PerSecond),
    /// A closed loop, the model of machines and who repairs them (Palm 1947; Gross et al., "Fundamentals of Queueing
    /// Theory", 4th ed. 2008, §2.7).
    Users {
        /// Number of users.
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
struct Arrivals {
    demand: Demand,
    rng: ChaCha8Rng,
    clock: f64,
    /// Times of the users' next operations. Bits of positive numbers are in the order of the numbers.
    due: BinaryHeap<Reverse<u64>>,
}

impl Arrivals {
    fn of(demand: Demand, seed: u64) -> Self {
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

    fn next(&mut self) -> f64 {
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

    fn answered(&mut self, at: f64) {
        if let Demand::Users { pause, .. } = self.demand {
            let again = at + pause.0 * self.rng.random::<f64>();
            self.due.push(Reverse(again.to_bits()));
        }
    }
}

/// Choice of a token for an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Distribution {
    /// A single queue before all: the first free token.
    Shared,
    /// The token that has the fewest operations, of several such the one that was given none for the longest time.
    LeastConn,
    /// Each in its turn.
    RoundRobin,
    /// Any, all as likely.
    Random,
}

impl Distribution {
    /// The best first.
    pub const ALL: [Self; 4] = [
        Self::Shared,
        Self::LeastConn,
        Self::RoundRobin,
        Self::Random,
    ];
}

#[derive(Debug, Default, Clone)]
struct QueueToken {
    /// Time at which it is free.
    free: f64,
    /// Ends of its operations.
    under_way: VecDeque<f64>,
    /// The number of the last operation that it was given.
    last: u64,
}

/// The tokens. Each serves in order of arrival, so that the end of an operation is known when it arrives.
struct Station<'a> {
    times: &'a ServiceTimes,
    distribution: Distribution,
    tokens: Vec<QueueToken>,
    given: u64,
    service: ChaCha8Rng,
    choice: ChaCha8Rng,
}

impl<'a> Station<'a> {
    fn of(queue: &Queue<'a>) -> Self {
        Self {
            times: queue.times,
            distribution: queue.distribution,
            tokens: vec![QueueToken::default(); queue.tokens.max(1) as usize],
            given: 0,
            service: rng(queue.seed, Stream::Services),
            choice: rng(queue.seed, Stream::Choices),
        }
    }

    /// Returns the response time of an operation that arrives now.
    fn serve(&mut self, now: f64) -> f64 {
        let number = self.tokens.len();
        self.given += 1;
        let token = match self.distribution {
            Distribution::Shared => self.least(|token| (token.free.to_bits(), 0)),
            Distribution::LeastConn => {
                for token in &mut self.tokens {
                    while token.under_way.front().is_some_and(|end| *end <= now) {
                        token.under_way.pop_front();
                    }
                }
                self.least(|token| (token.under_way.len() as u64, token.last))
            }
            Distribution::RoundRobin => self.given as usize % number,
            Distribution::Random => self.choice.random_range(0..number),
        };
        let token = &mut self.tokens[token];
        let response = (token.free - now).max(0.0) + self.times.draw(&mut self.service);
        token.free = now + response;
        token.last = self.given;
        if self.distribution == Distribution::LeastConn {
            token.under_way.push_back(token.free);
        }
        response
    }

    fn least(&self, by: impl Fn(&QueueToken) -> (u64, u64)) -> usize {
        let tokens = 0..self.tokens.len();
        tokens
            .min_by_key(|&index| by(&self.tokens[index]))
            .unwrap_or(0)
    }
}
