//! Tokens that each serve one operation at a time, in the order in which they were given: how long an operation waits.
//!
//! Exact recursions over simulated operations: Lindley, "The Theory of Queues with a Single Server", 1952, for a token
//! with a queue of its own; Kiefer & Wolfowitz, "On the Theory of Queues with Many Servers", 1955, for a queue that tokens
//! share. Percentiles by non-overlapping batches behind a warm-up (Law & Kelton, "Simulation Modeling and Analysis", 3rd
//! ed. 2000, §9.5), until they are precise; common random numbers (ibid., §11.2) for everything that is compared. What a
//! measured service time leaves open is resampled (Barton & Schruben, "Resampling Methods for Input Modeling", 2001).

mod demand;
mod service;
mod station;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use crate::estimate::{Estimate, Method};
use crate::quantity::{PerSecond, Seconds};
use crate::resample::{percentile, t_half_width};

pub use demand::Demand;
pub use service::ServiceTimes;
pub use station::Distribution;

use demand::Arrivals;
use station::Station;

/// Operations are simulated until the 99th percentile is known within this share, or there are [`MOST`].
pub const QUEUE_PRECISION: f64 = 0.03;
/// Operations of the first attempt; each further one doubles them.
const FEWEST: usize = 20_000;
/// Operations at most: tokens that are busy nearly all the time forget slowly.
const MOST: usize = 640_000;
/// A twentieth of the operations each.
const BATCHES: usize = 20;
/// So much of them comes before the queue has its usual length.
const WARM_UP: f64 = 0.1;
/// Resamples of a measured service time: the least and the most of so many are 95 % apart.
const RESAMPLES: u64 = 39;
/// Operations with each.
const RESAMPLED: usize = 10_000;

/// Tokens under a demand.
#[derive(Debug, Clone, Copy)]
pub struct Queue<'a> {
    /// What an operation takes.
    pub times: &'a ServiceTimes,
    /// Who asks.
    pub demand: Demand,
    /// How many there are, 1 at least.
    pub tokens: u32,
    /// Which of them is given an operation.
    pub distribution: Distribution,
    /// Of all random numbers.
    pub seed: u64,
}

/// What operations meet in the long run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Response {
    /// Operations a second.
    pub rate: PerSecond,
    /// Mean time from asking to the answer.
    pub mean: Seconds,
    /// What 95 % do not exceed.
    pub p95: Seconds,
    /// What 99 % do not exceed, within what simulation leaves open.
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

    /// What operations meet; none where more arrive than can be served, so that the queue grows for ever.
    pub fn response(&self, limit: Option<Seconds>) -> Option<Response> {
        if self.load().is_some_and(|load| load >= 1.0) {
            return None;
        }
        let mut run = Run::of(self);
        let mut wanted = FEWEST;
        loop {
            run.extend(wanted);
            let p99 = run.p99();
            let width = p99.relative_half_width().unwrap_or(0.0);
            if width <= QUEUE_PRECISION || wanted >= MOST {
                return Some(run.response(self.widened(p99), limit));
            }
            wanted *= 2;
        }
    }

    /// With what a measured service time leaves open, beside what simulation does: as if both were off at once.
    fn widened(&self, p99: Estimate<Seconds>) -> Estimate<Seconds> {
        if !self.times.is_uncertain() {
            return p99;
        }
        let quick = |times: &ServiceTimes| {
            let queue = Queue { times, ..*self };
            if queue.load().is_some_and(|load| load >= 1.0) {
                return f64::INFINITY;
            }
            let mut run = Run::of(&queue);
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
struct Run<'a> {
    arrivals: Arrivals,
    station: Station<'a>,
    /// Arrival and response time of each operation, in the order of arrival.
    done: Vec<(f64, f64)>,
}

impl<'a> Run<'a> {
    fn of(queue: &Queue<'a>) -> Self {
        Self {
            arrivals: Arrivals::of(queue.demand, queue.seed),
            station: Station::of(queue),
            done: Vec::new(),
        }
    }

    fn extend(&mut self, wanted: usize) {
        while self.done.len() < wanted {
            let arrival = self.arrivals.next();
            let response = self.station.serve(arrival);
            self.arrivals.answered(arrival + response);
            self.done.push((arrival, response));
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
        let (k, mean) = (
            values.len(),
            values.iter().sum::<f64>() / values.len() as f64,
        );
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let half = t_half_width((squares / (k * (k - 1)) as f64).sqrt(), k);
        let value = level_of(kept, 0.99);
        Estimate::new(value, (value - half, value + half), Method::StudentT).widened()
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
            rate: PerSecond((count - 1.0) / between),
            mean: Seconds(kept.iter().map(|(_, time)| time).sum::<f64>() / count),
            p95: Seconds(level_of(kept, 0.95)),
            p99,
            late: limit.map(late),
        }
    }
}

/// What so large a share of them does not exceed, nearest rank.
fn level(mut times: Vec<f64>, share: f64) -> f64 {
    let rank = (times.len() as f64 * share).ceil() as usize;
    let rank = rank.clamp(1, times.len()) - 1;
    *times.select_nth_unstable_by(rank, f64::total_cmp).1
}

fn level_of(operations: &[(f64, f64)], share: f64) -> f64 {
    level(operations.iter().map(|(_, time)| *time).collect(), share)
}
