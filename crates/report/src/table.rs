//! The main table for programs: one flat JSON object a row, and CSV.

use keymark_bench::case::{Pacing, Parameters};
use keymark_stats::Seconds;
use serde::Serialize;

use crate::analysis::Row;
use crate::visible::no_formula;

/// What a stack distinguishes: an object in JSON, and in CSV one cell such as `protection=cached`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ParameterCell {
    /// As in a record.
    Object(Parameters),
    /// In one cell.
    Text(String),
}

impl Default for ParameterCell {
    fn default() -> Self {
        Self::Object(Parameters::NONE)
    }
}

/// One row as a flat object; times in seconds. This is the interface of `--json` and of CSV.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[allow(
    missing_docs,
    reason = "the names are the documentation; see docs/output.md"
)]
pub struct FlatRow {
    pub device: String,
    pub store: String,
    pub algorithm: String,
    pub operation: String,
    pub stack: String,
    pub parameters: ParameterCell,
    pub concurrency: u32,
    pub rate: Option<f64>,
    pub replica: u32,
    pub provenance: String,
    pub n: Option<u64>,
    pub mean_s: Option<f64>,
    pub ci_low_s: Option<f64>,
    pub ci_high_s: Option<f64>,
    pub ci_method: Option<keymark_stats::Method>,
    pub median_s: Option<f64>,
    pub p90_s: Option<f64>,
    pub p99_s: Option<f64>,
    pub max_s: Option<f64>,
    pub stddev_s: Option<f64>,
    pub ops_per_s: Option<f64>,
    pub ratio: Option<f64>,
    pub ratio_low: Option<f64>,
    pub ratio_high: Option<f64>,
    pub user_s: Option<f64>,
    pub system_s: Option<f64>,
    pub failed: usize,
    pub reason: Option<String>,
    pub code: Option<String>,
    pub think_s: Option<f64>,
    pub worker: String,
    pub backlog_per_s: Option<f64>,
    pub assumed: Option<String>,
    pub median_low_s: Option<f64>,
    pub median_high_s: Option<f64>,
    pub p99_low_s: Option<f64>,
    pub p99_high_s: Option<f64>,
    pub ops_low_per_s: Option<f64>,
    pub ops_high_per_s: Option<f64>,
    pub raw_mean_s: Option<f64>,
    pub server: Option<String>,
    pub users: Option<u32>,
    pub delay_s: Option<f64>,
    pub transactions: Option<u64>,
    pub availability: Option<f64>,
    pub response_s: Option<f64>,
    pub rate_per_s: Option<f64>,
    pub concurrency_mean: Option<f64>,
    pub longest_s: Option<f64>,
    pub shortest_s: Option<f64>,
    pub p50_s: Option<f64>,
    pub p95_s: Option<f64>,
    pub server_cpu_s: Option<f64>,
    pub client_cpu_s: Option<f64>,
    pub knee_users: Option<u32>,
    pub limit_rate_per_s: Option<f64>,
}

