//! How often each duration came, a panel a case.

use crate::charts::{
    About, Along, Axis, Bounds, Chart, Column, Mark, Panel, Rule, Scale, Spacing, Unit,
};

use super::means::is_time;
use super::words::listed;
use super::{fill, fills};
use crate::document::Histogram;
use crate::units;
use crate::visible::visible;

pub(super) fn chart(title: &str, histograms: &[Histogram]) -> Option<Chart> {
    let usable = |one: &&Histogram| {
        one.bins.len() > 1
            && one
                .bins
                .iter()
                .all(|(from, to, _)| is_time(*from) && is_time(*to))
    };
    let shown: Vec<&Histogram> = histograms.iter().filter(usable).collect();
    if shown.is_empty() {
        return None;
    }
    let said: Vec<String> = shown.iter().map(|one| said(one)).collect();
    Some(Chart {
        kind: "histogram",
        title: visible(title).into_owned(),
        summary: format!("{}. {}.", visible(title), listed(&said, shown.len())),
        x: Axis::Scale(Scale::new(
            "time of an operation",
            Unit::Seconds,
            Spacing::Logarithmic,
        )),
        panels: shown.iter().map(|one| panel(one)).collect(),
        keys: Vec::new(),
        fills: fills(shown.iter().map(|one| one.provenance)),
        notes: vec!["Lines: the middle of each group.".to_owned()],
    })
}

fn panel(one: &Histogram) -> Panel {
    let columns = one.bins.iter().filter(|(_, _, count)| *count > 0);
    let columns = columns.map(|(from, to, count)| {
        Mark::Column(Column {
            from: from.0,
            to: to.0,
            height: *count as f64,
            series: 0,
            fill: fill(one.provenance),
            about: About {
                case: Some(visible(&one.label).into_owned()),
                text: format!(
                    "{count} operations from {} to {}",
                    units::duration(*from),
                    units::duration(*to)
                ),
            },
        })
    });
    let (lower, upper) = one.groups;
    let rules = [lower, upper].map(|at| {
        Mark::Rule(Rule {
            along: Along::X,
            at: at.0,
            label: units::duration(at),
        })
    });
    Panel {
        heading: Some(visible(&one.label).into_owned()),
        y: Axis::Scale(
            Scale::new("operations", Unit::Count, Spacing::Linear).within(Bounds::FromZero),
        ),
        height: 130.0,
        marks: rules.into_iter().chain(columns).collect(),
    }
}

fn said(one: &Histogram) -> String {
    let held: usize = one.bins.iter().map(|(_, _, count)| count).sum();
    format!(
        "{}, {}: {held} operations in two groups about {} and {}; {} outside the picture",
        visible(&one.label),
        one.provenance,
        units::duration(one.groups.0),
        units::duration(one.groups.1),
        one.beyond
    )
}
