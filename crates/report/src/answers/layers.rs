//! What the time goes into: the key or the program around it, and what would not help.

use itertools::Itertools;
use keymark_bench::{Algorithm, Case, Provenance};
use keymark_stats::{Estimate, Seconds};

use super::figure::{listed, part};
use super::{Statement, Topic};
use crate::analysis::{Analysis, Basis, Breakdown, FamilyBreakdown, Layer};
use crate::units;

/// A key that takes less of the whole is hidden by the program.
const HIDDEN: f64 = 0.1;
/// The device whose keys a library calculates with.
const SOFTWARE: &str = "software";
/// One that takes more is what the time goes into.
const MOST: f64 = 0.5;

/// Where the program hides the key and where the key takes most.
pub(super) fn layers(analysis: &Analysis) -> Vec<Statement> {
    analysis
        .breakdowns
        .iter()
        .flat_map(|family| of_family(analysis, family))
        .collect()
}

/// A key with what is around it.
struct Line<'a> {
    of: &'a Breakdown,
    key: Estimate<Seconds>,
    whole: Estimate<Seconds>,
}

impl Line<'_> {
    /// Bounds of the key's share.
    fn share(&self) -> Option<(f64, f64)> {
        let low = self.key.low?.0 / self.whole.high?.0;
        Some((low, self.key.high?.0 / self.whole.low?.0))
    }

    fn value(&self) -> f64 {
        self.key.value.0 / self.whole.value.0
    }
}

/// With which keys the time goes into the key, and with which into the program around it.
pub(crate) fn title(family: &FamilyBreakdown) -> Option<String> {
    let lines = lines(family);
    let of = |wanted: &dyn Fn(f64, f64) -> bool| -> Vec<&Line<'_>> {
        let is_so = |line: &Line<'_>| line.share().is_some_and(|(low, high)| wanted(low, high));
        let same = |line: &&Line<'_>| {
            let mut same = lines
                .iter()
                .filter(|other| other.of.algorithm == line.of.algorithm);
            same.all(is_so)
        };
        lines.iter().filter(same).collect()
    };
    let (most, hidden) = (of(&|low, _| low > MOST), of(&|_, high| high < 1.0 - MOST));
    let name = program(family);
    match (most.as_slice(), hidden.as_slice()) {
        ([], []) => None,
        (most, []) => Some(format!(
            "with {} the key takes most of {name}'s time",
            keys(most)
        )),
        ([], hidden) => Some(format!(
            "with {}, {name} itself takes most of the time",
            keys(hidden)
        )),
        (most, hidden) => Some(format!(
            "with {} the key takes most of {name}'s time, with {} {name} itself",
            keys(most),
            keys(hidden)
        )),
    }
}

fn program(family: &FamilyBreakdown) -> &'static str {
    let whole = family.layers.whole.as_ref();
    whole.map_or(family.layers.family, |whole| whole.name)
}

fn lines(family: &FamilyBreakdown) -> Vec<Line<'_>> {
    let own = family.breakdowns.iter();
    let own = own.filter(|breakdown| {
        breakdown.basis == Basis::Own && breakdown.provenance != Provenance::Virtual
    });
    own.filter_map(|breakdown| line(family, breakdown))
        .collect()
}

fn of_family(analysis: &Analysis, family: &FamilyBreakdown) -> Vec<Statement> {
    let lines = lines(family);
    let of = |wanted: &dyn Fn(f64, f64) -> bool| -> Vec<&Line<'_>> {
        let lines = lines.iter();
        lines
            .filter(|line| line.share().is_some_and(|(low, high)| wanted(low, high)))
            .collect()
    };
    let hidden = of(&|_, high| high < HIDDEN);
    let most = of(&|low, _| low > MOST);
    let between = of(&|low, high| high >= HIDDEN && low <= MOST);
    let name = program(family);
    let said = |topic, lines: &[&Line<'_>], text: Option<String>| {
        let is_about = |case: &Case| lines.iter().any(|line| line.of.is_about(case));
        let rows = analysis.rows.iter();
        let rows = rows.filter(|row| row.case.is_alone() && is_about(&row.case));
        text.map(|text| Statement::new(topic, text, rows.map(|row| row.id)))
    };
    let most = said(Topic::Layers, &most, dominates(family, name, &most));
    let hidden = said(Topic::Striking, &hidden, hides(name, &hidden)).into_iter();
    let mut all: Vec<Statement> = hidden.chain(most).collect();
    if all.is_empty() {
        all.extend(said(Topic::Layers, &between, shared(name, &between)));
    }
    all
}

/// The whole as it was measured, or the key with the first thing that is added to it.
fn line<'a>(family: &FamilyBreakdown, of: &'a Breakdown) -> Option<Line<'a>> {
    let key = of.base?;
    let whole = match (&family.layers.whole, of.whole) {
        (Some(_), whole) => whole?,
        (None, _) => {
            let mut steps = of.steps.iter().flatten();
            let added = steps.find_map(|step| match step {
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
    Some(Line { of, key, whole })
}

fn hides(name: &str, hidden: &[&Line<'_>]) -> Option<String> {
    let by_share = |a: &&&Line<'_>, b: &&&Line<'_>| a.value().total_cmp(&b.value());
    let Line { of, key, whole } = hidden.iter().max_by(by_share)?;
    Some(format!(
        "With {}, {name} itself takes {} of the time or more ({} with {}): a faster key, library or device \
         gains nothing there.",
        keys(hidden),
        units::percent(1.0 - key.value.0 / whole.value.0),
        part(Seconds(whole.value.0 - key.value.0), whole.value),
        of.algorithm
    ))
}

fn dominates(family: &FamilyBreakdown, name: &str, most: &[&Line<'_>]) -> Option<String> {
    let by_time = |a: &&&Line<'_>, b: &&&Line<'_>| a.key.value.0.total_cmp(&b.key.value.0);
    let Line { of, key, whole } = most.iter().max_by(by_time)?;
    let own = family.layers.own_library.as_ref();
    let own = own.filter(|_| of.device.as_str() == SOFTWARE);
    let faster = of.beside.filter(|beside| beside.high < key.low).zip(own);
    let faster = faster.map(|(beside, own)| {
        format!(
            " ({} takes {})",
            own.beside.name,
            units::duration(beside.value)
        )
    });
    Some(format!(
        "With {} the key takes most of {name}'s time ({} for {} {}): a shorter key{} would help{}.",
        keys(most),
        part(key.value, whole.value),
        of.algorithm,
        of.operation,
        // A device calculates by itself.
        match of.device.as_str() == SOFTWARE {
            true => " or a faster library",
            false => " or a faster device",
        },
        faster.unwrap_or_default()
    ))
}

fn shared(name: &str, between: &[&Line<'_>]) -> Option<String> {
    let by_share = |a: &&&Line<'_>, b: &&&Line<'_>| a.value().total_cmp(&b.value());
    let Line { of, key, whole } = between.iter().max_by(by_share)?;
    Some(format!(
        "Of {name}'s {} the key takes {} at most ({} {}); the rest is the program's.",
        units::duration(whole.value),
        units::duration(key.value),
        of.algorithm,
        of.operation
    ))
}

/// Their algorithms, each once; curves of 256 bits together.
fn keys(lines: &[&Line<'_>]) -> String {
    let names = lines.iter().map(|line| line.of.algorithm).unique();
    let names: Vec<Algorithm> = names.collect();
    let short = names
        .iter()
        .all(|name| matches!(name.length().1, 255 | 256));
    match names.len() {
        3.. if short => "keys of 256 bits".to_owned(),
        _ => listed(names),
    }
}
