//! Keys through one program.

use itertools::Itertools;
use keymark_bench::{Case, Family, KeyFamily, Operation, Provenance, StackName, StoreKind};

use super::{Evidence, Finding, KeyChoice, KeyUsage, LEAST, SlowerKey};
use crate::analysis::{Analysis, Row};
use crate::answers::VAGUE;
use crate::grouped;

impl KeyChoice {
    fn keys(&self) -> usize {
        let chosen = usize::from(self.chosen.is_some());
        chosen + self.alike.len() + self.slower.len() + self.weak.len()
    }
}

/// A choice for each use, if any has several keys.
pub(super) fn choices(analysis: &Analysis) -> Option<Finding> {
    let rows = analysis.rows.iter().filter(|row| is_comparable(row));
    let uses = rows.filter_map(|row| Some((usage(&row.case)?, row)));
    let groups = grouped(uses, |(usage, row)| (*usage, row.case.operation));
    let choices = groups.into_iter().filter_map(|((usage, operation), rows)| {
        let rows = rows.into_iter().map(|(_, row)| row);
        let keys = rows.filter_map(Evidence::of);
        let keys = keys.unique_by(|key| key.algorithm).collect();
        choice(usage, operation, keys)
    });
    let choices: Vec<KeyChoice> = choices
        .sorted_by_key(|choice| (choice.usage, choice.operation != Operation::Sign))
        .collect();
    let several = choices.iter().any(|choice| choice.keys() > 1);
    several.then_some(Finding::Keys { choices })
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
    if case.stack == StackName::GNUPG {
        let cached = case.parameters.get("protection") == Some("cached");
        return Some(if cached {
            KeyUsage::GnupgCached
        } else {
            KeyUsage::Gnupg
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
fn choice(usage: KeyUsage, operation: Operation, keys: Vec<Evidence>) -> Option<KeyChoice> {
    if keys.is_empty() {
        return None;
    }
    let is_strong = |key: &Evidence| key.strength().is_some_and(|strength| strength >= LEAST);
    let (mut strong, weak): (Vec<Evidence>, Vec<Evidence>) = keys.into_iter().partition(is_strong);
    strong.sort_by(|a, b| a.mean.value.0.total_cmp(&b.mean.value.0));
    let Some(best) = best(&strong).cloned() else {
        return Some(KeyChoice {
            usage,
            operation,
            chosen: None,
            alike: strong,
            slower: Vec::new(),
            weak,
        });
    };
    strong.retain(|key| key.row != best.row);
    let (slow, alike): (Vec<Evidence>, Vec<Evidence>) = strong
        .into_iter()
        .partition(|key| best.mean.is_below(&key.mean));
    let slower = slow.into_iter().map(|evidence| SlowerKey {
        times: evidence.mean.over(&best.mean),
        evidence,
    });
    Some(KeyChoice {
        usage,
        operation,
        slower: slower.collect(),
        chosen: Some(best),
        alike,
        weak,
    })
}

/// The strongest of the keys that no other is faster than by their intervals; of equally strong ones the fastest. None if
/// their figures are too uncertain.
pub(super) fn best(strong: &[Evidence]) -> Option<&Evidence> {
    let is_beaten = |key: &Evidence| strong.iter().any(|other| other.mean.is_below(&key.mean));
    let unbeaten: Vec<&Evidence> = strong.iter().filter(|key| !is_beaten(key)).collect();
    let stands_out = unbeaten.len() == 1 && strong.len() > 1;
    let known = unbeaten
        .into_iter()
        .filter(|key| stands_out || key.mean.is_within(VAGUE));
    known.max_by(|a, b| {
        let faster = b.mean.value.0.total_cmp(&a.mean.value.0);
        a.strength().cmp(&b.strength()).then(faster)
    })
}
