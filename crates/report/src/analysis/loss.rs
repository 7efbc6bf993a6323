//! What clients noticed when one of several servers was killed.

use keymark_bench::server_load::{Second, ServerLoad};
use keymark_stats::{PerSecond, Seconds};
use serde::{Deserialize, Serialize};

/// The loss of a server in the middle of a load, to the second.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Loss {
    /// When, since the load's start.
    pub killed_at: Seconds,
    /// Transactions that failed from then on.
    pub failed: u64,
    /// From then to the end of the last second in which one failed: no longer than that.
    pub lasted: Seconds,
    /// Rate of the steady seconds before.
    pub before: Option<PerSecond>,
    /// Rate of those after the last failure.
    pub after: Option<PerSecond>,
}

impl Loss {
    /// Of a load in which a server was killed.
    pub(super) fn of(load: &ServerLoad) -> Option<Self> {
        const SECOND: u64 = 1_000_000_000;
        let killed = load.killed_ns?;
        let second = usize::try_from(killed / SECOND).ok()?;
        // Such a load is one without a pause.
        let stretches = load.steady.iter().flat_map(|steady| &steady.stretches);
        let steady = stretches.last().map_or(0..0, |&(from, to)| {
            let index = |second: u64| usize::try_from(second).unwrap_or(usize::MAX);
            index(from)..index(to).min(load.seconds.len())
        });
        let failed = |second: &Second| second.failures.values().sum::<u64>();
        let since = load.seconds.get(second..).unwrap_or_default();
        let last = since.iter().rposition(|second| failed(second) > 0);
        let healed = last.map_or(second + 1, |last| second + last + 1);
        let lasted = last.map_or(0.0, |_| healed as f64 - killed as f64 / SECOND as f64);
        Some(Self {
            killed_at: Seconds(killed as f64 / SECOND as f64),
            failed: since.iter().map(failed).sum(),
            lasted: Seconds(lasted),
            before: rate(load, steady.start..second),
            after: rate(load, healed.max(steady.start)..steady.end),
        })
    }
}

fn rate(load: &ServerLoad, seconds: std::ops::Range<usize>) -> Option<PerSecond> {
    let seconds = load.seconds.get(seconds).filter(|some| !some.is_empty())?;
    let done = |second: &Second| second.whole.0.iter().map(|(_, count)| count).sum::<u64>();
    let sum: u64 = seconds.iter().map(done).sum();
    Some(PerSecond(sum as f64 / seconds.len() as f64))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use keymark_bench::server_load::{Durations, Steady};

    use super::*;
    use keymark_testkit::record::{batch, server_load};

    #[test]
    fn what_was_lost_and_for_how_long_is_told() {
        let second = |done: u64, failed: u64| Second {
            whole: Durations(vec![(1_000_000, done)]),
            failures: BTreeMap::from([("closed".to_owned(), failed)]),
            ..Second::default()
        };
        let load = ServerLoad {
            seconds: [(9, 3), (8, 0), (8, 0), (5, 2), (1, 1), (4, 0), (4, 0)]
                .map(|(done, failed)| second(done, failed))
                .to_vec(),
            steady: Some(Steady {
                stretches: vec![(1, 7)],
                batches: vec![batch(0, 2, 300_000_000); 20],
            }),
            killed_ns: Some(3_250_000_000),
            ..server_load()
        };
        let loss = Loss::of(&load).unwrap();
        assert_eq!((loss.failed, loss.lasted), (3, Seconds(1.75)));
        assert_eq!(
            (loss.before, loss.after),
            (Some(PerSecond(8.0)), Some(PerSecond(4.0)))
        );
        let unhurt = ServerLoad {
            seconds: vec![second(8, 0); 7],
            ..load.clone()
        };
        let loss = Loss::of(&unhurt).unwrap();
        assert_eq!((loss.failed, loss.lasted), (0, Seconds(0.0)));
        let nothing = ServerLoad {
            killed_ns: None,
            ..load
        };
        assert_eq!(Loss::of(&nothing), None);
    }
}
