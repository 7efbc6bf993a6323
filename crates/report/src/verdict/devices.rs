//! One key on several devices.

use itertools::Itertools;
use keymark_bench::{Provenance, StoreKind};

use super::{DeviceRanking, Evidence, Finding, RankedDevice};
use crate::analysis::{Analysis, Row};
use crate::grouped;

/// A ranking for each operation with a key that several devices did through the same program, if any device is not this
/// CPU.
pub(super) fn rankings(analysis: &Analysis) -> Option<Finding> {
    let rows = analysis.rows.iter().filter(|row| is_of_device(row));
    let groups = grouped(rows, |row| (row.case.capability(), row.case.stack));
    let rankings = groups.into_iter().filter_map(|((capability, _), rows)| {
        let known = rows.into_iter().filter_map(|row| {
            Some(RankedDevice {
                device: row.case.device.clone(),
                provenance: row.case.provenance,
                evidence: Evidence::of(row)?,
            })
        });
        let mean = |ranked: &RankedDevice| ranked.evidence.mean.value.0;
        let devices = known.sorted_by(|a, b| mean(a).total_cmp(&mean(b)));
        let devices: Vec<_> = devices.unique_by(|ranked| ranked.device.clone()).collect();
        (devices.len() > 1).then_some(DeviceRanking {
            algorithm: capability.algorithm,
            operation: capability.operation,
            devices,
        })
    });
    let rankings: Vec<DeviceRanking> = rankings.collect();
    let elsewhere = |row: &Row| is_of_device(row) && row.case.store != StoreKind::SOFTWARE;
    let several = analysis.rows.iter().any(elsewhere);
    (several && !rankings.is_empty()).then_some(Finding::Devices { rankings })
}

/// Returns whether a row has a device's own time. A virtual card or soft token is this CPU under another name.
fn is_of_device(row: &Row) -> bool {
    row.case.is_alone()
        && row.under_load.is_none()
        && row.case.parameters.get("protection") != Some("cached")
        && row.case.provenance != Provenance::Virtual
}
