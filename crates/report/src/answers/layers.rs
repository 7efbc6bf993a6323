//! Shares of the key and of the program around it.

use itertools::Itertools;
use keymark_bench::{Algorithm, Provenance};
use keymark_stats::{Estimate, Ratio, Seconds};

use super::figure::{listed, part};
use super::{Statement, Topic};
use crate::analysis::{Analysis, Basis, Breakdown, FamilyBreakdown, Layer};
use crate::units;

/// Share of the whole below which the program hides the key.
const HIDDEN: f64 = 0.1;
/// Share from which on the key takes most.
const MOST: f64 = 0.5;
/// The device whose keys a library calculates with.
const SOFTWARE: &str = "software";

/// A key with the program around it.
struct Share<'a> {
    of: &'a Breakdown,
    key: Estimate<Seconds>,
    whole: Estimate<Seconds>,
    share: Estimate<Ratio>,
}

/// Says where the program hides the key, and where the key takes most.
pub(super) fn layers(analysis: &Analysis) -> Vec<Statement> {
    analysis
        .breakdowns
        .iter()
        .flat_map(|family| of_family(analysis, family))
        .collect()
}

fn of_family(analysis: &Analysis, family: &FamilyBreakdown) -> Vec<Statement> {
    let own = family.breakdowns.iter().filter(|breakdown| {
        breakdown.basis == Basis::Own && breakdown.provenance != Provenance::Virtual
    });
    let shares: Vec<Share<'_>> = own.filter_map(|own| share(family, own)).collect();
    let of = |wanted: &dyn Fn(f64, f64) -> bool| -> Vec<&Share<'_>> {
        let is_so = |one: &&Share<'_>| match (one.share.low, one.share.high) {
            (Some(low), Some(high)) => wanted(low.0, high.0),
            _ => false,
        };
        shares.iter().filter(is_so).collect()
    };
    let whole = family.layers.whole.as_ref();
    let name = whole.map_or(family.layers.family, |whole| whole.name);
    let said = |topic, shares: &[&Share<'_>], text: Option<String>| {
        let rows = analysis.rows.iter().filter(|row| {
            row.case.is_alone() && shares.iter().any(|share| share.of.is_about(&row.case))
        });
        text.map(|text| Statement::new(topic, text, rows.map(|row| row.id)))
    };
    let (hidden, most) = (of(&|_, high| high < HIDDEN), of(&|low, _| low > MOST));
    let mut all: Vec<Statement> = [
        said(Topic::Striking, &hidden, hides(name, &hidden)),
        said(Topic::Layers, &most, dominates(family, name, &most)),
    ]
    .into_iter()
    .flatten()
    .collect();
    if all.is_empty() {
        let between = of(&|low, high| high >= HIDDEN && low <= MOST);
        all.extend(said(Topic::Layers, &between, shared(name, &between)));
    }
    all
}

/// Returns the key's share of the whole as measured, or of the key and the first thing added to it.
fn share<'a>(family: &FamilyBreakdown, of: &'a Breakdown) -> Option<Share<'a>> {
    let key = of.base?;
    let whole = match (&family.layers.whole, of.whole) {
        (Some(_), whole) => whole?,
        (None, _) => {
            let added = of.steps.iter().flatten().find_map(|step| match step {
                Layer::Adds(time) => Some(*time),
                Layer::AtMost(_) | Layer::Less(_) => None,
            })?;
            let sum = |a: Option<Seconds>, b: Option<Seconds>| Some(Seconds(a?.0 + b?.0));
            Estimate {
                value: Seconds(key.value.0 + added.value.0),
                low: sum(key.low, added.low),
                high: sum(key.high, added.high),
                ..added
            }
        }
    };
    let share = key.over(&whole);
    Some(Share {
        of,
        key,
        whole,
        share,
    })
}

fn largest<'s, 'a>(shares: &[&'s Share<'a>]) -> Option<&'s Share<'a>> {
    let by_share = |a: &&&Share<'_>, b: &&&Share<'_>| a.share.value.0.total_cmp(&b.share.value.0);
    shares.iter().max_by(by_share).copied()
}

fn hides(name: &str, hidden: &[&Share<'_>]) -> Option<String> {
    let largest = largest(hidden)?;
    let whole = largest.whole.value;
    Some(format!(
        "With {}, {name} itself takes {} of the time or more ({} with {}): a faster key, library or device \
         gains nothing there.",
        keys(hidden),
        units::percent(1.0 - largest.share.value.0),
        part(Seconds(whole.0 - largest.key.value.0), whole),
        largest.of.algorithm
    ))
}

fn dominates(family: &FamilyBreakdown, name: &str, most: &[&Share<'_>]) -> Option<String> {
    let by_time = |a: &&&Share<'_>, b: &&&Share<'_>| a.key.value.0.total_cmp(&b.key.value.0);
    let Share { of, key, whole, .. } = most.iter().max_by(by_time)?;
    let in_software = of.device.as_str() == SOFTWARE;
    let own = family.layers.own_library.as_ref().filter(|_| in_software);
    let faster = of.beside.filter(|beside| beside.is_below(key)).zip(own);
    let faster = faster.map(|(beside, own)| {
        let time = units::duration(beside.value);
        format!(" ({} takes {time})", own.beside.name)
    });
    Some(format!(
        "With {} the key takes most of {name}'s time ({} for {} {}): a shorter key or a faster {} would help{}.",
        keys(most),
        part(key.value, whole.value),
        of.algorithm,
        of.operation,
        if in_software { "library" } else { "device" },
        faster.unwrap_or_default()
    ))
}

fn shared(name: &str, between: &[&Share<'_>]) -> Option<String> {
    let Share { of, key, whole, .. } = largest(between)?;
    Some(format!(
        "Of {name}'s {} the key takes {} at most ({} {}); the rest is the program's.",
        units::duration(whole.value),
        units::duration(key.value),
        of.algorithm,
        of.operation
    ))
}

/// Returns their algorithms; three and more of 256 bits together.
fn keys(shares: &[&Share<'_>]) -> String {
    let names: Vec<Algorithm> = shares.iter().map(|one| one.of.algorithm).unique().collect();
    let is_short = |name: &Algorithm| matches!(name.length().1, 255 | 256);
    match names.len() {
        3.. if names.iter().all(is_short) => "keys of 256 bits".to_owned(),
        _ => listed(names),
    }
}
