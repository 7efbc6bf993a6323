//! Samples: one timed operation each, kept for ever.

use std::collections::BTreeMap;
use std::time::Duration;

use keymark_stats::Window;
use serde::{Deserialize, Serialize};

use crate::Timestamp;
use crate::words::words;

words! {
    /// Outcome of an operation.
    pub enum Outcome("outcome") {
        /// The intended thing happened, and was checked.
        Done = "done",
        /// The operation reported an error.
        Failed = "failed",
        /// The operation reported success, but the check refused its result.
        Wrong = "wrong",
    }
}

/// Processor time of a child process, to the microsecond that the kernel reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CpuTime {
    /// Time in user mode, in microseconds.
    pub user_us: u32,
    /// Time in the kernel, in microseconds.
    pub system_us: u32,
}

impl CpuTime {
    /// Converts two durations; more than an hour is cut.
    pub fn new(user: Duration, system: Duration) -> Self {
        let micros = |time: Duration| u32::try_from(time.as_micros()).unwrap_or(u32::MAX);
        Self {
            user_us: micros(user),
            system_us: micros(system),
        }
    }

    /// User and system time together.
    pub const fn total(self) -> Duration {
        Duration::from_micros(self.user_us as u64 + self.system_us as u64)
    }
}

/// Timed operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Row", into = "Row")]
pub struct Sample {
    /// Number of the worker.
    pub worker: u32,
    /// Time when the operation was due: its start in a closed loop, its arrival in an open one.
    pub scheduled: Timestamp,
    /// Clock reading before.
    pub start: Timestamp,
    /// Clock reading after.
    pub end: Timestamp,
    /// Outcome of the operation.
    pub outcome: Outcome,
    /// Processor time of the child, where the operation is a process.
    pub cpu: Option<CpuTime>,
}

impl Sample {
    /// Returns a successful sample that began when it was due.
    pub const fn done(worker: u32, start: Timestamp, end: Timestamp) -> Self {
        Self {
            worker,
            scheduled: start,
            start,
            end,
            outcome: Outcome::Done,
            cpu: None,
        }
    }

    /// Returns the time from when the operation was due to its end.
    pub const fn latency(&self) -> Duration {
        self.end.since(self.scheduled)
    }

    /// [`Self::latency`] in nanoseconds.
    pub const fn latency_ns(&self) -> u64 {
        self.end.0.saturating_sub(self.scheduled.0)
    }
}

/// `[worker, scheduled, start, end, outcome, user_us, system_us]`: samples come by the million.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Row(u32, u64, u64, u64, Outcome, Option<u32>, Option<u32>);

impl From<Sample> for Row {
    fn from(one: Sample) -> Self {
        let (scheduled, start, end) = (one.scheduled.0, one.start.0, one.end.0);
        let (user, system) = (
            one.cpu.map(|cpu| cpu.user_us),
            one.cpu.map(|cpu| cpu.system_us),
        );
        Self(one.worker, scheduled, start, end, one.outcome, user, system)
    }
}

impl TryFrom<Row> for Sample {
    type Error = &'static str;

    fn try_from(row: Row) -> Result<Self, Self::Error> {
        let Row(worker, scheduled, start, end, outcome, user, system) = row;
        if start > end || scheduled > start {
            return Err("a sample ends before it starts");
        }
        let cpu = user.zip(system);
        Ok(Self {
            worker,
            scheduled: Timestamp(scheduled),
            start: Timestamp(start),
            end: Timestamp(end),
            outcome,
            cpu: cpu.map(|(user_us, system_us)| CpuTime { user_us, system_us }),
        })
    }
}

/// Part of a queue's time that a block of an open loop covers; it stops between blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Stretch {
    /// Its length, in nanoseconds.
    pub length_ns: u64,
    /// Arrivals that nobody had begun with when it ended.
    pub waiting: u64,
}

/// A contiguous stretch of one case's samples; other cases are measured between two blocks.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Block {
    /// Interleaving round it belongs to: blocks of one round are neighbors in time.
    pub round: u32,
    /// Samples in order of their end.
    #[cfg_attr(test, schemars(with = "Vec<Row>"))]
    pub samples: Vec<Sample>,
    /// Part of the queue's time that a block of an open loop covers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<Stretch>,
    /// Mean time of the reference calculation before and after the block, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference_ns: Option<u64>,
}

