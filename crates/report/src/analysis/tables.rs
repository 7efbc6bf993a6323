//! The tables of a run, and in words what the ratios of one are to.

use std::collections::BTreeSet;
use std::time::Duration;

use itertools::Itertools;
use keymark_bench::{Case, Part, Parts, Worker};
use keymark_stats::{PerSecond, Ratio, Seconds};

use super::{Breakdown, FamilyBreakdown, Layer, PublishedFigure, Row, Scaling, UnderLoad};
use crate::units;
use crate::{Answer, Cell, Column, Table, TableOf};

/// The main table.
pub(crate) fn rows(rows: &[Row], tolerance: Duration) -> Table {
    // A row and its baseline, which is another one.
    let compared = rows.iter().filter(|row| row.ratio.is_some());
    let pairs = compared.filter_map(|row| Some((row, rows.get(row.baseline?.0 as usize)?)));
    let pairs: Vec<(&Row, &Row)> = pairs.collect();
    // To itself alone nothing is compared.
    let is_compared = |row: &Row| {
        row.baseline.is_some() || pairs.iter().any(|(_, baseline)| baseline.id == row.id)
    };
    let ratio = format!("{} (95 % interval)", heading_of_ratios(&pairs));
    TableOf::cases(rows, |row| &row.case)
        .value("mean (95 % interval)", |row| mean(row))
        .optional(4, "median", |row| Some(row.summary.as_ref()?.median.value))
        .optional(5, "p99", |row| Some(row.summary.as_ref()?.p99?.value))
        .if_any()
        .optional(3, "bytes", |row| row.ending.as_ref()?.message_bytes)
        .if_any()
        .optional(1, "n", |row| row.n())
        .optional(6, ratio, |row| row.ratio.filter(|_| is_compared(row)))
        .optional(2, "op/s", |row| Some(row.throughput?.value))
        .optional(7, format!("≤ {}", units::chosen(tolerance)), |row| {
            row.tolerable(tolerance)
        })
        .unless_all(Answer::Yes)
        .provenance(|row| row.case.provenance)
        .table()
}

/// Loads on servers, as siege would have printed them.
pub(crate) fn siege(rows: &[Row]) -> Table {
    handshakes(loaded(rows), |(row, _)| &row.case)
        .value("transactions", |(_, load)| load.transactions)
        .value("availability", |(_, load)| {
            Cell::share(Ratio(load.availability / 100.0))
        })
        .optional(5, "response time", |(_, load)| load.response_time)
        .value("offered", |(row, _)| {
            let rate = row.case.load.pacing.rate()?;
            Some(PerSecond(rate.per_second()))
        })
        .if_any()
        .value("rate", |(_, load)| load.transaction_rate)
        .value("saturated", |(_, load)| {
            let yes = |is| if is { Answer::Yes } else { Answer::No };
            load.overrun.map(yes)
        })
        .if_any()
        .optional(6, "predicted", |(row, _)| row.predicted.map(|by| by.rate))
        .if_any()
        .optional(4, "concurrency", |(_, load)| Ratio(load.concurrency))
        .value("failed", |(_, load)| load.failed)
        .optional(2, "longest", |(_, load)| load.longest)
        .optional(1, "shortest", |(_, load)| load.shortest)
        .provenance(|(row, _)| row.case.provenance)
        .table()
}

/// Phases of transactions in the steady state, and processor time.
pub(crate) fn phases(rows: &[Row]) -> Table {
    handshakes(loaded(rows), |(row, _)| &row.case)
        .optional(1, "connect", |(_, load)| load.connect)
        .value("handshake", |(row, load)| {
            load.handshake.filter(|_| !row.is_service())
        })
        .if_any()
        .optional(2, "first byte", |(_, load)| load.first_byte)
        .value("whole", |(row, _)| row.mean())
        .optional(4, "predicted", |(row, _)| row.predicted.map(|by| by.mean))
        .if_any()
        .optional(3, "p95", |(_, load)| load.p95)
        .optional(2, "predicted", |(row, _)| row.predicted.map(|by| by.p95))
        .if_any()
        .value("resumed", |(_, load)| {
            (load.resumed.0 > 0.0).then(|| Cell::share(load.resumed))
        })
        .if_any()
        .value("full handshakes", |(row, load)| {
            let all = row.throughput.filter(|_| load.resumed.0 > 0.0)?;
            Some(all.map(|rate| PerSecond(rate.0 * (1.0 - load.resumed.0))))
        })
        .if_any()
        .value("server CPU", |(_, load)| load.server_cpu_each())
        .value("client CPU", |(_, load)| load.client_cpu_each())
        .provenance(|(row, _)| row.case.provenance)
        .table()
}

