//! Several workers at once: how much they gain, from how many on more are useless, and what is full.

use keymark_bench::{Algorithm, CaseId, DeviceName, Operation, Provenance, StackName};
use keymark_stats::{Estimate, PerSecond, Ratio};
use serde::Serialize;

use super::evidence::{VAGUE, is_virtual_card};
use super::{Finding, words};
use crate::analysis::{Analysis, Limit, Scaling};
use crate::non_empty;

/// Gain below which several workers gain nothing.
const NOTHING: f64 = 1.2;
/// Ratio of rates below which more workers are useless.
const HARDLY: f64 = 1.1;
/// Share of a bound from which on it limits.
const NEARLY: f64 = 0.9;

/// Gain of a key by several workers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WorkerGain {
    /// The key.
    pub algorithm: Algorithm,
    /// The operation.
    pub operation: Operation,
    /// The key's device.
    pub device: DeviceName,
    /// The program, as people call it.
    pub program: String,
    /// Operations per second of the fewest and of the most workers.
    pub rates: [Estimate<PerSecond>; 2],
    /// The most workers.
    pub workers: u32,
    /// The most workers' rate over one worker's.
    pub gain: Estimate<Ratio>,
    /// True if the gain is less than a fifth for certain.
    pub nothing: bool,
    /// Number of workers beyond which more are useless; none if the most still gain.
    pub enough: Option<u32>,
    /// The part that is always busy.
    pub limit: Limit,
    /// The cases.
    pub rows: Vec<CaseId>,
}

/// Gains with a known limit.
pub(super) fn workers(analysis: &Analysis) -> Option<Finding> {
    let curves = analysis.scaling.iter().filter(|curve| {
        !is_virtual_card(&curve.case) && curve.case.provenance != Provenance::Predicted
    });
    let gains = non_empty(curves.filter_map(|curve| gain(analysis, curve)))?;
    Some(Finding::Workers { gains })
}

fn gain(analysis: &Analysis, scaling: &Scaling) -> Option<WorkerGain> {
    let (workers, gain) = scaling.gains.iter().rfind(|(workers, _)| *workers > 1)?;
    let enough = enough(&scaling.levels);
    let nothing = gain.high.is_some_and(|high| high.0 < NOTHING);
    let limit = match scaling.limit() {
        // A device whose workers together get no more, whatever they wait for.
        None if nothing && scaling.case.stack == StackName::RAW => Limit::Undecided,
        None | Some(Limit::Undecided) => return None,
        // A bound that is far away limits nobody who still gains.
        Some(Limit::Server(_) | Limit::Cores) if enough.is_none() && !reached(scaling, gain) => {
            Limit::NoneSeen
        }
        Some(limit) => limit,
    };
    // A gain that may be a loss says nothing, unless it is nothing for certain.
    let is_gain = gain.low.is_some_and(|low| low.0 > 1.0);
    if !gain.is_within(VAGUE) || !(is_gain || nothing) {
        return None;
    }
    let case = &scaling.case;
    let rows = analysis
        .rows
        .iter()
        .filter(|row| row.throughput.is_some() && scaling.is_of(&row.case));
    Some(WorkerGain {
        algorithm: case.algorithm,
        operation: case.operation,
        device: case.device.clone(),
        program: words::program(case),
        rates: [scaling.levels.first()?.1, scaling.levels.last()?.1],
        workers: *workers,
        gain: *gain,
        nothing,
        enough,
        limit,
        rows: rows.map(|row| row.id).collect(),
    })
}

/// Returns whether a gain is nearly all that the lowest bound permits.
fn reached(scaling: &Scaling, gain: &Estimate<Ratio>) -> bool {
    scaling.bounds.as_ref().is_some_and(|bounds| {
        let server = bounds.by_server().map_or(f64::INFINITY, |bound| bound.0);
        gain.value.0 >= NEARLY * server.min(bounds.by_cores().0)
    })
}

/// Returns the fewest workers whose rate larger numbers hardly surpass; `None` if the most still do more.
fn enough(levels: &[(u32, Estimate<PerSecond>)]) -> Option<u32> {
    if !levels.iter().all(|(_, rate)| rate.is_within(VAGUE)) {
        return None;
    }
    let is_enough = |place: &usize| {
        let rate = &levels[*place].1;
        levels[place + 1..]
            .iter()
            .all(|(_, other)| !rate.is_below(other) && other.value.0 <= HARDLY * rate.value.0)
    };
    let place = (0..levels.len()).find(is_enough)?;
    (place + 1 < levels.len()).then(|| levels[place].0)
}
