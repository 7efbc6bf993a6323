//! Latencies of one case. An open loop whose arrivals come faster than they are served has none: its queue grows, and a
//! mean would only tell how long it was watched.

use keymark_bench::{CaseRecord, Sample};
use keymark_stats::{
    AtMeanSpeed, Blocks, MachineSpeed, PerSecond, Ratio, RunDependence, Seconds, Summary,
    controlled,
};

/// The state of the machine during a run, as its cases show it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MachineState {
    /// Its speed, by a reference calculation around the blocks.
    pub speed: Option<MachineSpeed>,
    /// The correlation of neighboring blocks.
    pub dependence: RunDependence,
}

impl MachineState {
    /// Returns the state that finished cases show.
    pub fn of(speed: Option<MachineSpeed>, cases: &[CaseRecord]) -> Self {
        let latencies: Vec<Blocks> = cases.iter().map(CaseRecord::latencies).collect();
        Self {
            speed,
            dependence: RunDependence::of(&latencies),
        }
    }
}

/// Latencies of one case as measured, and at the machine's mean speed where that is more precise.
#[derive(Debug, Clone, PartialEq)]
pub struct Latencies {
    pub(super) measured: Blocks,
    at_mean_speed: Option<AtMeanSpeed>,
}

impl Latencies {
    pub fn of(record: &CaseRecord, machine: &MachineState, seed: u64) -> Self {
        let measured = record.latencies();
        Self {
            at_mean_speed: at_mean_speed(record, &measured, machine, seed),
            measured,
        }
    }

    pub(super) fn summary(&self, machine: &MachineState, seed: u64) -> Option<Summary> {
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

    /// Returns the blocks behind the means of two cases, if both means are of the same kind.
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
    machine: &MachineState,
    seed: u64,
) -> Option<AtMeanSpeed> {
    let alone = record.case.load.is_closed() && record.case.workers() == 1;
    let speed = machine.speed.as_ref().filter(|_| alone)?;
    let counted = record
        .blocks
        .iter()
        .filter(|block| block.done().next().is_some());
    let around: Option<Vec<u64>> = counted.map(|block| block.reference_ns).collect();
    controlled(latencies, &around?, speed, &machine.dependence, seed)
}

/// A queue that grows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Overload {
    /// Work that arrives over what the workers can do: 1 or more.
    pub utilisation: Ratio,
    /// Growth of the queue; `None` if it was watched for no time.
    pub growth: Option<PerSecond>,
}

/// Returns an operation's mean time at its worker, without its time in the queue.
pub(crate) fn service(record: &CaseRecord) -> Option<Seconds> {
    let service = |sample: &Sample| sample.end.since(sample.start).as_secs_f64();
    let number = record.samples().count();
    let total: f64 = record.samples().map(service).sum();
    (number > 0).then(|| Seconds(total / number as f64))
}

/// Returns the overload of an open loop: ρ = λS/c of 1 or more, with S as an operation's time at its worker.
pub(crate) fn overload(record: &CaseRecord) -> Option<Overload> {
    let rate = record.case.load.pacing.rate()?.per_second();
    let service = service(record).map_or(f64::NAN, |service| service.0);
    let utilisation = rate * service / f64::from(record.case.workers());
    if utilisation.is_nan() || utilisation < 1.0 {
        return None;
    }
    let (mut watched, mut served) = (0.0, 0.0);
    for block in &record.blocks {
        let Some(queue) = block.queue else { continue };
        watched += queue.length_ns as f64 / 1e9;
        served += block.samples.len() as f64;
    }
    Some(Overload {
        utilisation: Ratio(utilisation),
        growth: (watched > 0.0).then(|| PerSecond((rate - served / watched).max(0.0))),
    })
}
