//! Under which conditions runs were made: in lines for the head of a report, as facts by name, and what differs between
//! sides besides what they were measured for.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use derive_more::Display;
use itertools::Itertools;
use keymark_bench::{
    CoreKind, Environment, Order, Provenance, Record, RunState, Settings, StopRule, StoreIdentity,
    Throttling, View,
};
use keymark_stats::{MachineSpeed, Seconds};
use serde::Serialize;

use super::Side;
use crate::Fact;
use crate::{grouped, units};

/// Something that is not the same everywhere.
#[derive(Debug, Display, Clone, PartialEq, Eq)]
#[display("{what}: {}", values.iter().format_with("; ", |(value, sides), each| {
    each(&format_args!("{value} ({})", sides.join(", ")))
}))]
pub struct Difference {
    /// Name of the fact: `kernel`, `libgcrypt`.
    pub what: String,
    /// Its values, each with the sides that have it.
    pub values: Vec<(String, Vec<String>)>,
}

/// Machines whose own speed differs by less are about as fast.
const SPEED: f64 = 0.05;

/// Returns the differences between sides, or runs of one. Published figures have no machine.
pub(super) fn differences(sides: &[Side]) -> Vec<Difference> {
    let known = sides.iter().map(|side| {
        let measured = side
            .runs
            .iter()
            .filter(|run| run.state != RunState::Published);
        (side.name.as_str(), measured.map(facts_of_run).collect())
    });
    let known: Vec<(&str, Vec<BTreeMap<String, String>>)> = known.collect();
    let runs = known.iter().flat_map(|(_, runs)| runs);
    let others: BTreeSet<&str> = runs.flat_map(BTreeMap::keys).map(String::as_str).collect();
    let others = others.into_iter().filter(|name| !ORDER.contains(name));
    let names = ORDER.into_iter().chain(others);
    let mut found: Vec<Difference> = names.filter_map(|name| difference(name, &known)).collect();
    found.extend(speed(sides));
    found
}

/// These are said first.
const ORDER: [&str; 11] = [
    "machine",
    "processor",
    "cores",
    "virtual machine",
    "emulated on",
    "memory",
    "system",
    "kernel",
    "governor",
    "keymark",
    "settings",
];

fn difference(what: &str, known: &[(&str, Vec<BTreeMap<String, String>>)]) -> Option<Difference> {
    // Who does not say, does not differ: a plan without gpg has no version of it.
    let said = known.iter().flat_map(|(side, runs)| {
        let values = runs.iter().filter_map(|run| run.get(what));
        values.map(move |value| (value, *side))
    });
    let values = grouped(said, |(value, _)| *value).into_iter();
    let values = values.map(|(value, of)| {
        let sides = of.into_iter().map(|(_, side)| side.to_owned());
        (value.clone(), sides.unique().collect())
    });
    let values: Vec<(String, Vec<String>)> = values.collect();
    (values.len() > 1).then_some(Difference {
        what: what.to_owned(),
        values,
    })
}

/// Returns machine, programs and settings of a run by name.
fn facts_of_run(run: &Record) -> BTreeMap<String, String> {
    let mut facts = facts_of(&run.environment);
    let settings = stop_and_order(&run.plan.settings);
    facts.insert("settings".to_owned(), settings);
    for store in &run.stores {
        for (name, version) in &store.versions {
            facts.insert(format!("{name} of {}", store.device), version.clone());
        }
    }
    facts
}

/// Facts that identify a machine, as far as a record has them.
const MACHINE: [&str; 6] = [
    "machine",
    "processor",
    "cores",
    "virtual machine",
    "emulated on",
    "memory",
];

/// Name of a machine by its label and hardware: `AMD EPYC, 2 cores, 24 GiB`.
pub fn machine_name(environment: &Environment) -> String {
    let facts = facts_of(environment);
    let words = MACHINE.iter().filter_map(|name| {
        let value = facts.get(*name)?;
        Some(match *name {
            "cores" if value == "1" => "1 core".to_owned(),
            "cores" => format!("{value} cores"),
            "virtual machine" => format!("virtual machine ({value})"),
            "emulated on" => format!("emulated on {value}"),
            _ => value.clone(),
        })
    });
    { words }.join(", ")
}

