//! The wording of comparisons.

use itertools::Itertools;
use keymark_stats::{Estimate, Ratio};

use super::percent;
use crate::units::{self, counted, first_names};
use crate::verdict::{BaselineRatio, CaseChange, SideChanges, SlowestMachine};

/// Cases that are named.
const NAMED: usize = 2;

/// `Slower: 1 of 2 cases (ed25519 sign software gpg 1.11×, 1.09–1.13). 1 case undecided.`
pub(super) fn of_side(of: &SideChanges) -> String {
    let of_all = |number: usize| format!("{number} of {}", counted(of.cases, "case"));
    let told = [("slower", &of.slower), ("faster", &of.faster)].map(|(word, found)| {
        let (number, named) = (found.len(), first_names(found.iter().map(changed), NAMED));
        (number > 0).then(|| format!("{} {word}: {named}", of_all(number)))
    });
    let told = told.into_iter().flatten().join("; ");
    let text = match (told.as_str(), of.undecided.as_slice()) {
        ("", []) => {
            let (cases, within) = (counted(of.cases, "case"), percent(of.equivalence));
            format!("Same: {cases} within ±{within}.")
        }
        ("", open) => cannot_tell(of, open),
        (_, open) => {
            let noise = match of.noise {
                0.0 => String::new(),
                noise => format!(" (noise up to {})", percent(noise)),
            };
            let open = match open.len() {
                0 => String::new(),
                cases => format!(" {} undecided.", counted(cases, "case")),
            };
            format!("{told}{noise}.{open}")
        }
    };
    match &of.side {
        Some(side) => format!("{side}: {text}"),
        None => super::capital(&text),
    }
}

/// `openssl-b takes, of openssl-a's time, 1.02× (1.01–1.03) to sign with rsa2048; no difference shown (±1 %) to sign
/// with ed25519.`
pub(super) fn of_baseline(baseline: &str, ratios: &[BaselineRatio]) -> String {
    let groups = crate::grouped(ratios, |of| of.evidence.program.as_str());
    let mut told = groups.into_iter().map(|(program, of)| {
        let is_apart = |of: &&BaselineRatio| {
            let ends = of.ratio.low.zip(of.ratio.high);
            ends.is_some_and(|(low, high)| low.0 > 1.0 || high.0 < 1.0)
        };
        let (apart, alike): (Vec<_>, Vec<_>) = of.into_iter().partition(is_apart);
        let named = apart.iter().map(|of| {
            let (operation, key) = (of.evidence.operation, of.evidence.algorithm);
            format!("{} to {operation} with {key}", slower(&of.ratio))
        });
        let named = super::listed(named);
        let named = format!("{program} takes, of {baseline}'s time, {named}");
        match (apart.is_empty(), no_difference(&alike)) {
            (false, None) => named,
            (false, Some(alike)) => format!("{named}; {alike}"),
            (true, alike) => format!("{program} and {baseline}: {}", alike.unwrap_or_default()),
        }
    });
    format!("{}.", told.join(". "))
}

/// `no difference shown (±1 %) to sign with ed25519 and rsa2048`
fn no_difference(alike: &[&BaselineRatio]) -> Option<String> {
    let widths = alike.iter().filter_map(|of| of.ratio.relative_half_width());
    let width = units::width(widths.max_by(f64::total_cmp)?);
    let operations = crate::grouped(alike.iter(), |of| of.evidence.operation);
    let mut operations = operations.into_iter().map(|(operation, of)| {
        let keys = super::listed(of.iter().map(|of| of.evidence.algorithm));
        format!("{operation} with {keys}")
    });
    let operations = operations.join(", ");
    Some(format!("no difference shown (±{width}) to {operations}"))
}

fn cannot_tell(of: &SideChanges, open: &[CaseChange]) -> String {
    let changes = open.iter().map(|one| (one.ratio.value.0 - 1.0) * 100.0);
    let ends = changes.minmax_by(f64::total_cmp).into_option();
    let (least, most) = ends.unwrap_or_default();
    let differ = match open.len() {
        1 => format!("1 case differs by {most:+.0} %"),
        number => format!("{number} cases differ by {least:+.0} to {most:+.0} %"),
    };
    let (differ, runs) = (differ.replace('-', "−"), counted(of.runs, "run"));
    let noise = match of.noise {
        0.0 => String::new(),
        noise => format!("; noise is up to {}", percent(noise)),
    };
    let advice = of.advice.unwrap_or_default();
    format!("Cannot tell: {differ} with {runs} a side{noise}. {advice}.")
}

/// `rsa4096 sign software gpg 1.21× slower (1.10–1.30)`
fn changed(change: &CaseChange) -> String {
    let CaseChange {
        case, other, ratio, ..
    } = change;
    let other = other.iter().map(|other| format!("{other} against "));
    let words = match ratio.value.0 >= 1.0 {
        true => slower(ratio),
        false => format!("{} of the time", units::estimated_percent(ratio)),
    };
    format!("{}{case} {words}", other.format(""))
}

/// `1.21× (1.10–1.30)`
fn slower(ratio: &Estimate<Ratio>) -> String {
    let text = units::estimated_ratio(ratio);
    match text.split_once(' ') {
        Some((value, interval)) => format!("{value}× {interval}"),
        None => format!("{text}×"),
    }
}

/// Says which case is furthest behind the fastest machine's, and whether the library is the cause.
pub(super) fn slowest(of: &SlowestMachine) -> String {
    let ratio = |change: &CaseChange| slower(&change.ratio);
    let cause = of.control.as_ref().map(|control| {
        let control = ratio(control);
        if of.by_library {
            let versions = of.versions.as_ref().or(of.library.as_ref());
            let versions = versions.map_or("", String::as_str);
            format!(" The library is the cause ({versions}): keymark's own OpenSSL is {control} slower there.")
        } else if of.control_is_slower {
            format!(" keymark's own OpenSSL is also {control} slower there.")
        } else {
            format!(" Whether its library is the cause is open: keymark's own OpenSSL is {control} slower there.")
        }
    });
    format!(
        "Slowest to {}: {}, {} slower than {} ({}).{}",
        of.operation,
        of.machine,
        ratio(&of.change),
        of.fastest,
        of.change.case,
        cause.unwrap_or_default()
    )
}
