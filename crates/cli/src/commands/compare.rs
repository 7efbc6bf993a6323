//! `keymark compare`

use keymark_bench::record::{Record, RunId, RunState};
use keymark_report::archive::Archive;
use keymark_report::compare::{
    Comparison, Criteria, Difference, GeometricMean, Judgement, Noise, Pair, Side, document,
};
use keymark_report::visible::excerpt;
use keymark_stats::{BetweenRuns, MIN_RUNS};
use serde_json::json;

use super::Outcome;
use crate::args::{BaselineArgument, CompareArguments, SideArgument};
use crate::exit::{Exit, Failure};
use crate::observers::print_json;
use crate::output;

pub(super) fn run(arguments: &CompareArguments, archive: &Archive) -> Outcome {
    let criteria = Criteria {
        noise: arguments.noise.map_or_else(Noise::default, Noise::of),
        equivalence: arguments.equivalence,
    };
    let comparison = compared(arguments, archive, criteria)?;
    let means = if arguments.geometric_mean {
        comparison.geometric_means()
    } else {
        Vec::new()
    };
    if arguments.json {
        print_rows(&comparison, &means);
    } else {
        output::document(&document(&comparison, &means), &arguments.tables);
    }
    match arguments.fail_above {
        Some(limit) => judge(&comparison, limit),
        None => Ok(Exit::Fine),
    }
}

fn compared(
    arguments: &CompareArguments,
    archive: &Archive,
    criteria: Criteria,
) -> Result<Comparison, Failure> {
    let published = arguments.published.iter().copied();
    let mut named: Vec<SideArgument> = arguments.sides.clone();
    named.extend(published.map(SideArgument::Published));
    let pattern = match &arguments.baseline {
        Some(BaselineArgument::Case(pattern)) => Some(pattern),
        Some(BaselineArgument::Side(baseline)) => {
            named.retain(|side| side != baseline);
            named.insert(0, baseline.clone());
            None
        }
        None => None,
    };
    let mut sides: Vec<Side> = named
        .iter()
        .map(|side| load(side, archive))
        .collect::<Result<_, _>>()?;
    if let (Some(BaselineArgument::Side(_)), Some((baseline, others))) =
        (&arguments.baseline, sides.split_first())
    {
        // Under whatever name it stands among the others, too.
        let own = others.iter().filter(|side| !same_runs(side, baseline));
        sides = [baseline].into_iter().chain(own).cloned().collect();
    }
    if let (None, [only]) = (pattern, sides.as_slice()) {
        return of_copies(only, criteria);
    }
    distinct(&sides)?;
    let machine = machine(&sides, archive)?;
    let (comparison, nothing) = match pattern {
        Some(pattern) => (
            Comparison::against(pattern, &sides, machine, criteria),
            format!("has no case besides its baseline ({pattern})"),
        ),
        None => (
            Comparison::of(&sides, machine, criteria),
            "have no case in common".to_owned(),
        ),
    };
    if comparison.pairs.is_empty() {
        let names: Vec<&str> = sides.iter().map(|side| side.name.as_str()).collect();
        let reason = format!("{} {nothing}", names.join(" and "));
        return Err(Failure::nothing_usable(reason));
    }
    Ok(comparison)
}

fn load(side: &SideArgument, archive: &Archive) -> Result<Side, Failure> {
    let runs = match side {
        SideArgument::Runs(runs) => archive.side(runs).map_err(Failure::failed)?,
        SideArgument::Published(shipped) => vec![shipped.record().map_err(Failure::failed)?],
    };
    let name = side.to_string();
    Ok(Side { name, runs })
}

fn same_runs(one: &Side, other: &Side) -> bool {
    let ids = |side: &Side| -> Vec<RunId> { side.runs.iter().map(|run| run.id.clone()).collect() };
    ids(one) == ids(other)
}