/// Machine and programs, by names.
pub(crate) fn facts_of(environment: &Environment) -> BTreeMap<String, String> {
    facts_in_order(environment).collect()
}

/// The machine first, then the programs.
pub(crate) fn facts_in_order(environment: &Environment) -> impl Iterator<Item = (String, String)> {
    // What the kernel keeps for itself differs by megabytes from start to start.
    let gibibytes = |kib: u64| format!("{:.0} GiB", kib as f64 / 1_048_576.0);
    let kind = |kind: &CoreKind| format!("{} ({})", kind.name, kind.cores);
    let kinds = environment.core_kinds.iter().map(kind).join(", ");
    let slowed = environment.throttling.iter().join(", ");
    let known = [
        ("machine", environment.machine.clone()),
        ("processor", environment.cpu_model.clone()),
        ("cores", Some(environment.cores.to_string())),
        (
            "CPU limit",
            environment.cpu_quota.map(|quota| format!("{quota} CPU")),
        ),
        ("virtual machine", environment.virtualization.clone()),
        ("emulated on", environment.emulated_on.clone()),
        ("kinds of cores", (!kinds.is_empty()).then_some(kinds)),
        ("slowed down by", (!slowed.is_empty()).then_some(slowed)),
        ("memory", environment.memory_kib.map(gibibytes)),
        ("system", environment.os.clone()),
        ("kernel", environment.kernel.clone()),
        ("governor", environment.governor.clone()),
        ("keymark", Some(environment.keymark.clone())),
    ];
    let known = known
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)));
    known.chain(
        environment
            .versions
            .iter()
            .map(|(name, version)| (name.clone(), version.clone())),
    )
}

/// Returns the mean times of the fixed calculation, where they differ.
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

/// Returns the facts of all runs in the first run's order.
pub(crate) fn facts(records: &[&Record]) -> Vec<Fact> {
    let known: Vec<Vec<(String, String)>> = records.iter().map(|record| known(record)).collect();
    let names = known.iter().flatten().map(|(name, _)| name).unique();
    let value = |of: &Vec<(String, String)>, name: &String| {
        of.iter()
            .find(|(other, _)| other == name)
            .map(|(_, value)| value.clone())
    };
    let fact = |name: &String| Fact {
        name: name.clone(),
        values: known.iter().map(|of| value(of, name)).collect(),
    };
    names.map(fact).collect()
}

fn known(record: &Record) -> Vec<(String, String)> {
    let environment = &record.environment;
    let mut known: Vec<(String, String)> = Vec::new();
    let mut add = |name: &str, value: Option<String>| {
        known.extend(value.map(|value| (name.to_owned(), value)));
    };
    add(
        "started",
        Some(record.started.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()),
    );
    add("ended", Some(ended(record.state).to_owned()));
    if record.state != RunState::Published {
        let load = environment.load_average;
        add("load before", load.map(|load| load.to_string()));
        for (name, value) in facts_in_order(environment) {
            add(&name, Some(value));
        }
        let settings = &record.plan.settings;
        add("settings", Some(stop_and_order(settings)));
        let case_limit = match settings.stop {
            StopRule::Precision { max_time, .. } => max_time,
            StopRule::Runs(_) | StopRule::For(_) => None,
        };
        add("time a case", case_limit.map(units::chosen));
        add("time in all", settings.time_limit.map(units::chosen));
        add("seed", Some(settings.seed.to_string()));
        let baseline = Some(settings.baseline.to_string());
        add("ratios to", baseline.filter(|named| !named.is_empty()));
    }
    for store in &record.stores {
        add(&format!("device {}", store.device), Some(device(store)));
    }
    known
}

