//! The rate of the steady state, without the bias of a short run's ends.
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
//! interval and widens it where neighbours are alike. Response time is the mean of the durations in the window's seconds.

use std::time::Duration;

use keymark_bench::server_load::Steady;

use crate::latencies::nanoseconds;

/// Completions are counted over stretches of this length.
const BIN: Duration = Duration::from_millis(10);
/// The window is cut into so many batches.
const BATCHES: usize = 20;

/// Completed transactions by when they ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Completions {
    bins: Vec<u64>,
}

impl Completions {
    /// One that ended then, since the load's start.
    pub(crate) fn push(&mut self, end: Duration) {
        let index = bin(end);
        if self.bins.len() <= index {
            self.bins.resize(index + 1, 0);
        }
        self.bins[index] += 1;
    }

    /// Adds those of another thread.
    pub(crate) fn add(&mut self, other: &Self) {
        if self.bins.len() < other.bins.len() {
            self.bins.resize(other.bins.len(), 0);
        }
        for (bin, its) in self.bins.iter_mut().zip(&other.bins) {
            *bin += its;
        }
    }

    /// A window of whole seconds cut into equal parts, and how many transactions ended in each.
    ///
    /// # Errors
    /// If there were none: that would be a rate of zero without a doubt.
    pub(crate) fn steady(&self, window: Span) -> Result<Steady, NoSteadyState> {
        let (begin, bins) = (bin(window.begin), bin(window.length()) / BATCHES);
        let count = |part| {
            let from = begin + part * bins;
            self.bins.iter().take(from + bins).skip(from).sum::<u64>()
        };
        let completed: Vec<u64> = (0..BATCHES).map(count).collect();
        if completed.iter().all(|count| *count == 0) {
            return Err(NoSteadyState::NothingDone);
        }
        Ok(Steady {
            from_s: window.begin.as_secs(),
            to_s: window.end.as_secs(),
            part_ns: nanoseconds(window.length() / BATCHES as u32),
            completed,
        })
    }
}

const fn bin(time: Duration) -> usize {
    (time.as_nanos() / BIN.as_nanos()) as usize
}

/// The time that counts, since the load's start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    /// From here on,
    pub(crate) begin: Duration,
    /// and to here.
    pub(crate) end: Duration,
}

impl Span {
    /// Its length.
    pub(crate) const fn length(&self) -> Duration {
        self.end.saturating_sub(self.begin)
    }

    /// The whole seconds between two times, since histograms are kept by the second.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub(crate) const fn of_whole_seconds(
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

#[cfg(test)]
mod tests;
