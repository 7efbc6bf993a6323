//! `keymark compare`

use itertools::Itertools;
use keymark_bench::{Record, RunId};
use keymark_records::archive::{Archive, SideSelector};
use keymark_report::compare::{Comparison, Criteria, Noise, Side};
use keymark_report::units::counted;
use keymark_report::visible::excerpt;

use crate::args::{BaselineArgument, CompareArguments, SideArgument};
use crate::documents::comparison;
use crate::exit::{Exit, Failure, Outcome};
use crate::output;

pub(super) fn run(arguments: &CompareArguments, archive: &Archive) -> Outcome {
    let criteria = Criteria {
        noise: arguments.noise.map_or_else(Noise::default, Noise::of),
        equivalence: arguments.equivalence,
    };
    let compared = compared(arguments, archive, criteria)?;
    let means = arguments.geometric_mean.then(|| compared.geometric_means());
    let means = means.unwrap_or_default();
    comparison::print(&compared, &means, arguments.form.is_json());
    Ok(arguments
        .fail_above
        .map_or(Exit::Fine, |limit| judge(&compared, limit)))
}

fn compared(
    arguments: &CompareArguments,
    archive: &Archive,
    criteria: Criteria,
) -> Result<Comparison, Failure> {
    if arguments.by.is_some() {
        return of_machines(arguments.sides.clone(), archive, criteria);
    }
    let (pattern, baseline) = match &arguments.baseline {
        Some(BaselineArgument::Case(pattern)) => (Some(pattern), None),
        Some(BaselineArgument::Side(baseline)) => (None, Some(load(baseline, archive)?)),
        None => (None, None),
    };
    let mut sides: Vec<Side> = arguments
        .sides
        .iter()
        .map(|side| load(side, archive))
        .collect::<Result<_, _>>()?;
    if let Some(baseline) = baseline {
        // Also where it has another name among the others.
        sides.retain(|side| !same_runs(side, &baseline));
        sides.insert(0, baseline);
    }
    if let (None, [only]) = (pattern, sides.as_slice()) {
        return of_copies(only, criteria);
    }
    distinct(&sides)?;
    let machine = comparison::machine(&sides, archive)?;
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
    let all_missing = pattern.is_some() && !comparison.missing.is_empty();
    if comparison.pairs.is_empty() && !all_missing {
        let names = sides.iter().map(|side| &side.name).format(" and ");
        let reason = format!("{names} {nothing}");
        return Err(Failure::nothing_usable(reason));
    }
    Ok(comparison)
}

fn of_machines(
    mut named: Vec<SideArgument>,
    archive: &Archive,
    criteria: Criteria,
) -> Result<Comparison, Failure> {
    if named.is_empty() {
        let last = archive.last_of_machines()?;
        let alone = last.into_iter().map(|run| SideSelector(vec![run]));
        named.extend(alone.map(SideArgument::Runs));
    }
    let loaded: Result<Vec<Side>, Failure> = named.iter().map(|side| load(side, archive)).collect();
    let runs = loaded?.into_iter().flat_map(|side| side.runs);
    let sides = Side::of_machines(runs.unique_by(|run| run.id.clone()).collect());
    let noise = comparison::machine(&sides, archive)?;
    let comparison = Comparison::of_machines(sides, noise, criteria);
    if comparison.pairs.is_empty() {
        let machines = comparison.sides.iter().map(|side| &side.name).format(", ");
        return Err(Failure::nothing_usable(format!(
            "machines are compared by cases that two of them have measured; here are {} ({machines}). Give each machine a \
             label (KEYMARK_MACHINE), and bring its runs here",
            comparison.sides.len()
        )));
    }
    Ok(comparison)
}

fn load(side: &SideArgument, archive: &Archive) -> Result<Side, Failure> {
    let runs = match side {
        SideArgument::Runs(runs) => archive.side(runs)?,
        SideArgument::Published(shipped) => vec![shipped.record()?],
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
    for (other, side) in sides.iter().tuple_combinations() {
        if other.name != side.name
            && let Some(series) = Archive::common_series(&other.runs, &side.runs)
        {
            return Err(Failure::usage(format!(
                "{} and {} are runs of one series, {series}; name series like 'series:last~1 series:last'",
                other.name, side.name
            )));
        }
    }
    for (other, side) in sides.iter().tuple_combinations() {
        let is_there = |run: &&Record| other.runs.iter().any(|known| known.id == run.id);
        if let Some(run) = side.runs.iter().find(is_there) {
            return Err(Failure::usage(format!(
                "run {} is in {} and in {}, and cannot be compared with itself",
                excerpt(&run.id.0),
                other.name,
                side.name
            )));
        }
    }
    Ok(())
}

fn of_copies(only: &Side, criteria: Criteria) -> Result<Comparison, Failure> {
    if only.runs.len() > 1 {
        return Err(Failure::usage(format!(
            "{} is one side. Name two runs or series to compare",
            only.name
        )));
    }
    let comparison = Comparison::of_copies(only, criteria);
    if comparison.pairs.is_empty() && comparison.missing.is_empty() {
        return Err(Failure::nothing_usable(format!(
            "run {} repeats no case; name two runs, give --baseline, or measure with --replicas 2",
            only.name
        )));
    }
    Ok(comparison)
}

/// The status: whether a case is above the limit, and whether a case could not be decided.
fn judge(comparison: &Comparison, limit: f64) -> Exit {
    let judgement = comparison.slower_than(limit);
    let limit = limit * 100.0;
    for pair in &judgement.slower {
        output::warning(&format!("{} is slower by more than {limit} %", pair.old));
    }
    if !comparison.missing.is_empty() {
        let cases = counted(comparison.missing.len(), "case");
        output::warning(&format!("{cases} undecided: no figure to compare"));
    }
    if !judgement.undecided.is_empty() {
        let cases = counted(judgement.undecided.len(), "case");
        output::warning(&format!(
            "{cases} undecided: not shown to be slower by more than {limit} %, nor to be within it. Use more runs \
             ('keymark bench --repeat 10'), or let two programs take turns ('bench --against PROGRAM')"
        ));
    }
    let is_decided = judgement.undecided.is_empty() && comparison.missing.is_empty();
    Exit::of(!judgement.slower.is_empty(), !is_decided)
}