impl Block {
    /// Latencies of the operations that counted, in nanoseconds, in order of their end.
    pub fn latencies_ns(&self) -> Vec<u64> {
        self.done().map(Sample::latency_ns).collect()
    }

    /// Operations that counted.
    pub fn done(&self) -> impl Iterator<Item = &Sample> {
        self.samples
            .iter()
            .filter(|sample| sample.outcome == Outcome::Done)
    }

    /// Returns the first start and the last end.
    pub fn span(&self) -> Option<(Timestamp, Timestamp)> {
        let first = self.samples.iter().map(|sample| sample.start).min()?;
        let last = self.samples.iter().map(|sample| sample.end).max()?;
        Some((first, last))
    }

    /// Returns the number of active workers, the last beginning and the first end.
    pub(crate) fn common(&self) -> Option<(usize, Timestamp, Timestamp)> {
        let mut busy: BTreeMap<u32, (Timestamp, Timestamp)> = BTreeMap::new();
        for sample in &self.samples {
            let own = busy
                .entry(sample.worker)
                .or_insert((sample.start, sample.end));
            *own = (own.0.min(sample.start), own.1.max(sample.end));
        }
        let from = busy.values().map(|(first, _)| *first).max()?;
        let to = busy.values().map(|(_, last)| *last).min()?;
        Some((busy.len(), from, to))
    }

    /// The stretch in which every worker was busy, and what was completed in it: an operation
    /// that the stretch's end cuts counts by the share that lies inside. `None` when no such
    /// stretch exists: one of the `workers` did nothing.
    pub fn window(&self, workers: u32) -> Option<Window> {
        let (busy, from, to) = self.common()?;
        if busy as u64 != u64::from(workers) {
            return None;
        }
        let length_ns = to.0.checked_sub(from.0).filter(|length| *length > 0)?;
        let completed = self
            .done()
            .map(|sample| {
                let inside = sample.end.min(to).since(sample.start.max(from)).as_nanos();
                let whole = sample.end.since(sample.start).as_nanos().max(1);
                inside as f64 / whole as f64
            })
            .sum();
        Some(Window {
            completed,
            length_ns,
            round: self.round,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(worker: u32, start: u64, end: u64) -> Sample {
        Sample::done(worker, Timestamp(start), Timestamp(end))
    }

    fn block(samples: impl IntoIterator<Item = Sample>) -> Block {
        Block {
            round: 3,
            samples: samples.into_iter().collect(),
            ..Block::default()
        }
    }

    #[test]
    fn a_single_worker_is_busy_from_first_start_to_last_end() {
        let failed = Sample {
            outcome: Outcome::Failed,
            ..sample(0, 0, 100)
        };
        for (first, completed) in [(sample(0, 0, 100), 2.0), (failed, 1.0)] {
            let block = block([first, sample(0, 110, 210)]);
            let window = block.window(1).unwrap();
            assert_eq!((window.length_ns, window.round), (210, 3));
            // Failures take time but do not count.
            assert!((window.completed - completed).abs() < 1e-12);
            assert_eq!(block.latencies_ns().len() as f64, completed);
        }
    }

    #[test]
    fn the_common_window_cuts_operations_by_share() {
        // Worker 0 is busy 0..300, worker 1 100..400: common 100..300.
        let block = block([
            sample(0, 0, 150),
            sample(1, 100, 250),
            sample(0, 150, 300),
            sample(1, 250, 400),
        ]);
        let window = block.window(2).unwrap();
        assert_eq!(window.length_ns, 200);
        let expected = 50.0 / 150.0 + 1.0 + 1.0 + 50.0 / 150.0;
        assert!((window.completed - expected).abs() < 1e-12);
    }

    #[test]
    fn a_worker_without_samples_leaves_no_common_window() {
        assert!(block([sample(1, 0, 10)]).window(2).is_none());
        assert!(block([sample(u32::MAX, 0, 10)]).window(2).is_none());
        assert!(block([]).window(1).is_none());
    }

    #[test]
    fn a_hundred_thousand_workers_are_no_more_work_than_their_samples() {
        let samples = (0..100_000).map(|worker| sample(worker, u64::from(worker), 200_000));
        assert_eq!(block(samples).window(100_000).unwrap().length_ns, 100_001);
    }

    #[test]
    fn open_loop_latency_counts_from_the_schedule() {
        let late = Sample {
            scheduled: Timestamp(10),
            ..sample(0, 100, 120)
        };
        assert_eq!(late.latency(), Duration::from_nanos(110));
    }
}
