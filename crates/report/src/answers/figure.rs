//! Rows with their figures, and the words for how two of them compare.

use std::ops::Deref;

use keymark_bench::{
    Case, CaseId, DeviceName, Operation, Parameters, Provenance, StackName, StoreKind, Strength,
};
use keymark_stats::{Estimate, PerSecond, Quantity, Ratio, Seconds};

use crate::analysis::Row;
use crate::units;

/// Most names in a list; others are counted.
const NAMED: usize = 4;
/// Half-width, as a share of the value, from which on a figure is "about".
const WIDE: f64 = 0.1;
/// Half-width from which on a gain says nothing.
pub(crate) const VAGUE: f64 = 0.35;
/// Half-width from which on overlapping figures are too uncertain to be alike.
pub(super) const ALIKE: f64 = 0.2;
/// The library of a case that names none.
pub(super) const BUILT_IN: &str = "OpenSSL";
/// Word before a figure of two digits.
const ABOUT: &str = "about ";

/// A row with the estimate by which it is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowFigure<'a, T = Seconds> {
    pub row: &'a Row,
    pub estimate: Estimate<T>,
}

impl<T> Deref for RowFigure<'_, T> {
    type Target = Estimate<T>;

    fn deref(&self) -> &Estimate<T> {
        &self.estimate
    }
}

impl<'a> RowFigure<'a> {
    /// Returns the mean time.
    pub(super) fn of(row: &'a Row) -> Option<Self> {
        let estimate = row.bounds().filter(|time| time.value.0 > 0.0)?;
        Some(Self { row, estimate })
    }

    pub(super) fn time(&self) -> String {
        about(&self.estimate, units::duration)
    }
}

impl<'a> RowFigure<'a, PerSecond> {
    /// Returns the rate of a server.
    pub(super) fn of_server(row: &'a Row) -> Option<Self> {
        row.under_load?;
        let estimate = row.throughput?;
        (estimate.low?.0 > 0.0 && estimate.high.is_some()).then_some(Self { row, estimate })
    }
}

impl<'a, T: Quantity> RowFigure<'a, T> {
    pub(super) const fn case(&self) -> &'a Case {
        &self.row.case
    }

    pub(super) const fn id(&self) -> CaseId {
        self.row.id
    }

    pub(super) fn strength(&self) -> Option<Strength> {
        self.case().strength()
    }

    /// Returns whether it may be called alike to a figure that it overlaps.
    pub(super) fn is_known(&self) -> bool {
        self.is_within(ALIKE)
    }

    /// Returns `3.35 times`.
    pub(super) fn times(&self, other: &Self) -> String {
        in_times(&self.over(other))
    }

    pub(super) fn factor(&self, other: &Self) -> f64 {
        self.value.to_f64() / other.value.to_f64()
    }
}

/// Returns `3.35 times`, or `about 3.4 times`.
pub(super) fn in_times(ratio: &Estimate<Ratio>) -> String {
    format!("{} times", about(ratio, units::ratio))
}

/// Returns a value, of a wide interval in two digits.
pub(super) fn about<T: Quantity>(of: &Estimate<T>, written: impl Fn(T) -> String) -> String {
    if of.is_within(WIDE) {
        return written(of.value);
    }
    let text = written(T::from_f64(units::two_digits(of.value.to_f64())));
    let (number, unit) = text.split_once(' ').unwrap_or((&text, ""));
    let number = number
        .parse::<f64>()
        .map_or_else(|_| number.to_owned(), |n| n.to_string());
    format!("{ABOUT}{number} {unit}").trim_end().to_owned()
}

/// Returns the rows measured one at a time that may be compared: no virtual cards.
pub(super) fn alone(rows: &[Row]) -> impl Iterator<Item = RowFigure<'_>> {
    let alone = |row: &&Row| row.case.is_alone() && !is_virtual_card(&row.case);
    rows.iter().filter(alone).filter_map(RowFigure::of)
}

/// Returns whether it is this CPU's work under a card's name.
pub(super) fn is_virtual_card(case: &Case) -> bool {
    case.provenance == Provenance::Virtual && case.store == StoreKind::OPENPGP_CARD
}

/// Returns `a, b and c`, or `a, b, c and 4 more`.
pub(super) fn listed<T: ToString>(names: impl IntoIterator<Item = T>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| name.to_string()).collect();
    match names.as_slice() {
        [] => String::new(),
        [only] => only.clone(),
        [few @ .., last] if names.len() <= NAMED => format!("{} and {last}", few.join(", ")),
        many => {
            let (named, more) = many.split_at(NAMED - 1);
            format!("{} and {} more", named.join(", "), more.len())
        }
    }
}

/// Returns `9.79 to 10.2 ms`.
pub(crate) fn between(least: &str, most: &str) -> String {
    joined(least, "to", most)
}

/// Returns `9.79 of 10.2 ms`.
pub(super) fn part(of: Seconds, whole: Seconds) -> String {
    joined(&units::duration(of), "of", &units::duration(whole))
}

/// Two figures, with unit and doubt once.
fn joined(least: &str, word: &str, most: &str) -> String {
    if least == most {
        return least.to_owned();
    }
    if let (true, Some(plain)) = (least.starts_with(ABOUT), most.strip_prefix(ABOUT)) {
        return joined(least, word, plain);
    }
    match (least.rsplit_once(' '), most.rsplit_once(' ')) {
        (Some((number, unit)), Some((_, other))) if unit == other => {
            format!("{number} {word} {most}")
        }
        _ => format!("{least} {word} {most}"),
    }
}

/// Returns `through gnupg`, `in libgcrypt`, `through nginx (tls1.3 x25519)`.
pub(super) fn way(case: &Case) -> String {
    let besides = match besides(case).as_slice() {
        [] => String::new(),
        words => format!(" ({})", words.join(" ")),
    };
    match (
        case.stack == StackName::RAW,
        case.store == StoreKind::SOFTWARE,
    ) {
        (true, true) => format!("in {}{besides}", library(case)),
        (true, false) => format!("directly{besides}"),
        (false, _) => format!("through {}{besides}", case.stack),
    }
}

/// The way to a key on a device.
pub(super) const fn place(case: &Case) -> (&DeviceName, StackName, &Parameters) {
    (&case.device, case.stack, &case.parameters)
}

/// Words of the parameters other than the library.
pub(super) fn besides(case: &Case) -> Vec<&str> {
    let pairs = case.parameters.pairs();
    let besides = pairs.filter(|(name, _)| *name != "library");
    besides.map(|(_, word)| word).collect()
}

pub(super) fn library(case: &Case) -> &str {
    case.parameters.get("library").unwrap_or(BUILT_IN)
}

pub(super) fn device(case: &Case) -> String {
    marked(&case.device, case.provenance)
}

/// A device, marked where its figures were not measured and its name does not say so.
pub(crate) fn marked(device: &DeviceName, provenance: Provenance) -> String {
    let says_so = device.as_str().starts_with(&provenance.to_string());
    match provenance == Provenance::Measured || says_so {
        true => device.to_string(),
        false => format!("{device} ({provenance})"),
    }
}

/// Returns ` on this CPU` or ` on nitrokey-start`.
pub(super) fn on(case: &Case) -> String {
    match case.store == StoreKind::SOFTWARE {
        true => " on this CPU".to_owned(),
        false => format!(" on {}", device(case)),
    }
}

/// Returns `rsa4096 sign`.
pub(super) fn what(case: &Case) -> String {
    format!("{} {}", case.algorithm, case.operation)
}

/// Returns `to sign`.
pub(super) fn to(operation: Operation) -> String {
    format!("to {operation}")
}
