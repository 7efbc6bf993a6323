//! Record of one thread's transactions.

use std::collections::BTreeMap;
use std::time::Duration;

use hdrhistogram::Histogram;
use keymark_bench::{Second, Totals, Transaction, nanoseconds};
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::latencies::{durations, histogram};
use crate::sample::Reservoir;
use crate::steady::Completions;

/// A second that is over. Times are since the client's start.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientSecond {
    /// Number of the second, from 0.
    pub number: u64,
    /// Counts of the second.
    pub second: Second,
    /// Milliseconds of it in which transactions succeeded, and how many did.
    pub ends: Vec<(u16, u32)>,
    /// Sums up to its end.
    pub totals: Totals,
    /// Time in which the busiest of the client's threads did not wait.
    pub busiest_ns: u64,
    /// Processor time of the client's threads.
    pub processor_ns: u64,
    /// Since when each user has had a transaction.
    pub settled_ns: Option<u64>,
}

impl ClientSecond {
    /// Adds the same second of another thread.
    pub(crate) fn add(&mut self, other: &Self) {
        self.second.add(&other.second);
        self.ends.extend(&other.ends);
        self.totals.add(&other.totals);
        self.busiest_ns = self.busiest_ns.max(other.busiest_ns);
        self.processor_ns += other.processor_ns;
        let both = self.settled_ns.zip(other.settled_ns);
        self.settled_ns = both.map(|(one, other)| one.max(other));
    }
}

/// Counts of the second under way, and all the seconds before.
#[derive(Debug)]
pub(crate) struct Recorder {
    /// Finished seconds.
    pub(crate) seconds: Vec<ClientSecond>,
    pub(crate) failures: BTreeMap<Failure, u64>,
    completions: Completions,
    pub(crate) reservoir: Reservoir,
    pub(crate) totals: Totals,
    histograms: [Histogram<u32>; 4],
    now: ClientSecond,
    /// Number of seconds that were reported, if anybody wants them.
    told: Option<usize>,
}

/// State of a thread for observers.
#[derive(Debug, Default)]
pub(crate) struct Recent {
    pub(crate) transactions: u64,
    pub(crate) failed: u64,
    pub(crate) over: Vec<ClientSecond>,
}

impl Recorder {
    /// `told`: how many seconds were told, if anybody wants them.
    pub(crate) fn new(reservoir: Reservoir, told: Option<usize>) -> Self {
        Self {
            seconds: Vec::new(),
            failures: BTreeMap::new(),
            completions: Completions::default(),
            reservoir,
            totals: Totals::default(),
            histograms: std::array::from_fn(|_| histogram()),
            now: ClientSecond::default(),
            told,
        }
    }

    /// Closes the seconds that are over.
    pub(crate) fn roll(&mut self, now: Duration) {
        while (self.seconds.len() as u64) < now.as_secs() {
            self.close();
        }
    }

    fn close(&mut self) {
        let mut over = std::mem::take(&mut self.now);
        let second = &mut over.second;
        let phases = [
            &mut second.connect,
            &mut second.handshake,
            &mut second.first_byte,
            &mut second.whole,
        ];
        for (phase, histogram) in phases.into_iter().zip(&mut self.histograms) {
            if !histogram.is_empty() {
                *phase = durations(histogram);
                histogram.reset();
            }
        }
        over.number = self.seconds.len() as u64;
        over.ends = self.completions.of_second(over.number);
        over.totals = self.totals;
        self.seconds.push(over);
    }

    /// The seconds that are over since this was last asked, once time at work is booked to them.
    pub(crate) fn over(&mut self, settled: Option<Duration>) -> Vec<ClientSecond> {
        let Some(told) = &mut self.told else {
            return Vec::new();
        };
        let mut over = self.seconds[*told..].to_vec();
        *told = self.seconds.len();
        let settled_ns = settled.map(nanoseconds);
        over.iter_mut().for_each(|one| one.settled_ns = settled_ns);
        over
    }

