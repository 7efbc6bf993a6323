//! `keymark devices`

mod brief;

use std::collections::BTreeMap;

use keymark_bench::store::Capability;
use keymark_bench::{Error, Operation, StackName, StoreKind};
use keymark_report::units;
use keymark_stacks::card_holder::OccupiedReader;
use keymark_stacks::inventory::{Found, Inventory};
use keymark_stacks::provider::Way;
use keymark_stacks::raw::SCHEME;
use keymark_stacks::tls::servers::{CryptoLibrary, InstalledServer, KINDS, SearchPath};
use keymark_stores::device::{Fact, Visited, Wish};
use keymark_stores::journal::Journals;
use keymark_stores::pkcs11::journalled_module;
use serde_json::json;

use crate::args::{DevicesArguments, DevicesCommand, RestoreArguments};
use crate::exit::{Exit, Failure, Outcome};
use crate::{leftovers, output, user};

/// Room for the names of facts, of operations and of twins.
const FACT: usize = 12;
const TWIN: usize = 18;

pub(super) fn run(arguments: &DevicesArguments) -> Outcome {
    if let Some(DevicesCommand::Restore(own)) = &arguments.command {
        return restore(own);
    }
    // Nothing is asked of a card here that would need a PIN.
    let inventory = Inventory::everything(&user::of_pinentry()).map_err(Failure::nothing_usable)?;
    if arguments.form.is_json() {
        inventory.devices.iter().for_each(as_json);
        inventory.occupied.iter().for_each(occupied_as_json);
        inventory.visited.iter().for_each(visited_as_json);
        servers().iter().for_each(server_as_json);
    } else {
        for occupied in &inventory.occupied {
            occupied_as_text(occupied);
            output::line("");
        }
        if arguments.long {
            all_as_text(&inventory.devices);
            visited_as_text(&inventory.visited);
            servers_as_text(&servers());
        } else {
            brief::print(&inventory, &servers());
        }
    }
    if let Some(error) = &inventory.unseen {
        output::warning(&format!("cards in readers: {error}"));
    }
    leftovers::tell();
    Ok(Exit::Fine)
}

/// Prints devices, plugged-in ones first.
fn all_as_text(devices: &[Found]) {
    // Only a token that is there has a serial number.
    let (plugged, built_in): (Vec<&Found>, Vec<&Found>) = devices
        .iter()
        .partition(|found| found.identity.serial.is_some());
    for (number, device) in plugged.into_iter().chain(built_in).enumerate() {
        if number > 0 {
            output::line("");
        }
        as_text(device);
    }
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
    // A library that GnuPG has told of is the same.
    let told = |line: &Fact| identity.versions.get(line.name) == Some(&line.text);
    for line in found.device.facts().iter().filter(|line| !told(line)) {
        fact(line.name, &text(line));
    }
    for way in &found.ways {
        if let (Some(scheme), Ok(capabilities)) = (scheme(way), &way.found) {
            // The same stack, so that it gets no paragraph.
            for (operation, algorithms) in by_operation(capabilities) {
                let offer = format!("{operation} {}", algorithms.join(" "));
                output::entry(4, scheme, FACT, &offer);
            }
            continue;
        }
        output::line("");
        match &way.found {
            Ok(capabilities) if capabilities.is_empty() => {
                output::line(&format!("  stack {way}: nothing"));
            }
            Ok(capabilities) => {
                output::line(&format!("  stack {way}"));
                for (operation, algorithms) in by_operation(capabilities) {
                    output::entry(4, &operation.to_string(), FACT, &algorithms.join(" "));
                }
            }
            Err(error) => {
                let stack = format!("stack {way}:");
                output::entry(2, &stack, FACT, &format!("not usable: {error}"));
            }
        }
    }
}

/// A card of which nothing can be asked now.
fn occupied_as_text(occupied: &OccupiedReader) {
    output::heading(&format!("a card in '{}'", occupied.reader));
    fact("held by", &occupied.holder.to_string());
    fact("what to do", occupied.advice());
}

fn occupied_as_json(occupied: &OccupiedReader) {
    output::print_json(&json!({
        "device": null,
        "store": StoreKind::OPENPGP_CARD,
        "facts": { "reader": [occupied.reader], "held by": [occupied.holder.to_string()] },
        "usable": false,
        "missing": format!("{occupied}; {}", occupied.advice()),
    }));
}

/// Prints a line per module, including those without a device.
fn visited_as_text(visited: &[Visited]) {
    if visited.is_empty() {
        return;
    }
    output::line("");
    output::heading("PKCS#11 modules (keymark bench --device NAME, a file, or a pkcs11: URI)");
    for Visited { name, said, .. } in visited {
        let said = said.as_ref().map_or_else(ToString::to_string, Clone::clone);
        output::entry(2, name, TWIN, &said);
    }
    output::line("  Modules may use cards in readers only if you name them with --device.");
}

