//! Under which conditions runs were made: in lines for the head of a report, as facts by name, and what differs between
//! sides besides what they were measured for.

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
use crate::{grouped, non_empty, units};

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

/// Returns the differences between sides, or runs of one, those of the machine first. Published figures have no machine.
/// Who does not say, does not differ: a plan without gpg has no version of it.
pub(super) fn differences(sides: &[Side]) -> Vec<Difference> {
    let stated = sides.iter().flat_map(|side| {
        let measured = side
            .runs
            .iter()
            .filter(|run| run.state != RunState::Published);
        let facts = measured.flat_map(facts_of_run);
        facts.map(|(name, value)| (name, value, &side.name))
    });
    let facts = grouped(stated, |(name, ..)| name.clone()).into_iter();
    let differing = facts.filter_map(|(what, stated)| {
        let values = grouped(stated, |(_, value, _)| value.clone()).into_iter();
        let values = values.map(|(value, of)| {
            let sides = of.into_iter().map(|(.., side)| side.clone());
            (value, sides.unique().collect())
        });
        let values: Vec<(String, Vec<String>)> = values.collect();
        (values.len() > 1).then_some(Difference { what, values })
    });
    differing.chain(speed(sides)).collect()
}

/// Returns machine, programs and settings of a run by name.
fn facts_of_run(run: &Record) -> impl Iterator<Item = (String, String)> {
    let settings = ("settings".to_owned(), stop_and_order(&run.plan.settings));
    let versions = run.stores.iter().flat_map(|store| {
        let named = |(name, version): (&String, &String)| {
            (format!("{name} of {}", store.device), version.clone())
        };
        store.versions.iter().map(named)
    });
    facts_in_order(&run.environment)
        .chain([settings])
        .chain(versions)
}

/// Name of a machine by its label and hardware: `AMD EPYC, 2 cores, 24 GiB`.
pub fn machine_name(environment: &Environment) -> String {
    const NAMES: [&str; 6] = [
        "machine",
        "processor",
        "cores",
        "virtual machine",
        "emulated on",
        "memory",
    ];
    in_words(environment, &NAMES).join(", ")
}

/// Returns the known ones of these facts as words that need no name: `2 cores`, `Linux 6.1`.
fn in_words(environment: &Environment, names: &[&str]) -> impl Iterator<Item = String> {
    let facts = facts_in_order(environment);
    let facts = facts.filter(|(name, _)| names.contains(&name.as_str()));
    facts.map(|(name, value)| match name.as_str() {
        "cores" if value == "1" => "1 core".to_owned(),
        "cores" => format!("{value} cores"),
        "virtual machine" => format!("virtual machine ({value})"),
        "emulated on" => format!("emulated on {value}"),
        "kernel" => format!("Linux {value}"),
        _ => value,
    })
}

/// The machine first, then the programs.
fn facts_in_order(environment: &Environment) -> impl Iterator<Item = (String, String)> {
    // What the kernel keeps for itself differs by megabytes from start to start.
    let gibibytes = |kib: u64| format!("{:.0} GiB", kib as f64 / 1_048_576.0);
    let kind = |kind: &CoreKind| format!("{} ({})", kind.name, kind.cores);
    let kinds = environment.core_kinds.iter().map(kind).join(", ");
    let slowed = environment.throttling.iter().join(", ");
    let limit = environment.cpu_quota.map(|quota| format!("{quota} CPU"));
    let known = stated([
        ("machine", environment.machine.clone()),
        ("processor", environment.cpu_model.clone()),
        ("cores", Some(environment.cores.to_string())),
        ("CPU limit", limit),
        ("virtual machine", environment.virtualization.clone()),
        ("emulated on", environment.emulated_on.clone()),
        ("kinds of cores", (!kinds.is_empty()).then_some(kinds)),
        ("slowed down by", (!slowed.is_empty()).then_some(slowed)),
        ("memory", environment.memory_kib.map(gibibytes)),
        ("system", environment.os.clone()),
        ("kernel", environment.kernel.clone()),
        ("governor", environment.governor.clone()),
        ("keymark", Some(environment.keymark.clone())),
    ]);
    known.chain(environment.versions.clone())
}

/// Returns the facts that are known.
fn stated<const N: usize>(
    facts: [(&str, Option<String>); N],
) -> impl Iterator<Item = (String, String)> {
    facts
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
}

/// Returns the mean times of the fixed calculation, where they differ.
fn speed(sides: &[Side]) -> Option<Difference> {
    let mean = |side: &Side| {
        let cases = side.runs.iter().flat_map(|run| &run.cases);
        let blocks = cases.flat_map(|case| &case.blocks);
        let times = non_empty(blocks.filter_map(|block| Some(block.reference_ns? as f64)))?;
        Some(Seconds::from_nanos(
            times.iter().sum::<f64>() / times.len() as f64,
        ))
    };
    let known = sides.iter().filter_map(|side| Some((side, mean(side)?)));
    let known: Vec<(&Side, Seconds)> = known.collect();
    let times = known.iter().map(|(_, time)| time.0);
    let (least, most) = times.minmax_by(f64::total_cmp).into_option()?;
    let values = known
        .iter()
        .map(|(side, time)| (units::duration(*time), vec![side.name.clone()]));
    (most > least * (1.0 + SPEED)).then(|| Difference {
        what: "machine speed, by a fixed calculation".to_owned(),
        values: values.collect(),
    })
}