/// No run and no series is compared with itself by mistake.
fn distinct(sides: &[Side]) -> Result<(), Failure> {
    for (number, side) in sides.iter().enumerate() {
        let mut others = sides[..number].iter();
        let same = others.find_map(|other| {
            let series = Archive::common_series(&other.runs, &side.runs)?;
            (other.name != side.name).then_some((other, series))
        });
        if let Some((other, series)) = same {
            return Err(Failure::usage(format!(
                "{} and {} are runs of one series, {series}; name series like 'series:last~1 series:last'",
                other.name, side.name
            )));
        }
    }
    for (number, side) in sides.iter().enumerate() {
        for other in &sides[..number] {
            let twice = side
                .runs
                .iter()
                .find(|run| other.runs.iter().any(|known| known.id == run.id));
            if let Some(run) = twice {
                return Err(Failure::usage(format!(
                    "run {} is in {} and in {}, and cannot be compared with itself",
                    excerpt(&run.id.0),
                    other.name,
                    side.name
                )));
            }
        }
    }
    Ok(())
}

/// What the archive knows of the machine, if sides need that.
fn machine(sides: &[Side], archive: &Archive) -> Result<BetweenRuns, Failure> {
    let measured = |side: &'_ Side| -> Vec<Record> {
        let mut runs = side.runs.clone();
        runs.retain(|run| run.state != RunState::Published);
        runs
    };
    let measured: Vec<Vec<Record>> = sides.iter().map(measured).collect();
    let few = || measured.iter().filter(|runs| runs.len() < MIN_RUNS);
    let single: Vec<&Record> = few().flatten().collect();
    if single.is_empty() {
        return Ok(BetweenRuns::ASSUMED);
    }
    let all: Vec<&Record> = measured.iter().flatten().collect();
    archive.between_runs(&all, &single).map_err(Failure::failed)
}

/// Every run against the first, each a side of its own.
pub(super) fn each_run(records: &[Record], archive: &Archive) -> Result<Comparison, Failure> {
    let side = |record: &Record| Side {
        name: record.id.to_string(),
        runs: vec![record.clone()],
    };
    let sides: Vec<Side> = records.iter().map(side).collect();
    let machine = machine(&sides, archive)?;
    Ok(Comparison::of(&sides, machine, Criteria::default()))
}

/// Two sides that were just measured, the first being the baseline.
pub(super) fn between(
    old: &[Record],
    new: &[Record],
    archive: &Archive,
) -> Result<Comparison, Failure> {
    let sides = [("first", old), ("second", new)].map(|(name, runs)| {
        let series = runs.first().and_then(|run| run.series.as_ref());
        Side {
            name: series.map_or_else(|| name.to_owned(), |series| format!("series:{}", series.id)),
            runs: runs.to_vec(),
        }
    });
    let machine = machine(&sides, archive)?;
    Ok(Comparison::of(&sides, machine, Criteria::default()))
}

fn of_copies(only: &Side, criteria: Criteria) -> Result<Comparison, Failure> {
    if only.runs.len() > 1 {
        return Err(Failure::usage(format!(
            "{} is only one side; name the other, too",
            only.name
        )));
    }
    let comparison = Comparison::of_copies(only, criteria);
    if comparison.pairs.is_empty() {
        return Err(Failure::nothing_usable(format!(
            "run {} repeats no case; name two runs, give --baseline, or measure with --replicas 2",
            only.name
        )));
    }
    Ok(comparison)
}

fn judge(comparison: &Comparison, limit: f64) -> Outcome {
    let slower = match comparison.slower_than(limit) {
        Judgement::Slower(slower) => slower,
        Judgement::NoInterval => {
            return Err(Failure::nothing_usable(
                "--fail-above cannot judge: no pair has an interval",
            ));
        }
        Judgement::TooFewRuns => {
            return Err(Failure::nothing_usable(format!(
                "--fail-above cannot judge single runs, which always differ; make series of {MIN_RUNS} runs\n  or \
                 more with 'keymark bench --repeat 5', or let two programs take turns with\n  'bench --against \
                 PROGRAM'"
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

/// One object a pair, and one a geometric mean.
pub(super) fn print_rows(comparison: &Comparison, means: &[GeometricMean]) {
    for pair in &comparison.pairs {
        print_json(&flat(comparison, pair));
    }
    for mean in means {
        print_json(&json!({
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
}

fn flat(comparison: &Comparison, pair: &Pair) -> serde_json::Value {
    let differences = comparison.differences.iter();
    let differences: Vec<String> = differences.map(Difference::to_string).collect();
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