const fn ended(state: RunState) -> &'static str {
    match state {
        RunState::Unfinished => "no: keymark was killed, or is still measuring",
        RunState::Finished => "by itself",
        RunState::Interrupted => "early, by the user",
        RunState::Published => "not run here: published figures",
    }
}

fn device(store: &StoreIdentity) -> String {
    let serial = store.serial.iter().map(|serial| format!("serial {serial}"));
    let versions = store
        .versions
        .iter()
        .map(|(name, version)| format!("{name} {version}"));
    let parts = [store.product.clone(), store.provenance.to_string()];
    parts.into_iter().chain(serial).chain(versions).join(", ")
}

/// Machine and run in one line.
pub(crate) fn in_brief(record: &Record) -> String {
    let environment = &record.environment;
    let programs = versions(environment).into_iter();
    let mut parts = match record.state {
        RunState::Published => vec!["published figures".to_owned()],
        RunState::Finished | RunState::Interrupted | RunState::Unfinished
            if is_predicted(record) =>
        {
            let own = format!("predicted by keymark {}", environment.keymark);
            vec![own, "no device was measured".to_owned()]
        }
        RunState::Finished | RunState::Interrupted | RunState::Unfinished => {
            let label = environment.machine.clone();
            let processor = environment.cpu_model.clone();
            let cores = Some(units::counted(environment.cores, "core"));
            let machine = [label, processor, cores].into_iter().flatten().join(", ");
            let virtual_machine = match (&environment.emulated_on, &environment.virtualization) {
                (Some(_), _) => " (emulated: do not publish)",
                (None, Some(_)) => " (VM)",
                (None, None) => "",
            };
            let gpg = programs.filter(|program| program.starts_with("gpg "));
            [format!("{machine}{virtual_machine}")]
                .into_iter()
                .chain(gpg)
                .collect()
        }
    };
    parts.push(units::counted(record.cases.len(), "case"));
    parts.push(format!("run {}", record.id));
    parts.join(" · ")
}

fn is_predicted(record: &Record) -> bool {
    let mut stores = record.stores.iter().peekable();
    stores.peek().is_some() && stores.all(|store| store.provenance == Provenance::Predicted)
}

/// The conditions of a run, a line each.
pub(crate) fn head(record: &Record, speed: Option<&MachineSpeed>) -> Vec<String> {
    if record.state == RunState::Published {
        return vec!["published figures, as their source states them".to_owned()];
    }
    let environment = &record.environment;
    if is_predicted(record) {
        let own = format!("predicted by keymark {}", environment.keymark);
        let basis = "no device was measured; this computer's speed does not matter";
        return vec![own, basis.to_owned()];
    }
    let mut lines = vec![machine(environment).join(", ")];
    lines.extend(Caution::of(environment).iter().map(Caution::to_string));
    lines.extend(unfinished(record.state).map(str::to_owned));
    let settings = &record.plan.settings;
    lines.extend([
        versions(environment).join(", "),
        format!("{}, seed {}", stop_and_order(settings), settings.seed),
    ]);
    let twins = record
        .stores
        .iter()
        .filter(|store| store.provenance == Provenance::Twin);
    lines.extend(twins.map(|twin| format!("{}: {}", twin.device, twin.product)));
    if let Some(harness) = record.harness {
        let ns = |nanoseconds: u64| units::duration(Seconds(nanoseconds as f64 * 1e-9));
        lines.push(format!(
            "timer overhead: {} per sample (resolution {}); {} between two samples",
            ns(harness.clock_reading_ns),
            ns(harness.clock_resolution_ns),
            ns(harness.loop_ns)
        ));
    }
    lines.extend(speed.map(machine_speed));
    match environment.view {
        View::None => {}
        View::Terminal => lines.push("progress display: on".to_owned()),
    }
    lines
}

/// Condition of a machine that makes its figures mislead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Caution {
    /// An emulator ran keymark.
    Emulated {
        /// Architecture of the machine, or `QEMU`.
        on: String,
    },
    /// The firmware has slowed the machine down.
    Throttled {
        /// Causes since its start.
        causes: Vec<Throttling>,
    },
    /// The kernel may move the run between cores of several kinds.
    SeveralKindsOfCores {
        /// The kinds.
        kinds: Vec<CoreKind>,
    },
}

