//! What one thread keeps of its transactions.

use std::collections::BTreeMap;
use std::time::Duration;

use hdrhistogram::Histogram;
use keymark_bench::server_load::{Durations, Totals};

use crate::failure::{Failure, Phase};
use crate::latencies::{durations, histogram};
use crate::sample::{Reservoir, Transaction};
use crate::steady::Completions;

/// One second of a load, counted from its start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Second {
    /// Durations of the transactions that succeeded and ended in it, by [`Phase`].
    pub(crate) phases: [Durations; 4],
    /// What failed in it.
    pub failures: BTreeMap<Failure, u64>,
    /// Time that the busiest of the client's threads did not wait.
    pub busiest: Duration,
    /// Processor time of all the client's threads.
    pub processor: Duration,
    /// Bytes of the bodies of the answers that ended in it.
    pub body: u64,
}

impl Second {
    /// Durations of a phase, of the transactions that succeeded and ended in this second.
    #[must_use]
    pub const fn phase(&self, phase: Phase) -> &Durations {
        &self.phases[phase.index()]
    }

    /// How many transactions succeeded.
    #[must_use]
    pub fn transactions(&self) -> u64 {
        self.phase(Phase::Whole).count()
    }

    /// How many failed.
    #[must_use]
    pub fn failed(&self) -> u64 {
        self.failures.values().sum()
    }

    /// Adds the same second of another thread.
    pub(crate) fn add(&mut self, other: &Self) {
        for (phase, its) in self.phases.iter_mut().zip(&other.phases) {
            phase.add(its);
        }
        for (failure, count) in &other.failures {
            *self.failures.entry(failure.clone()).or_default() += count;
        }
        self.busiest = self.busiest.max(other.busiest);
        self.processor += other.processor;
        self.body += other.body;
    }
}

/// Counts of the second under way, and all the seconds before.
#[derive(Debug)]
pub(crate) struct Recorder {
    pub(crate) seconds: Vec<Second>,
    pub(crate) completions: Completions,
    pub(crate) reservoir: Reservoir,
    pub(crate) totals: Totals,
    histograms: [Histogram<u32>; 4],
    now: Second,
    /// Since the last publication.
    pub(crate) recent: Recent,
}

/// What a thread tells those who watch.
#[derive(Debug)]
pub(crate) struct Recent {
    pub(crate) transactions: u64,
    pub(crate) failed: u64,
    pub(crate) whole: Histogram<u32>,
}

impl Default for Recent {
    fn default() -> Self {
        Self {
            transactions: 0,
            failed: 0,
            whole: histogram(),
        }
    }
}

impl Recorder {
    pub(crate) fn new(reservoir: Reservoir) -> Self {
        Self {
            seconds: Vec::new(),
            completions: Completions::default(),
            reservoir,
            totals: Totals::default(),
            histograms: std::array::from_fn(|_| histogram()),
            now: Second::default(),
            recent: Recent::default(),
        }
    }

    /// Closes the seconds that are over.
    pub(crate) fn roll(&mut self, now: Duration) {
        while (self.seconds.len() as u64) < now.as_secs() {
            self.close();
        }
    }

    fn close(&mut self) {
        let mut second = std::mem::take(&mut self.now);
        for (phase, histogram) in second.phases.iter_mut().zip(&mut self.histograms) {
            if !histogram.is_empty() {
                *phase = durations(histogram);
                histogram.reset();
            }
        }
        self.seconds.push(second);
    }

    /// Books time at work and processor time to a second, which may be over by now.
    #[allow(clippy::cast_possible_truncation, reason = "seconds of a load")]
    pub(crate) fn worked(&mut self, second: u64, busy: Duration, processor: Duration) {
        let second = self
            .seconds
            .get_mut(second as usize)
            .unwrap_or(&mut self.now);
        second.busiest += busy;
        second.processor += processor;
    }

    pub(crate) fn succeeded(&mut self, transaction: &Transaction) {
        let ended = transaction.ended();
        self.roll(ended);
        let phases = [
            transaction.connect,
            transaction.handshake,
            transaction.first_byte,
            transaction.whole,
        ];
        for (histogram, duration) in self.histograms.iter_mut().zip(phases) {
            record(histogram, nanoseconds(duration));
        }
        let whole = nanoseconds(transaction.whole);
        record(&mut self.recent.whole, whole);
        self.recent.transactions += 1;
        self.now.body += transaction.body;
        self.completions.push(transaction.scheduled, ended);
        self.totals.push(transaction.whole, transaction.body);
        self.reservoir.offer(transaction);
    }

    pub(crate) fn failed(&mut self, failure: Failure, now: Duration) {
        self.roll(now);
        *self.now.failures.entry(failure).or_default() += 1;
        self.recent.failed += 1;
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

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(milliseconds: u64) -> Transaction {
        Transaction {
            scheduled: Duration::from_millis(milliseconds - 100),
            started: Duration::from_millis(milliseconds - 100),
            connect: Duration::from_millis(10),
            handshake: Duration::from_millis(70),
            first_byte: Duration::from_millis(10),
            whole: Duration::from_millis(100),
            body: 7,
        }
    }

    #[test]
    fn each_second_has_what_ended_in_it() {
        let mut recorder = Recorder::new(Reservoir::new(10, 1, 0));
        for at in [200, 900, 1100, 3500] {
            recorder.succeeded(&ended(at));
        }
        recorder.failed(Failure::Refused, Duration::from_millis(3600));
        recorder.failed(Failure::Refused, Duration::from_millis(4600));
        recorder.end(Duration::from_secs(5));
        let counts: Vec<_> = recorder.seconds.iter().map(Second::transactions).collect();
        assert_eq!(counts, [2, 1, 0, 1, 0]);
        let failed: Vec<_> = recorder.seconds.iter().map(Second::failed).collect();
        assert_eq!(failed, [0, 0, 0, 1, 1]);
        let handshake = recorder.seconds[0].phase(Phase::Handshake);
        let median = handshake.quantile(0.5).unwrap();
        assert!((median.0 - 0.070).abs() < 70e-6);
        assert_eq!(recorder.seconds[0].body, 14);
        assert_eq!(
            (recorder.totals.transactions, recorder.totals.failed),
            (4, 2)
        );
    }

    #[test]
    fn seconds_of_two_threads_add_up() {
        let second = |at| {
            let mut recorder = Recorder::new(Reservoir::new(10, 1, 0));
            recorder.worked(0, Duration::from_millis(at), Duration::from_millis(3));
            recorder.succeeded(&ended(at));
            recorder.end(Duration::from_secs(1));
            recorder.seconds.remove(0)
        };
        let mut sum = second(200);
        sum.add(&second(300));
        assert_eq!(sum.transactions(), 2);
        assert_eq!(sum.busiest, Duration::from_millis(300));
        assert_eq!(sum.processor, Duration::from_millis(6));
    }
}
