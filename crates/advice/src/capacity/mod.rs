//! `keymark capacity`: how many tokens a rate, or a number of users, takes. Each number of tokens is simulated behind each way of
//! distribution ([`keymark_stats::Queue`]); the answer is the fewest that suffice.

mod document;
mod network;
mod picture;
mod service;
#[cfg(test)]
mod tests;

use std::panic::resume_unwind;
use std::thread;

use keymark_stats::{Demand, Distribution, Queue, Response, Seconds};

pub use network::{NetworkPart, NetworkQuestion};
pub use service::{NoService, Service, Wanted};

/// Tokens at most: more are a service of another kind.
pub const MOST_TOKENS: u32 = 100;
/// Rows that are shown where no number of tokens suffices.
const ENOUGH_ROWS: u32 = 3;

/// A load, and its limit.
#[derive(Debug, Clone)]
pub struct CapacityQuestion {
    /// Service times with their source.
    pub service: Service,
    /// Users or arrivals.
    pub demand: Demand,
    /// Limit of 99 % of the operations; without one the queue must not grow.
    pub p99: Option<Seconds>,
    /// Tokens that may be broken.
    pub spare: u32,
    /// Seed of the simulation.
    pub seed: u64,
}

/// A number of tokens behind a way of distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CapacityRow {
    /// The way.
    pub distribution: Distribution,
    pub tokens: u32,
    /// Share of the time in which each works; from 1 on that is not enough.
    pub utilisation: f64,
    /// Response times; `None` where the queue grows for ever.
    pub response: Option<Response>,
    pub enough: bool,
}

/// A row for each way and number of tokens, from one on.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan(pub Vec<CapacityRow>);

impl Plan {
    /// The fewest behind a way of distribution; none where no number does, or more than [`MOST_TOKENS`].
    pub fn fewest(&self, way: Distribution) -> Option<u32> {
        let found = self
            .0
            .iter()
            .find(|row| row.distribution == way && row.enough);
        found.map(|row| row.tokens)
    }

    fn row(&self, way: Distribution, tokens: u32) -> Option<&CapacityRow> {
        self.0
            .iter()
            .find(|row| (row.distribution, row.tokens) == (way, tokens))
    }
}

impl CapacityQuestion {
    /// Every number of tokens up to the fewest of the way that takes most, with spares.
    pub fn plan(&self) -> Plan {
        let mut plan = Plan(Vec::new());
        let mut last = MOST_TOKENS;
        if !self.is_possible() {
            last = self.least().saturating_add(ENOUGH_ROWS).min(MOST_TOKENS);
        }
        for tokens in 1..=last {
            plan.0.extend(self.rows(tokens));
            let found = Distribution::ALL.map(|way| plan.fewest(way));
            let enough =
                |fewest: &Option<u32>| fewest.is_some_and(|few| few + self.spare <= tokens);
            if found.iter().all(enough) {
                break;
            }
        }
        plan
    }

    /// Returns the fewest tokens behind one way of distribution.
    pub fn fewest(&self, way: Distribution) -> Option<u32> {
        if !self.is_possible() {
            return None;
        }
        let mut numbers = self.least()..=MOST_TOKENS;
        numbers.find(|tokens| self.row(way, *tokens).enough)
    }

    /// Returns whether a single operation is fast enough, and the quota admits all.
    fn is_possible(&self) -> bool {
        let alone = self.service.times.level(0.99);
        self.p99.is_none_or(|limit| alone <= limit) && self.refused().is_none()
    }

    /// The fewest tokens that keep up with the rate.
    fn least(&self) -> u32 {
        let load = self.queue(Distribution::Shared, 1, self.demand).load();
        load.map_or(1, |load| (load.floor() as u32).saturating_add(1))
    }

    /// Each way, at once.
    fn rows(&self, tokens: u32) -> Vec<CapacityRow> {
        thread::scope(|scope| {
            let rows = Distribution::ALL.map(|way| scope.spawn(move || self.row(way, tokens)));
            let rows = rows.into_iter().map(thread::ScopedJoinHandle::join);
            rows.map(|row| row.unwrap_or_else(|panic| resume_unwind(panic)))
                .collect()
        })
    }

    fn row(&self, distribution: Distribution, tokens: u32) -> CapacityRow {
        let queue = self.queue(distribution, tokens, self.demand);
        let response = queue.response(self.p99);
        let service = queue.times.mean();
        let busy = |found: Response| found.rate.0 * service.0 / f64::from(tokens);
        CapacityRow {
            distribution,
            tokens,
            utilisation: queue.load().or(response.map(busy)).unwrap_or(f64::NAN),
            response,
            enough: self.is_possible()
                && response.is_some_and(|found| match (self.p99, self.demand) {
                    (Some(limit), _) => found.p99.value <= limit,
                    (None, Demand::Arrivals(_)) => true,
                    // On average they wait at most as long as the operation takes.
                    (None, Demand::Users { .. }) => found.mean.0 <= 2.0 * service.0,
                }),
        }
    }

    fn queue(&self, distribution: Distribution, tokens: u32, demand: Demand) -> Queue<'_> {
        Queue {
            times: &self.service.times,
            demand,
            tokens,
            distribution,
            seed: self.seed,
        }
    }
}
