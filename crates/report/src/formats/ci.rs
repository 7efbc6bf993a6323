//! Formats for continuous integration: an array of `{name, unit, value, range, extra}` for `benchmark-action/github-action-benchmark`
//! with `tool: customSmallerIsBetter`, and JUnit's XML.

use askama::Template;
use serde::Serialize;

use super::{Measured, measured};
use crate::render::Format;
use crate::visible::{json, visible};

#[derive(Serialize)]
struct Entry {
    name: String,
    unit: &'static str,
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<String>,
    extra: String,
}

pub(super) static GITHUB: Format = Format {
    word: "github-benchmark",
    about: "For benchmark-action/github-action-benchmark, with 'tool: customSmallerIsBetter'",
    endings: &[],
    write: |exported| Ok(github(&exported.name(), &measured(exported))?),
};

/// Writes means in milliseconds for the run or series `of`. Cases without a mean are left out.
pub(super) fn github(of: &str, cases: &[Measured]) -> serde_json::Result<String> {
    let entry = |measured: &Measured| {
        let mean = measured.mean?;
        let milliseconds = |seconds: keymark_stats::Seconds| seconds.0 * 1e3;
        let half = mean.low.zip(mean.high).map(|(low, high)| {
            let half = (milliseconds(high) - milliseconds(low)) / 2.0;
            format!("± {half:.6}")
        });
        let case = &measured.case;
        let mut extra = format!(
            "{of}\n{} figures, {} run(s)",
            case.provenance, measured.runs
        );
        if let Some(operations) = measured.operations {
            extra.push_str(&format!(", {operations} operations"));
        }
        Some(Entry {
            // The provenance is part of the name, so that no series of points mixes kinds.
            name: visible(&format!("{case} ({})", case.provenance)).into_owned(),
            unit: "ms",
            value: milliseconds(mean.value),
            range: half,
            extra,
        })
    };
    let entries: Vec<Entry> = cases.iter().filter_map(entry).collect();
    Ok(json(&entries)? + "\n")
}

pub(super) static JUNIT: Format = Format {
    word: "junit",
    about: "JUnit's XML: one test case for each case, its time the mean in seconds",
    endings: &["xml"],
    write: |exported| Ok(junit(&exported.name(), &measured(exported))?),
};

#[derive(Template)]
#[template(path = "junit.xml")]
struct Suite<'a> {
    of: &'a str,
    cases: &'a [Measured],
}

/// Writes a suite named after the run or series `of`.
pub(super) fn junit(of: &str, cases: &[Measured]) -> askama::Result<String> {
    Suite { of, cases }.render()
}

impl Suite<'_> {
    fn counts(&self) -> String {
        let failures = self.cases.iter().filter(|case| case.failure.is_some());
        let skipped = self
            .cases
            .iter()
            .filter(|case| case.failure.is_none() && case.mean.is_none());
        format!(
            " tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\"",
            self.cases.len(),
            failures.count(),
            skipped.count()
        )
    }
}

fn seconds(measured: &Measured) -> String {
    format!("{:.9}", measured.mean.map_or(0.0, |mean| mean.value.0))
}

/// A test case that is no case of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Test {
    /// Class of the test, with points between its words.
    pub class: String,
    /// Name within the class.
    pub name: String,
    /// Failure, if any.
    pub failure: Option<String>,
}

#[derive(Template)]
#[template(path = "suite.xml")]
struct Judged<'a> {
    name: &'a str,
    tests: &'a [Test],
}

/// Writes a suite of that name. Text may be from outside.
///
/// # Errors
/// When there is no memory for it.
pub fn suite(name: &str, tests: &[Test]) -> askama::Result<String> {
    Judged { name, tests }.render()
}

impl Judged<'_> {
    fn counts(&self) -> String {
        let failures = self.tests.iter().filter(|test| test.failure.is_some());
        format!(
            " tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"0\"",
            self.tests.len(),
            failures.count()
        )
    }
}
