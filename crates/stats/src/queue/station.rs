//! The tokens, and which of them is given an operation. Each serves in order of arrival, so that the end of an operation is
//! known when it arrives.

use std::collections::VecDeque;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::{Queue, ServiceTimes};
use crate::resample::{Stream, rng};

/// Which token is given an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Distribution {
    /// One queue before all: the token that is free first.
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
struct Token {
    /// When it has done all that it was given.
    free: f64,
    /// When each of these ends.
    under_way: VecDeque<f64>,
    /// The number of the last operation that it was given.
    last: u64,
}

pub(super) struct Station<'a> {
    times: &'a ServiceTimes,
    distribution: Distribution,
    tokens: Vec<Token>,
    given: u64,
    service: ChaCha8Rng,
    choice: ChaCha8Rng,
}

impl<'a> Station<'a> {
    pub(super) fn of(queue: &Queue<'a>) -> Self {
        Self {
            times: queue.times,
            distribution: queue.distribution,
            tokens: vec![Token::default(); queue.tokens.max(1) as usize],
            given: 0,
            service: rng(queue.seed, Stream::Services),
            choice: rng(queue.seed, Stream::Choices),
        }
    }

    /// How long an operation takes that arrives now, its wait included.
    pub(super) fn serve(&mut self, now: f64) -> f64 {
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

    fn least(&self, by: impl Fn(&Token) -> (u64, u64)) -> usize {
        let tokens = 0..self.tokens.len();
        tokens
            .min_by_key(|&index| by(&self.tokens[index]))
            .unwrap_or(0)
    }
}