pub(super) fn loaded(rows: &[Row]) -> impl Iterator<Item = (&Row, &UnderLoad)> {
    rows.iter()
        .filter_map(|row| Some((row, row.under_load.as_ref()?)))
}

/// A table of cases that are all handshakes, which have a strength.
pub(super) fn handshakes<T>(
    items: impl IntoIterator<Item = T>,
    case: impl Fn(&T) -> &Case,
) -> TableOf<T> {
    TableOf::new(items)
        .name("algorithm", |item| case(item).algorithm)
        .name("device", |item| Cell::text(&case(item).device))
        .name("server", |item| case(item).way())
        .optional(1, "security", |item| case(item).strength.map(Cell::text))
}

pub(super) fn mean(row: &Row) -> Cell {
    if row.overload.is_some() {
        return Cell::text("overloaded");
    }
    match (&row.summary, &row.published, &row.failure) {
        (Some(summary), _, _) => summary.mean.into(),
        (None, Some(published), _) => published.mean.into(),
        (None, None, Some(_)) => Cell::text("failed"),
        (None, None, None) => Cell::Missing,
    }
}

/// Layers by subtraction.
pub(crate) fn breakdown(family: &FamilyBreakdown) -> Table {
    let layers = &family.layers;
    let table = TableOf::new(family.complete())
        .name("algorithm", |breakdown| breakdown.algorithm)
        .name("operation", |breakdown| breakdown.operation)
        .name("device", |breakdown| Cell::text(&breakdown.device))
        .value(layers.base.heading, |breakdown| Some(breakdown.base?.value));
    let taken = |index: &usize| {
        let mut lines = family.complete();
        lines.any(|line| line.steps.get(*index).is_some_and(Option::is_some))
    };
    // What leads to no other layer comes behind the sum that it is not in.
    let (aside, summed): (Vec<usize>, Vec<usize>) = (0..layers.steps.len())
        .filter(taken)
        .partition(|index| layers.is_aside(&layers.steps[*index]));
    let add = |table: TableOf<_>, index: usize| {
        let column = Column::value(layers.steps[index].heading).leave(2 + index as u8);
        table.column(column, |breakdown: &&Breakdown| {
            Some(match (*breakdown.steps.get(index)?)? {
                Layer::Adds(time) | Layer::Less(time) => Cell::from(time.value),
                Layer::AtMost(high) => Cell::at_most(high),
            })
        })
    };
    let whole = layers.whole.as_ref();
    let whole = whole.map(|whole| Column::value(whole.heading));
    let beside = layers.own_library.as_ref().filter(|_| family.has_beside());
    let beside = beside.map(|own| Column::value(own.beside.heading).leave(0));
    let share = Column::value(format!("{} share", layers.base.name)).leave(0);
    let table = { summed.into_iter().fold(table, add) }
        .maybe(whole, |breakdown| Some(breakdown.whole?.value))
        .column(share, |breakdown| breakdown.own_share().map(Cell::share))
        .maybe(beside, |breakdown| Some(breakdown.beside?.value));
    let table = aside.into_iter().fold(table, add);
    table.provenance(|breakdown| breakdown.provenance).table()
}

/// Parts of operations measured on the way.
pub(crate) fn parts(rows: &[Row], wanted: impl Fn(&Parts) -> bool) -> Table {
    // What the workers calculate bounds their gain, and is shown there.
    let is_shown = |part: &Part| *part != Part::Worker;
    let items = rows
        .iter()
        .filter_map(|row| Some((row, row.parts.as_ref()?)));
    let items = items.filter(|(_, parts)| wanted(parts) && parts.0.keys().any(is_shown));
    let items: Vec<(&Row, &Parts)> = items.collect();
    let had = |part: &&Part| {
        let mut parts = items.iter().map(|(_, parts)| parts);
        is_shown(part) && parts.any(|parts| parts.0.contains_key(*part))
    };
    let table = TableOf::cases(&items, |(row, _)| &row.case);
    let add = |table: TableOf<_>, part: &Part| {
        table.column(part_column(*part), |(_, parts): &&(&Row, &Parts)| {
            let time = parts.0.get(part)?.mean_s;
            // A remainder below nothing says by how much the clocks of the others are wrong.
            Some(if time.0 < 0.0 {
                Cell::at_most(Seconds(-time.0))
            } else {
                time.into()
            })
        })
    };
    let shown = Part::ALL.iter().filter(had);
    shown
        .fold(table, add)
        .provenance(|(row, _)| row.case.provenance)
        .table()
}

