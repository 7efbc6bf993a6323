//! `keymark runs`

use std::path::PathBuf;

use itertools::Itertools;
use keymark_bench::RunId;
use keymark_records::archive::{Archive, RunSelector};
use keymark_report::units::counted;
use keymark_report::visible::visible;
use serde_json::json;

use crate::args::RunsArguments;
use crate::exit::{Exit, Failure, Outcome};
use crate::{archive, output};

/// More names than this do not fit a line.
const NAMES: usize = 6;

/// Removes runs, after a question.
pub(super) fn remove(selected: &[RunSelector], yes: bool, named: Option<&PathBuf>) -> Outcome {
    let archive = archive::open_to_read(named)?;
    let ids: Vec<RunId> = selected
        .iter()
        .map(|run| archive.id_of(run).map(RunId))
        .try_collect()?;
    let path = archive.path().display().to_string();
    let runs = ids.iter().join(", ");
    if !yes
        && !output::agrees(&format!(
            "This removes {runs} with every sample from {path}."
        ))
    {
        let message = "nothing was removed; --yes removes without asking";
        return Err(Failure::usage(message));
    }
    let mut archive = archive::open(named)?;
    for id in &ids {
        archive.remove(id)?;
    }
    output::line(&format!("removed {runs}"));
    Ok(Exit::Fine)
}

pub(super) fn run(arguments: &RunsArguments, archive: &Archive) -> Outcome {
    let runs = archive.runs()?;
    if runs.is_empty() && !arguments.form.is_json() {
        output::note(&format!(
            "{} has no runs yet; 'keymark bench' makes one",
            archive.path().display()
        ));
    }
    let mut lines = String::new();
    for run in &runs {
        let algorithms = &run.algorithms;
        if arguments.form.is_json() {
            output::print_json(&json!({
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
            "{:<32} {:<11} {:>10} {:>17}  {named}{more}{series}",
            run.id,
            run.state.to_string(),
            counted(run.cases, "case"),
            counted(run.samples, "sample")
        );
        lines.push_str(&visible(&line));
        lines.push('\n');
    }
    // In one piece: thousands of lines are not written one by one.
    output::print(&lines);
    Ok(Exit::Fine)
}
