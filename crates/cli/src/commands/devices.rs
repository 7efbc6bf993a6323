//! `keymark devices`

use std::collections::BTreeMap;

use keymark_bench::operation::Operation;
use keymark_bench::store::Capability;
use serde_json::json;

use super::Outcome;
use crate::args::DevicesArguments;
use crate::devices::{Inventory, Way};
use crate::exit::{Exit, Failure};
use crate::observers::print_json;
use crate::output;

pub(super) fn run(arguments: &DevicesArguments) -> Outcome {
    let inventory = Inventory::look(|_| true).map_err(Failure::nothing_usable)?;
    if arguments.json {
        as_json(&inventory);
    } else {
        as_text(&inventory);
    }
    Ok(Exit::Fine)
}

fn as_text(inventory: &Inventory) {
    let identity = &inventory.identity;
    output::heading(&format!(
        "{} ({}, key store {})",
        identity.device, identity.product, identity.kind
    ));
    let environment = keymark_bench::environment::Environment::capture("");
    if let Some(model) = environment.cpu_model {
        output::line(&format!(
            "  processor    {model}, {} cores",
            environment.cores
        ));
    }
    for (name, version) in &identity.versions {
        output::line(&format!("  {name:<12} {version}"));
    }
    output::line(&format!("  provenance   {}", identity.provenance));
    for way in &inventory.ways {
        output::line("");
        match &way.found {
            Ok(capabilities) => {
                output::line(&format!("  stack {}", way.stack));
                for (operation, algorithms) in by_operation(capabilities) {
                    output::line(&format!("    {operation:<12} {}", algorithms.join(" ")));
                }
            }
            Err(error) => output::line(&format!("  stack {}: not usable: {error}", way.stack)),
        }
    }
}

fn as_json(inventory: &Inventory) {
    for Way { stack, found } in &inventory.ways {
        print_json(&json!({
            "device": inventory.identity.device,
            "store": inventory.identity.kind,
            "product": inventory.identity.product,
            "serial": inventory.identity.serial,
            "versions": inventory.identity.versions,
            "provenance": inventory.identity.provenance,
            "stack": stack,
            "usable": found.is_ok(),
            "missing": found.as_ref().err().map(ToString::to_string),
            "offers": found.as_ref().map(|found| by_operation(found)).unwrap_or_default(),
        }));
    }
}

fn by_operation(capabilities: &[Capability]) -> BTreeMap<Operation, Vec<String>> {
    let mut offers: BTreeMap<Operation, Vec<String>> = BTreeMap::new();
    for capability in capabilities {
        offers
            .entry(capability.operation)
            .or_default()
            .push(capability.algorithm.to_string());
    }
    offers
}
