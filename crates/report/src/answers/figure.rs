//! Means with their intervals, and the words for what they say of one another.

use std::ops::Deref;

use keymark_bench::{
    Case, CaseId, DeviceName, Operation, Parameters, Provenance, StackName, StoreKind, Strength,
};
use keymark_stats::{Estimate, Quantity, Ratio, Seconds};

use crate::analysis::Row;
use crate::units;

/// More names than this are counted.
const NAMED: usize = 4;
/// What is wider than this on each side is "about".
const WIDE: f64 = 0.1;
/// What is wider than this says nothing of a gain.
const VAGUE: f64 = 0.35;
/// That two figures overlap of which one is wider than this does not make them alike.
const ALIKE: f64 = 0.2;
/// The library of a case that names none.
pub(super) const BUILT_IN: &str = "OpenSSL";
/// Before what is known to two digits at most.
const ABOUT: &str = "about ";

/// A value with its bounds, which may be as far as they can be.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounded {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

impl<T: Quantity> From<Estimate<T>> for Bounded {
    fn from(estimate: Estimate<T>) -> Self {
        let low = estimate.low.map(T::to_f64);
        Self {
            value: estimate.value.to_f64(),
            low: low.map_or(0.0, |low| low.max(0.0)),
            high: estimate.high.map_or(f64::INFINITY, T::to_f64),
        }
    }
}

impl Bounded {
    /// Whether it is known well enough to say anything.
    pub(super) fn tells(&self) -> bool {
        self.is_within(VAGUE)
    }

    /// Whether it is known well enough to be called alike to what it overlaps.
    pub(super) fn is_known(&self) -> bool {
        self.is_within(ALIKE)
    }

    fn is_within(&self, share: f64) -> bool {
        self.low > 0.0 && (self.high - self.low) / 2.0 <= share * self.value
    }

    /// Whether it is less for certain.
    pub(super) fn is_below(&self, other: &Self) -> bool {
        self.high < other.low
    }

    pub(super) fn over(&self, other: &Self) -> Self {
        Self {
            value: self.value / other.value,
            low: self.low / other.high,
            high: self.high / other.low,
        }
    }

    pub(super) fn inverse(&self) -> Self {
        Self {
            value: 1.0 / self.value,
            low: 1.0 / self.high,
            high: 1.0 / self.low,
        }
    }

    /// `3.35 times`
    pub(super) fn times(&self, other: &Self) -> String {
        self.over(other).in_times()
    }

    /// `3.35 times`, or `about 3.4 times` where that is not known so well.
    pub(super) fn in_times(&self) -> String {
        let times = self.about(|value| units::ratio(Ratio(value)));
        format!("{times} times")
    }

    /// In two digits, of which the second is doubtful, where no more is known.
    pub(super) fn about(&self, written: impl Fn(f64) -> String) -> String {
        if (self.high - self.low) / 2.0 <= WIDE * self.value {
            return written(self.value);
        }
        let text = written(units::two_digits(self.value));
        let (number, unit) = text.split_once(' ').unwrap_or((&text, ""));
        let number = number
            .parse::<f64>()
            .map_or_else(|_| number.to_owned(), |n| n.to_string());
        format!("{ABOUT}{number} {unit}").trim_end().to_owned()
    }
}

/// The figure of a row, which compares as its bounds do.
#[derive(Debug, Clone, Copy)]
pub(super) struct Figure<'a> {
    pub row: &'a Row,
    bounds: Bounded,
}

impl Deref for Figure<'_> {
    type Target = Bounded;

    fn deref(&self) -> &Bounded {
        &self.bounds
    }
}

impl<'a> Figure<'a> {
    /// The mean time; an article's is taken as it is.
    pub(super) fn of(row: &'a Row) -> Option<Self> {
        let mut time = row.banded_time()?;
        if row.summary.is_none() && row.band.is_none() {
            (time.low, time.high) = (Some(time.value), Some(time.value));
        }
        let bounds = Bounded::from(time);
        (bounds.value > 0.0).then_some(Self { row, bounds })
    }

    /// The rate of a server.
    pub(super) fn of_server(row: &'a Row) -> Option<Self> {
        let bounds = Bounded::from(row.throughput?);
        let is_bounded = bounds.low > 0.0 && bounds.high.is_finite();
        (is_bounded && row.under_load.is_some()).then_some(Self { row, bounds })
    }

    pub(super) const fn case(&self) -> &'a Case {
        &self.row.case
    }

    pub(super) const fn id(&self) -> CaseId {
        self.row.id
    }

    pub(super) fn strength(&self) -> Option<Strength> {
        self.case().strength()
    }

    pub(super) fn time(&self) -> String {
        self.about(|mean| units::duration(Seconds(mean)))
    }
}

/// Rows that were measured one at a time and may be compared: a virtual card is this CPU's work under a card's name.
pub(super) fn alone(rows: &[Row]) -> impl Iterator<Item = Figure<'_>> {
    let alone = rows.iter().filter(|row| row.case.is_alone());
    alone
        .filter(|row| !is_virtual_card(&row.case))
        .filter_map(Figure::of)
}

pub(super) fn is_virtual_card(case: &Case) -> bool {
    case.provenance == Provenance::Virtual && case.store == StoreKind::OPENPGP_CARD
}

/// `a, b and c`, or `a, b, c and 4 more`.
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

/// Two figures, of which unit and doubt are said once.
pub(crate) fn between(least: &str, most: &str) -> String {
    if least == most {
        return least.to_owned();
    }
    if let (true, Some(plain)) = (least.starts_with(ABOUT), most.strip_prefix(ABOUT)) {
        return between(least, plain);
    }
    match (least.rsplit_once(' '), most.rsplit_once(' ')) {
        (Some((number, unit)), Some((_, other))) if unit == other => format!("{number} to {most}"),
        _ => format!("{least} to {most}"),
    }
}

/// `9.79 of 10.2 ms`
pub(super) fn part(of: Seconds, whole: Seconds) -> String {
    between(&units::duration(of), &units::duration(whole)).replacen(" to ", " of ", 1)
}

/// `to sign`
pub(super) fn to(operation: Operation) -> String {
    match operation {
        Operation::Handshake => "to handshake".to_owned(),
        Operation::Decrypt | Operation::Sign | Operation::Authenticate | Operation::Decapsulate => {
            format!("to {operation}")
        }
    }
}

/// `through gnupg`, `in libgcrypt`, `through nginx (tls1.3 x25519)`
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

/// By what way a key on which device is reached.
pub(super) const fn place(case: &Case) -> (&DeviceName, StackName, &Parameters) {
    (&case.device, case.stack, &case.parameters)
}

/// The words of what is distinguished besides the library.
pub(super) fn besides(case: &Case) -> Vec<&str> {
    let pairs = case.parameters.pairs();
    let besides = pairs.filter(|(name, _)| *name != "library");
    besides.map(|(_, word)| word).collect()
}

pub(super) fn library(case: &Case) -> &str {
    case.parameters.get("library").unwrap_or(BUILT_IN)
}

/// A device, marked where its figures were not measured.
pub(super) fn device(case: &Case) -> String {
    let (device, provenance) = (&case.device, case.provenance);
    let says_so = device.as_str().starts_with(&provenance.to_string());
    if provenance == Provenance::Measured || says_so {
        return device.to_string();
    }
    format!("{device} ({provenance})")
}

/// `rsa4096 sign`
pub(super) fn what(case: &Case) -> String {
    format!("{} {}", case.algorithm, case.operation)
}
