//! Data of the pictures of a run: what is computed stands in them as it does in tables.

mod distributions;
mod layers;
mod load;
mod throughput;
mod timeline;

use std::collections::BTreeSet;

use keymark_bench::case::{Case, StackName};
use keymark_bench::operation::Operation;
use keymark_bench::record::Record;
use keymark_bench::strength;
use keymark_stats::{Estimate, Seconds};

use super::Row;
use crate::document::{Figure, Mean, Predicted, Subject};

pub(super) use layers::{of_breakdown, of_parts};
pub(crate) use load::joined as joined_loads;
pub(super) use load::response_times;
pub(super) use throughput::throughput;

/// Those of all rows.
pub(super) fn figures(record: &Record, rows: &[Row]) -> Vec<Figure> {
    // A prediction has its band in a picture of its own.
    let others = rows.iter().filter(|row| row.band.is_none());
    let means: Vec<Mean> = others.filter_map(mean).collect();
    let tolerance = Seconds(record.plan.settings.tolerance.as_secs_f64());
    let mut figures = Vec::new();
    figures.extend(predictions(rows, tolerance));
    if !means.is_empty() {
        figures.push(Figure::Means {
            title: "mean time of an operation, with its 95 % interval".to_owned(),
            tolerance,
            means,
        });
    }
    figures.extend(matrix(rows));
    figures.extend(security(rows, tolerance));
    figures.extend(distributions::distributions(record, rows));
    figures.extend(distributions::histograms(record, rows));
    figures.extend(timeline::timeline(record, rows));
    figures
}

/// A picture of the plainest way to each key: the bare operation where it was measured.
fn plainest(rows: &[Row]) -> Vec<(&Row, Mean)> {
    let mut found: Vec<(&Row, Mean)> = Vec::new();
    let plain = rows.iter().filter(|row| row.case.is_alone());
    for (row, mean) in plain.filter_map(|row| Some((row, mean(row)?))) {
        let same = |(other, _): &&mut (&Row, Mean)| {
            let key = |row: &Row| {
                (
                    row.case.device.clone(),
                    row.case.algorithm,
                    row.case.operation,
                    row.case.provenance,
                )
            };
            key(other) == key(row)
        };
        match found.iter_mut().find(same) {
            Some((other, known))
                if other.case.stack != StackName::RAW && row.case.stack == StackName::RAW =>
            {
                (*other, *known) = (row, mean);
            }
            Some(_) => {}
            None => found.push((row, mean)),
        }
    }
    found
}

/// Where there are several algorithms on several devices.
fn matrix(rows: &[Row]) -> Option<Figure> {
    let means = plainest(rows).into_iter().map(|(_, mean)| mean);
    let means: Vec<Mean> = means.collect();
    let devices: BTreeSet<_> = means.iter().map(|mean| &mean.of.device).collect();
    let keys: BTreeSet<_> = means.iter().map(|mean| mean.algorithm.name()).collect();
    (devices.len() > 1 && keys.len() > 1).then(|| Figure::Matrix {
        title: "mean time of an operation, by algorithm and device".to_owned(),
        means,
    })
}

/// Of rows with a band.
fn predictions(rows: &[Row], tolerance: Seconds) -> Option<Figure> {
    let each = rows.iter().filter_map(|row| {
        Some(Predicted {
            device: row.case.device.clone(),
            what: format!("{} {}", row.case.algorithm, row.case.operation),
            time: row.published?,
            band: row.band?,
        })
    });
    let predictions: Vec<Predicted> = each.collect();
    (!predictions.is_empty()).then(|| Figure::Predictions {
        title: "predicted time of an operation, with its band".to_owned(),
        tolerance,
        predictions,
    })
}

/// For each operation of which several strengths were measured.
fn security(rows: &[Row], tolerance: Seconds) -> Vec<Figure> {
    let means = plainest(rows);
    let of = |operation: &Operation| {
        let means = means.iter().filter_map(|(row, mean)| {
            let bits = strength::of_case(&row.case)?;
            (mean.operation == *operation).then(|| (bits.0, mean.clone()))
        });
        let means: Vec<(u32, Mean)> = means.collect();
        let strengths: BTreeSet<u32> = means.iter().map(|(bits, _)| *bits).collect();
        (strengths.len() > 1).then(|| Figure::Security {
            title: format!("what security costs: mean time of {}", a(*operation)),
            tolerance,
            means,
        })
    };
    Operation::ALL.iter().filter_map(of).collect()
}

/// `a signature`
const fn a(operation: Operation) -> &'static str {
    match operation {
        Operation::Decrypt => "a decryption",
        Operation::Sign => "a signature",
        Operation::Authenticate => "an authentication",
        Operation::Decapsulate => "a decapsulation",
        Operation::Handshake => "a handshake",
    }
}

pub(crate) fn mean(row: &Row) -> Option<Mean> {
    let published = row.published.map(Estimate::bare);
    let mean = row.summary.as_ref().map(|summary| summary.mean);
    Some(dot(&row.case, mean.or(published)?))
}

/// The dot of a case.
pub(crate) fn dot(case: &Case, mean: Estimate<Seconds>) -> Mean {
    Mean {
        of: Subject::of(case),
        algorithm: case.algorithm,
        operation: case.operation,
        stack: case.stack,
        way: case.way(),
        mean,
    }
}
