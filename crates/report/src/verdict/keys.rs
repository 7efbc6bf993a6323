//! Keys through one program.

use itertools::Itertools;
use keymark_bench::{
    Case, DeviceName, Family, KeyFamily, Operation, Provenance, StackName, StoreKind,
};
use keymark_stats::{Estimate, Ratio};
use serde::Serialize;

use super::evidence::{VAGUE, alone, place};
use super::{Evidence, Finding, LEAST};
use crate::analysis::{Analysis, Row};
use crate::{grouped, non_empty};

/// Use of a key, in the order in which readers care for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyUsage {
    /// Signing and decrypting with gpg, the key in the clear.
    Gnupg,
    /// Signing and decrypting with gpg, the passphrase in gpg-agent's cache.
    GnupgCached,
    /// Signing a login by an SSH agent.
    SshLogin,
    /// Signing the handshakes of a TLS server.
    TlsServer,
    /// Signing and decapsulating by algorithms that a quantum computer does not break.
    PostQuantum,
    /// Any operation through one program on one device.
    Program,
}

/// The key to use for one operation of a [`KeyUsage`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KeyChoice {
    /// The use.
    pub usage: KeyUsage,
    /// The operation.
    pub operation: Operation,
    /// The program, as people call it.
    pub program: String,
    /// The device that has the keys.
    pub device: DeviceName,
    /// The recommended key; none where all are weaker than [`LEAST`] or too uncertain.
    pub chosen: Option<Evidence>,
    /// Other strong keys whose time does not differ from it by their intervals.
    pub alike: Vec<Evidence>,
    /// Slower keys, with the quotient of their mean and the recommended key's.
    pub slower: Vec<SlowerKey>,
    /// Keys weaker than [`LEAST`], whatever their time.
    pub weak: Vec<Evidence>,
}

/// A key that costs more than the recommended one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SlowerKey {
    /// Its figure.
    pub evidence: Evidence,
    /// Its mean over the recommended key's, between the quotients of the intervals' ends.
    pub times: Estimate<Ratio>,
}

impl KeyChoice {
    fn keys(&self) -> usize {
        let chosen = usize::from(self.chosen.is_some());
        chosen + self.alike.len() + self.slower.len() + self.weak.len()
    }
}

/// A choice for each use, if any has several keys; else one for each operation through the program that people run.
pub(super) fn choices(analysis: &Analysis) -> Option<Finding> {
    let rows = analysis.rows.iter().filter(|row| is_comparable(row));
    let uses = rows.filter_map(|row| Some((usage(&row.case)?, row)));
    let groups = grouped(uses, |(usage, row)| (*usage, row.case.operation));
    let choices = groups
        .into_iter()
        .filter_map(|((usage, _), rows)| choice(usage, rows.into_iter().map(|(_, row)| row)));
    let mut choices: Vec<KeyChoice> = choices.collect();
    let is_library =
        |choice: &KeyChoice| matches!(choice.usage, KeyUsage::TlsServer | KeyUsage::PostQuantum);
    if choices.iter().all(|choice| choice.keys() < 2) || choices.iter().all(is_library) {
        choices = through_one_program(analysis);
    }
    choices.sort_by_key(|choice| (choice.usage, choice.operation != Operation::Sign));
    non_empty(choices).map(|choices| Finding::Keys { choices })
}

/// A choice for each operation with several keys: through a whole program rather than a part or a library, on this CPU
/// rather than elsewhere, and of several programs through the fastest.
fn through_one_program(analysis: &Analysis) -> Vec<KeyChoice> {
    let rows = alone(&analysis.rows)
        .filter(|row| row.case.replica == 0 && row.case.provenance.is_of_a_run());
    let groups = grouped(rows, |row| (row.case.operation, place(&row.case)));
    let preference = |(choice, case): &(KeyChoice, &Case)| {
        let depth = match (analysis.is_whole(case), case.stack == StackName::RAW) {
            (true, _) => 0,
            (false, false) => 1,
            (false, true) => 2,
        };
        let elsewhere = case.provenance != Provenance::Measured;
        let time = choice.chosen.as_ref().map(|key| key.mean.value.0);
        // Positive numbers are in the order of their bits.
        let time = time.map_or(u64::MAX, f64::to_bits);
        (elsewhere, depth, usize::MAX - choice.keys(), time)
    };
    groups
        .into_iter()
        .filter_map(|(_, rows)| {
            let case = &rows.first()?.case;
            Some((choice(KeyUsage::Program, rows)?, case))
        })
        .filter(|(choice, _)| choice.keys() > 1)
        .sorted_by_key(preference)
        .map(|(choice, _)| choice)
        .unique_by(|choice| choice.operation)
        .collect()
}