fn visited_as_json(visited: &Visited) {
    let Visited {
        store,
        name,
        file,
        said,
    } = visited;
    output::print_json(&json!({
        "device": null,
        "store": store,
        "facts": { "module": [name], "file": [file], "found": [said.as_ref().ok()] },
        "usable": said.is_ok(),
        "missing": said.as_ref().err().map(ToString::to_string),
    }));
}

/// A kind of TLS server, and what of it is installed.
type Server = (StackName, Result<InstalledServer, Error>);

/// Returns the servers that `keymark tls` can start.
fn servers() -> Vec<Server> {
    let found = |kind| InstalledServer::find(kind, &SearchPath::usual());
    KINDS.map(|kind| (kind.stack, found(kind))).to_vec()
}

fn servers_as_text(servers: &[Server]) {
    if servers.is_empty() {
        return;
    }
    output::line("");
    output::heading("TLS servers (keymark tls bench --server NAME)");
    for (stack, found) in servers {
        let said = match found {
            Ok(server) => {
                let CryptoLibrary { name, version, .. } = &server.library;
                format!("{} {} with {name} {version}", server.name(), server.version)
            }
            Err(error) => format!("not usable: {error}"),
        };
        output::entry(2, stack.word(), TWIN, &said);
    }
}

fn server_as_json((stack, found): &Server) {
    let found = found.as_ref();
    output::print_json(&json!({
        "device": null,
        "server": stack,
        "version": found.ok().map(|server| server.version.to_string()),
        "usable": found.is_ok(),
        "missing": found.err().map(ToString::to_string),
    }));
}

fn fact(name: &str, value: &str) {
    output::entry(2, name, FACT, value);
}

fn text(fact: &Fact) -> String {
    let time = fact.time.map(|time| format!(" {}", units::time(time)));
    fact.text.clone() + &time.unwrap_or_default()
}

fn as_json(found: &Found) {
    let identity = &found.identity;
    let mut facts: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for line in found.device.facts() {
        facts.entry(line.name).or_default().push(text(&line));
    }
    for way in &found.ways {
        let Way { stack, found, .. } = way;
        output::print_json(&json!({
            "device": identity.device,
            "store": identity.kind,
            "product": identity.product,
            "serial": identity.serial,
            "versions": identity.versions,
            "provenance": identity.provenance,
            "facts": facts,
            "stack": stack,
            "parameters": way.only_set(),
            "usable": found.is_ok(),
            "missing": found.as_ref().err().map(ToString::to_string),
            "offers": found.as_ref().map(|found| by_operation(found)).unwrap_or_default(),
        }));
    }
}

/// Returns the scheme of a way, if it is not the usual one.
fn scheme(way: &Way) -> Option<&str> {
    way.only_set()?.get(SCHEME.name)
}

fn by_operation(capabilities: &[Capability]) -> BTreeMap<Operation, Vec<String>> {
    let mut offers: BTreeMap<Operation, Vec<String>> = BTreeMap::new();
    for capability in capabilities {
        let algorithms = offers.entry(capability.operation).or_default();
        algorithms.push(capability.algorithm.to_string());
    }
    offers
}

/// Removes the test keys of killed runs from a token.
fn restore(arguments: &RestoreArguments) -> Outcome {
    let name = &arguments.serial;
    let journals = Journals::of_user()?;
    let mut left = leftovers::readable(&journals);
    left.retain(|journal| journal.content().token.is_called(name));
    let Some(first) = left.first() else {
        return Err(Failure::nothing_usable(format!(
            "no run left anything on {name}"
        )));
    };
    let token = name
        .among(left.iter().map(|journal| &journal.content().token))
        .map_err(|error| Failure::usage(error.to_string()))?;
    // A journal without a module is a card's.
    let module = journalled_module(first.content());
    let wish = module.as_ref().map_or(Wish::Inserted, |module| {
        Wish::Named(vec![module.display().to_string()])
    });
    let inventory = Inventory::look(Some(&[]), &wish, &user::of_restoring(arguments))
        .map_err(Failure::nothing_usable)?;
    let Some(found) = inventory
        .devices
        .iter()
        .find(|found| found.device.token().as_ref() == Some(token))
    else {
        let unseen = inventory.unseen.filter(|_| module.is_none());
        let why = unseen.map_or_else(
            || format!("{token} was not found: plug it in"),
            |error| error.to_string(),
        );
        let journal = first.path().display();
        return Err(Failure::nothing_usable(format!(
            "{why}\n  if the token is lost, so is the test key: then remove {journal}"
        )));
    };
    for journal in left {
        let run = journal.content().run.clone();
        found.device.undo(journal)?;
        output::note(&format!("{name} is as it was before run {run}"));
    }
    Ok(Exit::Fine)
}
