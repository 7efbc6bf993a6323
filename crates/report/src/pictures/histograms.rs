//! How often each duration came, a panel a case.

use crate::charts::{Axis, Bounds, Chart, Column, Mark, Panel, Scale, Spacing, Unit};

use super::means::is_time;
use super::{about, drawable, fill, fills, framed, said_of};
use crate::document::Histogram;
use crate::units;
use crate::visible::visible;

pub(super) fn chart(title: &str, histograms: &[Histogram]) -> Option<Chart> {
    let (shown, _) = drawable(histograms, usize::MAX, |one| {
        let mut bins = one.bins.iter();
        one.bins.len() > 1 && bins.all(|(from, to, _)| is_time(*from) && is_time(*to))
    })?;
    let x = Scale::new("time of an operation", Unit::Seconds, Spacing::Linear);
    let said: Vec<String> = shown.iter().map(|one| said(one)).collect();
    Some(Chart {
        panels: shown.iter().map(|one| panel(one)).collect(),
        fills: fills(shown.iter().map(|one| one.of.provenance)),
        ..framed("histogram", title, &said, shown.len(), x)
    })
}

fn panel(one: &Histogram) -> Panel {
    let columns = one.bins.iter().filter(|(_, _, count)| *count > 0);
    let columns = columns.map(|(from, to, count)| {
        let text = format!(
            "{count} operations from {} to {}",
            units::duration(*from),
            units::duration(*to)
        );
        Mark::Column(Column {
            from: from.0,
            to: to.0,
            height: *count as f64,
            series: 0,
            fill: fill(one.of.provenance),
            about: about(&one.of, text),
        })
    });
    Panel {
        heading: Some(visible(&one.of.label).into_owned()),
        y: Axis::Scale(
            Scale::new("operations", Unit::Count, Spacing::Linear).within(Bounds::FromZero),
        ),
        height: 130.0,
        marks: columns.collect(),
    }
}

fn said(one: &Histogram) -> String {
    let held: usize = one.bins.iter().map(|(_, _, count)| count).sum();
    let ends = one.bins.first().zip(one.bins.last());
    let ends = ends.map_or_else(String::new, |((from, ..), (_, to, _))| {
        format!(
            " from {} to {}",
            units::duration(*from),
            units::duration(*to)
        )
    });
    let (of, beyond) = (said_of(&one.of), one.beyond);
    format!("{of}: {held} operations in several steps{ends}; {beyond} beyond the picture")
}