/// A key of this computer, used by one worker and not under a server's load.
fn is_comparable(row: &Row) -> bool {
    let case = &row.case;
    case.is_alone()
        && case.replica == 0
        && row.under_load.is_none()
        && case.store == StoreKind::SOFTWARE
        && case.provenance == Provenance::Measured
}

/// Returns the use of a key that a case is an example of; none of a case that is a part of another.
fn usage(case: &Case) -> Option<KeyUsage> {
    if case.stack == StackName::GPG {
        return Some(match case.parameters.get("protection") {
            Some("cached") => KeyUsage::GnupgCached,
            Some(_) | None => KeyUsage::Gnupg,
        });
    }
    if case.stack.word() == "ssh" {
        return Some(KeyUsage::SshLogin);
    }
    if case.stack != StackName::RAW || !case.parameters.is_empty() {
        return None;
    }
    match KeyFamily::of(case.algorithm) {
        KeyFamily::PostQuantum => Some(KeyUsage::PostQuantum),
        KeyFamily::Rsa | KeyFamily::EllipticCurve | KeyFamily::FiniteField => {
            is_certified(case).then_some(KeyUsage::TlsServer)
        }
    }
}

/// Returns whether public authorities certify such keys for servers (CA/Browser Forum, Baseline Requirements, 6.1.5).
#[allow(clippy::wildcard_enum_match_arm, reason = "only these are certified")]
fn is_certified(case: &Case) -> bool {
    let name = case.algorithm.to_string();
    case.operation == Operation::Sign
        && match case.algorithm.family() {
            Family::Rsa(_) => true,
            Family::Weierstrass(_) => name.starts_with("nistp"),
            _ => false,
        }
}

/// Chooses among keys for one operation; none without any.
fn choice<'r>(usage: KeyUsage, rows: impl IntoIterator<Item = &'r Row>) -> Option<KeyChoice> {
    let keys = rows.into_iter().filter_map(Evidence::of);
    let keys: Vec<Evidence> = keys.unique_by(|key| key.algorithm).collect();
    let first = keys.first()?;
    let mut choice = KeyChoice {
        usage,
        operation: first.operation,
        program: first.program.clone(),
        device: first.device.clone(),
        chosen: None,
        alike: Vec::new(),
        slower: Vec::new(),
        weak: Vec::new(),
    };
    let is_strong = |key: &Evidence| key.strength().is_some_and(|strength| strength >= LEAST);
    let (mut strong, weak): (Vec<Evidence>, Vec<Evidence>) = keys.into_iter().partition(is_strong);
    strong.sort_by(Evidence::by_mean);
    choice.weak = weak;
    choice.chosen = best(&strong).cloned();
    for key in strong {
        match &choice.chosen {
            Some(best) if key.row == best.row => {}
            Some(best) if best.mean.is_below(&key.mean) => choice.slower.push(SlowerKey {
                times: key.mean.over(&best.mean),
                evidence: key,
            }),
            Some(_) | None => choice.alike.push(key),
        }
    }
    Some(choice)
}

/// The strongest of the keys that no other is faster than by their intervals; of equally strong ones the fastest. None if
/// their figures are too uncertain.
pub(super) fn best(strong: &[Evidence]) -> Option<&Evidence> {
    let is_beaten = |key: &Evidence| strong.iter().any(|other| other.mean.is_below(&key.mean));
    let unbeaten: Vec<&Evidence> = strong.iter().filter(|key| !is_beaten(key)).collect();
    let stands_out = unbeaten.len() == 1;
    let known = unbeaten
        .into_iter()
        .filter(|key| stands_out || key.mean.is_within(VAGUE));
    known.max_by(|a, b| {
        let faster = b.mean.value.0.total_cmp(&a.mean.value.0);
        a.strength().cmp(&b.strength()).then(faster)
    })
}
