//! `keymark capacity`: how many tokens a rate, or so many users, takes. Each number of tokens is simulated behind each way of
//! distribution ([`keymark_stats::Queue`]); the answer is the fewest that suffice.

mod document;
mod picture;
mod service;
#[cfg(test)]
mod tests;

use std::time::Duration;

use keymark_stats::{Demand, Distribution, PerSecond, Queue, Response, Seconds};

pub use service::{NoService, Service, Wanted};

/// Tokens at most: more are a service of another kind.
pub const MOST_TOKENS: u32 = 100;
/// Rows of a way of distribution whose limit nobody can keep.
const ENOUGH_ROWS: u32 = 3;

/// What is asked.
#[derive(Debug, Clone)]
pub struct Question {
    /// What an operation takes, and where that comes from.
    pub service: Service,
    /// Who asks for operations.
    pub demand: Demand,
    /// The lowest rate that is drawn; that of the demand is the highest.
    pub from: Option<PerSecond>,
    /// What 99 % of the operations may take; none: as long as the queue does not grow.
    pub p99: Option<Duration>,
    /// Tokens that may be broken.
    pub spare: u32,
    /// Tokens that there are; none: as many as it takes.
    pub tokens: Option<u32>,
    /// Of the simulation.
    pub seed: u64,
}

/// So many tokens behind a way of distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row {
    /// The way.
    pub distribution: Distribution,
    /// How many.
    pub tokens: u32,
    /// Share of the time in which each works; above 1 that is not enough.
    pub utilisation: f64,
    /// What operations meet; none where they are not enough.
    pub response: Option<Response>,
}

/// What follows.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// From one token on, by number and way.
    pub rows: Vec<Row>,
    /// The fewest that suffice; none where no number does, or more than [`MOST_TOKENS`].
    pub fewest: Vec<(Distribution, Option<u32>)>,
}

impl Plan {
    /// The fewest behind a way of distribution.
    pub fn fewest(&self, wanted: Distribution) -> Option<u32> {
        let mut each = self.fewest.iter();
        each.find(|(way, _)| *way == wanted)
            .and_then(|(_, fewest)| *fewest)
    }

    fn row(&self, distribution: Distribution, tokens: u32) -> Option<&Row> {
        let mut rows = self.rows.iter();
        rows.find(|row| (row.distribution, row.tokens) == (distribution, tokens))
    }
}

impl Question {
    /// The fewest tokens of each way, and everything below.
    pub fn plan(&self) -> Plan {
        let mut plan = Plan {
            rows: Vec::new(),
            fewest: Distribution::ALL.map(|way| (way, None)).to_vec(),
        };
        for tokens in 1..=MOST_TOKENS {
            for (distribution, fewest) in &mut plan.fewest {
                let row = self.row(*distribution, tokens);
                if self.suffices(&row) {
                    fewest.get_or_insert(tokens);
                }
                plan.rows.push(row);
            }
            if self.ends(&plan, tokens) {
                break;
            }
        }
        plan
    }

    /// Whether further tokens tell nothing new.
    fn ends(&self, plan: &Plan, tokens: u32) -> bool {
        let had = self.tokens.is_none_or(|there| there <= tokens);
        let fewest = plan.fewest.iter().map(|(_, fewest)| *fewest);
        let found = fewest.reduce(|a, b| Some(a?.max(b?))).flatten();
        had && match found {
            Some(most) => most + self.spare <= tokens,
            None => !self.is_possible() && self.least() + ENOUGH_ROWS <= tokens,
        }
    }

    /// Whether an operation by itself is fast enough.
    fn is_possible(&self) -> bool {
        let alone = self.service.times.level(0.99);
        self.limit().is_none_or(|limit| alone <= limit)
    }

    fn limit(&self) -> Option<Seconds> {
        self.p99.map(|limit| Seconds(limit.as_secs_f64()))
    }

    /// The fewest tokens that keep up with the rate.
    fn least(&self) -> u32 {
        let load = self.queue(Distribution::Shared, 1, self.demand).load();
        load.map_or(1, |load| load.floor() as u32 + 1)
    }

    fn suffices(&self, row: &Row) -> bool {
        let Some(response) = row.response else {
            return false;
        };
        match (self.limit(), self.demand) {
            (Some(limit), _) => response.p99.value <= limit,
            (None, Demand::Arrivals(_)) => true,
            // On average they wait no longer than the operation takes.
            (None, Demand::Users { .. }) => response.mean.0 <= 2.0 * self.service.times.mean().0,
        }
    }

    fn row(&self, distribution: Distribution, tokens: u32) -> Row {
        let queue = self.queue(distribution, tokens, self.demand);
        let response = queue.response(self.limit());
        let response = response.map(|found| found.widened(queue.left_open(&self.service.measured)));
        let busy = |found: Response| found.rate.0 * queue.times.mean().0 / f64::from(tokens);
        Row {
            distribution,
            tokens,
            utilisation: queue.load().or(response.map(busy)).unwrap_or(f64::NAN),
            response,
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
