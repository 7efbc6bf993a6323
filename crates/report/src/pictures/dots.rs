//! Mean times, rates and predictions as dots with intervals: a row for each case, and a line at the time that users
//! tolerate.
//!
//! Figures of one magnitude lie on an axis from zero, others on a logarithmic one. A bar on a logarithmic axis begins
//! wherever the axis does, so that its length says nothing; a dot is read by its place.

use std::time::Duration;

use itertools::Itertools;
use keymark_bench::{Case, Pacing};
use keymark_stats::{Estimate, Quantity, Seconds};

use super::names::{Hues, left_out};
use super::{
    AnalyzedRun, CURVES, PictureKind, ROWS, about, drawable, fill, framed, interval, is_drawn,
    spacing,
};
use crate::analysis::Row;
use crate::charts::{Along, Chart, Dot, Group, Mark, Panel, RowText, Rule, Scale, Spacing};
use crate::grouped;
use crate::units::{self, Unit};
use crate::visible::visible;

/// Factor by which all figures are below the tolerated time where its line would leave half of the axis empty.
const FAR: f64 = 5.0;
/// Longest over shortest up to which an axis from zero shows all figures.
const APART: f64 = 8.0;
/// Figures in the words of a picture.
const SAID: usize = 40;

/// A figure with its case.
#[derive(Debug, Clone)]
pub(crate) struct DotRow {
    pub case: Case,
    /// Name of the row where devices differ.
    pub device: String,
    /// Name of the case.
    pub label: String,
    pub estimate: Estimate<f64>,
}

impl DotRow {
    /// A figure of a case.
    pub(crate) fn of<T: Quantity>(case: &Case, estimate: Estimate<T>) -> Self {
        Self {
            case: case.clone(),
            device: case.device.to_string(),
            label: case.to_string(),
            estimate: estimate.map(T::to_f64),
        }
    }

    /// The mean time of a row, a prediction's with its band.
    pub(crate) fn mean(row: &Row) -> Option<Self> {
        Some(Self::of(&row.case, row.banded_time()?))
    }
}