    /// Books time at work and processor time to a second, which may be over by now.
    pub(crate) fn worked(&mut self, second: u64, busy: Duration, processor: Duration) {
        let over = self.seconds.get_mut(second as usize);
        let second = over.unwrap_or(&mut self.now);
        second.busiest_ns += nanoseconds(busy);
        second.processor_ns += nanoseconds(processor);
    }

    pub(crate) fn succeeded(&mut self, transaction: &Transaction, bytes: u64) {
        self.roll(transaction.ended());
        let phases = [
            transaction.connect_ns,
            transaction.handshake_ns,
            transaction.first_byte_ns,
            transaction.whole_ns,
        ];
        for (histogram, nanoseconds) in self.histograms.iter_mut().zip(phases) {
            record(histogram, nanoseconds);
        }
        self.completions.push(transaction.ended(), 1);
        let whole = Duration::from_nanos(transaction.whole_ns);
        self.totals.push(whole, bytes);
        self.reservoir.offer(transaction);
    }

    /// Adds to the resumed sessions of the second in which a transaction has just succeeded.
    pub(crate) const fn resumed(&mut self, sessions: u64) {
        self.now.second.resumed += sessions;
    }

    pub(crate) fn failed(&mut self, failure: Failure, now: Duration) {
        self.roll(now);
        *self
            .now
            .second
            .failures
            .entry(failure.to_string())
            .or_default() += 1;
        *self.failures.entry(failure).or_default() += 1;
        self.totals.failed += 1;
    }

    /// The load has ended. A second that is cut off counts as one.
    pub(crate) fn end(&mut self, ended: Duration) {
        self.roll(ended.saturating_sub(Duration::from_nanos(1)));
        self.close();
    }
}

/// Histograms grow as they must; saturating where they could not, which no duration of a load makes them.
fn record(histogram: &mut Histogram<u32>, nanoseconds: u64) {
    if histogram.record(nanoseconds).is_err() {
        histogram.saturating_record(nanoseconds);
    }
}

/// Sums of what was counted under the same name.
pub(crate) fn add_counts<K: Ord>(sum: &mut BTreeMap<K, u64>, other: BTreeMap<K, u64>) {
    for (key, count) in other {
        *sum.entry(key).or_default() += count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(milliseconds: u64) -> Transaction {
        let ms = |count: u64| count * 1_000_000;
        Transaction {
            scheduled_ns: ms(milliseconds - 100),
            start_ns: ms(milliseconds - 100),
            connect_ns: ms(10),
            handshake_ns: ms(70),
            first_byte_ns: ms(10),
            whole_ns: ms(100),
        }
    }

    #[test]
    fn each_second_has_what_ended_in_it() {
        let mut recorder = Recorder::new(Reservoir::new(10, 1, 0), None);
        for at in [200, 900, 1100, 3500] {
            recorder.succeeded(&ended(at), 7);
        }
        recorder.failed(Failure::Refused, Duration::from_millis(3600));
        recorder.failed(Failure::Refused, Duration::from_millis(4600));
        recorder.end(Duration::from_secs(5));
        let seconds = || recorder.seconds.iter().map(|over| &over.second);
        let counts: Vec<_> = seconds().map(Second::transactions).collect();
        assert_eq!(counts, [2, 1, 0, 1, 0]);
        let failed: Vec<_> = seconds().map(Second::failed).collect();
        assert_eq!(failed, [0, 0, 0, 1, 1]);
        let handshake = &recorder.seconds[0].second.handshake;
        let median = handshake.quantile(0.5).unwrap();
        assert!((median.0 - 0.070).abs() < 70e-6);
        let Totals {
            transactions,
            failed,
            bytes,
            ..
        } = recorder.totals;
        assert_eq!((transactions, failed, bytes), (4, 2, 28));
        assert_eq!(recorder.failures[&Failure::Refused], 2);
    }
}
