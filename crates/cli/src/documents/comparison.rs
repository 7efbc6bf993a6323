//! Comparisons of runs.

use itertools::Itertools;
use keymark_bench::{Record, RunState};
use keymark_records::archive::Archive;
use keymark_report::compare::{Comparison, Criteria, Difference, GeometricMean, Pair, Side};
use keymark_report::verdict::Verdict;
use keymark_stats::{BetweenRuns, MIN_RUNS};
use serde_json::json;

use crate::exit::Failure;
use crate::output;

/// Returns the archive's differences between runs, if sides have too few runs.
pub(crate) fn machine(sides: &[Side], archive: &Archive) -> Result<BetweenRuns, Failure> {
    let few = sides
        .iter()
        .filter(|side| measured(side).count() < MIN_RUNS);
    let single: Vec<&Record> = few.flat_map(measured).collect();
    if single.is_empty() {
        return Ok(BetweenRuns::ASSUMED);
    }
    let all: Vec<&Record> = sides.iter().flat_map(measured).collect();
    Ok(archive.between_runs(&all, &single)?)
}

fn measured(side: &Side) -> impl Iterator<Item = &Record> {
    side.runs
        .iter()
        .filter(|run| run.state != RunState::Published)
}

/// Every run against the first, each a side of its own: by the machine's label, where that tells them apart.
pub(crate) fn each_run(records: &[Record], archive: &Archive) -> Result<Comparison, Failure> {
    let label = |record: &'_ Record| record.environment.machine.clone();
    let mut labels = records.iter().map(label);
    let tell = labels.clone().all(|label| label.is_some()) && labels.all_unique();
    let side = |record: &Record| Side {
        name: label(record)
            .filter(|_| tell)
            .unwrap_or_else(|| record.id.to_string()),
        runs: vec![record.clone()],
    };
    let sides: Vec<Side> = records.iter().map(side).collect();
    of(&sides, archive)
}

/// Sides against the first of them.
pub(crate) fn of(sides: &[Side], archive: &Archive) -> Result<Comparison, Failure> {
    let machine = machine(sides, archive)?;
    Ok(Comparison::of(sides, machine, Criteria::default()))
}

/// A comparison as objects or as tables.
pub(crate) fn print(comparison: &Comparison, means: &[GeometricMean], json: bool) {
    if json {
        print_rows(comparison, means);
    } else {
        output::document(&comparison.document(means));
    }
}

/// Prints an object per pair, per case without a figure, and per geometric mean, and the verdict.
fn print_rows(comparison: &Comparison, means: &[GeometricMean]) {
    for pair in &comparison.pairs {
        output::print_json(&flat(comparison, pair));
    }
    for missing in &comparison.missing {
        output::print_json(&json!({
            "missing_case": missing.case.to_string(),
            "run": comparison.sides.get(missing.side).map(|side| &side.name),
        }));
    }
    for mean in means {
        output::print_json(&json!({
            "geometric_mean": mean.ratio.value,
            "geometric_mean_low": mean.ratio.low,
            "geometric_mean_high": mean.ratio.high,
            "method": mean.ratio.method,
            "cases": mean.cases,
            "run": comparison.sides.get(mean.side).map(|side| &side.name),
            "first_provenance": mean.provenance[0],
            "second_provenance": mean.provenance[1],
        }));
    }
    if let Some(verdict) = Verdict::of_comparison(comparison) {
        output::print_json(&json!({ "verdict": verdict }));
    }
}

fn flat(comparison: &Comparison, pair: &Pair) -> serde_json::Value {
    let differences: Vec<String> = comparison
        .differences
        .iter()
        .map(Difference::to_string)
        .collect();
    json!({
        "case": pair.old.to_string(),
        "second_case": pair.new.to_string(),
        "run": comparison.side(pair),
        "first_device": pair.old.device,
        "second_device": pair.new.device,
        "first_provenance": pair.old.provenance,
        "second_provenance": pair.new.provenance,
        "first_mean_s": pair.old_mean,
        "second_mean_s": pair.new_mean,
        "first_runs": pair.runs[0],
        "second_runs": pair.runs[1],
        "ratio": pair.ratio.value,
        "ratio_low": pair.ratio.low,
        "ratio_high": pair.ratio.high,
        "method": pair.ratio.method,
        "verdict": pair.verdict.to_string(),
        "first_assumed": pair.assumed[0],
        "second_assumed": pair.assumed[1],
        "differences": differences,
    })
}