pub(super) fn charts(runs: &[AnalyzedRun<'_>]) -> Vec<Chart> {
    let rows = || runs.iter().flat_map(|run| &run.analysis.rows);
    let tolerance = runs
        .first()
        .map_or(Seconds(f64::INFINITY), |run| run.tolerance());
    let banded = rows().filter(|row| row.band().is_some());
    let others = rows().filter(|row| row.band().is_none());
    // What arrives at a given rate tells that rate.
    let loaded = rows()
        .filter(|row| row.under_load.is_some() && !matches!(row.case.load.pacing, Pacing::Open(_)));
    let rates = loaded.filter_map(|row| Some(DotRow::of(&row.case, row.throughput?)));
    let rates = rates.collect_vec();
    let pictures = [
        predictions(
            "predicted time of an operation, with its band",
            tolerance,
            banded.filter_map(DotRow::mean).collect(),
        ),
        self::rates(&rates),
        means(
            "mean time of an operation, with its 95 % interval",
            tolerance,
            others.filter_map(DotRow::mean).collect(),
        ),
    ];
    pictures.into_iter().flatten().collect()
}

/// Draws mean times, with a line at the time that users tolerate.
pub(crate) fn means(title: &str, tolerance: Seconds, rows: Vec<DotRow>) -> Option<Chart> {
    let what = "mean time of an operation";
    tolerated(draw(title, what, Unit::Seconds, &rows, false)?, tolerance)
}

/// Draws predicted times, with what their assumptions leave open.
pub(crate) fn predictions(title: &str, tolerance: Seconds, rows: Vec<DotRow>) -> Option<Chart> {
    let mut chart = draw(title, "predicted time", Unit::Seconds, &rows, true)?;
    chart
        .notes
        .insert(0, "Lines: the band of the assumptions.".to_owned());
    tolerated(chart, tolerance)
}

/// Rates of servers and services; a single one has nothing to compare with.
fn rates(rows: &[DotRow]) -> Option<Chart> {
    let title = "operations per second, with their 95 % intervals";
    let drawn = rows.iter().filter(|row| is_drawn(row.estimate.value));
    let what = "operations per second";
    (drawn.count() > 1).then(|| draw(title, what, Unit::PerSecond, rows, false))?
}

/// Draws figures, each with its value at the right, or with its interval if that is often narrower than a dot.
fn draw(title: &str, what: &str, unit: Unit, rows: &[DotRow], bounds: bool) -> Option<Chart> {
    let (rows, all) = drawable(rows, ROWS, |row| is_drawn(row.estimate.value))?;
    let values = rows.iter().map(|row| row.estimate.value);
    // From zero where the least still differs from it.
    let spacing = spacing(values, APART, Spacing::FromZero)?;
    let value = |row: &DotRow| {
        let bare = Estimate::bare(row.estimate.value);
        unit.full(if bounds { &row.estimate } else { &bare })
    };
    let said = |row: &DotRow| {
        let figure = unit.full(&row.estimate);
        format!("{}: {figure}, {}", visible(&row.label), row.case.provenance)
    };
    let (groups, order) = groups(&rows, value);
    let (series, names) = series(&rows);
    let places = order.iter().enumerate();
    let marks = places.map(|(y, &place)| {
        let row = rows[place];
        Mark::Dot(Dot {
            x: row.estimate.value,
            y: y as f64,
            interval: interval(&row.estimate),
            series: series[place],
            fill: fill(row.case.provenance),
            about: about(&row.label, said(row)),
        })
    });
    let parts = rows.iter().map(|row| (row.case.provenance, said(row)));
    let scale = Scale::new(what, unit, spacing);
    Some(Chart {
        panels: vec![Panel::rows(groups, marks.collect())],
        keys: names.keys(),
        notes: left_out(rows.len(), all, "figures").into_iter().collect(),
        ..framed(PictureKind::Means, title, parts, SAID, scale)
    })
}

/// Adds a line at the tolerated time, unless it would squeeze figures into a corner that are far shorter.
fn tolerated(mut chart: Chart, tolerance: Seconds) -> Option<Chart> {
    let times = chart
        .marks()
        .filter_map(|mark| Some(mark.try_as_dot_ref()?.x));
    let longest = times.fold(0.0, f64::max);
    let chosen = Duration::try_from_secs_f64(tolerance.0).map(units::chosen);
    let chosen = chosen.unwrap_or_else(|_| units::duration(tolerance));
    if longest * FAR >= tolerance.0 {
        let rule = Rule {
            along: Along::X,
            at: tolerance.0,
            label: format!("tolerated: {chosen}"),
        };
        chart.panels.first_mut()?.marks.insert(0, Mark::Rule(rule));
    } else {
        chart.notes.push(format!(
            "All of them are below the {chosen} that users tolerate."
        ));
    }
    Some(chart)
}

/// Series by device where there are several, else by way.
fn series(rows: &[&DotRow]) -> (Vec<usize>, Hues) {
    let devices = Hues::of(rows.iter().map(|row| row.device.as_str()));
    let name = |row: &&DotRow| match devices.len() {
        0 | 1 => row.case.way(),
        _ => row.device.clone(),
    };
    let names: Vec<String> = rows.iter().map(name).collect();
    let hues = Hues::of(names.iter().map(String::as_str));
    // Rows have their names; more colors would tell nothing.
    if hues.len() > CURVES {
        return (vec![0; rows.len()], Hues::default());
    }
    let numbers = names.iter().map(|name| hues.number(name));
    (numbers.collect(), hues)
}

/// Rows by algorithm and operation, and the place of each row's figure.
fn groups(rows: &[&DotRow], value: impl Fn(&DotRow) -> String) -> (Vec<Group>, Vec<usize>) {
    let devices = !rows.iter().map(|row| &row.device).all_equal();
    let ways = !rows.iter().map(|row| row.case.way()).all_equal();
    let operations = !rows.iter().map(|row| row.case.operation).all_equal();
    let mut keys = rows.iter().map(|row| row.case.capability());
    let alone = keys.all_unique() && !devices && !ways;
    let named = |row: &DotRow| {
        let (algorithm, operation, way) = (row.case.algorithm, row.case.operation, row.case.way());
        let key = format!("{algorithm} {operation}");
        let own = format!("{} {way}", row.device);
        match (alone, operations, devices, ways) {
            // Where nothing else differs, one heading is enough.
            (true, true, ..) => (own, key),
            (true, false, ..) => (format!("{operation} {own}"), algorithm.to_string()),
            (false, _, true, true) => (key, own),
            (false, _, true, false) => (key, row.device.clone()),
            (false, _, false, _) => (key, way),
        }
    };
    let found = grouped(0..rows.len(), |place| named(rows[*place]).0);
    let row = |place: &usize| RowText {
        label: visible(&named(rows[*place]).1).into_owned(),
        value: value(rows[*place]),
    };
    let groups = found.iter().map(|(heading, places)| Group {
        heading: Some(visible(heading).into_owned()),
        rows: places.iter().map(row).collect(),
    });
    let order = found.iter().flat_map(|(_, places)| places.iter().copied());
    (groups.collect(), order.collect())
}
