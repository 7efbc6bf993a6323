//! `keymark compare`

use keymark_report::archive::Archive;
use keymark_report::compare::{Pair, Verdict, compare, document, replicas};
use serde_json::json;

use super::Outcome;
use crate::args::CompareArguments;
use crate::exit::{Exit, Failure};
use crate::observers::print_json;
use crate::output;

pub(super) fn run(arguments: &CompareArguments, archive: &Archive) -> Outcome {
    let first = archive.load(&arguments.first).map_err(Failure::failed)?;
    let pairs = match &arguments.second {
        Some(second) => compare(&first, &archive.load(second).map_err(Failure::failed)?),
        None => replicas(&first),
    };
    if pairs.is_empty() {
        let reason = match &arguments.second {
            Some(second) => format!("{} and {second} have no case in common", arguments.first),
            None => format!(
                "no case stands in {} twice; name two runs, or measure with --replicas 2",
                arguments.first
            ),
        };
        return Err(Failure::nothing_usable(reason));
    }
    if arguments.json {
        pairs.iter().for_each(|pair| print_json(&flat(pair)));
    } else {
        output::document(&document(&pairs), &arguments.tables);
    }
    let Some(limit) = arguments.fail_above else {
        return Ok(Exit::Fine);
    };
    if pairs.iter().all(|pair| pair.verdict() == Verdict::Unknown) {
        return Err(Failure::nothing_usable(
            "--fail-above has nothing to judge by: no pair has an interval",
        ));
    }
    let slower: Vec<&Pair> = pairs
        .iter()
        .filter(|pair| pair.slower_than(limit))
        .collect();
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

fn flat(pair: &Pair) -> serde_json::Value {
    json!({
        "case": pair.old.to_string(),
        "first_device": pair.old.device,
        "second_device": pair.new.device,
        "first_provenance": pair.old.provenance,
        "second_provenance": pair.new.provenance,
        "first_mean_s": pair.old_mean,
        "second_mean_s": pair.new_mean,
        "ratio": pair.ratio.value,
        "ratio_low": pair.ratio.low,
        "ratio_high": pair.ratio.high,
        "verdict": pair.verdict().to_string(),
        "first_assumed": pair.assumed[0],
        "second_assumed": pair.assumed[1],
    })
}
