//! Dots with intervals per algorithm and device, with a line at what users tolerate. Figures of one magnitude lie on an
//! axis from zero, others on a logarithmic one.
//!
//! A bar on a logarithmic axis begins wherever the axis does, so that its length says nothing; a dot is read by its place.

use std::time::Duration;

use crate::charts::{
    Along, Bounds, Chart, Dot, Group, Mark, Panel, Reach, Row, Rule, Scale, Spacing, Unit,
};
use itertools::Itertools;
use keymark_bench::algorithm::Algorithm;
use keymark_bench::operation::Operation;
use keymark_stats::{Estimate, Seconds};

use super::hues::Hues;
use super::words::{Names, left_out, listed};
use super::{CURVES, ROWS, about, drawable, fill, fills, framed};
use crate::document::Mean;
use crate::grouped::grouped;
use crate::units;
use crate::visible::visible;

/// Where all figures are shorter than tolerated by this factor, the line would leave half of the axis empty.
const FAR: f64 = 5.0;
/// Where the longest is no more than so many times the shortest, an axis from zero tells all of them.
const APART: f64 = 8.0;
/// So many figures stand in the words for a picture.
const SAID: usize = 40;

pub(super) fn chart(title: &str, tolerance: Seconds, means: &[Mean]) -> Option<Chart> {
    let (means, all) = drawable(means, ROWS, |mean| is_time(mean.mean.value))?;
    let times = means.iter().map(|mean| mean.mean.value.0);
    let (shortest, longest) = times.minmax_by(f64::total_cmp).into_option()?;
    let (groups, order) = groups(&means);
    let (series, names) = series(&means);
    let mut marks = Vec::new();
    let rule = tolerance_rule(Along::X, longest, tolerance);
    let near = rule.is_some();
    marks.extend(rule);
    for (row, &place) in order.iter().enumerate() {
        marks.push(mark(means[place], row, series[place]));
    }
    let mut notes = Vec::new();
    notes.extend(left_out(means.len(), all, "figures"));
    if !near {
        let tolerance = chosen(tolerance);
        notes.push(format!(
            "All of them are below the {tolerance} that users tolerate."
        ));
    }
    let x = axis(shortest, longest);
    Some(Chart {
        summary: summary(title, tolerance, &means),
        panels: vec![Panel::rows(groups, marks)],
        keys: names.keys(),
        fills: fills(means.iter().map(|mean| mean.of.provenance)),
        notes,
        ..framed("means", title, &[], 0, x)
    })
}

/// From zero where the shortest is still told from it.
pub(super) fn axis(shortest: f64, longest: f64) -> Scale {
    let what = "mean time of an operation";
    if longest <= shortest * APART {
        Scale::new(what, Unit::Seconds, Spacing::Linear).within(Bounds::FromZero)
    } else {
        Scale::new(what, Unit::Seconds, Spacing::Logarithmic)
    }
}

/// `2 s`
fn chosen(tolerance: Seconds) -> String {
    let chosen = Duration::try_from_secs_f64(tolerance.0).map(units::chosen);
    chosen.unwrap_or_else(|_| units::duration(tolerance))
}

/// The line of what users tolerate, unless it would squeeze figures into a corner that are far shorter.
pub(super) fn tolerance_rule(along: Along, longest: f64, tolerance: Seconds) -> Option<Mark> {
    (longest * FAR >= tolerance.0).then(|| {
        Mark::Rule(Rule {
            along,
            at: tolerance.0,
            label: format!("tolerated: {}", chosen(tolerance)),
        })
    })
}

/// A time that has a place on a logarithmic axis.
pub(super) fn is_time(time: Seconds) -> bool {
    time.0.is_finite() && time.0 > 0.0
}

/// The interval of an estimate, from left to right.
pub(super) fn reach<T>(
    estimate: &Estimate<T>,
    along: Along,
    plain: impl Fn(&T) -> f64,
) -> Option<Reach> {
    let (low, high) = (
        estimate.low.as_ref().map(&plain),
        estimate.high.as_ref().map(&plain),
    );
    (low.is_some() || high.is_some()).then_some(Reach { along, low, high })
}

fn mark(mean: &Mean, row: usize, series: usize) -> Mark {
    let (about, fill) = (about(&mean.of, said(mean)), fill(mean.of.provenance));
    Mark::Dot(Dot {
        reach: reach(&mean.mean, Along::X, |time| time.0),
        ..Dot::new((mean.mean.value.0, row as f64), series, fill, about)
    })
}

