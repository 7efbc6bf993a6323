//! `keymark devices`

use std::collections::BTreeMap;

use keymark_bench::operation::Operation;
use keymark_bench::store::Capability;
use keymark_report::units;
use keymark_stats::Seconds;
use keymark_stores::openpgp_card::{
    CardFacts, KeyPresence, SigningPin, SlotFacts, TouchPolicy, Transfer,
};
use keymark_tokens::profile::Profile;
use serde_json::json;

use super::Outcome;
use crate::args::DevicesArguments;
use crate::devices::{Card, CardChoice, Found, Inventory, Kind, Way, Wish};
use crate::exit::{Exit, Failure};
use crate::observers::print_json;
use crate::output;

pub(super) fn run(arguments: &DevicesArguments) -> Outcome {
    // Nothing is asked of a card here that would need a PIN.
    let choice = CardChoice::of_pinentry();
    let inventory =
        Inventory::look(|_| true, &Wish::All, &choice).map_err(Failure::nothing_usable)?;
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
    if let Some(error) = &inventory.no_readers {
        output::warning(&format!("cards in readers: {error}"));
    }
    Ok(Exit::Fine)
}

fn as_text(device: &Found) {
    let identity = &device.identity;
    output::heading(&format!(
        "{} ({}, key store {})",
        identity.device, identity.product, identity.kind
    ));
    if matches!(device.kind, Kind::Software) {
        let environment = keymark_bench::environment::Environment::capture("");
        if let Some(model) = environment.cpu_model {
            fact(
                "processor",
                &format!("{model}, {} cores", environment.cores),
            );
        }
    }
    for (name, version) in &identity.versions {
        fact(name, version);
    }
    fact("provenance", &identity.provenance.to_string());
    if let Kind::Card(card) = &device.kind {
        for (name, value) in card_facts(card) {
            fact(name, &value);
        }
    }
    for way in &device.ways {
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

fn fact(name: &str, value: &str) {
    output::line(&format!("  {name:<12} {value}"));
}

/// What a card in a reader says of itself; of a twin, its times.
fn card_facts(card: &Card) -> Vec<(&'static str, String)> {
    match card {
        Card::Made(maker) => maker.profile().map(profile_facts).unwrap_or_default(),
        Card::Inserted { facts, reader, .. } => inserted_facts(facts, reader),
    }
}

fn profile_facts(profile: &Profile) -> Vec<(&'static str, String)> {
    let time = |time: std::time::Duration| units::duration(Seconds(time.as_secs_f64()));
    let mut facts: Vec<_> = profile
        .services
        .iter()
        .map(|(capability, service)| {
            let Capability {
                algorithm,
                operation,
            } = capability;
            (
                "card time",
                format!("{algorithm} {operation} {}", time(service.time.mean())),
            )
        })
        .collect();
    facts.push(("note", profile.note.clone()));
    facts
}

fn inserted_facts(facts: &CardFacts, reader: &str) -> Vec<(&'static str, String)> {
    let tries = facts.tries;
    let mut lines = vec![
        ("reader", reader.to_owned()),
        ("serial", facts.ident()),
        (
            "PIN tries",
            format!(
                "user {}, reset {}, admin {}",
                tries.user, tries.reset, tries.admin
            ),
        ),
        (
            "signing PIN",
            match facts.signing_pin {
                SigningPin::Once => "needed for every signature".to_owned(),
                SigningPin::Several => "good for several signatures".to_owned(),
            },
        ),
        (
            "PINs",
            match (facts.derives_pins, facts.kdf_octets) {
                (true, Some(octets)) => format!("derived by S2K over {octets} octets (KDF-DO)"),
                (true, None) => "derived by S2K (KDF-DO)".to_owned(),
                (false, _) => "sent as they are".to_owned(),
            },
        ),
        (
            "commands",
            match facts.transfer {
                Transfer::Extended => "extended length".to_owned(),
                Transfer::Chained => "chained".to_owned(),
            },
        ),
    ];
    lines.extend(
        facts
            .slots
            .iter()
            .map(|slot| (slot.slot.name(), slot_line(slot))),
    );
    lines
}

fn slot_line(slot: &SlotFacts) -> String {
    let key = match slot.key {
        KeyPresence::Empty => "no key",
        KeyPresence::Generated => "key made on the card",
        KeyPresence::Imported => "key imported",
        KeyPresence::Present => "key",
    };
    let touch = match slot.touch {
        TouchPolicy::Off => "no touch",
        TouchPolicy::Each => "touch for each use",
        TouchPolicy::Cached => "touch, then cached",
    };
    let fingerprint = slot.fingerprint.as_deref().filter(|_| slot.has_key());
    let offered: Vec<_> = slot.offered.iter().map(ToString::to_string).collect();
    let mut line = format!("{}, {key}, {touch}", slot.attributes);
    if let Some(fingerprint) = fingerprint {
        line.push_str(&format!(", {fingerprint}"));
    }
    if !offered.is_empty() {
        line.push_str(&format!("; takes {}", offered.join(" ")));
    }
    line
}

fn as_json(device: &Found) {
    let identity = &device.identity;
    let facts: BTreeMap<&str, Vec<String>> = match &device.kind {
        Kind::Card(card) => {
            let mut facts: BTreeMap<&str, Vec<String>> = BTreeMap::new();
            for (name, value) in card_facts(card) {
                facts.entry(name).or_default().push(value);
            }
            facts
        }
        Kind::Software => BTreeMap::new(),
    };
    for Way { stack, found } in &device.ways {
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
