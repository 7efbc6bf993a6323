//! `keymark compare`

use keymark_bench::record::Record;
use keymark_report::archive::{Archive, SideSelector};
use keymark_report::compare::{Comparison, Judgement, Noise, Pair, document};
use keymark_stats::{BetweenRuns, MIN_RUNS};
use serde_json::json;

use super::Outcome;
use crate::args::CompareArguments;
use crate::exit::{Exit, Failure};
use crate::observers::print_json;
use crate::output;

pub(super) fn run(arguments: &CompareArguments, archive: &Archive) -> Outcome {
    let noise = arguments.noise.map_or_else(Noise::default, Noise::of);
    let comparison = match &arguments.second {
        Some(second) => of_sides(&arguments.first, second, archive, noise)?,
        None => of_copies(&arguments.first, archive, noise)?,
    };
    if arguments.json {
        let pairs = comparison.pairs.iter();
        pairs.for_each(|pair| print_json(&flat(pair)));
    } else {
        output::document(&document(&comparison), &arguments.tables);
    }
    match arguments.fail_above {
        Some(limit) => judge(&comparison, limit),
        None => Ok(Exit::Fine),
    }
}

fn of_sides(
    first: &SideSelector,
    second: &SideSelector,
    archive: &Archive,
    noise: Noise,
) -> Result<Comparison, Failure> {
    let load = |side| archive.side(side).map_err(Failure::failed);
    let (old, new) = (load(first)?, load(second)?);
    if let Some(series) = Archive::common_series(&old, &new).filter(|_| first != second) {
        return Err(Failure::usage(format!(
            "{first} and {second} are runs of one series, {series}; series are named \
             'series:last~1 series:last'"
        )));
    }
    let comparison = between(&old, &new, archive, noise)?;
    if comparison.pairs.is_empty() {
        let reason = format!("{first} and {second} have no case in common");
        return Err(Failure::nothing_usable(reason));
    }
    Ok(comparison)
}

/// Two sides of the archive, with what it knows of the machine if they need that.
pub(super) fn between(
    old: &[Record],
    new: &[Record],
    archive: &Archive,
    noise: Noise,
) -> Result<Comparison, Failure> {
    let machine = if old.len().min(new.len()) < MIN_RUNS {
        let compared: Vec<&Record> = old.iter().chain(new).collect();
        let few = [old, new].into_iter().filter(|side| side.len() < MIN_RUNS);
        let single: Vec<&Record> = few.flatten().collect();
        let known = archive.between_runs(&compared, &single);
        known.map_err(Failure::failed)?
    } else {
        BetweenRuns::ASSUMED
    };
    Ok(Comparison::of(old, new, machine, noise))
}

fn of_copies(first: &SideSelector, archive: &Archive, noise: Noise) -> Result<Comparison, Failure> {
    let [only] = first.0.as_slice() else {
        return Err(Failure::usage(format!(
            "{first} is one side; name the other as well"
        )));
    };
    let record = archive.load(only).map_err(Failure::failed)?;
    let comparison = Comparison::of_copies(&record, noise);
    if comparison.pairs.is_empty() {
        return Err(Failure::nothing_usable(format!(
            "no case stands in {first} twice; name two runs, or measure with --replicas 2"
        )));
    }
    Ok(comparison)
}

fn judge(comparison: &Comparison, limit: f64) -> Outcome {
    let slower = match comparison.slower_than(limit) {
        Judgement::Slower(slower) => slower,
        Judgement::NoInterval => {
            return Err(Failure::nothing_usable(
                "--fail-above has nothing to judge by: no pair has an interval",
            ));
        }
        Judgement::TooFewRuns => {
            return Err(Failure::nothing_usable(format!(
                "--fail-above cannot judge single runs: they differ by themselves; make series of {MIN_RUNS} \
                 runs\n  or more with 'keymark bench --repeat 5', or let two programs take turns \
                 with\n  'bench --against PROGRAM'"
            )));
        }
    };
    for pair in &slower {
        output::warning(&format!(
            "{} is slower by more than {} %",
            pair.old,
            limit * 100.0
        ));
    }
    Ok(if slower.is_empty() {
        Exit::Fine
    } else {
        Exit::Failed
    })
}

pub(super) fn flat(pair: &Pair) -> serde_json::Value {
    json!({
        "case": pair.old.to_string(),
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
        "verdict": pair.verdict.to_string(),
        "first_assumed": pair.assumed[0],
        "second_assumed": pair.assumed[1],
    })
}
