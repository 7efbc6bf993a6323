//! What a record says of its machine, its programs, its devices and how it was made.

use keymark_bench::plan::Order;
use keymark_bench::record::{Record, RunState};
use keymark_bench::stop::StopRule;
use keymark_bench::store::StoreIdentity;

use crate::document::Fact;
use crate::units;

/// In the order of the first run; what only another one has comes behind.
pub(super) fn facts(records: &[&Record]) -> Vec<Fact> {
    let known: Vec<Vec<(String, String)>> = records.iter().map(|record| known(record)).collect();
    let mut names: Vec<&String> = Vec::new();
    for (name, _) in known.iter().flatten() {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let value = |of: &Vec<(String, String)>, name: &String| {
        let mut of = of.iter();
        of.find(|(other, _)| other == name)
            .map(|(_, value)| value.clone())
    };
    names
        .into_iter()
        .map(|name| Fact {
            name: name.clone(),
            values: known.iter().map(|of| value(of, name)).collect(),
        })
        .collect()
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
        add("processor", environment.cpu_model.clone());
        add("processors", Some(environment.cores.to_string()));
        add("governor", environment.governor.clone());
        add("system", environment.os.clone());
        add("kernel", environment.kernel.clone());
        add("virtual machine", environment.virtualization.clone());
        add("memory", environment.memory_kib.map(memory));
        add(
            "load before",
            environment.load_average.map(|load| load.to_string()),
        );
        add("keymark", Some(environment.keymark.clone()));
        for (name, version) in &environment.versions {
            add(name, Some(version.clone()));
        }
        let settings = &record.plan.settings;
        add("until", Some(until(settings.stop)));
        add("time in all", settings.time_limit.map(units::chosen));
        add("order", Some(order(settings.order).to_owned()));
        add("seed", Some(settings.seed.to_string()));
        add("ratios to", Some(settings.baseline.to_string()));
    }
    for store in &record.stores {
        add(&format!("device {}", store.device), Some(device(store)));
    }
    known
}

const fn ended(state: RunState) -> &'static str {
    match state {
        RunState::Unfinished => "not: keymark was killed, or is measuring still",
        RunState::Finished => "by itself",
        RunState::Interrupted => "early, by the user",
        RunState::Published => "not run here: published figures",
    }
}

fn memory(kibibytes: u64) -> String {
    format!("{:.1} GiB", kibibytes as f64 / f64::from(1 << 20))
}

fn until(rule: StopRule) -> String {
    match rule {
        StopRule::Runs(runs) => format!("{runs} operations of a case"),
        StopRule::Precision { target, max_time } => {
            let target = format!("±{} % of the mean", target.fraction() * 100.0);
            match max_time {
                Some(time) => format!("{target}, or {}", units::chosen(time)),
                None => target,
            }
        }
        StopRule::For(length) => units::chosen(length),
    }
}

const fn order(order: Order) -> &'static str {
    match order {
        Order::Interleaved => "interleaved",
        Order::Sequential => "one case after the other",
    }
}

fn device(store: &StoreIdentity) -> String {
    let serial = store.serial.iter().map(|serial| format!("serial {serial}"));
    let versions = store.versions.iter();
    let versions = versions.map(|(name, version)| format!("{name} {version}"));
    let parts = [store.product.clone(), store.provenance.to_string()];
    let parts: Vec<String> = parts.into_iter().chain(serial).chain(versions).collect();
    parts.join(", ")
}
