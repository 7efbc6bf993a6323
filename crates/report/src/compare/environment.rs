//! What differs between sides besides what they were measured for: machine, programs, settings.

use std::collections::{BTreeMap, BTreeSet};

use itertools::Itertools;
use keymark_bench::environment::Environment;
use keymark_bench::record::{Record, RunState};
use keymark_stats::Seconds;

use super::Side;
use crate::units;

/// Something that is not the same everywhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// What it is: `kernel`, `libgcrypt`.
    pub what: String,
    /// Its values, each with the sides that have it.
    pub values: Vec<(String, Vec<String>)>,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: ", self.what)?;
        for (number, (value, sides)) in self.values.iter().enumerate() {
            let comma = if number > 0 { "; " } else { "" };
            write!(f, "{comma}{value} ({})", sides.join(", "))?;
        }
        Ok(())
    }
}

/// Machines whose own speed differs by less are about as fast.
const SPEED: f64 = 0.05;

/// What the sides, or runs of one, differ in. Published figures say nothing of machines.
pub(super) fn differences(sides: &[Side]) -> Vec<Difference> {
    let known: Vec<(&str, Vec<BTreeMap<String, String>>)> = sides
        .iter()
        .map(|side| {
            let measured = side
                .runs
                .iter()
                .filter(|run| run.state != RunState::Published);
            (side.name.as_str(), measured.map(facts).collect())
        })
        .collect();
    let names: BTreeSet<&String> = known
        .iter()
        .flat_map(|(_, runs)| runs.iter().flat_map(BTreeMap::keys))
        .collect();
    let mut found: Vec<Difference> = ORDER
        .iter()
        .map(|name| (*name).to_owned())
        .chain(
            names
                .into_iter()
                .filter(|name| !ORDER.contains(&name.as_str()))
                .cloned(),
        )
        .filter_map(|name| difference(name, &known))
        .collect();
    found.extend(speed(sides));
    found
}

/// These are said first.
const ORDER: [&str; 9] = [
    "processor",
    "cores",
    "virtual machine",
    "memory",
    "system",
    "kernel",
    "governor",
    "keymark",
    "settings",
];

fn difference(what: String, known: &[(&str, Vec<BTreeMap<String, String>>)]) -> Option<Difference> {
    let mut values: Vec<(String, Vec<String>)> = Vec::new();
    for (side, runs) in known {
        for run in runs {
            // Who does not say, does not differ: a plan without gpg has no version of it.
            let Some(value) = run.get(&what) else {
                continue;
            };
            let at = values.iter().position(|(other, _)| other == value);
            let at = at.unwrap_or_else(|| {
                values.push((value.to_owned(), Vec::new()));
                values.len() - 1
            });
            let sides = &mut values[at].1;
            if !sides.iter().any(|name| name == side) {
                sides.push((*side).to_owned());
            }
        }
    }
    (values.len() > 1).then_some(Difference { what, values })
}

/// What a run was made on and how, by names. What is not known is not there.
fn facts(run: &Record) -> BTreeMap<String, String> {
    let mut facts = facts_of(&run.environment);
    let settings = crate::analysis::stop_and_order(&run.plan.settings);
    facts.insert("settings".to_owned(), settings);
    for store in &run.stores {
        for (name, version) in &store.versions {
            facts.insert(format!("{name} of {}", store.device), version.clone());
        }
    }
    facts
}

/// Machine and programs, by names.
pub(crate) fn facts_of(environment: &Environment) -> BTreeMap<String, String> {
    facts_in_order(environment).collect()
}

/// The machine first, then the programs.
pub(crate) fn facts_in_order(environment: &Environment) -> impl Iterator<Item = (String, String)> {
    // What the kernel keeps for itself differs by megabytes from start to start.
    let gibibytes = |kib: u64| format!("{:.0} GiB", kib as f64 / 1_048_576.0);
    let known = [
        ("processor", environment.cpu_model.clone()),
        ("cores", Some(environment.cores.to_string())),
        ("virtual machine", environment.virtualization.clone()),
        ("memory", environment.memory_kib.map(gibibytes)),
        ("system", environment.os.clone()),
        ("kernel", environment.kernel.clone()),
        ("governor", environment.governor.clone()),
        ("keymark", Some(environment.keymark.clone())),
    ];
    let known = known
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)));
    let versions = environment.versions.iter();
    known.chain(versions.map(|(name, version)| (name.clone(), version.clone())))
}

/// How long the fixed calculation took on average, where that differs.
fn speed(sides: &[Side]) -> Option<Difference> {
    let mean = |side: &Side| {
        let blocks = side
            .runs
            .iter()
            .flat_map(|run| &run.cases)
            .flat_map(|case| &case.blocks);
        let times: Vec<f64> = blocks
            .filter_map(|block| Some(block.reference_ns? as f64))
            .collect();
        (!times.is_empty())
            .then(|| Seconds::from_nanos(times.iter().sum::<f64>() / times.len() as f64))
    };
    let known: Vec<(&Side, Seconds)> = sides
        .iter()
        .filter_map(|side| Some((side, mean(side)?)))
        .collect();
    let times = known.iter().map(|(_, time)| time.0);
    let (least, most) = times.minmax_by(f64::total_cmp).into_option()?;
    (most > least * (1.0 + SPEED)).then(|| Difference {
        what: "machine speed, by a fixed calculation".to_owned(),
        values: known
            .iter()
            .map(|(side, time)| (units::duration(*time), vec![side.name.clone()]))
            .collect(),
    })
}
