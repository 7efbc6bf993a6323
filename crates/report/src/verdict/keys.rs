//! Keys through one program.

use itertools::Itertools;
use keymark_bench::{Case, Family, KeyFamily, Operation, Provenance, StackName, StoreKind};

use super::{Evidence, Finding, KeyChoice, LEAST, SlowerKey, Usage, words};
use crate::analysis::{Analysis, Row};
use crate::grouped;

/// Half width of an interval as a share of the mean, above which a figure is no reason to choose a key.
const VAGUE: f64 = 0.35;

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
    let groups = grouped(uses, |(usage, row)| (usage.clone(), row.case.operation));
    let choices = groups.into_iter().filter_map(|((usage, operation), rows)| {
        let rows = rows.into_iter().map(|(_, row)| row);
        let keys = rows.filter_map(Evidence::of);
        let keys = keys.unique_by(|key| key.algorithm).collect();
        choice(usage, operation, keys)
    });
    let choices: Vec<KeyChoice> = choices
        .sorted_by_key(|choice| {
            (
                words::rank(&choice.usage),
                choice.operation != Operation::Sign,
            )
        })
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

/// The use of a key that a case stands for; none where it is a part of another.
fn usage(case: &Case) -> Option<Usage> {
    let cached = case.parameters.get("protection") == Some("cached");
    let name = if case.stack == StackName::GNUPG {
        match cached {
            true => words::CACHED,
            false => words::GNUPG,
        }
    } else if case.stack.word() == "ssh" {
        words::SSH
    } else if case.stack == StackName::RAW && case.parameters.is_empty() {
        match KeyFamily::of(case.algorithm) {
            KeyFamily::PostQuantum => words::POST_QUANTUM,
            KeyFamily::Rsa | KeyFamily::EllipticCurve if is_certified(case) => words::TLS,
            KeyFamily::Rsa | KeyFamily::EllipticCurve | KeyFamily::FiniteField => return None,
        }
    } else {
        return None;
    };
    Some(Usage {
        name: name.to_owned(),
        program: words::program(case),
    })
}

/// Whether public authorities certify such keys for servers (CA/Browser Forum, Baseline Requirements, 6.1.5).
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
fn choice(usage: Usage, operation: Operation, keys: Vec<Evidence>) -> Option<KeyChoice> {
    if keys.is_empty() {
        return None;
    }
    let is_strong = |key: &Evidence| key.strength().is_some_and(|strength| strength >= LEAST);
    let (mut strong, weak): (Vec<Evidence>, Vec<Evidence>) = keys.into_iter().partition(is_strong);
    strong.sort_by(|a, b| a.mean.value.0.total_cmp(&b.mean.value.0));
    let is_known = |key: &&Evidence| {
        let width = key.mean.relative_half_width();
        width.is_some_and(|width| width <= VAGUE)
    };
    let fastest = strong.iter().find(is_known).cloned();
    let Some(fastest) = fastest else {
        return Some(KeyChoice {
            usage,
            operation,
            chosen: None,
            alike: strong,
            slower: Vec::new(),
            weak,
        });
    };
    let (slow, mut alike): (Vec<Evidence>, Vec<Evidence>) =
        strong.into_iter().partition(|key| fastest.is_below(key));
    // A stronger key that costs nothing is taken; of equally strong ones the fastest.
    let best = alike
        .iter()
        .filter(is_known)
        .max_by(|a, b| {
            let faster = b.mean.value.0.total_cmp(&a.mean.value.0);
            a.strength().cmp(&b.strength()).then(faster)
        })
        .cloned()
        .unwrap_or(fastest);
    alike.retain(|key| key.row != best.row);
    let slower = slow.into_iter().map(|evidence| SlowerKey {
        times: evidence.over(&best),
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
