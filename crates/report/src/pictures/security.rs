//! What strength costs: mean time over bits of security.

use crate::charts::{Along, Axis, Chart, Dot, Mark, Panel, Scale, Spacing, Unit};
use itertools::Itertools;
use keymark_stats::Seconds;

use super::hues::Hues;
use super::means::{is_time, reach, said, tolerance_rule};
use super::words::left_out;
use super::{ROWS, about, drawable, fill, fills, framed};
use crate::document::Mean;

pub(super) fn chart(title: &str, tolerance: Seconds, means: &[(u32, Mean)]) -> Option<Chart> {
    let (shown, all) = drawable(means, ROWS, |(_, mean)| is_time(mean.mean.value))?;
    let strengths = shown.iter().map(|(bits, _)| *bits).sorted_unstable();
    let strengths: Vec<u32> = strengths.dedup().collect();
    let (Some(weakest), Some(strongest)) = (strengths.first(), strengths.last()) else {
        return None;
    };
    if weakest == strongest {
        return None;
    }
    let devices = Hues::of(shown.iter().map(|(_, mean)| mean.of.device.as_str()));
    let mut marks = Vec::new();
    let longest = shown
        .iter()
        .map(|(_, mean)| mean.mean.value.0)
        .fold(0.0, f64::max);
    marks.extend(tolerance_rule(Along::Y, longest, tolerance));
    for (bits, mean) in &shown {
        let about = about(&mean.of, format!("{bits}-bit security: {}", said(mean)));
        let series = devices.number(mean.of.device.as_str());
        let at = (f64::from(*bits), mean.mean.value.0);
        marks.push(Mark::Dot(Dot {
            reach: reach(&mean.mean, Along::Y, |time| time.0),
            label: Some(mean.algorithm.to_string()),
            ..Dot::new(at, series, fill(mean.of.provenance), about)
        }));
    }
    let each: Vec<String> = shown
        .iter()
        .map(|(bits, mean)| format!("{bits}-bit security: {}", said(mean)))
        .collect();
    let mut notes = vec![
        "Strength against attackers without a quantum computer (NIST SP 800-57, table 2; FIPS 203 to 205).".to_owned(),
    ];
    notes.extend(left_out(shown.len(), all, "figures"));
    let ends = (f64::from(*weakest) - 12.0, f64::from(*strongest) + 12.0);
    let scale = Scale::new("bits of security", Unit::Bits, Spacing::Linear)
        .within(crate::charts::Bounds::Fixed(ends.0, ends.1))
        .ticks(strengths.iter().map(|bits| f64::from(*bits)).collect());
    Some(Chart {
        panels: vec![Panel {
            heading: None,
            y: Axis::Scale(Scale::new("mean time", Unit::Seconds, Spacing::Logarithmic)),
            height: 340.0,
            marks,
        }],
        keys: devices.keys(),
        fills: fills(shown.iter().map(|(_, mean)| mean.of.provenance)),
        notes,
        ..framed("security", title, &each, 40, scale)
    })
}