impl Caution {
    /// Finds the cautions about a machine.
    pub fn of(environment: &Environment) -> Vec<Self> {
        let emulated = { environment.emulated_on.clone() }.map(|on| Self::Emulated { on });
        let causes = environment.throttling.clone();
        let throttled = (!causes.is_empty()).then_some(Self::Throttled { causes });
        let kinds = environment.core_kinds.clone();
        let moving = (!kinds.is_empty()).then_some(Self::SeveralKindsOfCores { kinds });
        { emulated.into_iter() }
            .chain(throttled)
            .chain(moving)
            .collect()
    }
}

impl fmt::Display for Caution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Emulated { on } => write!(f, "emulated on {on}: do not publish"),
            Self::Throttled { causes } => {
                write!(
                    f,
                    "slowed down by its firmware since its start ({})",
                    causes.iter().format(", ")
                )
            }
            Self::SeveralKindsOfCores { kinds } => {
                let names = kinds.iter().map(|kind| &kind.name).format(", ");
                let cores = kinds.last().map_or("0", |kind| kind.cores.as_str());
                write!(
                    f,
                    "may move between kinds of cores ({names}): 'taskset -c {cores} keymark bench' prevents it"
                )
            }
        }
    }
}

/// Explains an early end.
const fn unfinished(state: RunState) -> Option<&'static str> {
    match state {
        RunState::Interrupted => Some("ended early, before everything was measured"),
        RunState::Unfinished => {
            Some("unfinished: keymark was killed; figures until then are shown")
        }
        RunState::Finished | RunState::Published => None,
    }
}

/// Runs on machines that differ in this, or that were as uneven, compare badly.
fn machine_speed(speed: &MachineSpeed) -> String {
    let MachineSpeed {
        mean, p5, p95, n, ..
    } = speed;
    let off = |time: Seconds| (time.0 / mean.value.0 - 1.0) * 100.0;
    format!(
        "machine speed: {} for a fixed calculation, 90 % of {n} checks within {:+.0} % to {:+.0} %",
        units::duration(mean.value),
        off(*p5),
        off(*p95),
    )
}

/// Processor, cores, system.
fn machine(environment: &Environment) -> Vec<String> {
    let processor = environment.cpu_model.clone();
    let label = environment.machine.clone();
    let mut machine: Vec<String> = label.into_iter().collect();
    machine.push(processor.unwrap_or_else(|| "unknown processor".to_owned()));
    machine.push(units::counted(environment.cores, "core"));
    let virtualization = environment.virtualization.as_ref();
    machine.extend(virtualization.map(|name| format!("virtual machine ({name})")));
    machine.extend(environment.os.clone());
    let kernel = environment.kernel.as_ref();
    machine.extend(kernel.map(|kernel| format!("Linux {kernel}")));
    machine
}

/// Programs and libraries, keymark last.
fn versions(environment: &Environment) -> Vec<String> {
    let versions = environment.versions.iter().map(|(name, version)| {
        if version.to_lowercase().starts_with(name.as_str()) {
            version.clone()
        } else {
            format!("{name} {version}")
        }
    });
    let own = format!("keymark {}", environment.keymark);
    versions.chain([own]).collect()
}

/// Returns the stop rule and the order of cases.
pub(crate) fn stop_and_order(settings: &Settings) -> String {
    let stop = match settings.stop {
        StopRule::Runs(runs) => format!("{runs} operations of each case"),
        StopRule::Precision { target, .. } => {
            format!("until the mean reaches ±{} %", target.fraction() * 100.0)
        }
        StopRule::For(length) => format!("{} a case", units::chosen(length)),
    };
    let order = match settings.order {
        Order::Interleaved => "interleaved",
        Order::Sequential => "sequential",
    };
    format!("{stop}, {order}")
}
