//! The rate of the steady state, without the bias of a short run's ends.
//!
//! **What is biased.** All transactions over all the time counts the start, when users are not there yet or all ask at
//! once, and the end, when those under way are cut off: of users whose cycle takes a tenth of the run, some 5 % are lost.
//! Waiting for the last ones instead lengthens the time by a tail in which fewer and fewer users ask.
//!
//! **What is done.** A window is chosen by time alone: from when the steady state has begun to before the cut-off. The
//! rate is the number of transactions that end within it after the first, over the time from the end of the first to that of
//! the last. Windows of a fixed length would count one more or one less of a server that takes its time: 20 s of one that does
//! exactly 1.351/s are 27 of them. The mean response time is that of the transactions that end in the window's whole
//! seconds; each was under way to its end, so that long ones are not censored, as they would be if those that *begin* in
//! the window were taken and some are still under way at the cut-off.
//!
//! **Interval.** Non-overlapping batch means (Law & Kelton 2000, §9.5.3; Schmeiser 1982) over the times between ends: up to
//! twenty batches of as many transactions each, whose lengths are nearly independent once each is longer than a few cycles;
//! [`keymark_stats::throughput`] makes the interval and widens it where neighbors are alike.

use std::time::Duration;

use keymark_bench::{Batch, Steady, nanoseconds};

/// Completions are counted over stretches of this length.
const BIN: Duration = Duration::from_millis(1);
/// The window is cut into this number of batches at most.
const BATCHES: u64 = 20;

/// Transactions at the end of a window that do not count, in mean times: by Wald's identity the time to the first one
/// of them is without bias, as that to the last one in the window is not (Feller 1971, XI.3).
const RESERVE: u64 = 3;

/// Completed transactions by when they ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Completions {
    bins: Vec<u32>,
}

impl Completions {
    /// Number of transactions that ended at a time since the load's start.
    pub(crate) fn push(&mut self, end: Duration, count: u32) {
        let index = bin(end);
        if self.bins.len() <= index {
            self.bins.resize(index + 1, 0);
        }
        self.bins[index] += count;
    }

    /// Counts of one second: milliseconds of it, and the number that ended then.
    pub(crate) fn of_second(&self, number: u64) -> Vec<(u16, u32)> {
        let (from, to) = (number * 1000, (number + 1) * 1000);
        let bins = self.bins.iter().copied().take(to as usize);
        let counted = (0..).zip(bins.skip(from as usize));
        counted.filter(|(_, count)| *count > 0).collect()
    }

    /// Computes the steady state of a window, in batches.
    ///
    /// # Errors
    /// If fewer than two did: that would be a rate without a doubt.
    pub(crate) fn steady(&self, window: Span, round: u32) -> Result<Steady, NoSteadyState> {
        let range = bin(window.begin)..bin(window.end);
        let ended = (0_u64..).zip(self.bins.iter().map(|count| u64::from(*count)));
        let ended = ended.filter(|(at, count)| *count > 0 && range.contains(&(*at as usize)));
        let in_window = ended.clone().map(|(_, count)| count).sum::<u64>();
        // Where to stop is decided before what ends last is seen, or long times between ends would be missing.
        let length = range.len() as u64;
        let reserve = (RESERVE * length / in_window.max(1)).min(length / 4);
        let stop = range.end as u64 - reserve;
        let mut over = false;
        let ended = ended.take_while(|(at, _)| !std::mem::replace(&mut over, *at >= stop));
        let ended: Vec<(u64, u64)> = ended.collect();
        let done: u64 = ended.iter().map(|(_, count)| count).sum();
        let mut ended = ended.into_iter();
        // What ends together with the first is before the time that counts.
        let (mut last, first) = ended.next().ok_or(NoSteadyState::NothingDone)?;
        let most = BATCHES.min(done - first).max(1);
        let mut batches: Vec<Batch> = Vec::new();
        let (mut counted, mut completed) = (0, 0);
        for (at, count) in ended {
            completed += count;
            // As many behind the batch as belong there, and none without length.
            if (counted + completed) * most >= (batches.len() as u64 + 1) * (done - first) {
                let length_ns = (at - last) * nanoseconds(BIN);
                batches.push(Batch {
                    completed,
                    length_ns,
                    round,
                });
                counted += completed;
                (last, completed) = (at, 0);
            }
        }
        if batches.is_empty() {
            return Err(NoSteadyState::TooFew);
        }
        let stretch = window.whole_seconds();
        Ok(Steady {
            stretches: stretch.into_iter().collect(),
            batches,
        })
    }
}

const fn bin(time: Duration) -> usize {
    (time.as_nanos() / BIN.as_nanos()) as usize
}

/// The time that counts, since the load's start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    /// Start of a window,
    pub(crate) begin: Duration,
    /// and to here.
    pub(crate) end: Duration,
}

impl Span {
    /// Creates the window between two times.
    ///
    /// # Errors
    ///
    /// If that is nothing.
    pub(crate) fn between(settled: Duration, cut_off: Duration) -> Result<Self, NoSteadyState> {
        let span = Self {
            begin: settled,
            end: cut_off,
        };
        if span.whole_seconds().is_some() {
            Ok(span)
        } else {
            Err(NoSteadyState::TooShort { settled, cut_off })
        }
    }

    /// The whole seconds in it, since histograms are kept by the second.
    pub(crate) fn whole_seconds(&self) -> Option<(u64, u64)> {
        let begin = self.begin.as_secs() + u64::from(self.begin.subsec_nanos() > 0);
        let end = self.end.as_secs();
        (begin < end).then_some((begin, end))
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
        /// Start of the steady state.
        settled: Duration,
        /// End of the load.
        cut_off: Duration,
    },
    /// Some users never had a transaction, so that the load was never whole.
    #[error("not every user had a transaction before the load ended; make it longer")]
    NeverSettled,
    /// Transactions ended at once.
    #[error("only one transaction succeeded after the load had settled; make it longer")]
    TooFew,
    /// Nothing succeeded in the window.
    #[error("no transaction succeeded after the load had settled")]
    NothingDone,
}

#[cfg(test)]
mod tests;
