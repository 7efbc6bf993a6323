//! Waiting: intolerable operations with a tolerable key of the same device, queues, predicted parts, and the cost of a
//! cached passphrase.

use itertools::Itertools;
use keymark_bench::{Algorithm, Case, Operation, Provenance, Record, StackName, StoreKind, USUAL};
use keymark_stats::{Ratio, Seconds};
use serde::Serialize;

use super::evidence::{alone, is_virtual_card, place};
use super::{Evidence, Finding};
use crate::analysis::{Analysis, Row};
use crate::pivot::published_keycards;
use crate::{Answer, grouped, non_empty};

/// GnuPG's parameter and its word for a key with a passphrase.
const PROTECTION: (&str, &str) = ("protection", "cached");

/// An operation slower than users tolerate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SlowCase {
    /// Its time.
    pub evidence: Evidence,
    /// Load, if it is not one operation at a time.
    pub load: Option<String>,
    /// The strongest tolerable key of the same device and program, if there is one.
    pub instead: Option<Evidence>,
}

/// Predictions for one operation with a key.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PredictedKey {
    /// The key.
    pub algorithm: Algorithm,
    /// The operation.
    pub operation: Operation,
    /// Microcontrollers, the fastest first.
    pub parts: Vec<PredictedPart>,
}

/// A prediction for a microcontroller.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PredictedPart {
    /// Its time, with the band of the model.
    pub evidence: Evidence,
    /// Share of the cycles in which the core waits for flash.
    pub waiting: Option<Ratio>,
    /// True if users tolerate the time, false if they do not; none if the band does not decide.
    pub tolerable: Option<bool>,
}

fn tolerated(record: &Record) -> Seconds {
    Seconds(record.plan.settings.tolerance.as_secs_f64())
}

/// Operations slower than users tolerate, one for each key of a device. A slow key is slow through every program.
pub(super) fn too_slow(analysis: &Analysis, record: &Record) -> Option<Finding> {
    let tolerance = record.plan.settings.tolerance;
    let rows = analysis.rows.iter().filter(|row| {
        row.case.provenance != Provenance::Predicted
            && row.case.operation != Operation::Handshake
            && row.under_load.is_none()
            && !is_virtual_card(&row.case)
    });
    let rows: Vec<&Row> = rows.collect();
    let is_over = |row: &&&Row| row.tolerable(tolerance) == Some(Answer::No);
    let over = rows.iter().filter(is_over);
    let cases = over.filter_map(|row| {
        Some(SlowCase {
            evidence: Evidence::of(row)?,
            load: (!row.case.is_alone()).then(|| row.case.load.to_string().trim().to_owned()),
            instead: instead(&rows, row, record).and_then(Evidence::of),
        })
    });
    let cases = cases
        .sorted_by(|a, b| b.evidence.by_mean(&a.evidence))
        .unique_by(|slow| {
            let of = &slow.evidence;
            (of.device.clone(), of.algorithm, of.operation)
        });
    Some(Finding::TooSlow {
        tolerated: tolerated(record),
        cases: non_empty(cases)?,
    })
}

/// Returns the strongest tolerable key of the same device and way, and of those the fastest.
fn instead<'a>(rows: &[&'a Row], slow: &Row, record: &Record) -> Option<&'a Row> {
    let tolerance = record.plan.settings.tolerance;
    let asked = |row: &'a Row| (place(&row.case), row.case.operation, row.case.load);
    let same = rows.iter().copied().filter(|row| {
        asked(row) == (place(&slow.case), slow.case.operation, slow.case.load)
            && row.tolerable(tolerance) == Some(Answer::Yes)
    });
    let time = |row: &Row| row.mean().map_or(0.0, |mean| mean.0);
    same.max_by(|a, b| {
        let strength = a.case.strength().cmp(&b.case.strength());
        strength.then(time(b).total_cmp(&time(a)))
    })
}

/// Queues that grow.
pub(super) fn overloaded(analysis: &Analysis) -> Option<Finding> {
    let growing = analysis.rows.iter().filter(|row| row.overload.is_some());
    Some(Finding::Overloaded {
        utilization: growing.clone().next()?.overload?.utilisation,
        cases: growing.map(|row| (row.case.to_string(), row.id)).collect(),
    })
}

/// Predicted keys, those first that are too slow on some part.
pub(super) fn predictions(analysis: &Analysis, record: &Record) -> Option<Finding> {
    let rows = analysis
        .rows
        .iter()
        .filter(|row| row.case.provenance == Provenance::Predicted);
    let tolerance = record.plan.settings.tolerance;
    let parts = rows.filter_map(|row| {
        let tolerable = match row.tolerable(tolerance)? {
            Answer::Yes => Some(true),
            Answer::No => Some(false),
            Answer::Unknown => None,
        };
        Some(PredictedPart {
            evidence: Evidence::of(row)?,
            waiting: row.published.as_ref()?.waiting,
            tolerable,
        })
    });
    let keys = grouped(parts, |part| {
        (part.evidence.algorithm, part.evidence.operation)
    });
    let keys = keys.into_iter().map(|((algorithm, operation), mut parts)| {
        parts.sort_by(|a, b| a.evidence.by_mean(&b.evidence));
        PredictedKey {
            algorithm,
            operation,
            parts,
        }
    });
    let is_fast = |key: &PredictedKey| key.parts.iter().all(|part| part.tolerable == Some(true));
    Some(Finding::Predictions {
        tolerated: tolerated(record),
        keys: non_empty(keys.sorted_by_key(is_fast))?,
    })
}

/// Keys with a passphrase and the same without, through the slowest program, where the passphrase costs for certain.
pub(super) fn passphrase(analysis: &Analysis) -> Option<Finding> {
    let rows: Vec<&Row> = alone(&analysis.rows).collect();
    let cached = rows
        .iter()
        .filter(|row| row.case.parameters.get(PROTECTION.0) == Some(PROTECTION.1));
    let pairs = cached.filter_map(|cached| {
        let case = &cached.case;
        let plain = Case {
            parameters: case.parameters.clone().replaced(PROTECTION.0, USUAL),
            ..case.clone()
        };
        let plain = rows.iter().find(|row| row.case == plain)?;
        let pair = [Evidence::of(cached)?, Evidence::of(plain)?];
        pair[1].mean.is_below(&pair[0].mean).then_some(pair)
    });
    let mut pairs: Vec<[Evidence; 2]> = pairs.collect();
    let slowest = pairs.iter().max_by(|a, b| a[1].by_mean(&b[1]))?;
    let program = slowest[1].program.clone();
    pairs.retain(|pair| pair[1].program == program);
    let least = pairs.iter().map(|pair| pair[0].mean.value.0);
    let least = least.min_by(f64::total_cmp)?;
    let keycard = fastest_keycard().filter(|card| card.0 < least);
    Some(Finding::Passphrase { pairs, keycard })
}

/// Fastest published decryption by a keycard of 2017 through gpg.
fn fastest_keycard() -> Option<Seconds> {
    let article = published_keycards()?;
    let decrypts = article.cases.iter().filter(|record| {
        record.case.operation == Operation::Decrypt
            && record.case.stack == StackName::GPG
            && record.case.store != StoreKind::SOFTWARE
    });
    let means = decrypts.filter_map(|record| Some(record.published.as_ref()?.mean.0));
    means.min_by(f64::total_cmp).map(Seconds)
}
