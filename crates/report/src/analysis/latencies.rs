//! What the samples of one case say, before it is compared with another; of an open loop whose arrivals come faster than
//! they are served only that: its queue grows for ever, and a mean latency would only say how long it was watched.

use keymark_bench::{CaseRecord, Sample};
use keymark_stats::{
    AtMeanSpeed, Blocks, MachineSpeed, PerSecond, Ratio, RunDependence, Seconds, Summary,
    controlled,
};

/// What the cases of a run tell of their machine.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Machine {
    /// How fast it was, by what it did around the blocks.
    pub speed: Option<MachineSpeed>,
    /// How much neighbouring blocks have in common on it.
    pub dependence: RunDependence,
}

impl Machine {
    /// Of the cases that are finished.
    pub fn of(speed: Option<MachineSpeed>, cases: &[CaseRecord]) -> Self {
        let latencies: Vec<Blocks> = cases.iter().map(CaseRecord::latencies).collect();
        Self {
            speed,
            dependence: RunDependence::of(&latencies),
        }
    }
}

/// One case's latencies: as they were measured, and at the mean speed of the machine where they are known better there.
#[derive(Debug, Clone, PartialEq)]
pub struct Latencies {
    pub(super) measured: Blocks,
    at_mean_speed: Option<AtMeanSpeed>,
}

impl Latencies {
    /// Of a case that is finished.
    pub fn of(record: &CaseRecord, machine: &Machine, seed: u64) -> Self {
        let measured = record.latencies();
        Self {
            at_mean_speed: at_mean_speed(record, &measured, machine, seed),
            measured,
        }
    }

    pub(super) fn summary(&self, machine: &Machine, seed: u64) -> Option<Summary> {
        let run = &machine.dependence;
        let summary = Summary::of(&self.measured, run, seed)?;
        Some(match &self.at_mean_speed {
            Some(own) => summary.at_mean_speed(own, run),
            None => summary,
        })
    }

    /// Both at the machine's mean speed, or both as measured: what the machine does to both cancels.
    pub(super) fn alike<'a>(one: &'a Self, other: &'a Self) -> (&'a Blocks, &'a Blocks) {
        match (&one.at_mean_speed, &other.at_mean_speed) {
            (Some(one), Some(other)) => (&one.blocks, &other.blocks),
            _ => (&one.measured, &other.measured),
        }
    }

    /// The same where their means are of these blocks.
    pub(super) fn behind_means<'a>(
        one: &'a Self,
        other: &'a Self,
    ) -> Option<(&'a Blocks, &'a Blocks)> {
        let agree = one.at_mean_speed.is_some() == other.at_mean_speed.is_some();
        agree.then(|| Self::alike(one, other))
    }
}

/// A case at the mean speed of the machine, where that is known better: of one worker, who has the processor to
/// itself. Throughput is as it was.
fn at_mean_speed(
    record: &CaseRecord,
    latencies: &Blocks,
    machine: &Machine,
    seed: u64,
) -> Option<AtMeanSpeed> {
    let alone = record.case.load.is_closed() && record.case.concurrency() == 1;
    let speed = machine.speed.as_ref().filter(|_| alone)?;
    let blocks = record.blocks.iter();
    let counted = blocks.filter(|block| block.done().next().is_some());
    let around: Option<Vec<u64>> = counted.map(|block| block.reference_ns).collect();
    controlled(latencies, &around?, speed, &machine.dependence, seed)
}

/// A queue that grows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Overload {
    /// Work that arrives over what the workers can do: 1 or more.
    pub utilisation: Ratio,
    /// By how many operations a second the queue grew; none if that was watched for no time.
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
