//! What `benchmark-action/github-action-benchmark` reads with `tool: customSmallerIsBetter`: an array of
//! `{name, unit, value, range, extra}`.

use serde::Serialize;

use super::measured::{Measured, measured};
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

pub(super) static FORMAT: Format = Format {
    word: "github-benchmark",
    about: "For benchmark-action/github-action-benchmark, with 'tool: customSmallerIsBetter'",
    endings: &[],
    write: |exported, out| {
        Ok(out.write_all(render(&exported.name(), &measured(exported))?.as_bytes())?)
    },
};

/// Means in milliseconds; `of` is the run or series. Cases without a mean are left out: there is no number for them.
pub(super) fn render(of: &str, cases: &[Measured]) -> serde_json::Result<String> {
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