/// `rsa2048 decrypt software gnupg: 7.91 ms (7.85–7.98), measured`
pub(super) fn said(mean: &Mean) -> String {
    let time = if mean.mean.low.is_some() || mean.mean.high.is_some() {
        units::estimated_duration(&mean.mean)
    } else {
        units::duration(mean.mean.value)
    };
    format!(
        "{}: {time}, {}",
        visible(&mean.of.label),
        mean.of.provenance
    )
}

/// By device where there are several, else by way.
fn series(means: &[&Mean]) -> (Vec<usize>, Hues) {
    let devices = Hues::of(means.iter().map(|mean| mean.of.device.as_str()));
    // Rows have their names; of so many colours none would tell anything.
    if devices.len() > CURVES {
        return (vec![0; means.len()], Hues::default());
    }
    if devices.len() > 1 {
        let numbers = means
            .iter()
            .map(|mean| devices.number(mean.of.device.as_str()));
        return (numbers.collect(), devices);
    }
    let ways = Hues::of(means.iter().map(|mean| mean.way.as_str()));
    let numbers = means.iter().map(|mean| ways.number(&mean.way)).collect();
    (numbers, ways)
}

/// Rows by algorithm and operation, each with the place of its figure.
fn groups(means: &[&Mean]) -> (Vec<Group>, Vec<usize>) {
    let found = grouped(0..means.len(), |place| {
        (means[*place].algorithm, means[*place].operation)
    });
    let several = |names: Names| names.len() > 1;
    let devices = several(Names::of(means.iter().map(|mean| mean.of.device.as_str())));
    let ways = several(Names::of(means.iter().map(|mean| mean.way.as_str())));
    let order = found.iter().flat_map(|(_, places)| places.iter().copied());
    let order: Vec<usize> = order.collect();
    let value = |mean: &Mean| units::duration(mean.mean.value);
    let flat = found.iter().all(|(_, places)| places.len() == 1);
    if flat && !devices && !ways {
        let operations = found
            .iter()
            .any(|((_, operation), _)| *operation != found[0].0.1);
        let row = |((algorithm, operation), places): &((Algorithm, Operation), Vec<usize>)| Row {
            label: if operations {
                format!("{algorithm} {operation}")
            } else {
                algorithm.to_string()
            },
            value: value(means[places[0]]),
        };
        let mean = means[0];
        let common = format!("{} {}", mean.of.device, mean.way);
        let common = if operations {
            common
        } else {
            format!("{} {common}", mean.operation)
        };
        let heading = Some(visible(&common).into_owned());
        let rows = found.iter().map(row).collect();
        return (vec![Group { heading, rows }], order);
    }
    let row = |place: &usize| {
        let mean = means[*place];
        let label = match (devices, ways) {
            (true, true) => format!("{} {}", mean.of.device, mean.way),
            (true, false) => mean.of.device.to_string(),
            (false, _) => mean.way.clone(),
        };
        Row {
            label: visible(&label).into_owned(),
            value: value(mean),
        }
    };
    let group = |((algorithm, operation), places): &((Algorithm, Operation), Vec<usize>)| Group {
        heading: Some(format!("{algorithm} {operation}")),
        rows: places.iter().map(row).collect(),
    };
    (found.iter().map(group).collect(), order)
}

fn summary(title: &str, tolerance: Seconds, means: &[&Mean]) -> String {
    let by_time = |a: &&&Mean, b: &&&Mean| a.mean.value.0.total_cmp(&b.mean.value.0);
    let mut text = format!("{}: {} figures", visible(title), means.len());
    if let (Some(fastest), Some(slowest)) =
        (means.iter().min_by(by_time), means.iter().max_by(by_time))
    {
        text += &format!(
            ", from {} to {}",
            units::duration(fastest.mean.value),
            units::duration(slowest.mean.value)
        );
    }
    let over = means
        .iter()
        .filter(|mean| mean.mean.value.0 > tolerance.0)
        .count();
    text += &format!(
        "; {over} of them longer than the tolerated {}. ",
        units::duration(tolerance)
    );
    let each: Vec<String> = means.iter().map(|mean| said(mean)).collect();
    text + &listed(&each, SAID) + "."
}
