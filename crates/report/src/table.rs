//! The main table for programs: one flat JSON object a row, and CSV; and a series' table as CSV. Times are in seconds. The
//! names of columns are the interface of `--format json` and of CSV, and docs/output.md explains them.

use std::io;

use keymark_bench::Parameters;
use keymark_stats::Summary;
use serde::{Serialize, Serializer};
use serde_json::Value as Json;

use crate::analysis::{Row, Saturated, UnderLoad};
use crate::report::SeriesRow;
use crate::visible::no_formula;

/// Value of a column in a row.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// A word, a text from outside, or a number.
    Plain(Json),
    /// What a stack distinguishes: an object in JSON, and in CSV one cell such as `protection=cached`.
    Parameters(Parameters),
}

impl Value {
    /// As no spreadsheet takes it for a formula.
    fn in_csv(self) -> Self {
        match self {
            Self::Plain(Json::String(text)) => Self::Plain(no_formula(&text).into()),
            Self::Plain(_) => self,
            Self::Parameters(parameters) => Self::Plain(parameters.to_string().into()),
        }
    }
}

fn plain(value: impl Into<Json>) -> Option<Value> {
    Some(Value::Plain(value.into()))
}

fn word(word: impl ToString) -> Option<Value> {
    plain(word.to_string())
}

/// Columns with their names, and their values, if the row has them.
pub type Columns<R> = [(&'static str, fn(&R) -> Option<Value>)];

macro_rules! columns {
    ($row:ident => $($name:ident: $value:expr,)*) => {
        &[$((stringify!($name), |$row| $value)),*]
    };
}

/// Of a run's cases.
pub const RUN: &Columns<Row> = columns! { row =>
    device: word(&row.case.device),
    store: word(row.case.store),
    algorithm: word(row.case.algorithm),
    operation: word(row.case.operation),
    stack: word(row.case.stack),
    parameters: Some(Value::Parameters(row.case.parameters.clone())),
    workers: plain(row.case.workers()),
    rate: plain(row.case.load.pacing.rate()?.per_second()),
    replica: plain(row.case.replica),
    provenance: word(row.case.provenance),
    n: plain(row.n()?),
    mean_s: plain(row.mean()?.0),
    ci_low_s: plain(summary(row)?.mean.low?.0),
    ci_high_s: plain(summary(row)?.mean.high?.0),
    ci_method: plain(serde_json::to_value(summary(row)?.mean.method).ok()?),
    median_s: plain(summary(row)?.median.value.0),
    p90_s: plain(summary(row)?.p90.value.0),
    p99_s: plain(summary(row)?.p99?.value.0),
    max_s: plain(summary(row)?.max.0),
    stddev_s: plain(summary(row)?.stddev?.0),
    ops_per_s: plain(row.throughput?.value.0),
    ratio: plain(row.ratio?.value.0),
    ratio_low: plain(row.ratio?.low?.0),
    ratio_high: plain(row.ratio?.high?.0),
    user_s: plain(row.child_cpu?.0.0),
    system_s: plain(row.child_cpu?.1.0),
    failed: plain(row.failed),
    reason: word(row.failure.as_ref()?),
    code: word(row.ending.as_ref()?.code.as_ref()?),
    think_s: plain(row.case.load.pacing.pause()?.as_secs_f64()),
    worker: word(row.case.load.worker),
    backlog_per_s: plain(row.overload?.growth?.0),
    assumed: word(row.assumed?),
    median_low_s: plain(summary(row)?.median.low?.0),
    median_high_s: plain(summary(row)?.median.high?.0),
    p99_low_s: plain(summary(row)?.p99?.low?.0),
    p99_high_s: plain(summary(row)?.p99?.high?.0),
    ops_low_per_s: plain(row.throughput?.low?.0),
    ops_high_per_s: plain(row.throughput?.high?.0),
    raw_mean_s: plain(summary(row)?.controlled?.raw.value.0),
    message_bytes: plain(row.ending.as_ref()?.message_bytes?),
    // Of a load on a server; the others have none.
    server: load(row).and(word(row.case.stack)),
    users: users(row),
    delay_s: delay(row),
    transactions: plain(load(row)?.transactions),
    availability: plain(load(row)?.availability),
    response_s: plain(load(row)?.response_time.0),
    rate_per_s: load(row).and(plain(row.throughput?.value.0)),
    concurrency_mean: plain(load(row)?.concurrency),
    longest_s: plain(load(row)?.longest.0),
    shortest_s: plain(load(row)?.shortest.0),
    p50_s: load(row).and(plain(summary(row)?.median.value.0)),
    p95_s: plain(load(row)?.p95?.0),
    server_cpu_s: plain(load(row)?.server_cpu?.0),
    client_cpu_s: plain(load(row)?.client_cpu.0),
    resumed: plain(load(row).map(|load| load.resumed.0).filter(|share| *share > 0.0)?),
    saturated: plain(load(row)?.overrun?),
    knee_users: plain(limits(row)?.knee_users),
    limit_rate_per_s: plain(limits(row)?.within_limit?.0),
    id: plain(row.id.0),
};

/// Of a series' cases.
pub const SERIES: &Columns<SeriesRow> = columns! { row =>
    device: word(&row.case.device),
    algorithm: word(row.case.algorithm),
    operation: word(row.case.operation),
    stack: word(row.case.way()),
    provenance: word(row.case.provenance),
    runs: plain(row.runs),
    mean_s: plain(row.mean_s.value.0),
    ci_low_s: plain(row.mean_s.low?.0),
    ci_high_s: plain(row.mean_s.high?.0),
    between_runs: plain(row.between_runs?.0),
};

fn summary(row: &Row) -> Option<&Summary> {
    row.summary.as_ref()
}

fn load(row: &Row) -> Option<&UnderLoad> {
    row.under_load.as_ref()
}

fn users(row: &Row) -> Option<Value> {
    let best = load(row)?.saturated.map(|found| found.best_users);
    plain(best.unwrap_or(row.case.workers()))
}

/// What users wait before they ask again; of arrivals there is none.
fn delay(row: &Row) -> Option<Value> {
    let pacing = load(row).map(|_| row.case.load.pacing)?;
    if pacing.rate().is_some() {
        return None;
    }
    plain(pacing.pause().unwrap_or_default().as_secs_f64())
}

fn limits(row: &Row) -> Option<Saturated> {
    load(row)?.saturated
}

/// One row as a flat object.
#[derive(Debug, derive_more::From)]
pub struct FlatRow<'a>(&'a Row);

impl Serialize for FlatRow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(RUN.iter().map(|(name, of)| (name, of(self.0))))
    }
}

/// Rows as CSV with a header line.
pub fn csv<R>(columns: &Columns<R>, rows: &[R]) -> Result<String, csv::Error> {
    let mut writer = csv::WriterBuilder::new()
        .has_headers(false)
        .from_writer(Vec::new());
    if !rows.is_empty() {
        writer.write_record(columns.iter().map(|(name, _)| name))?;
    }
    for row in rows {
        let cells = columns.iter().map(|(_, of)| of(row).map(Value::in_csv));
        writer.serialize(cells.collect::<Vec<_>>())?;
    }
    Ok(finished(writer)?)
}

/// Returns all that was written.
pub(crate) fn finished(writer: csv::Writer<Vec<u8>>) -> io::Result<String> {
    let bytes = writer
        .into_inner()
        .map_err(csv::IntoInnerError::into_error)?;
    String::from_utf8(bytes).map_err(io::Error::other)
}
