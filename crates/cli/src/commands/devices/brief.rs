//! Summary of what can be measured, on one screen: a line for each device, and missing software last.

use itertools::Itertools;
use keymark_bench::{Algorithm, Family, Provenance};
use keymark_report::units::counted;
use keymark_report::{Document, grouped};
use keymark_stacks::inventory::{Found, Inventory};

use super::Server;
use crate::output;

/// Room for names.
const NAME: usize = 16;
/// More devices than these are counted.
const NAMED: usize = 3;

pub(super) fn print(inventory: &Inventory, servers: &[Server]) {
    let (twins, mut others): (Vec<&Found>, Vec<&Found>) = inventory
        .devices
        .iter()
        .partition(|found| found.identity.provenance == Provenance::Twin);
    // Plugged-in devices come first: only a token that is there has a serial number.
    others.sort_by_key(|found| found.identity.serial.is_none());
    output::document(&Document {
        answers: vec![verdict(&others, twins.len())],
        ..Document::of(Vec::new())
    });
    for found in &others {
        output::entry(0, found.identity.device.as_str(), NAME, &offered(found));
    }
    let twins = twins.iter().map(|found| found.identity.device.as_str());
    let remark = " (a device's published times; --all says which)";
    names("twins", twins, remark);
    let visited = inventory.visited.iter();
    let there = visited.filter(|visited| visited.said.is_ok());
    names("PKCS#11 modules", there.map(|visited| &*visited.name), "");
    let installed = servers.iter().filter(|(_, found)| found.is_ok());
    names("TLS servers", installed.map(|(stack, _)| stack.word()), "");
    let missing = missing(inventory, servers);
    if !missing.is_empty() {
        output::line("");
        output::heading("missing");
    }
    for (reason, what) in missing {
        output::entry(2, &what, NAME, &reason);
    }
    output::line("");
    output::line("'keymark devices --long' lists algorithms, versions and modules");
}

/// `3 key stores can be measured: software, softhsm and swtpm; 4 twins simulate devices.`
fn verdict(stores: &[&Found], twins: usize) -> String {
    let measurable = |found: &&&Found| {
        let mut ways = found.ways.iter().filter_map(|way| way.found.as_ref().ok());
        ways.any(|capabilities| !capabilities.is_empty())
    };
    let names = stores.iter().filter(measurable);
    let names: Vec<&str> = names.map(|found| found.identity.device.as_str()).collect();
    let twins = match twins {
        0 => String::new(),
        some => format!("; {} of devices can be simulated", counted(some, "twin")),
    };
    match names.len() {
        0 => format!("No key store can be measured here{twins}."),
        some => format!(
            "{} can be measured: {}{twins}.",
            counted(some, "key store"),
            names.join(", ")
        ),
    }
}

/// All in one line, if there are any.
fn names<'a>(what: &str, mut names: impl Iterator<Item = &'a str>, remark: &str) {
    let names = names.join(", ");
    if !names.is_empty() {
        output::entry(0, what, NAME, &format!("{names}{remark}"));
    }
}

/// `rsa 1024–4096, ecc 9 curves; through raw, agent, gpg`, and what a plugged token is.
fn offered(found: &Found) -> String {
    let ways = found
        .ways
        .iter()
        .filter_map(|way| Some((way.stack.word(), way.found.as_ref().ok()?)));
    let ways = ways.filter(|(_, capabilities)| !capabilities.is_empty());
    let algorithms = ways.clone().flat_map(|(_, capabilities)| capabilities);
    let algorithms = algorithms.map(|capability| capability.algorithm);
    let stacks: Vec<&str> = ways.map(|(stack, _)| stack).unique().collect();
    let product = match found.identity.serial {
        Some(_) => format!("{}: ", found.identity.product),
        None => String::new(),
    };
    match stacks.as_slice() {
        [] => format!("{product}nothing to measure"),
        stacks => format!(
            "{product}{}; through {}",
            kinds(algorithms),
            stacks.join(", ")
        ),
    }
}

/// Keys by their kinds, with the shortest and the longest of each, in the order in which they come.
fn kinds(algorithms: impl Iterator<Item = Algorithm>) -> String {
    let kinds = grouped(algorithms.map(kind).unique(), |(kind, _)| *kind);
    let mut words = kinds.iter().map(|(kind, of)| {
        let lengths = of.iter().map(|(_, length)| length).minmax();
        match (*kind, lengths.into_option()) {
            (ECC, _) if of.len() == 1 => format!("{ECC} 1 curve"),
            (ECC, _) => format!("{ECC} {} curves", of.len()),
            (kind, Some((least, most))) if least < most => format!("{kind} {least}–{most}"),
            (kind, Some((only, _))) => format!("{kind} {only}"),
            (kind, None) => kind.to_owned(),
        }
    });
    words.join(", ")
}

const ECC: &str = "ecc";

/// The kind of an algorithm, and a number that tells it from others of that kind: its length, or of which curve it is.
fn kind(algorithm: Algorithm) -> (&'static str, u32) {
    match algorithm.family() {
        Family::Rsa(bits) => ("rsa", bits),
        Family::Dsa(bits) => ("dsa", bits),
        Family::Elgamal(bits) => ("elg", bits),
        Family::Weierstrass(curve) => (ECC, curve as u32),
        // Named apart from the others by their lengths, which no curve above has.
        Family::Cv25519 | Family::Ed25519 => (ECC, 25519),
        Family::Cv448 | Family::Ed448 => (ECC, 448),
        Family::MlKem(set) => ("mlkem", set),
        Family::MlDsa(set) => ("mldsa", set),
        Family::SlhDsa(bits, _) => ("slhdsa", bits),
        Family::Composite(_) => algorithm.length(),
    }
}

/// Each reason once, with what it keeps from being measured.
fn missing(inventory: &Inventory, servers: &[Server]) -> Vec<(String, String)> {
    let ways = inventory.devices.iter().flat_map(|found| {
        found
            .ways
            .iter()
            .filter_map(move |way| Some((way.found.as_ref().err()?, way.stack.word(), Some(found))))
    });
    let modules = inventory
        .visited
        .iter()
        .filter_map(|visited| Some((visited.said.as_ref().err()?, &*visited.name, None)));
    let servers = servers
        .iter()
        .filter_map(|(stack, found)| Some((found.as_ref().err()?, stack.word(), None)));
    let all = ways.chain(modules).chain(servers);
    let told = grouped(all, |(error, ..)| error.to_string()).into_iter();
    let told = told.map(|(reason, of)| {
        let devices = of
            .iter()
            .filter_map(|(.., found)| Some(found.as_ref()?.identity.device.as_str()));
        let devices: Vec<&str> = devices.unique().collect();
        let on = match devices.as_slice() {
            [] => String::new(),
            few if few.len() <= NAMED => format!(" on {}", few.join(", ")),
            many => format!(" on {} devices", many.len()),
        };
        let whats = of.iter().map(|(_, what, _)| what).unique();
        (reason, format!("{}{on}", whats.format(", ")))
    });
    told.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_told_by_kinds_and_curves_counted_once() {
        let algorithms = |words: &'static str| {
            let words = words.split(' ');
            words.map(|word| word.parse().unwrap())
        };
        let all = "rsa2048 rsa4096 rsa2048 cv25519 ed25519 nistp256 brainpoolp256r1 ed448 mlkem768 slhdsa128s";
        assert_eq!(
            kinds(algorithms(all)),
            "rsa 2048–4096, ecc 4 curves, mlkem 768, slhdsa 128"
        );
        assert_eq!(kinds(algorithms("cv25519")), "ecc 1 curve");
    }
}
