//! OpenMetrics text, as Prometheus reads it (openmetrics.io, version 1.0): gauges without a time of their own.

use std::fmt::Write;

use keymark_bench::case::Pacing;

use super::{Measured, measured};
use crate::render::Format;
use crate::visible::visible;

/// A metric family: name, unit, what it says, and its value of a case.
struct Family {
    name: &'static str,
    unit: &'static str,
    help: &'static str,
    value: fn(&Measured) -> Option<f64>,
}

const FAMILIES: [Family; 9] = [
    Family {
        name: "keymark_operation_mean_seconds",
        unit: "seconds",
        help: "Mean time of an operation.",
        value: |case| Some(case.mean?.value.0),
    },
    Family {
        name: "keymark_operation_mean_low_seconds",
        unit: "seconds",
        help: "Lower bound of the mean's 95 % interval.",
        value: |case| Some(case.mean?.low?.0),
    },
    Family {
        name: "keymark_operation_mean_high_seconds",
        unit: "seconds",
        help: "Upper bound of the mean's 95 % interval.",
        value: |case| Some(case.mean?.high?.0),
    },
    Family {
        name: "keymark_operation_median_seconds",
        unit: "seconds",
        help: "Median time of an operation.",
        value: |case| Some(case.median?.0),
    },
    Family {
        name: "keymark_operation_p99_seconds",
        unit: "seconds",
        help: "99th percentile of the time of an operation.",
        value: |case| Some(case.p99?.0),
    },
    Family {
        name: "keymark_operations_per_second",
        unit: "",
        help: "Operations completed a second, as observed.",
        value: |case| Some(case.throughput?.value.0),
    },
    Family {
        name: "keymark_operations",
        unit: "",
        help: "Operations behind the figures.",
        value: |case| case.operations.map(|n| n as f64),
    },
    Family {
        name: "keymark_runs",
        unit: "",
        help: "Runs behind the figures.",
        value: |case| Some(case.runs as f64),
    },
    Family {
        name: "keymark_failed_operations",
        unit: "",
        help: "Operations that failed.",
        value: |case| Some(case.failed as f64),
    },
];

pub(super) static FORMAT: Format = Format {
    word: "openmetrics",
    about: "OpenMetrics text, for Prometheus",
    endings: &[],
    write: |exported, out| {
        Ok(out.write_all(render(&exported.name(), &measured(exported)).as_bytes())?)
    },
};

/// Families with their cases, and the mark of the end; `of` is the run or series.
pub(super) fn render(of: &str, cases: &[Measured]) -> String {
    let mut text = String::new();
    for family in &FAMILIES {
        let mut values = cases
            .iter()
            .filter_map(|case| Some((case, (family.value)(case)?)))
            .filter(|(_, value)| value.is_finite())
            .peekable();
        if values.peek().is_none() {
            continue;
        }
        let Family {
            name, unit, help, ..
        } = family;
        // Writing to a string does not fail.
        let _ = writeln!(text, "# TYPE {name} gauge");
        if !unit.is_empty() {
            let _ = writeln!(text, "# UNIT {name} {unit}");
        }
        let _ = writeln!(text, "# HELP {name} {help}");
        for (case, value) in values {
            let _ = writeln!(text, "{name}{{{}}} {value:?}", labels(of, case));
        }
    }
    text.push_str("# EOF\n");
    text
}

/// All that tells cases apart, so that no two lines are of one series.
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
        ("concurrency", case.concurrency().to_string()),
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
    let text = visible(text);
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}
