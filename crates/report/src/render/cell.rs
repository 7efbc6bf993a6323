//! A value as words.

use crate::document::{Answer, Cell};
use crate::units;
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
        Cell::MoreThan(time) => format!("> {}", units::duration(*time)),
        Cell::AtMost(time) => format!("< {}", units::duration(*time)),
        Cell::Ratio(ratio) => units::ratio(*ratio),
        Cell::RatioEstimate(estimate) => units::estimated_ratio(estimate),
        Cell::Gain(gain) => units::gain(*gain),
        Cell::GainEstimate(estimate) => units::estimated_gain(estimate),
        Cell::Rate(rate) => units::rate(*rate),
        Cell::RateEstimate(estimate) => units::estimated_rate(estimate),
        Cell::Share(share) => units::percent(share.0),
        Cell::ShareEstimate(estimate) => units::estimated_percent(estimate),
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
