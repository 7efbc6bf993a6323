//! Values of a table, with their units; how they are written is the renderers' business.

use std::time::Duration;

use keymark_bench::algorithm::Algorithm;
use keymark_bench::case::{DeviceName, Provenance};
use keymark_bench::operation::Operation;
use keymark_stats::{Estimate, PerSecond, Ratio, Seconds};
use serde::Serialize;

/// One value.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", content = "value", rename_all = "snake_case")]
pub enum Cell {
    /// There is none.
    Missing,
    /// There is none, because the case failed.
    Failed,
    /// A word of the vocabulary, a name.
    Text(String),
    /// A record, and its page as seen from the one that the table stands on.
    Record {
        /// What it is called.
        name: String,
        /// A relative address.
        page: String,
    },
    /// A device other than the row's.
    Device(DeviceName),
    /// The kind of a figure that is not of the row's kind.
    Provenance(Provenance),
    /// A number of things.
    Count(u64),
    /// Whether something holds.
    Answer(Answer),
    /// A time.
    Duration(Seconds),
    /// A time with its interval.
    DurationEstimate(Estimate<Seconds>),
    /// A time that is at most this.
    AtMost(Seconds),
    /// A quotient.
    Ratio(Ratio),
    /// A quotient with its interval.
    RatioEstimate(Estimate<Ratio>),
    /// How many times as much.
    Gain(Ratio),
    /// How many times as much, with its interval.
    GainEstimate(Estimate<Ratio>),
    /// Operations a second.
    Rate(PerSecond),
    /// Operations a second with their interval.
    RateEstimate(Estimate<PerSecond>),
    /// A figure with what makes it doubtful, in the fewest signs.
    Brief(Brief),
    /// A share of a whole, 1 being all.
    Share(Ratio),
    /// A share with its interval.
    ShareEstimate(Estimate<Ratio>),
}

impl Cell {
    /// The words of something that has them.
    pub fn text(words: impl ToString) -> Self {
        Self::Text(words.to_string())
    }
}

/// `Missing` for `None`.
impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Missing, Into::into)
    }
}

macro_rules! cells {
    ($($value:ty => $cell:expr),* $(,)?) => {
        $(impl From<$value> for Cell {
            fn from(value: $value) -> Self {
                $cell(value)
            }
        })*
    };
}

cells! {
    String => Cell::Text,
    &str => Cell::text,
    Algorithm => Cell::text,
    Operation => Cell::text,
    u64 => Cell::Count,
    u32 => |number| Cell::Count(u64::from(number)),
    usize => |number| Cell::Count(number as u64),
    Provenance => Cell::Provenance,
    Answer => Cell::Answer,
    Seconds => Cell::Duration,
    Duration => |time: Duration| Cell::Duration(Seconds(time.as_secs_f64())),
    PerSecond => Cell::Rate,
    Estimate<Seconds> => Cell::DurationEstimate,
    Estimate<PerSecond> => Cell::RateEstimate,
}

/// A figure among others that may be of other kinds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Brief {
    /// The figure.
    pub figure: Figured,
    /// Its kind.
    pub provenance: Provenance,
    /// What says that it is of another kind than its neighbours.
    #[serde(skip)]
    pub mark: Mark,
    /// What nobody may overlook: that a handshake has less than 112 bits of security.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<&'static str>,
}

/// A time or a rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Figured {
    /// Of an operation, on average.
    Time(Estimate<Seconds>),
    /// Of an operation, half of which took no longer.
    Median {
        /// The median.
        of: Estimate<Seconds>,
        /// The shortest.
        least: Seconds,
        /// The longest.
        most: Seconds,
    },
    /// Operations a second.
    Rate(Estimate<PerSecond>),
}

/// How a figure that was not measured is told from one that was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// Not at all: it was, or its table says what all are.
    None,
    /// `[1.3 s]`
    Brackets,
}

/// Whether something holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// It does.
    Yes,
    /// It does not.
    No,
    /// So few samples do not tell.
    Unknown,
}
