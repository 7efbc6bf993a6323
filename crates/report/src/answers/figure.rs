//! Means with their intervals, and the words for what they say of one another.

use keymark_bench::{Case, CaseId, Operation, Provenance, StackName, StoreKind, Strength};
use keymark_stats::{Estimate, Ratio, Seconds};

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

/// A mean with its bounds, which may be as far as they can be; an article's is taken as it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Figure<'a> {
    pub row: &'a Row,
    pub mean: f64,
    pub low: f64,
    pub high: f64,
}

impl<'a> Figure<'a> {
    pub(super) fn of(row: &'a Row) -> Option<Self> {
        let (low, high) = match (&row.summary, row.published, row.band) {
            (Some(summary), ..) => (summary.mean.low, summary.mean.high),
            (None, _, Some(band)) => (Some(band.low), Some(band.high)),
            (None, published, None) => (published, published),
        };
        let mean = row.mean()?.0;
        (mean > 0.0).then_some(Self {
            row,
            mean,
            low: low.map_or(0.0, |low| low.0.max(0.0)),
            high: high.map_or(f64::INFINITY, |high| high.0),
        })
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

    /// Whether it is known well enough to be called alike to what it overlaps.
    pub(super) fn is_known(&self) -> bool {
        may_be_alike(self.mean, self.low, self.high)
    }

    /// Whether it is less for certain.
    pub(super) fn is_below(&self, other: &Self) -> bool {
        self.high < other.low
    }

    pub(super) fn time(&self) -> String {
        about(self.mean, self.low, self.high, |mean| {
            units::duration(Seconds(mean))
        })
    }

    /// How many times the other it is for certain.
    pub(super) fn at_least(&self, other: &Self) -> f64 {
        self.low / other.high
    }

    /// `3.35 times`
    pub(super) fn times(&self, other: &Self) -> String {
        let (low, high) = (self.at_least(other), self.high / other.low);
        times(self.mean / other.mean, low, high)
    }
}

/// `3.35 times`, or `about 3.4 times` where that is not known so well.
pub(super) fn times(value: f64, low: f64, high: f64) -> String {
    let times = about(value, low, high, |value| units::ratio(Ratio(value)));
    format!("{times} times")
}

/// Whether an interval is narrow enough to say anything.
pub(super) fn is_known(value: f64, low: f64, high: f64) -> bool {
    low > 0.0 && (high - low) / 2.0 <= VAGUE * value
}

/// Whether it is narrow enough to be called alike to what it overlaps.
pub(super) fn may_be_alike(value: f64, low: f64, high: f64) -> bool {
    low > 0.0 && (high - low) / 2.0 <= ALIKE * value
}

/// A gain that was measured: `1.83 times`.
pub(super) fn gained(gain: &Estimate<Ratio>) -> String {
    let low = gain.low.map_or(0.0, |low| low.0);
    times(
        gain.value.0,
        low,
        gain.high.map_or(f64::INFINITY, |high| high.0),
    )
}

/// In two digits, of which the second is doubtful, where no more is known.
pub(super) fn about(value: f64, low: f64, high: f64, written: impl Fn(f64) -> String) -> String {
    if (high - low) / 2.0 <= WIDE * value {
        return written(value);
    }
    let text = written(units::two_digits(value));
    let (number, unit) = text
        .split_once(' ')
        .map_or((text.as_str(), ""), |(n, unit)| (n, unit));
    let number = number
        .parse::<f64>()
        .map_or_else(|_| number.to_owned(), |n| n.to_string());
    format!("{ABOUT}{number} {unit}").trim_end().to_owned()
}

/// Rows that were measured one at a time and may be compared: a virtual card is this CPU's work under a card's name.
pub(super) fn alone(rows: &[Row]) -> impl Iterator<Item = Figure<'_>> {
    let alone = rows
        .iter()
        .filter(|row| row.case.is_alone() && row.case.replica == 0);
    alone
        .filter(|row| !is_virtual_card(&row.case))
        .filter_map(Figure::of)
}

pub(super) fn is_virtual_card(case: &Case) -> bool {
    case.provenance == Provenance::Virtual && case.store == StoreKind::OPENPGP_CARD
}

/// `a, b and c`, or `a, b, c and 4 more`.
pub(super) fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [only] => only.clone(),
        [few @ .., last] if names.len() <= NAMED => format!("{} and {last}", few.join(", ")),
        many => {
            let (named, more) = many.split_at(NAMED - 1);
            format!("{} and {} more", named.join(", "), more.len())
        }
    }
}

/// `4.71 to 5.20 ms`, of figures in ascending order.
pub(super) fn range(least: &Figure<'_>, most: &Figure<'_>) -> String {
    between(&least.time(), &most.time())
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
        Operation::Handshake => "to shake hands".to_owned(),
        Operation::Decrypt | Operation::Sign | Operation::Authenticate | Operation::Decapsulate => {
            format!("to {operation}")
        }
    }
}

/// `through gnupg`, `in libgcrypt`, `through nginx (tls1.3 x25519)`
pub(super) fn way(case: &Case) -> String {
    let besides = case
        .parameters
        .pairs()
        .filter(|(name, _)| *name != "library");
    let besides: Vec<&str> = besides.map(|(_, word)| word).collect();
    let besides = match besides.as_slice() {
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