/// Returns a part's column; small parts leave first.
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

/// Twins compared with published figures.
pub(crate) fn twins(pairs: &[(&Row, &PublishedFigure)]) -> Table {
    let known = pairs
        .iter()
        .filter_map(|(row, figure)| Some((*row, *figure, row.mean()?)));
    TableOf::keys(known, |(row, ..)| &row.case)
        .optional(0, "card time", |(_, figure, _)| figure.card)
        .value("twin", |(.., mean)| *mean)
        .value("published", |(_, figure, _)| figure.whole)
        .value("twin/published", |(_, figure, mean)| {
            Ratio(mean.0 / figure.whole.0)
        })
        .provenance(|(row, ..)| row.case.provenance)
        .table()
}

/// Gains by more workers and their limit.
pub(crate) fn scaling(scaling: &[Scaling]) -> Table {
    let way = |group: &&Scaling| match group.case.load.worker {
        Worker::Process => group.way(),
        Worker::Thread => group.case.way(),
    };
    let mut table = TableOf::keys(scaling, |group| &group.case).name("stack", way);
    let gains = scaling.iter().flat_map(|group| group.gains.iter().skip(1));
    let levels: BTreeSet<u32> = gains.map(|(workers, _)| *workers).collect();
    // The most workers say most.
    for (level, rank) in levels.into_iter().zip(5..=u8::MAX) {
        let column = Column::value(format!("w={level}")).leave(rank);
        table = table.column(column, |group| {
            let gain = group.gains.iter().find(|(workers, _)| *workers == level);
            gain.map(|(_, gain)| Cell::gain(*gain))
        });
    }
    let server = server_name(scaling).map(|name| Column::value(format!("{name}'s bound")).leave(3));
    let law = scaling.iter().any(Scaling::has_levels_of_a_law);
    let parameter = |name: &str| law.then(|| Column::value(name).leave(4));
    table
        .maybe(server, |group| {
            group.bounds.as_ref()?.by_server().map(Cell::gain)
        })
        .optional(2, "cores' bound", |group| {
            Some(Cell::gain(group.bounds.as_ref()?.by_cores()))
        })
        .value("limit", |group| group.limit().map(Cell::text))
        .maybe(parameter("serial share σ"), |group| match &group.law {
            Ok(law) if law.rejected() => Cell::text("does not fit"),
            Ok(law) => Cell::share(law.sigma.map(Ratio)),
            Err(_) => Cell::Missing,
        })
        .maybe(parameter("coherency κ"), |group| match &group.law {
            Ok(law) if !law.rejected() => Cell::share(law.kappa.map(Ratio)),
            Ok(_) | Err(_) => Cell::Missing,
        })
        .provenance(|group| group.case.provenance)
        .table()
}

/// Returns the server's name if all groups have the same.
fn server_name(scaling: &[Scaling]) -> Option<&'static str> {
    let names = scaling
        .iter()
        .filter_map(|group| Some(group.bounds.as_ref()?.server.as_ref()?.0.name));
    match names.unique().collect_vec().as_slice() {
        [] => None,
        [only] => Some(only),
        _ => Some("server"),
    }
}

/// More baselines than this are not named: the rows say 1.00 themselves.
const NAMED: usize = 1;

/// `ratio to rsa2048`, `ratio to raw`: how baselines differ from the rows that are compared with them.
fn heading_of_ratios(pairs: &[(&Row, &Row)]) -> String {
    type Axis = fn(&Case) -> String;
    let axes: [Axis; 4] = [
        |case| case.algorithm.to_string(),
        |case| case.device.to_string(),
        |case| {
            let besides = case.parameters.remark().map(|word| format!(" {word}"));
            format!("{}{}", case.stack, besides.unwrap_or_default())
        },
        |case| format!("w={}", case.workers()),
    ];
    let words = axes.iter().filter_map(|axis| {
        let both = pairs
            .iter()
            .map(|(row, baseline)| (axis(&row.case), axis(&baseline.case)));
        let told = both.clone().any(|(row, baseline)| row != baseline);
        let words: BTreeSet<String> = both.map(|(_, baseline)| baseline).collect();
        (told && words.len() <= NAMED).then(|| format!(" {}", words.iter().join(" or ")))
    });
    match words.collect::<String>().as_str() {
        "" => "ratio".to_owned(),
        words => format!("ratio to{words}"),
    }
}
