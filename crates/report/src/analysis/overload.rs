//! Open loops whose arrivals come faster than they are served: their queue grows for ever, and a mean
//! latency would only say how long it was watched.

use keymark_bench::record::CaseRecord;
use keymark_bench::sample::Sample;
use keymark_stats::{PerSecond, Ratio, Seconds};
use serde::{Deserialize, Serialize};

/// A queue that grows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Overload {
    /// Work that arrives over what the workers can do: 1 or more.
    pub utilisation: Ratio,
    /// By how many operations a second the queue grew; records of version 0.1.0 do not tell.
    pub growth: Option<PerSecond>,
}

/// What an operation took its worker on average, without its time in the queue.
pub(crate) fn service(record: &CaseRecord) -> Option<Seconds> {
    let service = |sample: &Sample| sample.end.since(sample.start).as_secs_f64();
    let (number, total) = record
        .samples()
        .fold((0.0, 0.0), |(number, total), sample| {
            (number + 1.0, total + service(sample))
        });
    (number > 0.0).then(|| Seconds(total / number))
}

/// Whether more arrives than can be served: ρ = λS/c, with S as long as an operation took its worker.
pub(crate) fn overload(record: &CaseRecord) -> Option<Overload> {
    let rate = record.case.load.pacing.rate()?.per_second();
    let service = service(record).map_or(f64::NAN, |service| service.0);
    let utilisation = rate * service / f64::from(record.case.concurrency());
    if utilisation.is_nan() || utilisation < 1.0 {
        return None;
    }
    let (watched, served) = record
        .blocks
        .iter()
        .filter_map(|block| Some((block.queue?.length_ns, block.samples.len())))
        .fold((0.0, 0.0), |(watched, served), (length, samples)| {
            (watched + length as f64 / 1e9, served + samples as f64)
        });
    Some(Overload {
        utilisation: Ratio(utilisation),
        growth: (watched > 0.0).then(|| PerSecond((rate - served / watched).max(0.0))),
    })
}