impl From<&Row> for FlatRow {
    fn from(row: &Row) -> Self {
        let case = &row.case;
        let summary = row.summary.as_ref();
        let time = |pick: &dyn Fn(&keymark_stats::Summary) -> Option<Seconds>| {
            summary.and_then(pick).map(|t| t.0)
        };
        Self {
            device: case.device.to_string(),
            store: case.store.to_string(),
            algorithm: case.algorithm.to_string(),
            operation: case.operation.to_string(),
            stack: case.stack.to_string(),
            parameters: ParameterCell::Object(case.parameters.clone()),
            concurrency: case.concurrency(),
            rate: match case.load.pacing {
                Pacing::Closed | Pacing::Thinking(_) | Pacing::Saturating { .. } => None,
                Pacing::Open(rate) => Some(rate.per_second()),
            },
            replica: case.replica,
            provenance: case.provenance.to_string(),
            n: row.n(),
            mean_s: row.mean().map(|mean| mean.0),
            ci_low_s: time(&|summary| summary.mean.low),
            ci_high_s: time(&|summary| summary.mean.high),
            ci_method: summary.map(|summary| summary.mean.method),
            median_s: time(&|summary| Some(summary.median.value)),
            p90_s: time(&|summary| Some(summary.p90.value)),
            p99_s: time(&|summary| Some(summary.p99.value)),
            max_s: time(&|summary| Some(summary.max)),
            stddev_s: time(&|summary| summary.stddev.map(|estimate| estimate.value)),
            ops_per_s: row.throughput.map(|rate| rate.value.0),
            ratio: row.ratio.map(|ratio| ratio.value.0),
            ratio_low: row.ratio.and_then(|ratio| ratio.low).map(|low| low.0),
            ratio_high: row.ratio.and_then(|ratio| ratio.high).map(|high| high.0),
            user_s: row.child_cpu.map(|(user, _)| user.0),
            system_s: row.child_cpu.map(|(_, system)| system.0),
            failed: row.failed,
            reason: row.failure.clone(),
            code: row.code.as_ref().map(ToString::to_string),
            think_s: match case.load.pacing {
                Pacing::Closed | Pacing::Open(_) | Pacing::Saturating { .. } => None,
                Pacing::Thinking(longest) => Some(longest.as_secs_f64()),
            },
            worker: case.load.worker.to_string(),
            backlog_per_s: row
                .overload
                .and_then(|overload| overload.growth)
                .map(|growth| growth.0),
            assumed: row.assumed.map(|assumed| assumed.to_string()),
            median_low_s: time(&|summary| summary.median.low),
            median_high_s: time(&|summary| summary.median.high),
            p99_low_s: time(&|summary| summary.p99.low),
            p99_high_s: time(&|summary| summary.p99.high),
            ops_low_per_s: row.throughput.and_then(|rate| rate.low).map(|low| low.0),
            ops_high_per_s: row.throughput.and_then(|rate| rate.high).map(|high| high.0),
            raw_mean_s: time(&|summary| summary.controlled.map(|before| before.raw.value)),
            ..Self::of_load(row)
        }
    }
}

impl FlatRow {
    /// The columns of a load on a server; the others are empty.
    fn of_load(row: &Row) -> Self {
        let case = &row.case;
        let Some(load) = &row.under_load else {
            return Self::default();
        };
        let delay = match case.load.pacing {
            Pacing::Thinking(longest) => Some(longest.as_secs_f64()),
            Pacing::Closed | Pacing::Saturating { .. } => Some(0.0),
            Pacing::Open(_) => None,
        };
        Self {
            server: Some(case.stack.to_string()),
            users: Some(
                load.saturated
                    .map_or(case.concurrency(), |found| found.best_users),
            ),
            delay_s: delay,
            transactions: Some(load.transactions),
            availability: Some(load.availability),
            response_s: Some(load.response_time.0),
            rate_per_s: row.throughput.map(|rate| rate.value.0),
            concurrency_mean: Some(load.concurrency),
            longest_s: Some(load.longest.0),
            shortest_s: Some(load.shortest.0),
            p50_s: row.summary.as_ref().map(|summary| summary.median.value.0),
            p95_s: load.p95.map(|p95| p95.0),
            server_cpu_s: load.server_cpu.map(|time| time.0),
            client_cpu_s: Some(load.client_cpu.0),
            knee_users: load.saturated.map(|found| found.knee_users),
            limit_rate_per_s: (load.saturated)
                .and_then(|found| found.within_limit)
                .map(|rate| rate.0),
            ..Self::default()
        }
    }

    /// What comes from outside, as no spreadsheet takes it for a formula. The other words are keymark's own.
    fn without_formulas(self) -> Self {
        let text = |text: String| no_formula(&text).into_owned();
        Self {
            device: text(self.device),
            parameters: match self.parameters {
                ParameterCell::Object(parameters) => ParameterCell::Text(parameters.to_string()),
                cell @ ParameterCell::Text(_) => cell,
            },
            reason: self.reason.map(text),
            code: self.code.map(text),
            ..self
        }
    }
}

/// Rows as CSV with a header line.
pub fn csv(rows: &[Row], out: impl std::io::Write) -> Result<(), csv::Error> {
    let mut writer = csv::Writer::from_writer(out);
    for row in rows {
        writer.serialize(FlatRow::from(row).without_formulas())?;
    }
    writer.flush().map_err(csv::Error::from)
}
