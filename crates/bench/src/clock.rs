//! The one clock. `Instant::now` is banned everywhere else (clippy.toml).

use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use nix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

/// Nanoseconds since the run's clock was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub u64);

impl Timestamp {
    /// Time since `earlier`; zero if `earlier` is later.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    /// The moment `duration` later.
    pub fn after(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(nanoseconds(duration)))
    }
}

/// Returns the duration in nanoseconds, as records have it: 584 years fit.
pub fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// A source of timestamps.
pub trait Clock: Debug + Sync {
    /// Time since a start of its own.
    fn now(&self) -> Timestamp;

    /// Waits until `deadline`.
    fn wait_until(&self, deadline: Timestamp);

    /// Its epoch on `CLOCK_MONOTONIC`, by which another process of this machine can have the same clock;
    /// `None` of a clock that no other process can have.
    fn epoch(&self) -> Option<Duration> {
        None
    }

    /// Processor time of the thread that asks, since its start; `None` of a clock that knows none.
    fn processor(&self) -> Option<Duration> {
        None
    }
}

/// `CLOCK_MONOTONIC`, as `std::time::Instant` reads it on Linux.
#[derive(Debug)]
pub struct MonotonicClock {
    epoch: Instant,
}

impl MonotonicClock {
    /// A clock whose epoch is this moment.
    #[allow(clippy::disallowed_methods, reason = "this is the one place")]
    pub fn new() -> Self {
        Self {
            epoch: Instant::now(),
        }
    }

    /// The clock of another process, by what that one's [`Clock::epoch`] yields; `None` when that lies
    /// in the future.
    #[allow(clippy::disallowed_methods, reason = "this is the one place")]
    pub fn with_epoch(epoch: Duration) -> Option<Self> {
        // `Instant` does not tell its reading, so a second reading is kept with it.
        let elapsed = monotonic()?.checked_sub(epoch)?;
        let epoch = Instant::now().checked_sub(elapsed)?;
        Some(Self { epoch })
    }
}

fn monotonic() -> Option<Duration> {
    let reading = clock_gettime(ClockId::CLOCK_MONOTONIC).ok()?;
    Some(Duration::from(reading))
}

impl Default for MonotonicClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for MonotonicClock {
    #[inline]
    #[allow(clippy::disallowed_methods, reason = "this is the one place")]
    fn now(&self) -> Timestamp {
        let elapsed = self.epoch.elapsed();
        // 584 years fit.
        Timestamp(elapsed.as_secs() * 1_000_000_000 + u64::from(elapsed.subsec_nanos()))
    }

    fn wait_until(&self, deadline: Timestamp) {
        // The kernel wakes a sleeper some 50 to 100 µs late; the last stretch is spun.
        const SPIN: Duration = Duration::from_micros(200);
        loop {
            let left = deadline.since(self.now());
            if left.is_zero() {
                return;
            }
            if left > SPIN {
                std::thread::sleep(left - SPIN);
            } else {
                std::hint::spin_loop();
            }
        }
    }

    fn epoch(&self) -> Option<Duration> {
        let elapsed = Duration::from_nanos(self.now().0);
        monotonic()?.checked_sub(elapsed)
    }

    fn processor(&self) -> Option<Duration> {
        let reading = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).ok()?;
        Some(Duration::from(reading))
    }
}

/// A clock that moves only when told to: tests of the pipeline are exact with it.
#[derive(Debug, Default)]
pub struct ManualClock {
    nanoseconds: AtomicU64,
}

impl ManualClock {
    /// Moves time on.
    pub fn advance(&self, duration: Duration) {
        self.nanoseconds
            .fetch_add(nanoseconds(duration), Ordering::Relaxed);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.nanoseconds.load(Ordering::Relaxed))
    }

    fn wait_until(&self, deadline: Timestamp) {
        self.nanoseconds.fetch_max(deadline.0, Ordering::Relaxed);
    }
}

/// Cost of the harness itself, measured at the start of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Harness {
    /// Smallest step between two readings of the clock that differ, in nanoseconds.
    pub clock_resolution_ns: u64,
    /// Median time between two readings with nothing in between, in nanoseconds: part of every sample.
    pub clock_reading_ns: u64,
    /// Time the worker loop spends per sample outside the two readings, in nanoseconds.
    pub loop_ns: u64,
}

/// Smallest step and median distance of neighboring readings, in nanoseconds.
pub fn read_cost(clock: &dyn Clock) -> (u64, u64) {
    const READINGS: usize = 4096;
    let mut steps: Vec<u64> = (0..READINGS)
        .map(|_| {
            let first = clock.now();
            clock.now().0 - first.0
        })
        .collect();
    steps.sort_unstable();
    let resolution = steps.iter().copied().find(|step| *step > 0).unwrap_or(0);
    (resolution, steps[READINGS / 2])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_ends_at_or_after_the_deadline() {
        let clock = MonotonicClock::new();
        let deadline = clock.now().after(Duration::from_millis(2));
        clock.wait_until(deadline);
        assert!(clock.now() >= deadline);
        clock.wait_until(Timestamp(0)); // the past: returns at once
    }

    #[test]
    fn a_clock_of_the_same_epoch_tells_the_same_time() {
        let clock = MonotonicClock::new();
        let same = MonotonicClock::with_epoch(clock.epoch().unwrap()).unwrap();
        // Readings in turn stay in order but for the microseconds between the two readings of an epoch.
        let slack = Duration::from_millis(1);
        for _ in 0..100 {
            let (one, other) = (clock.now(), same.now());
            assert!(other.after(slack) >= one && clock.now().after(slack) >= other);
        }
        assert!(MonotonicClock::with_epoch(Duration::MAX).is_none());
        assert!(ManualClock::default().epoch().is_none());
    }

    #[test]
    fn processor_time_is_the_threads_own_and_stands_still_while_it_sleeps() {
        let clock = MonotonicClock::new();
        let (wall, before) = (clock.now(), clock.processor().unwrap());
        std::thread::sleep(Duration::from_millis(20));
        let spent = clock.processor().unwrap().checked_sub(before).unwrap();
        assert!(spent < clock.now().since(wall), "{spent:?}");
        assert_eq!(ManualClock::default().processor(), None);
    }
}
