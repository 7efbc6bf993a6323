//! The tables of a run.

use std::collections::BTreeSet;
use std::time::Duration;

use keymark_bench::case::{Case, Worker};
use keymark_bench::parts::{Part, Parts};
use keymark_bench::strength;
use keymark_stats::{Estimate, Ratio, Seconds};

use super::baselines::Baselines;
use super::{Bounds, Breakdown, FamilyBreakdown, Layer, PublishedFigure, Row, Scaling, UnderLoad};
use crate::document::{Cell, Column, Table, TableRow};
use crate::units;

/// The columns that say which case a row is about.
pub(crate) fn case_columns() -> Vec<Column> {
    vec![
        Column::name("algorithm"),
        Column::name("operation"),
        Column::device(),
        Column::name("stack"),
    ]
}

/// What stands in them, the device aside.
pub(crate) fn case_cells(case: &Case) -> Vec<Cell> {
    vec![
        Cell::text(case.algorithm),
        Cell::text(case.operation),
        Cell::Text(case.way()),
    ]
}

/// The main table.
pub(super) fn rows(rows: &[Row], tolerance: Duration) -> Table {
    let mut columns = case_columns();
    let baselines = Baselines::of(rows);
    columns.extend([
        Column::value("mean (95 % interval)"),
        Column::value("median").leave(4),
        Column::value("p99").leave(5),
        Column::value("n").leave(1),
        Column::value(format!("{} (95 % interval)", baselines.heading()))
            .shorten(3)
            .leave(6),
        Column::value("op/s").leave(2),
        Column::value(format!("≤ {}", units::chosen(tolerance))).leave(7),
        Column::provenance(),
    ]);
    let mut table = Table::new(columns);
    table.rows = rows
        .iter()
        .map(|row| {
            let summary = row.summary.as_ref();
            let mut cells = case_cells(&row.case);
            cells.extend([
                mean(row),
                Cell::or_missing(summary, |s| Cell::Duration(s.median.value)),
                Cell::or_missing(summary, |s| bounded(&s.p99)),
                Cell::or_missing(row.n(), Cell::Count),
                Cell::or_missing(
                    row.ratio.filter(|_| baselines.concern(row)),
                    Cell::RatioEstimate,
                ),
                Cell::or_missing(row.throughput, |rate| Cell::Rate(rate.value)),
                Cell::or_missing(row.tolerable(tolerance), Cell::Answer),
            ]);
            TableRow::of(&row.case, cells)
        })
        .collect();
    table
}

/// Loads on servers, as siege would have printed them.
pub(super) fn siege(rows: &[Row]) -> Table {
    let mut columns = load_columns();
    columns.extend([
        Column::value("transactions"),
        Column::value("availability"),
        Column::value("response time").leave(5),
        Column::value("rate"),
        Column::value("concurrency").leave(4),
        Column::value("failed"),
        Column::value("longest").leave(2),
        Column::value("shortest").leave(1),
        Column::provenance(),
    ]);
    let mut table = Table::new(columns);
    table.rows = loaded(rows)
        .map(|(row, load)| {
            let mut cells = load_cells(&row.case);
            cells.extend([
                Cell::Count(load.transactions),
                Cell::Share(Ratio(load.availability / 100.0)),
                Cell::Duration(load.response_time),
                Cell::Rate(load.transaction_rate),
                Cell::Ratio(Ratio(load.concurrency)),
                Cell::Count(load.failed),
                Cell::Duration(load.longest),
                Cell::Duration(load.shortest),
            ]);
            TableRow::of(&row.case, cells)
        })
        .collect();
    table
}

/// Where the time of transactions goes in the steady state, and what they take of processors.
pub(super) fn phases(rows: &[Row]) -> Table {
    let mut columns = load_columns();
    columns.extend([
        Column::value("connect").leave(1),
        Column::value("handshake"),
        Column::value("first byte").leave(2),
        Column::value("whole"),
        Column::value("p95").leave(3),
        Column::value("server CPU"),
        Column::value("client CPU"),
        Column::provenance(),
    ]);
    let mut table = Table::new(columns);
    table.rows = loaded(rows)
        .map(|(row, load)| {
            let mut cells = load_cells(&row.case);
            cells.extend(
                [
                    load.connect,
                    load.handshake,
                    load.first_byte,
                    row.mean(),
                    load.p95,
                    load.server_cpu_each(),
                    load.client_cpu_each(),
                ]
                .map(|time| Cell::or_missing(time, Cell::Duration)),
            );
            TableRow::of(&row.case, cells)
        })
        .collect();
    table
}

pub(super) fn loaded(rows: &[Row]) -> impl Iterator<Item = (&Row, &UnderLoad)> {
    rows.iter()
        .filter_map(|row| Some((row, row.under_load.as_ref()?)))
}

/// All are handshakes.
pub(super) fn load_columns() -> Vec<Column> {
    vec![
        Column::name("algorithm"),
        Column::device(),
        Column::name("server"),
        Column::value("security").leave(1),
    ]
}

