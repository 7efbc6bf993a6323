//! `keymark devices`

use std::collections::BTreeMap;

use keymark_bench::case::StoreKind;
use keymark_bench::operation::Operation;
use keymark_bench::store::Capability;
use keymark_report::units;
use keymark_stacks::held::Held;
use keymark_stacks::inventory::{Found, Inventory};
use keymark_stacks::provider::Way;
use keymark_stats::Seconds;
use keymark_stores::device::Fact;
use serde_json::json;

use super::Outcome;
use crate::args::DevicesArguments;
use crate::exit::{Exit, Failure};
use crate::observers::print_json;
use crate::{output, user};

pub(super) fn run(arguments: &DevicesArguments) -> Outcome {
    // Nothing is asked of a card here that would need a PIN.
    let inventory = Inventory::everything(&user::of_pinentry()).map_err(Failure::nothing_usable)?;
    if arguments.json {
        inventory.devices.iter().for_each(as_json);
    } else {
        for (number, device) in inventory.devices.iter().enumerate() {
            if number > 0 {
                output::line("");
            }
            as_text(device);
        }
    }
    for held in &inventory.held {
        if arguments.json {
            held_as_json(held);
        } else {
            output::line("");
            held_as_text(held);
        }
    }
    if let Some(error) = &inventory.unseen {
        output::warning(&format!("cards in readers: {error}"));
    }
    Ok(Exit::Fine)
}

fn as_text(found: &Found) {
    let identity = &found.identity;
    output::heading(&format!(
        "{} ({}, key store {})",
        identity.device, identity.product, identity.kind
    ));
    for (name, version) in &identity.versions {
        fact(name, version);
    }
    fact("provenance", &identity.provenance.to_string());
    for line in found.device.facts() {
        fact(line.name, &text(&line));
    }
    for way in &found.ways {
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

/// A card of which nothing can be asked now.
fn held_as_text(held: &Held) {
    output::heading(&format!("a card in '{}'", held.reader));
    fact("held by", &held.holder.to_string());
    fact("what to do", held.advice());
}

fn held_as_json(held: &Held) {
    print_json(&json!({
        "device": null,
        "store": StoreKind::OPENPGP_CARD,
        "facts": { "reader": [held.reader], "held by": [held.holder.to_string()] },
        "usable": false,
        "missing": format!("{held}; {}", held.advice()),
    }));
}

fn fact(name: &str, value: &str) {
    output::line(&format!("  {name:<12} {value}"));
}

fn text(fact: &Fact) -> String {
    match fact.time {
        None => fact.text.clone(),
        Some(time) => {
            let time = units::duration(Seconds(time.as_secs_f64()));
            format!("{} {time}", fact.text)
        }
    }
}

fn as_json(found: &Found) {
    let identity = &found.identity;
    let mut facts: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for line in found.device.facts() {
        facts.entry(line.name).or_default().push(text(&line));
    }
    for Way { stack, found, .. } in &found.ways {
        print_json(&json!({
            "device": identity.device,
            "store": identity.kind,
            "product": identity.product,
            "serial": identity.serial,
            "versions": identity.versions,
            "provenance": identity.provenance,
            "facts": facts,
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
