//! `keymark runs`

use itertools::Itertools;
use keymark_records::archive::Archive;
use keymark_report::visible::visible;
use serde_json::json;

use super::Outcome;
use crate::args::JsonArguments;
use crate::exit::Exit;
use crate::observers::print_json;
use crate::output;

/// More names than this do not fit a line.
const NAMES: usize = 6;

pub(super) fn run(arguments: &JsonArguments, archive: &Archive) -> Outcome {
    let runs = archive.runs()?;
    if runs.is_empty() && !arguments.json {
        output::note(&format!(
            "{} has no runs yet; 'keymark bench' makes one",
            archive.path().display()
        ));
    }
    let mut lines = String::new();
    for run in &runs {
        let algorithms = &run.algorithms;
        if arguments.json {
            print_json(&json!({
                "id": run.id, "started": run.started, "state": run.state, "cases": run.cases,
                "samples": run.samples, "devices": run.devices, "algorithms": algorithms,
                "series": run.series,
            }));
            continue;
        }
        let more = match algorithms.len().saturating_sub(NAMES) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let series = run.series.as_ref();
        let series = series.map_or_else(String::new, |series| format!("  series:{series}"));
        let named = algorithms.iter().take(NAMES).join(" ");
        let line = format!(
            "{:<32} {:<11} {:>4} cases {:>9} samples  {named}{more}{series}",
            run.id,
            run.state.to_string(),
            run.cases,
            run.samples
        );
        lines.push_str(&visible(&line));
        lines.push('\n');
    }
    // In one piece: thousands of lines are not written one by one.
    output::print(&lines);
    Ok(Exit::Fine)
}