pub(super) fn load_cells(case: &Case) -> Vec<Cell> {
    let strength = strength::of_handshake(case);
    vec![
        Cell::text(case.algorithm),
        Cell::Text(case.way()),
        Cell::or_missing(strength, Cell::text),
    ]
}

/// A figure that nothing bounds from above is only known to be more than its lower bound.
fn bounded(estimate: &Estimate<Seconds>) -> Cell {
    match (estimate.low, estimate.high) {
        (_, Some(_)) => Cell::Duration(estimate.value),
        (Some(low), None) => Cell::MoreThan(low),
        (None, None) => Cell::Missing,
    }
}

fn mean(row: &Row) -> Cell {
    if row.overload.is_some() {
        return Cell::text("overloaded");
    }
    match (&row.summary, row.published, &row.failure) {
        (Some(summary), _, _) => Cell::DurationEstimate(summary.mean),
        (None, Some(mean), _) => Cell::Duration(mean),
        (None, None, Some(_)) => Cell::Failed,
        (None, None, None) => Cell::Missing,
    }
}

/// Where the time goes, by subtraction.
pub(super) fn breakdown(family: &FamilyBreakdown) -> Table {
    let layers = &family.layers;
    let mut columns = vec![
        Column::name("algorithm"),
        Column::name("operation"),
        Column::device(),
        Column::value(layers.base.heading),
    ];
    let steps = layers.steps.iter().zip(2..);
    columns.extend(steps.map(|(step, rank)| Column::value(step.heading).leave(rank)));
    columns.extend(
        layers
            .whole
            .as_ref()
            .map(|whole| Column::value(whole.heading).leave(1)),
    );
    columns.push(Column::value(format!("{}'s share", layers.base.name)).leave(0));
    let beside = layers.own_library.as_ref().filter(|_| family.has_beside());
    columns.extend(beside.map(|own| Column::value(own.beside.heading).leave(0)));
    columns.push(Column::provenance());
    let mut table = Table::new(columns);
    table.rows = family
        .breakdowns
        .iter()
        .map(|breakdown| breakdown_row(family, breakdown))
        .collect();
    table
}

fn breakdown_row(family: &FamilyBreakdown, breakdown: &Breakdown) -> TableRow {
    let mut cells = vec![
        Cell::text(breakdown.algorithm),
        Cell::text(breakdown.operation),
        Cell::or_missing(breakdown.base, |base| Cell::Duration(base.value)),
    ];
    let layer = |layer| match layer {
        Layer::Adds(difference) | Layer::Less(difference) => Cell::Duration(difference.value),
        Layer::AtMost(high) => Cell::AtMost(high),
    };
    let steps = breakdown.steps.iter();
    cells.extend(steps.map(|step| Cell::or_missing(*step, layer)));
    if family.layers.whole.is_some() {
        cells.push(Cell::or_missing(breakdown.whole, |whole| {
            Cell::Duration(whole.value)
        }));
    }
    cells.push(Cell::or_missing(breakdown.base_share(), Cell::Share));
    if family.has_beside() {
        cells.push(Cell::or_missing(breakdown.beside, |beside| {
            Cell::Duration(beside.value)
        }));
    }
    TableRow {
        device: breakdown.device.clone(),
        provenance: breakdown.provenance,
        cells,
    }
}

/// Where the time of the operations went whose parts are wanted.
pub(super) fn parts(rows: &[Row], wanted: impl Fn(&Parts) -> bool) -> Table {
    let parts_of = |row: &Row| row.parts.clone().filter(|parts| wanted(parts));
    let had = |part: &&Part| {
        // What the workers calculate bounds their gain, and is shown there.
        if **part == Part::Worker {
            return false;
        }
        let mut parts = rows.iter().filter_map(parts_of);
        parts.any(|parts| parts.0.contains_key(*part))
    };
    let had: Vec<Part> = Part::ALL.iter().filter(had).copied().collect();
    let mut columns = case_columns();
    columns.extend(had.iter().map(|part| part_column(*part)));
    columns.push(Column::provenance());
    let mut table = Table::new(columns);
    table.rows =
        rows.iter()
            .filter_map(|row| {
                let parts = parts_of(row)?.0;
                if !had.iter().any(|part| parts.contains_key(part)) {
                    return None;
                }
                let mut cells = case_cells(&row.case);
                cells.extend(had.iter().map(|part| {
                    Cell::or_missing(parts.get(part), |mean| Cell::Duration(mean.mean_s))
                }));
                Some(TableRow::of(&row.case, cells))
            })
            .collect();
    table
}

/// What is small, or no part of the operation, is left out first.
fn part_column(part: Part) -> Column {
    let column = Column::value(part.word());
    match part {
        Part::Waiting | Part::Worker => column.leave(0),
        Part::Verify => Column::value("VERIFY (once)").leave(1),
        Part::Transport => column.leave(2),
        Part::Scdaemon => column.leave(3),
        Part::Agent => column.leave(4),
        Part::Gpg => column.leave(5),
        Part::Card => column.leave(6),
        Part::ProgramStart | Part::KeyLoad | Part::Operation | Part::Rest => column.leave(6),
        Part::Calls => Column::value("PC/SC calls (transport and card)").leave(6),
    }
}

