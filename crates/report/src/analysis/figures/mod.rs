//! Data of the pictures of a run: what is computed stands in them as it does in tables.

mod durations;
mod layers;
mod load;

use std::collections::BTreeSet;

use keymark_bench::{Case, Operation, Pacing, Part, Parts, Record};
use keymark_stats::{Estimate, PerSecond, Quantity, Seconds};

use super::{Analysis, Row};
use crate::grouped;
use crate::{Figure, Mean, Plot, Predicted, Subject};
use layers::{of_breakdown, of_parts};
use load::{response_times, throughput};

pub(crate) use layers::title as layers_title;
pub(crate) use load::joined as joined_loads;

type WhichParts = fn(&Parts) -> bool;

/// Tables of parts with the titles of their pictures, and which stand in each: those that were measured on the way, and those beside the operations.
pub(crate) const PARTS: [(&str, &str, WhichParts); 2] = [
    (
        "where the time goes, by process (processor time of the programs, time of the PC/SC calls)",
        "where the time of an operation goes, by process",
        |parts| !parts.0.contains_key(&Part::ProgramStart),
    ),
    (
        "where the time goes with one process for each operation (measured separately: a process that does \
         nothing, the additional time to load the key, the operation in keymark's own process; the rest was not \
         measured)",
        "where the time of an operation goes with one process each",
        |parts| parts.0.contains_key(&Part::ProgramStart),
    ),
];

impl Analysis {
    /// All that can be drawn of a run. A report has a few of them.
    pub fn figures(&self, record: &Record) -> Vec<Figure> {
        let mut figures = of_rows(record, &self.rows);
        figures.extend(rates(&self.rows));
        figures.extend(response_times(record, &self.rows));
        figures.extend(self.breakdowns.iter().filter_map(of_breakdown));
        for (_, title, wanted) in PARTS {
            figures.extend(of_parts(&self.rows, title, wanted));
        }
        figures.extend(throughput(&self.scaling));
        figures
    }
}

fn of_rows(record: &Record, rows: &[Row]) -> Vec<Figure> {
    // A prediction has its band in a picture of its own.
    let others = rows.iter().filter(|row| row.band.is_none());
    let means: Vec<Mean> = others.filter_map(mean).collect();
    let tolerance = Seconds(record.plan.settings.tolerance.as_secs_f64());
    let mut figures = Vec::new();
    figures.extend(predictions(rows, tolerance));
    if !means.is_empty() {
        let title = "mean time of an operation, with its 95 % interval";
        figures.push(Plot::Means { tolerance, means }.titled(title));
    }
    figures.extend(security(rows, tolerance));
    figures.extend(durations::distributions(record, rows));
    figures.extend(durations::histograms(record, rows));
    figures.extend(durations::timeline(record, rows));
    figures
}

/// Returns the predictions: rows with a band.
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
    let some = !predictions.is_empty();
    let plot = Plot::Predictions {
        tolerance,
        predictions,
    };
    some.then(|| plot.titled("predicted time of an operation, with its band"))
}

/// Returns a picture for each operation with several strengths, through the program with the most keys.
fn security(rows: &[Row], tolerance: Seconds) -> Vec<Figure> {
    let alone = rows.iter().filter(|row| row.case.is_alone());
    let known = alone.filter_map(|row| Some((row.case.strength()?.0, mean(row)?)));
    let operations = grouped(known, |(_, mean)| mean.operation);
    let of = |(operation, means): (Operation, Vec<(u32, Mean)>)| {
        let keys = |means: &Vec<(u32, Mean)>| {
            let names = means.iter().map(|(_, mean)| mean.algorithm.name());
            names.collect::<BTreeSet<_>>().len()
        };
        let ways = grouped(means, |(_, mean)| mean.way.clone()).into_iter();
        // Of ways with as many keys the first is taken.
        let (way, means) = ways.rev().max_by_key(|(_, means)| keys(means))?;
        let strengths: BTreeSet<u32> = means.iter().map(|(bits, _)| *bits).collect();
        let title = format!("what security costs: mean time of {}, {way}", a(operation));
        (strengths.len() > 1).then(|| Plot::Security { tolerance, means }.titled(title))
    };
    operations.into_iter().filter_map(of).collect()
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
    Some(dot(&row.case, row.time()?))
}

/// Returns the rates of servers and services at full load. A given rate of arrivals is no such rate.
fn rates(rows: &[Row]) -> Option<Figure> {
    let loaded = rows
        .iter()
        .filter(|row| row.under_load.is_some() && !matches!(row.case.load.pacing, Pacing::Open(_)));
    let rates = loaded.filter_map(|row| Some(dot(&row.case, row.throughput?)));
    let rates: Vec<Mean<PerSecond>> = rates.collect();
    (!rates.is_empty())
        .then(|| Plot::Rates { rates }.titled("operations a second, with their 95 % intervals"))
}

/// The dot of a case.
pub(crate) fn dot<T: Quantity>(case: &Case, mean: Estimate<T>) -> Mean<T> {
    Mean {
        of: Subject::of(case),
        algorithm: case.algorithm,
        operation: case.operation,
        stack: case.stack,
        way: case.way(),
        mean,
    }
}
