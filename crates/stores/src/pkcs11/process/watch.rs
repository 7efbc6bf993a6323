//! What a module does that does not answer.

use std::cmp::Reverse;
use std::fs::File;
use std::io;
use std::time::Duration;

use crate::places::keymark_process::Watch;
use keymark_bench::clock::{Clock as _, MonotonicClock, Timestamp};
use keymark_native::cryptoki::under_way::Watched;

/// Sees the calls of all threads.
pub(super) struct CallWatch {
    watched: Watched,
    clock: MonotonicClock,
    /// Of each thread, the call that was seen last and when it was seen first.
    seen: Vec<(u64, Timestamp)>,
}

impl CallWatch {
    /// With the file that the process gets.
    pub(super) fn begin() -> io::Result<(Box<dyn Watch>, File)> {
        let (watched, file) = Watched::new()?;
        let clock = MonotonicClock::new();
        let seen = Vec::new();
        Ok((
            Box::new(Self {
                watched,
                clock,
                seen,
            }),
            file,
        ))
    }
}

impl Watch for CallWatch {
    fn calls(&mut self) -> Vec<(&'static str, Duration)> {
        let now = self.clock.now();
        let threads = self.watched.threads();
        self.seen.resize(threads.len(), (0, now));
        let under_way = threads.into_iter().zip(&mut self.seen);
        let under_way = under_way.filter_map(|((number, call), seen)| {
            if seen.0 != number {
                *seen = (number, now);
            }
            Some((call?, now.since(seen.1)))
        });
        let mut under_way: Vec<_> = under_way.collect();
        under_way.sort_by_key(|(_, since)| Reverse(*since));
        under_way
    }

    fn interrupt(&self) {
        self.watched.interrupt();
    }
}
