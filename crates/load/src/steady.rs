//! Rate and response time of the steady state, without the bias of a short run's ends.
//!
//! **What is biased.** All transactions over all the time counts the start, when users are not there yet or all ask at
//! once, and the end, when those under way are cut off: of users whose cycle takes a tenth of the run, some 5 % are lost.
//! Waiting for the last ones instead lengthens the time by a tail in which fewer and fewer users ask.
//!
//! **What is done.** A window is chosen by time alone: from when the steady state has begun to before the cut-off. The
//! rate is the number of transactions that *end* within it over its length. For any stationary point process the expected
//! number of events in an interval is its rate times the length (Cox & Lewis, "The Statistical Analysis of Series of
//! Events", 1966, §4.2), so this is unbiased however long transactions are in relation to the window: what the window's
//! beginning takes from an earlier time, its end gives to a later one. The mean response time is that of the same
//! transactions; each was under way to its end, so that long ones are not censored, as they would be if those that *begin*
//! in the window were taken and some are still under way at the cut-off.
//!
//! **Interval.** Non-overlapping batch means (Law & Kelton 2000, §9.5.3; Schmeiser 1982): the window is cut into twenty,
//! whose counts are nearly independent once each is longer than a few cycles; [`keymark_stats::throughput`] makes the
//! interval and widens it where neighbours are alike. Response time is a ratio of sums over the same batches.

use std::time::Duration;

use keymark_stats::{Estimate, PerSecond, Seconds, Window, throughput};

/// Completions are counted over stretches of this length.
pub const BIN: Duration = Duration::from_millis(10);
/// The window is cut into so many batches.
const BATCHES: usize = 20;

/// Completed transactions by when they ended: how many, and how long they took.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Completions {
    bins: Vec<Bin>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Bin {
    count: u64,
    nanoseconds: u128,
}

impl Bin {
    fn add(&mut self, other: Self) {
        self.count += other.count;
        self.nanoseconds += other.nanoseconds;
    }
}

impl Completions {
    /// Of (start, end), both since the load's start.
    #[must_use]
    pub fn of(transactions: impl IntoIterator<Item = (Duration, Duration)>) -> Self {
        let mut all = Self::default();
        for (start, end) in transactions {
            all.push(start, end);
        }
        all
    }

    /// One that began and ended at these times, since the load's start.
    pub fn push(&mut self, start: Duration, end: Duration) {
        let index = bin(end);
        if self.bins.len() <= index {
            self.bins.resize(index + 1, Bin::default());
        }
        self.bins[index].add(Bin {
            count: 1,
            nanoseconds: end.saturating_sub(start).as_nanos(),
        });
    }

    /// Adds those of another thread.
    pub fn add(&mut self, other: &Self) {
        if self.bins.len() < other.bins.len() {
            self.bins.resize(other.bins.len(), Bin::default());
        }
        for (bin, its) in self.bins.iter_mut().zip(&other.bins) {
            bin.add(*its);
        }
    }

    /// A window of whole seconds cut into equal parts, as the intervals of [`steady`] are made of: their length, and how
    /// many transactions ended in each.
    ///
    /// # Errors
    ///
    /// If there were none: that would be a rate of zero without a doubt.
    pub(crate) fn in_parts(&self, window: Span) -> Result<(Duration, Vec<u64>), NoSteadyState> {
        let (begin, bins) = (bin(window.begin), bin(window.length()) / BATCHES);
        let count = |part| {
            let from = begin + part * bins;
            self.sum(from, from + bins).count
        };
        let completed: Vec<u64> = (0..BATCHES).map(count).collect();
        if completed.iter().all(|count| *count == 0) {
            return Err(NoSteadyState::NothingDone);
        }
        Ok((window.length() / BATCHES as u32, completed))
    }

    fn sum(&self, begin: usize, end: usize) -> Bin {
        let mut sum = Bin::default();
        let bins = self.bins.iter().take(end).skip(begin);
        bins.for_each(|bin| sum.add(*bin));
        sum
    }
}

