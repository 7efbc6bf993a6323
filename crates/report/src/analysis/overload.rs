//! Open loops whose arrivals come faster than they are served: their queue grows for ever, and a mean
//! latency would only say how long it was watched.

use keymark_bench::case::Pacing;
use keymark_bench::record::CaseRecord;
use keymark_bench::sample::Sample;
use keymark_stats::{PerSecond, Ratio};
use serde::{Deserialize, Serialize};

/// A queue that grows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Overload {
    /// Work that arrives over what the workers can do: 1 or more.
    pub utilisation: Ratio,
    /// By how many operations a second the queue grew.
    pub growth: PerSecond,
}

/// Whether more arrives than can be served: ρ = λS/c, with S as long as an operation took its worker.
pub(crate) fn overload(record: &CaseRecord) -> Option<Overload> {
    let rate = match record.case.load.pacing {
        Pacing::Closed | Pacing::Thinking(_) => return None,
        Pacing::Open(rate) => rate.per_second(),
    };
    let service = |sample: &Sample| sample.end.since(sample.start).as_secs_f64();
    let (number, total) = record
        .samples()
        .fold((0.0, 0.0), |(number, total), sample| {
            (number + 1.0, total + service(sample))
        });
    let utilisation = rate * total / number / f64::from(record.case.concurrency());
    if utilisation.is_nan() || utilisation < 1.0 {
        return None;
    }
    let stretches = || record.blocks.iter().filter_map(|block| block.queue);
    let watched: f64 = stretches()
        .map(|stretch| stretch.length_ns as f64 / 1e9)
        .sum();
    let served = record.blocks.iter().filter(|block| block.queue.is_some());
    let served: usize = served.map(|block| block.samples.len()).sum();
    Some(Overload {
        utilisation: Ratio(utilisation),
        growth: PerSecond((rate - served as f64 / watched).max(0.0)),
    })
}
