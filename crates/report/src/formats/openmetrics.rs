//! OpenMetrics text, as Prometheus reads it (openmetrics.io, version 1.0): gauges without a time of their own.

use std::fmt::Write;

use keymark_bench::Pacing;

use super::{Measured, measured};
use crate::render::Format;
use crate::visible::visible;

/// A metric family: its name, which ends with its unit if it has one, what it says, and its value of a case.
type Family = (&'static str, &'static str, fn(&Measured) -> Option<f64>);

macro_rules! families {
    ($case:ident => $($name:ident: $help:literal, $value:expr;)*) => {
        &[$((concat!("keymark_", stringify!($name)), $help, |$case| $value)),*]
    };
}

const FAMILIES: &[Family] = families! { case =>
    operation_mean_seconds: "Mean time of an operation.", Some(case.mean?.value.0);
    operation_mean_low_seconds: "Lower bound of the mean's 95 % interval.", Some(case.mean?.low?.0);
    operation_mean_high_seconds: "Upper bound of the mean's 95 % interval.", Some(case.mean?.high?.0);
    operation_median_seconds: "Median time of an operation.", Some(case.median?.0);
    operation_p99_seconds: "99th percentile of the time of an operation.", Some(case.p99?.0);
    operations_per_second: "Operations completed per second, as observed.", Some(case.throughput?.value.0);
    operations: "Operations behind the figures.", Some(case.operations? as f64);
    runs: "Runs behind the figures.", Some(case.runs as f64);
    failed_operations: "Operations that failed.", Some(case.failed as f64);
};

pub(super) static FORMAT: Format = Format {
    word: "openmetrics",
    about: "OpenMetrics text, for Prometheus",
    endings: &["prom"],
    write: |exported| Ok(render(&exported.name(), &measured(exported))),
};

/// Writes families with their cases and the end mark for the run or series `of`.
pub(super) fn render(of: &str, cases: &[Measured]) -> String {
    let mut text = String::new();
    for (name, help, value) in FAMILIES {
        let mut values = cases
            .iter()
            .filter_map(|case| Some((case, value(case)?)))
            .filter(|(_, value)| value.is_finite())
            .peekable();
        if values.peek().is_none() {
            continue;
        }
        // Writing to a string does not fail.
        let _ = writeln!(text, "# TYPE {name} gauge");
        if name.ends_with("_seconds") {
            let _ = writeln!(text, "# UNIT {name} seconds");
        }
        let _ = writeln!(text, "# HELP {name} {help}");
        for (case, value) in values {
            let _ = writeln!(text, "{name}{{{}}} {value:?}", labels(of, case));
        }
    }
    text.push_str("# EOF\n");
    text
}

/// Returns labels that differ between cases, so that no two lines are of one series.
fn labels(of: &str, measured: &Measured) -> String {
    let case = &measured.case;
    let rate = match case.load.pacing {
        Pacing::Closed => "closed".to_owned(),
        Pacing::Open(rate) => format!("{}/s", rate.per_second()),
        Pacing::Thinking(longest) => format!("think {} s", longest.as_secs_f64()),
    };
    let labels = [
        ("run", of.to_owned()),
        ("device", case.device.to_string()),
        ("store", case.store.to_string()),
        ("algorithm", case.algorithm.to_string()),
        ("operation", case.operation.to_string()),
        ("stack", case.stack.to_string()),
        ("way", case.way()),
        ("workers", case.workers().to_string()),
        ("worker", case.load.worker.to_string()),
        ("load", rate),
        ("input_bytes", case.input_bytes.to_string()),
        ("replica", case.replica.to_string()),
        ("provenance", case.provenance.to_string()),
    ];
    let written = labels.map(|(name, value)| format!("{name}=\"{}\"", escaped(&value)));
    written.join(",")
}

fn escaped(text: &str) -> String {
    visible(text).replace('\\', "\\\\").replace('"', "\\\"")
}
