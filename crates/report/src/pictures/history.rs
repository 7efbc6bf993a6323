//! What a case has taken, run by run: dots with intervals under their levels.

use itertools::Itertools;
use keymark_bench::case::Case;

use super::means::{axis, is_time, reach};
use super::{ROWS, about, fill, fills, framed};
use crate::charts::{Along, Chart, Dot, Group, Mark, Panel, Row};
use crate::document::Subject;
use crate::history::{Point, Trend, date};
use crate::units;

/// The last so many points; none of fewer than two.
pub fn chart(trend: &Trend, last: usize) -> Option<Chart> {
    let skipped = trend.points.len().saturating_sub(last.min(ROWS));
    let points = trend.points.iter().enumerate().skip(skipped);
    let points: Vec<(usize, &Point)> = points
        .filter(|(_, point)| is_time(point.mean.value))
        .collect();
    if points.len() < 2 {
        return None;
    }
    let times = points.iter().map(|(_, point)| point.mean.value.0);
    let (shortest, longest) = times.minmax_by(f64::total_cmp).into_option()?;
    let axis = axis(shortest, longest);
    let mut groups: Vec<(Option<usize>, Group)> = Vec::new();
    for (number, point) in &points {
        let level = trend.level(*number);
        let place = level.map(|(place, _)| place);
        let row = Row {
            label: date(point.started),
            value: units::duration(point.mean.value),
        };
        match groups.last_mut() {
            Some((known, group)) if *known == place => group.rows.push(row),
            _ => {
                let heading = level
                    .map(|(_, step)| format!("level {}", units::estimated_duration(&step.level)));
                let rows = vec![row];
                groups.push((place, Group { heading, rows }));
            }
        }
    }
    let marks = points.iter().enumerate();
    let marks = marks.map(|(row, (_, point))| mark(&trend.case, point, row));
    let each: Vec<String> = points.iter().map(|(_, point)| said(point)).collect();
    Some(Chart {
        panels: vec![Panel::rows(
            groups.into_iter().map(|(_, group)| group).collect(),
            marks.collect(),
        )],
        fills: fills([trend.case.provenance].into_iter()),
        ..framed(
            "history",
            &format!("{}, run by run", trend.case),
            &each,
            ROWS,
            axis,
        )
    })
}

fn mark(case: &Case, point: &Point, row: usize) -> Mark {
    let about = about(&Subject::of(case), said(point));
    let at = (point.mean.value.0, row as f64);
    Mark::Dot(Dot {
        reach: reach(&point.mean, Along::X, |time| time.0),
        ..Dot::new(at, 0, fill(case.provenance), about)
    })
}

fn said(point: &Point) -> String {
    format!("{}: {}", point.name, units::duration(point.mean.value))
}
