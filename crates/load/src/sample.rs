//! Whole transactions, a few of them.

use std::collections::BinaryHeap;

use keymark_bench::Transaction;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Sample of transactions, each as likely as any other: each draws a number, and the smallest are kept (bottom-k,
/// Cohen & Kaplan 2007), so that the samples of several threads can be put together.
#[derive(Debug)]
pub(crate) struct Reservoir {
    size: usize,
    rng: ChaCha8Rng,
    /// Each behind its lot.
    kept: BinaryHeap<(u64, Transaction)>,
}

/// Streams of users and of schedules are below 2³².
const STREAM: u64 = 1 << 32;

impl Reservoir {
    pub(crate) fn new(size: usize, seed: u64, thread: u32) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(STREAM + u64::from(thread));
        Self {
            size,
            rng,
            kept: BinaryHeap::new(),
        }
    }

    pub(crate) fn offer(&mut self, transaction: &Transaction) {
        let lot = self.rng.random();
        self.keep((lot, *transaction));
    }

    fn keep(&mut self, drawn: (u64, Transaction)) {
        if self.kept.len() < self.size {
            self.kept.push(drawn);
        } else if let Some(mut largest) = self.kept.peek_mut()
            && drawn.0 < largest.0
        {
            *largest = drawn;
        }
    }

    pub(crate) fn add(&mut self, other: Self) {
        other.kept.into_iter().for_each(|drawn| self.keep(drawn));
    }

    /// Returns the kept transactions, by their ends.
    pub(crate) fn transactions(self) -> Vec<Transaction> {
        let mut all: Vec<_> = self
            .kept
            .into_iter()
            .map(|(_, transaction)| transaction)
            .collect();
        all.sort_by_key(Transaction::ended);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(milliseconds: u64) -> Transaction {
        Transaction {
            scheduled_ns: milliseconds * 1_000_000,
            start_ns: milliseconds * 1_000_000,
            connect_ns: 0,
            handshake_ns: 0,
            first_byte_ns: 0,
            whole_ns: 0,
        }
    }

    fn sample(seed: u64) -> Vec<u64> {
        let mut first = Reservoir::new(500, seed, 0);
        let mut second = Reservoir::new(500, seed, 1);
        // The second thread does thrice as much.
        (0..2500).for_each(|i| first.offer(&at(i)));
        (2500..10_000).for_each(|i| second.offer(&at(i)));
        first.add(second);
        let kept = first.transactions().into_iter();
        kept.map(|transaction| transaction.start_ns / 1_000_000)
            .collect()
    }

    #[test]
    fn each_transaction_is_as_likely_as_any_other_whatever_its_thread() {
        let kept = sample(3);
        assert_eq!(kept.len(), 500);
        assert!(kept.is_sorted());
        let of_first = kept.iter().filter(|at| **at < 2500).count();
        // A quarter, give or take three standard deviations.
        assert!((97..=153).contains(&of_first), "{of_first}");
        assert_eq!(kept, sample(3));
        assert_ne!(kept, sample(4));
    }
}
