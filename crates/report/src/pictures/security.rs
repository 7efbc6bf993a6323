//! What strength costs: mean time over bits of security.

use crate::charts::{
    About, Along, Axis, Chart, Dot, Mark, Panel, Rule, Scale, Size, Spacing, Unit,
};
use keymark_stats::Seconds;

use super::means::{FAR, is_time, reach, said, tolerated};
use super::words::{Names, left_out, listed};
use super::{ROWS, fill, fills};
use crate::document::Mean;
use crate::visible::visible;

pub(super) fn chart(title: &str, tolerance: Seconds, means: &[(u32, Mean)]) -> Option<Chart> {
    let usable = means.iter().filter(|(_, mean)| is_time(mean.mean.value));
    let all = usable.clone().count();
    let shown: Vec<&(u32, Mean)> = usable.take(ROWS).collect();
    let mut strengths: Vec<u32> = shown.iter().map(|(bits, _)| *bits).collect();
    strengths.sort_unstable();
    strengths.dedup();
    let (Some(weakest), Some(strongest)) = (strengths.first(), strengths.last()) else {
        return None;
    };
    if weakest == strongest {
        return None;
    }
    let mut devices = Names::default();
    let mut marks = Vec::new();
    let longest = shown
        .iter()
        .map(|(_, mean)| mean.mean.value.0)
        .fold(0.0, f64::max);
    if longest * FAR >= tolerance.0 {
        marks.push(Mark::Rule(Rule {
            along: Along::Y,
            at: tolerance.0,
            label: tolerated(tolerance),
        }));
    }
    for (bits, mean) in &shown {
        marks.push(Mark::Dot(Dot {
            x: f64::from(*bits),
            y: mean.mean.value.0,
            reach: reach(&mean.mean, Along::Y, |time| time.0),
            series: devices.number(mean.device.as_str()),
            fill: fill(mean.provenance),
            size: Size::Figure,
            label: Some(mean.algorithm.to_string()),
            about: About {
                case: Some(visible(&mean.label).into_owned()),
                text: format!("{bits} bit: {}", said(mean)),
            },
        }));
    }
    let each: Vec<String> = shown
        .iter()
        .map(|(bits, mean)| format!("{bits} bit: {}", said(mean)))
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
        kind: "security",
        title: visible(title).into_owned(),
        summary: format!("{}. {}.", visible(title), listed(&each, 40)),
        x: Axis::Scale(scale),
        panels: vec![Panel {
            heading: None,
            y: Axis::Scale(Scale::new("mean time", Unit::Seconds, Spacing::Logarithmic)),
            height: 340.0,
            marks,
        }],
        keys: devices.keys(),
        fills: fills(shown.iter().map(|(_, mean)| mean.provenance)),
        notes,
    })
}