/// Twins beside what was published.
pub(super) fn twins(pairs: &[(&Row, &PublishedFigure)]) -> Table {
    let mut table = Table::new(vec![
        Column::name("algorithm"),
        Column::name("operation"),
        Column::device(),
        Column::value("card time").leave(0),
        Column::value("twin"),
        Column::value("published"),
        Column::value("twin/published"),
        Column::provenance(),
    ]);
    table.rows = pairs
        .iter()
        .filter_map(|(row, figure)| {
            let mean = row.mean()?;
            let cells = vec![
                Cell::text(row.case.algorithm),
                Cell::text(row.case.operation),
                Cell::Duration(figure.card),
                Cell::Duration(mean),
                Cell::Duration(figure.whole),
                Cell::Ratio(Ratio(mean.0 / figure.whole.0)),
            ];
            Some(TableRow::of(&row.case, cells))
        })
        .collect();
    table
}

/// More concurrencies than this are no table that anybody reads.
const LEVELS: usize = 16;

/// The concurrencies that have a column, and how many there are. Of too many some are picked at equal
/// distances, the highest among them.
pub(super) fn levels(scaling: &[Scaling]) -> (Vec<u32>, usize) {
    let gains = scaling.iter().flat_map(|group| group.gains.iter().skip(1));
    let all: BTreeSet<u32> = gains.map(|(concurrency, _)| *concurrency).collect();
    let count = all.len();
    let step = count.div_ceil(LEVELS).max(1);
    let mut picked: Vec<u32> = all.into_iter().rev().step_by(step).collect();
    picked.reverse();
    (picked, count)
}

/// What concurrency gains and what limits it.
pub(super) fn scaling(scaling: &[Scaling]) -> Table {
    let (levels, _) = levels(scaling);
    let mut columns = case_columns();
    // The highest concurrency says most.
    let ranked = levels.iter().zip(5..);
    columns.extend(
        ranked.map(|(level, rank)| Column::value(format!("c={level}")).shorten(2).leave(rank)),
    );
    let shown = Shown {
        levels,
        server: server_name(scaling),
        law: scaling.iter().any(Scaling::has_levels_of_a_law),
    };
    let server = shown.server.iter();
    columns.extend(server.map(|name| Column::value(format!("{name}'s bound")).leave(3)));
    columns.extend([
        Column::value("cores' bound").leave(2),
        Column::value("limit"),
    ]);
    if shown.law {
        columns.push(Column::value("serial share σ").shorten(1).leave(4));
        columns.push(Column::value("coherency κ").shorten(0).leave(4));
    }
    columns.push(Column::provenance());
    let mut table = Table::new(columns);
    table.rows = scaling
        .iter()
        .map(|group| TableRow::of(&group.case, scaling_cells(group, &shown)))
        .collect();
    table
}

/// What has a column in the table of scaling.
struct Shown {
    levels: Vec<u32>,
    /// What workers queue for, if that is a server.
    server: Option<&'static str>,
    law: bool,
}

fn scaling_cells(group: &Scaling, shown: &Shown) -> Vec<Cell> {
    let gains = &group.gains;
    let mut cells = case_cells(&group.case);
    if let (Worker::Process, Some(way)) = (group.case.load.worker, cells.last_mut()) {
        *way = Cell::Text(group.way());
    }
    cells.extend(shown.levels.iter().map(|level| {
        let gain = gains.iter().find(|(c, _)| c == level);
        Cell::or_missing(gain, |(_, gain)| Cell::GainEstimate(*gain))
    }));
    let bound = |bound: fn(&Bounds) -> Option<Ratio>| {
        Cell::or_missing(group.bounds.as_ref().and_then(bound), Cell::Gain)
    };
    cells.extend(shown.server.map(|_| bound(Bounds::by_server)));
    cells.extend([
        bound(|bounds| Some(bounds.by_cores())),
        Cell::or_missing(group.limit(), Cell::text),
    ]);
    match &group.law {
        _ if !shown.law => {}
        Ok(law) if law.rejected() => cells.extend([Cell::text("does not fit"), Cell::Missing]),
        Ok(law) => cells.extend([law.sigma, law.kappa].map(|p| Cell::ShareEstimate(p.map(Ratio)))),
        Err(_) => cells.extend([Cell::Missing, Cell::Missing]),
    }
    cells
}

/// By its name where all groups queue for the same.
fn server_name(scaling: &[Scaling]) -> Option<&'static str> {
    let mut names = scaling
        .iter()
        .filter_map(|group| Some(group.bounds.as_ref()?.server.as_ref()?.0.name));
    let first = names.next()?;
    Some(if names.all(|name| name == first) {
        first
    } else {
        "server"
    })
}
