//! Data of the pictures of a run.

use keymark_bench::record::Record;
use keymark_stats::{CONFIDENCE, Estimate, Method, Seconds, Sorted, Summary};

use super::Row;
use crate::document::{Distribution, Figure, Mean};

/// A quantile at each per cent, and both ends.
const LEVELS: u32 = 100;

/// Those that there is anything to show in.
pub(super) fn figures(record: &Record, rows: &[Row]) -> Vec<Figure> {
    let means: Vec<Mean> = rows.iter().filter_map(mean).collect();
    let distributions: Vec<Distribution> = rows
        .iter()
        .filter_map(|row| distribution(record, row))
        .collect();
    let mut figures = Vec::new();
    if !means.is_empty() {
        figures.push(Figure::Means {
            title: "mean time of an operation, with its 95 % interval".to_owned(),
            tolerance: Seconds(record.plan.settings.tolerance.as_secs_f64()),
            means,
        });
    }
    if !distributions.is_empty() {
        figures.push(Figure::Distributions {
            title: "share of operations that take no longer".to_owned(),
            distributions,
        });
    }
    figures
}

fn mean(row: &Row) -> Option<Mean> {
    let published = row.published.map(|mean| Estimate {
        value: mean,
        low: None,
        high: None,
        confidence: CONFIDENCE,
        method: Method::PointOnly,
    });
    let case = &row.case;
    Some(Mean {
        device: case.device.clone(),
        provenance: case.provenance,
        label: case.to_string(),
        algorithm: case.algorithm,
        operation: case.operation,
        stack: case.stack,
        way: case.way(),
        mean: row
            .summary
            .as_ref()
            .map(|summary| summary.mean)
            .or(published)?,
    })
}

fn distribution(record: &Record, row: &Row) -> Option<Distribution> {
    // A queue that grows has no distribution of latencies.
    if row.overload.is_some() {
        return None;
    }
    let latencies = record.cases.get(row.id.0 as usize)?.latencies();
    let sorted = Sorted::of(&latencies);
    let quantile = |level| sorted.quantile_ns(f64::from(level) / f64::from(LEVELS));
    let quantiles: Option<Vec<f64>> = (0..=LEVELS).map(quantile).collect();
    Some(Distribution {
        device: row.case.device.clone(),
        provenance: row.case.provenance,
        label: row.case.to_string(),
        algorithm: row.case.algorithm,
        operation: row.case.operation,
        way: row.case.way(),
        n: latencies.len(),
        percentiles: percentiles(row),
        quantiles: quantiles?.into_iter().map(Seconds::from_nanos).collect(),
    })
}

fn percentiles(row: &Row) -> Vec<(u32, Estimate<Seconds>)> {
    let of = |summary: &Summary| vec![(50, summary.median), (90, summary.p90), (99, summary.p99)];
    row.summary.as_ref().map(of).unwrap_or_default()
}
