//! Figures of findings, each with its row.

use std::cmp::Ordering;

use keymark_bench::{
    Algorithm, Case, CaseId, DeviceName, LoadLimit, Operation, Parameters, Provenance, StackName,
    StoreKind, Strength,
};
use keymark_stats::{Estimate, PerSecond, Seconds};
use serde::Serialize;

use super::words;
use crate::analysis::Row;
use crate::pivot::normalize_device_name;

/// Half width, as a share of the value, from which on a figure says nothing.
pub(crate) const VAGUE: f64 = 0.35;
/// Half width from which on overlapping figures are too uncertain to be alike.
pub(super) const ALIKE: f64 = 0.2;

/// A mean time and the row that has it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evidence {
    /// The key.
    pub algorithm: Algorithm,
    /// The operation.
    pub operation: Operation,
    /// Its device.
    pub device: DeviceName,
    /// Provenance of the figure.
    pub provenance: Provenance,
    /// The program, as people call it: `gpg`, `OpenSSL`.
    pub program: String,
    /// Mean time of an operation in seconds, with its 95 % interval.
    pub mean: Estimate<Seconds>,
    /// The case.
    pub row: CaseId,
}

impl Evidence {
    /// Returns the figure of a row, if it has one and did not fail.
    pub(super) fn of(row: &Row) -> Option<Self> {
        let mean = row.bounds().filter(|_| row.failure.is_none())?;
        (mean.value.0 > 0.0).then(|| Self {
            algorithm: row.case.algorithm,
            operation: row.case.operation,
            device: row.case.device.clone(),
            provenance: row.case.provenance,
            program: words::program(&row.case),
            mean,
            row: row.id,
        })
    }

    /// Tells if this computer's processor has the key.
    pub(super) fn is_of_this_cpu(&self) -> bool {
        self.device.as_str() == "software"
    }

    /// Tells if this computer's or an article's processor has the key.
    pub(super) fn is_of_a_cpu(&self) -> bool {
        normalize_device_name(&self.device).as_str() == "software"
    }

    pub(super) fn strength(&self) -> Option<Strength> {
        keymark_bench::strength::of_key(self.algorithm)
    }

    /// Compares by the mean, the fastest first.
    pub(super) fn by_mean(&self, other: &Self) -> Ordering {
        self.mean.value.0.total_cmp(&other.mean.value.0)
    }
}

/// A server's rate and the row that has it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RateEvidence {
    /// The key.
    pub algorithm: Algorithm,
    /// Strength in bits of certificate and key exchange together, if they have one.
    pub strength: Option<Strength>,
    /// Transactions per second, with their 95 % interval.
    pub rate: Estimate<PerSecond>,
    /// True if the client could ask no more often: the server may do more.
    pub at_least: bool,
    /// True if the server completed fewer than arrived in an open loop.
    pub saturated: bool,
    /// Mean time of a transaction in seconds, in the steady state.
    pub response: Option<Seconds>,
    /// The case.
    pub row: CaseId,
}

impl RateEvidence {
    /// Returns the rate of a row under a server's load, if its interval is known: one that reaches 0 decides nothing but that the
    /// server is saturated.
    pub(super) fn of(row: &Row) -> Option<Self> {
        let load = row.under_load.as_ref()?;
        let rate = row.throughput?;
        let saturated = load.overrun == Some(true);
        ((rate.low?.0 > 0.0 || saturated) && rate.high.is_some()).then(|| Self {
            algorithm: row.case.algorithm,
            strength: row.case.strength,
            rate,
            at_least: load.limit == LoadLimit::Client,
            saturated,
            response: row.mean(),
            row: row.id,
        })
    }
}

/// Rows measured one at a time, with figures that may be compared. A virtual card is this CPU under another name, and
/// commits are compared with one another only.
pub(super) fn alone(rows: &[Row]) -> impl Iterator<Item = &Row> {
    rows.iter().filter(|row| {
        row.case.is_alone()
            && row.under_load.is_none()
            && !is_virtual_card(&row.case)
            && !is_commit(&row.case)
    })
}

pub(crate) fn is_commit(case: &Case) -> bool {
    case.stack.word() == "git"
}

pub(super) fn is_virtual_card(case: &Case) -> bool {
    case.provenance == Provenance::Virtual && case.store == StoreKind::OPENPGP_CARD
}

/// The way to a key on a device.
pub(super) const fn place(case: &Case) -> (&DeviceName, StackName, &Parameters) {
    (&case.device, case.stack, &case.parameters)
}
