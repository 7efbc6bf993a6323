//! Shares of the key and of the program around it.

use keymark_bench::{Algorithm, CaseId, DeviceName, Operation, Provenance, StackName};
use keymark_stats::{Estimate, Ratio, Seconds};
use serde::Serialize;

use super::Finding;
use crate::analysis::{Analysis, Basis, Breakdown, FamilyBreakdown, Layer};

/// Share of the whole below which the program hides the key.
pub(super) const HIDDEN: f64 = 0.1;
/// Share from which on the key takes most.
const MOST: f64 = 0.5;

/// A key's part of the time of a whole program.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KeyShare {
    /// The key.
    pub algorithm: Algorithm,
    /// The operation.
    pub operation: Operation,
    /// The key's device.
    pub device: DeviceName,
    /// Time of the bare operation in seconds.
    pub key: Estimate<Seconds>,
    /// Time of the whole in seconds.
    pub whole: Estimate<Seconds>,
    /// The key's time over the whole.
    pub share: Estimate<Ratio>,
    /// Name and time in seconds of the faster library, if another one is faster for certain.
    pub faster: Option<(&'static str, Seconds)>,
    /// The cases.
    pub rows: Vec<CaseId>,
}

/// Shares of the first program that is measured with its layers.
pub(super) fn key_shares(analysis: &Analysis) -> Option<Finding> {
    let mut raw = analysis
        .breakdowns
        .iter()
        .filter(|family| family.layers.base.point.stack == StackName::RAW);
    raw.find_map(|family| of_family(analysis, family))
}

fn of_family(analysis: &Analysis, family: &FamilyBreakdown) -> Option<Finding> {
    let own = family.breakdowns.iter().filter(|breakdown| {
        breakdown.basis == Basis::Own && breakdown.provenance != Provenance::Virtual
    });
    let (mut hidden, mut dominant, mut between) = (Vec::new(), Vec::new(), Vec::new());
    for share in own.filter_map(|own| share(analysis, family, own)) {
        match (share.share.low, share.share.high) {
            (Some(_), Some(high)) if high.0 < HIDDEN => hidden.push(share),
            (Some(low), Some(_)) if low.0 > MOST => dominant.push(share),
            (Some(low), Some(high)) if high.0 >= HIDDEN && low.0 <= MOST => between.push(share),
            _ => {}
        }
    }
    if !(hidden.is_empty() && dominant.is_empty()) {
        between.clear();
    }
    let some = [&hidden, &dominant, &between]
        .iter()
        .any(|of| !of.is_empty());
    let whole = family.layers.whole.as_ref();
    some.then(|| Finding::KeyShares {
        program: whole.map_or(family.layers.family, |whole| whole.name),
        hidden,
        dominant,
        between,
    })
}

/// Returns the key's share of the whole as measured, or of the key and the first thing added to it.
fn share(analysis: &Analysis, family: &FamilyBreakdown, of: &Breakdown) -> Option<KeyShare> {
    let key = of.base?;
    let whole = match (&family.layers.whole, of.whole) {
        (Some(_), whole) => whole?,
        (None, _) => {
            let added = of.steps.iter().flatten().find_map(|step| match step {
                Layer::Adds(time) => Some(*time),
                Layer::AtMost(_) | Layer::Less(_) => None,
            })?;
            let sum = |a: Option<Seconds>, b: Option<Seconds>| Some(Seconds(a?.0 + b?.0));
            Estimate {
                value: Seconds(key.value.0 + added.value.0),
                low: sum(key.low, added.low),
                high: sum(key.high, added.high),
                ..added
            }
        }
    };
    let faster = of.beside.filter(|beside| beside.is_below(&key));
    let own = family.layers.own_library.as_ref();
    let rows = analysis
        .rows
        .iter()
        .filter(|row| row.case.is_alone() && of.is_about(&row.case));
    Some(KeyShare {
        algorithm: of.algorithm,
        operation: of.operation,
        device: of.device.clone(),
        key,
        whole,
        share: key.over(&whole),
        faster: own
            .zip(faster)
            .map(|(own, faster)| (own.beside.name, faster.value)),
        rows: rows.map(|row| row.id).collect(),
    })
}