#[allow(clippy::cast_possible_truncation, reason = "a year fits")]
const fn bin(time: Duration) -> usize {
    (time.as_nanos() / BIN.as_nanos()) as usize
}

/// The time that counts, since the load's start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// From here on,
    pub begin: Duration,
    /// and to here.
    pub end: Duration,
}

impl Span {
    /// Its length.
    #[must_use]
    pub const fn length(&self) -> Duration {
        self.end.saturating_sub(self.begin)
    }

    /// The whole seconds between two times, since histograms are kept by the second.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub const fn of_whole_seconds(
        settled: Duration,
        cut_off: Duration,
    ) -> Result<Self, NoSteadyState> {
        let begin = Duration::from_secs(settled.as_secs() + (settled.subsec_nanos() > 0) as u64);
        let end = Duration::from_secs(cut_off.as_secs());
        if begin.as_nanos() < end.as_nanos() {
            Ok(Self { begin, end })
        } else {
            Err(NoSteadyState::TooShort { settled, cut_off })
        }
    }
}

/// Why nothing can be said of the steady state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoSteadyState {
    /// Nothing is left of the load between warm-up and cut-off.
    #[error(
        "the load settles after {settled:.1?} and ends after {cut_off:.1?}, which leaves no whole second; make it \
         longer"
    )]
    TooShort {
        /// When the steady state begins.
        settled: Duration,
        /// When the load ends.
        cut_off: Duration,
    },
    /// Some users never had a transaction, so that the load was never whole.
    #[error("not every user had a transaction before the load ended; make it longer")]
    NeverSettled,
    /// Nothing succeeded in the window.
    #[error("no transaction succeeded after the load had settled")]
    NothingDone,
}

/// Figures of the steady state.
#[derive(Debug, Clone, PartialEq)]
pub struct Steady {
    /// The window.
    pub span: Span,
    /// Transactions that ended in it.
    pub transactions: u64,
    /// Transactions a second.
    pub rate: Estimate<PerSecond>,
    /// Mean time from start to end.
    pub response: Estimate<Seconds>,
    /// Transactions under way on average, by Little's law: rate times response time.
    pub concurrency: f64,
}

/// Rate and response time within the window, with intervals from batches. `seed` is for resampling.
///
/// # Errors
///
/// If the window is empty.
#[allow(
    clippy::cast_precision_loss,
    reason = "sums of nanoseconds are far below 2⁵³ seconds"
)]
pub fn steady(completions: &Completions, span: Span, seed: u64) -> Result<Steady, NoSteadyState> {
    let (begin, end) = (bin(span.begin), bin(span.end));
    let edge = |i: usize| begin + (end - begin) * i / BATCHES;
    let batches: Vec<(Bin, u64)> = (0..BATCHES)
        .map(|i| {
            let bins = edge(i + 1) - edge(i);
            let length = bins as u64 * BIN.as_nanos() as u64;
            (completions.sum(edge(i), edge(i + 1)), length)
        })
        .collect();
    let window = |completed: f64, length_ns: u64| Window {
        completed,
        length_ns,
        round: 0,
    };
    let rates: Vec<Window> = batches
        .iter()
        .map(|(bin, length)| window(bin.count as f64, *length))
        .collect();
    // Seconds over transactions is estimated as transactions over seconds is: a ratio of sums over batches.
    let responses: Vec<Window> = batches
        .iter()
        .map(|(bin, _)| window(bin.nanoseconds as f64 / 1e9, bin.count * 1_000_000_000))
        .collect();
    let transactions = batches.iter().map(|(bin, _)| bin.count).sum();
    if transactions == 0 {
        return Err(NoSteadyState::NothingDone);
    }
    let rate = throughput(&rates, seed).ok_or(NoSteadyState::NothingDone)?;
    let response = throughput(&responses, seed).ok_or(NoSteadyState::NothingDone)?;
    let response = response.map(|mean| Seconds(mean.0));
    Ok(Steady {
        span,
        transactions,
        concurrency: rate.value.0 * response.value.0,
        rate,
        response,
    })
}

#[cfg(test)]
mod tests;