/// Returns the facts of all runs in the first run's order.
pub(crate) fn facts(records: &[&Record]) -> Vec<Fact> {
    let known: Vec<Vec<(String, String)>> = records.iter().map(|record| known(record)).collect();
    let names = known.iter().flatten().map(|(name, _)| name).unique();
    let value = |of: &Vec<(String, String)>, name: &String| {
        let fact = of.iter().find(|(other, _)| other == name);
        fact.map(|(_, value)| value.clone())
    };
    let fact = |name: &String| Fact {
        name: name.clone(),
        values: known.iter().map(|of| value(of, name)).collect(),
    };
    names.map(fact).collect()
}

fn known(record: &Record) -> Vec<(String, String)> {
    let (environment, settings) = (&record.environment, &record.plan.settings);
    let started = record.started.strftime("%Y-%m-%d %H:%M:%S UTC");
    let run = stated([
        ("started", Some(started.to_string())),
        ("ended", Some(ended(record.state).to_owned())),
    ]);
    let case_limit = match settings.stop {
        StopRule::Precision { max_time, .. } => max_time,
        StopRule::Runs(_) | StopRule::For(_) => None,
    };
    let baseline = Some(settings.baseline.to_string());
    let load = environment.load_average.map(|load| load.to_string());
    let measured = stated([("load before", load)])
        .chain(facts_in_order(environment))
        .chain(stated([
            ("settings", Some(stop_and_order(settings))),
            ("time a case", case_limit.map(units::chosen)),
            ("time in all", settings.time_limit.map(units::chosen)),
            ("seed", Some(settings.seed.to_string())),
            ("ratios to", baseline.filter(|named| !named.is_empty())),
        ]));
    let is_measured = record.state != RunState::Published;
    let devices = record
        .stores
        .iter()
        .map(|store| (format!("device {}", store.device), device(store)));
    let measured = measured.filter(|_| is_measured);
    run.chain(measured).chain(devices).collect()
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
    let mut parts = if record.state == RunState::Published {
        vec!["published figures".to_owned()]
    } else if is_predicted(record) {
        let own = format!("predicted by keymark {}", environment.keymark);
        vec![own, "no device was measured".to_owned()]
    } else {
        let machine = in_words(environment, &["machine", "processor", "cores"]).join(", ");
        let virtual_machine = match (&environment.emulated_on, &environment.virtualization) {
            (Some(_), _) => " (emulated: do not publish)",
            (None, Some(_)) => " (VM)",
            (None, None) => "",
        };
        let programs = versions(environment).into_iter();
        let gpg = programs.filter(|program| program.starts_with("gpg "));
        Vec::from_iter(
            [format!("{machine}{virtual_machine}")]
                .into_iter()
                .chain(gpg),
        )
    };
    parts.push(units::counted(record.cases.len(), "case"));
    parts.push(format!("run {}", record.id));
    parts.join(" · ")
}

fn is_predicted(record: &Record) -> bool {
    let mut stores = record.stores.iter().peekable();
    stores.peek().is_some() && stores.all(|store| store.provenance == Provenance::Predicted)
}

/// Facts of the first line of a run's conditions.
const MACHINE_AND_SYSTEM: [&str; 6] = [
    "machine",
    "processor",
    "cores",
    "virtual machine",
    "system",
    "kernel",
];

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
    let unknown = environment.cpu_model.is_none();
    let unknown = unknown.then(|| "unknown processor".to_owned());
    let machine = in_words(environment, &MACHINE_AND_SYSTEM);
    let mut lines = vec![unknown.into_iter().chain(machine).join(", ")];
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
    if environment.view == View::Terminal {
        lines.push("progress display: on".to_owned());
    }
    lines
}

/// Condition of a machine that makes its figures mislead.
#[derive(Debug, Display, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Caution {
    /// An emulator ran keymark.
    #[display("emulated on {on}: do not publish")]
    Emulated {
        /// Architecture of the machine, or `QEMU`.
        on: String,
    },
    /// The firmware has slowed the machine down.
    #[display("slowed down by its firmware since its start ({})", causes.iter().format(", "))]
    Throttled {
        /// Causes since its start.
        causes: Vec<Throttling>,
    },
    /// The kernel may move the run between cores of several kinds.
    #[display(
        "may move between kinds of cores ({}): 'taskset -c {} keymark bench' prevents it",
        kinds.iter().map(|kind| &kind.name).format(", "),
        kinds.last().map_or("0", |kind| kind.cores.as_str())
    )]
    SeveralKindsOfCores {
        /// The kinds.
        kinds: Vec<CoreKind>,
    },
}

impl Caution {
    /// Finds the cautions about a machine.
    pub fn of(environment: &Environment) -> Vec<Self> {
        let emulated = environment.emulated_on.clone();
        let causes = environment.throttling.clone();
        let kinds = environment.core_kinds.clone();
        let cautions = [
            emulated.map(|on| Self::Emulated { on }),
            (!causes.is_empty()).then_some(Self::Throttled { causes }),
            (!kinds.is_empty()).then_some(Self::SeveralKindsOfCores { kinds }),
        ];
        cautions.into_iter().flatten().collect()
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
