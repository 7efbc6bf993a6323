//! The main table for programs: one flat JSON object a row, and CSV. Times are in seconds. The names of its columns are
//! the interface of `--json` and of CSV, and what they mean stands in docs/output.md.

use keymark_bench::Parameters;
use keymark_stats::{Method, PerSecond, Ratio, Seconds, Summary};
use serde::{Serialize, Serializer};

use crate::analysis::{Row, Saturated, UnderLoad};
use crate::visible::no_formula;

/// What stands in a column of a row.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
enum Value {
    /// A word of keymark's own.
    Word(String),
    /// What comes from outside.
    Text(String),
    Whole(u64),
    Number(f64),
    Method(Method),
    /// What a stack distinguishes: an object in JSON, and in CSV one cell such as `protection=cached`.
    Parameters(Parameters),
}

impl Value {
    fn word(word: impl ToString) -> Option<Self> {
        Some(Self::Word(word.to_string()))
    }

    fn text(text: impl ToString) -> Option<Self> {
        Some(Self::Text(text.to_string()))
    }

    /// As no spreadsheet takes it for a formula.
    fn in_csv(self) -> Self {
        match self {
            Self::Text(text) => Self::Text(no_formula(&text).into_owned()),
            Self::Parameters(parameters) => Self::Word(parameters.to_string()),
            Self::Word(_) | Self::Whole(_) | Self::Number(_) | Self::Method(_) => self,
        }
    }
}

macro_rules! values {
    ($($kind:ty => $value:expr),* $(,)?) => {
        $(impl From<$kind> for Value {
            fn from(value: $kind) -> Self {
                $value(value)
            }
        })*
    };
}

values! {
    u64 => Value::Whole,
    u32 => |number| Value::Whole(u64::from(number)),
    usize => |number| Value::Whole(number as u64),
    f64 => Value::Number,
    Method => Value::Method,
    Seconds => |time: Seconds| Value::Number(time.0),
    PerSecond => |rate: PerSecond| Value::Number(rate.0),
    Ratio => |ratio: Ratio| Value::Number(ratio.0),
}

type Of = fn(&Row) -> Option<Value>;

/// Columns with their names, and what stands in them, if the row has it.
macro_rules! columns {
    ($row:ident => $($name:ident: $value:expr,)*) => {
        &[$((stringify!($name), |$row| $value)),*]
    };
}

/// Every column, and what stands in it.
const COLUMNS: &[(&str, Of)] = columns! { row =>
    device: Value::text(&row.case.device),
    store: Value::word(row.case.store),
    algorithm: Value::word(row.case.algorithm),
    operation: Value::word(row.case.operation),
    stack: Value::word(row.case.stack),
    parameters: Some(Value::Parameters(row.case.parameters.clone())),
    concurrency: Some(row.case.concurrency().into()),
    rate: Some(row.case.load.pacing.rate()?.per_second().into()),
    replica: Some(row.case.replica.into()),
    provenance: Value::word(row.case.provenance),
    n: Some(row.n()?.into()),
    mean_s: Some(row.mean()?.into()),
    ci_low_s: Some(summary(row)?.mean.low?.into()),
    ci_high_s: Some(summary(row)?.mean.high?.into()),
    ci_method: Some(summary(row)?.mean.method.into()),
    median_s: Some(summary(row)?.median.value.into()),
    p90_s: Some(summary(row)?.p90.value.into()),
    p99_s: Some(summary(row)?.p99?.value.into()),
    max_s: Some(summary(row)?.max.into()),
    stddev_s: Some(summary(row)?.stddev?.value.into()),
    ops_per_s: Some(row.throughput?.value.into()),
    ratio: Some(row.ratio?.value.into()),
    ratio_low: Some(row.ratio?.low?.into()),
    ratio_high: Some(row.ratio?.high?.into()),
    user_s: Some(row.child_cpu?.0.into()),
    system_s: Some(row.child_cpu?.1.into()),
    failed: Some(row.failed.into()),
    reason: Value::text(row.failure.as_ref()?),
    code: Value::text(row.code.as_ref()?),
    think_s: Some(row.case.load.pacing.pause()?.as_secs_f64().into()),
    worker: Value::word(row.case.load.worker),
    backlog_per_s: Some(row.overload?.growth?.into()),
    assumed: Value::word(row.assumed?),
    median_low_s: Some(summary(row)?.median.low?.into()),
    median_high_s: Some(summary(row)?.median.high?.into()),
    p99_low_s: Some(summary(row)?.p99?.low?.into()),
    p99_high_s: Some(summary(row)?.p99?.high?.into()),
    ops_low_per_s: Some(row.throughput?.low?.into()),
    ops_high_per_s: Some(row.throughput?.high?.into()),
    raw_mean_s: Some(summary(row)?.controlled?.raw.value.into()),
    // Of a load on a server; the others have none.
    server: load(row).and(Value::word(row.case.stack)),
    users: users(row),
    delay_s: delay(row),
    transactions: Some(load(row)?.transactions.into()),
    availability: Some(load(row)?.availability.into()),
    response_s: Some(load(row)?.response_time.into()),
    rate_per_s: load(row).and(Some(row.throughput?.value.into())),
    concurrency_mean: Some(load(row)?.concurrency.into()),
    longest_s: Some(load(row)?.longest.into()),
    shortest_s: Some(load(row)?.shortest.into()),
    p50_s: load(row).and(Some(summary(row)?.median.value.into())),
    p95_s: Some(load(row)?.p95?.into()),
    server_cpu_s: Some(load(row)?.server_cpu?.into()),
    client_cpu_s: Some(load(row)?.client_cpu.into()),
    knee_users: Some(limits(row)?.knee_users.into()),
    limit_rate_per_s: Some(limits(row)?.within_limit?.into()),
    id: Some(row.id.0.into()),
};

fn summary(row: &Row) -> Option<&Summary> {
    row.summary.as_ref()
}

fn load(row: &Row) -> Option<&UnderLoad> {
    row.under_load.as_ref()
}

fn users(row: &Row) -> Option<Value> {
    let best = load(row)?.saturated.map(|found| found.best_users);
    Some(best.unwrap_or(row.case.concurrency()).into())
}

/// What users wait before they ask again; of arrivals there is none.
fn delay(row: &Row) -> Option<Value> {
    let pacing = load(row).map(|_| row.case.load.pacing)?;
    let pause = pacing.pause().unwrap_or_default().as_secs_f64();
    pacing.rate().is_none().then(|| pause.into())
}

fn limits(row: &Row) -> Option<Saturated> {
    load(row)?.saturated
}

/// One row as a flat object.
#[derive(Debug, derive_more::From)]
pub struct FlatRow<'a>(&'a Row);

impl Serialize for FlatRow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(COLUMNS.iter().map(|(name, of)| (name, of(self.0))))
    }
}

/// Rows as CSV with a header line.
pub fn csv(rows: &[Row], out: impl std::io::Write) -> Result<(), csv::Error> {
    let mut writer = csv::WriterBuilder::new()
        .has_headers(false)
        .from_writer(out);
    if !rows.is_empty() {
        writer.write_record(COLUMNS.iter().map(|(name, _)| name))?;
    }
    for row in rows {
        let cells = COLUMNS.iter().map(|(_, of)| of(row).map(Value::in_csv));
        writer.serialize(cells.collect::<Vec<_>>())?;
    }
    writer.flush().map_err(csv::Error::from)
}
