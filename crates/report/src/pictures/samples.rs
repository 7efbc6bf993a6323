//! Durations in the order in which they came, a panel a case, above the machine's own speed.

use itertools::Itertools;
use keymark_stats::{Ratio, Seconds};

use super::means::is_time;
use super::names::left_out;
use super::{about, drawable, fill, framed, line, said_of, span};
use crate::Timeline;
use crate::charts::{
    About, Along, Bounds, Chart, Dot, Line, Mark, Panel, Path, Rule, Scale, Size, Spacing, Unit,
};
use crate::units;
use crate::visible::visible;

/// Panels beyond these are too small a picture.
const PANELS: usize = 6;
/// More dots than this are small.
const CROWD: usize = 40;
/// Durations that differ by more than this have a logarithmic axis.
const APART: f64 = 5.0;

pub(super) fn chart(
    title: &str,
    timelines: &[Timeline],
    of: usize,
    machine: &[(Seconds, Ratio)],
) -> Option<Chart> {
    let (shown, _) = drawable(timelines, PANELS, |one| {
        let mut points = one.points.iter();
        !one.points.is_empty() && points.all(|(at, time)| at.0.is_finite() && is_time(*time))
    })?;
    let mut panels: Vec<Panel> = shown.iter().map(|one| panel(one)).collect();
    panels.extend(speed(machine));
    let mut notes = Vec::new();
    if shown.iter().any(|one| one.joined > 1) {
        notes.push("Where there are many samples, a dot is the median of several.".to_owned());
    }
    if shown.iter().any(|one| one.trend.is_some()) {
        notes.push("Broken lines: the trend over the case (Theil & Sen).".to_owned());
    }
    notes.extend(left_out(shown.len(), of, "cases"));
    let x = Scale::new(
        "time since the first operation of the run",
        Unit::Seconds,
        Spacing::Linear,
    );
    let points = shown.iter().flat_map(|one| &one.points);
    let end = points
        .map(|(at, _)| at.0)
        .chain(machine.iter().map(|(at, _)| at.0));
    // The run's own end, and not the next round number.
    let end = end.filter(|at| at.is_finite()).fold(0.0, f64::max);
    let x = x.within(Bounds::Fixed(0.0, end));
    let parts = shown.iter().map(|one| (one.of.provenance, said(one)));
    Some(Chart {
        panels,
        notes,
        ..framed("samples", title, parts, PANELS, x)
    })
}

fn panel(one: &Timeline) -> Panel {
    let shade = fill(one.of.provenance);
    let size = if one.points.len() > CROWD {
        Size::Crowd
    } else {
        Size::Figure
    };
    let times = one.points.iter().map(|(_, time)| time.0);
    let ends = times.minmax_by(f64::total_cmp).into_option();
    let spacing = match ends {
        Some((least, most)) if most > least * APART => Spacing::Logarithmic,
        _ => Spacing::Linear,
    };
    let mut marks: Vec<Mark> = one
        .points
        .iter()
        .map(|(at, time)| {
            let text = format!("after {}: {}", units::duration(*at), units::duration(*time));
            Mark::Dot(Dot {
                size,
                ..Dot::new((at.0, time.0), 0, shade, about(&one.of.label, text))
            })
        })
        .collect();
    if let Some(trend) = one
        .trend
        .filter(|trend| trend.iter().all(|(_, time)| time.0.is_finite()))
    {
        let trend = trend.iter().map(|(at, time)| (at.0, time.0));
        marks.push(Mark::Line(Line {
            path: Path::Fitted,
            about: about(&one.of.label, drift(one)),
            ..line(&one.of, 1, "", trend)
        }));
    }
    let heading = format!("{}: {}", visible(&one.of.label), drift(one));
    Panel::over(Scale::new("", Unit::Seconds, spacing), 110.0, marks).headed(heading)
}

fn drift(one: &Timeline) -> String {
    match one.drift {
        Some(drift) => format!(
            "{:+.1} % from start to end ({})",
            drift.relative_change.0 * 100.0,
            if drift.p_value < 0.01 {
                "p < 0.01".to_owned()
            } else {
                format!("p = {:.2}", drift.p_value)
            }
        ),
        None => "too few blocks to see drift".to_owned(),
    }
}

fn speed(machine: &[(Seconds, Ratio)]) -> Option<Panel> {
    let usable = machine
        .iter()
        .filter(|(at, ratio)| at.0.is_finite() && ratio.0.is_finite());
    let points: Vec<(f64, f64)> = usable.map(|(at, ratio)| (at.0, ratio.0 - 1.0)).collect();
    if points.len() < 2 {
        return None;
    }
    let line = Mark::Line(Line {
        points,
        path: Path::Straight,
        series: 7,
        fill: crate::charts::Fill::Solid,
        label: None,
        about: About {
            case: None,
            text: "time of a fixed calculation over its mean".to_owned(),
        },
    });
    let mean = Mark::Rule(Rule {
        along: Along::Y,
        at: 0.0,
        label: "its mean".to_owned(),
    });
    let heading = "the machine itself: time of a fixed calculation, relative to its mean";
    let scale = Scale::new("", Unit::Change, Spacing::Linear);
    Some(Panel::over(scale, 90.0, vec![mean, line]).headed(heading))
}

fn said(one: &Timeline) -> String {
    let times = one.points.iter().map(|(_, time)| *time);
    let ends = times.minmax_by(|a, b| a.0.total_cmp(&b.0)).into_option();
    let ends = ends.map(|(least, most)| span(least, most));
    format!(
        "{}, {} operations, {}; {}",
        said_of(&one.of),
        one.n,
        ends.unwrap_or_default(),
        drift(one)
    )
}
