//! What a record says of its machine, its programs, its devices and how it was made.

use itertools::Itertools;
use keymark_bench::record::{Record, RunState};
use keymark_bench::stop::StopRule;
use keymark_bench::store::StoreIdentity;

use crate::analysis::stop_and_order;
use crate::compare::facts_in_order;
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
    let versions = store.versions.iter();
    let versions = versions.map(|(name, version)| format!("{name} {version}"));
    let parts = [store.product.clone(), store.provenance.to_string()];
    parts.into_iter().chain(serial).chain(versions).join(", ")
}
