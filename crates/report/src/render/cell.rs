//! A value as words.

use keymark_bench::case::Provenance;

use crate::document::{Answer, Brief, Cell, Figured, Mark};
use crate::units::{self, Bare};
use crate::visible::visible;

const DASH: &str = "-";

pub(crate) fn words(cell: &Cell) -> String {
    match cell {
        Cell::Missing => DASH.to_owned(),
        Cell::Failed => "failed".to_owned(),
        Cell::Text(text) | Cell::Record { name: text, .. } => visible(text).into_owned(),
        Cell::Device(device) => visible(device.as_str()).into_owned(),
        Cell::Provenance(provenance) => provenance.to_string(),
        Cell::Count(number) => number.to_string(),
        Cell::Answer(Answer::Yes) => "yes".to_owned(),
        Cell::Answer(Answer::No) => "no".to_owned(),
        Cell::Answer(Answer::Unknown) => "?".to_owned(),
        Cell::Duration(time) => units::duration(*time),
        Cell::DurationEstimate(estimate) => units::estimated_duration(estimate),
        Cell::AtMost(time) => format!("< {}", units::duration(*time)),
        Cell::Ratio(ratio) => units::ratio(*ratio),
        Cell::RatioEstimate(estimate) => units::estimated_ratio(estimate),
        Cell::Gain(gain) => units::gain(*gain),
        Cell::GainEstimate(estimate) => units::estimated_gain(estimate),
        Cell::Rate(rate) => units::rate(*rate),
        Cell::RateEstimate(estimate) => units::estimated_rate(estimate),
        Cell::Brief(brief) => self::brief(brief),
        Cell::Share(share) => units::percent(share.0),
        Cell::ShareEstimate(estimate) => units::estimated_percent(estimate),
    }
}

/// `5.8 ms`, `~17 ms` if it is hardly known, `≥ 8.2 s` if nothing bounds it from above, `17 ms*` if it is a median, `[1.3 s]` if it was not measured.
fn brief(brief: &Brief) -> String {
    let bare = match brief.provenance {
        Provenance::Measured | Provenance::Virtual | Provenance::Twin => Bare::Uncertain,
        Provenance::Predicted | Provenance::Published => Bare::Stated,
    };
    let words = match &brief.figure {
        Figured::Time(time) => units::brief(time, bare, units::rounded_duration),
        Figured::Median { of, .. } => {
            format!("{}*", units::brief(of, bare, units::rounded_duration))
        }
        Figured::Rate(rate) => units::brief(rate, bare, units::rounded_rate),
    };
    let words = match brief.mark {
        Mark::None => words,
        Mark::Brackets => format!("[{words}]"),
    };
    match brief.warning {
        None => words,
        Some(warning) => format!("{words} {warning}"),
    }
}

/// The value alone where there is little room.
#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "the others are said as they are"
)]
pub(super) fn without_interval(cell: &Cell) -> String {
    match cell {
        Cell::DurationEstimate(estimate) => units::duration(estimate.value),
        Cell::RatioEstimate(estimate) => units::ratio(estimate.value),
        Cell::GainEstimate(estimate) => units::gain(estimate.value),
        Cell::RateEstimate(estimate) => units::rate(estimate.value),
        Cell::ShareEstimate(estimate) => units::tenths_of_percent(estimate.value),
        other => words(other),
    }
}
