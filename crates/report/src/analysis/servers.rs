//! Sections about servers: their limits, their rates beside one another, the loss of one.

use keymark_stats::{Estimate, Ratio};

use super::rates::{Difference, RelativeRate};
use super::tables::{load_cells, load_columns, loaded};
use super::{Analysis, Row, UnderLoad};
use crate::document::{Block, Cell, Column, Section, Table, TableRow};

impl Analysis {
    /// What there is of them.
    pub(super) fn servers(&self) -> Vec<Section> {
        let limits = saturated(&self.rows);
        let lost = lost(&self.rows);
        let rates = Difference::ALL.into_iter().map(|difference| {
            let rates = self
                .rates
                .iter()
                .filter(|rate| rate.difference == difference);
            (heading(difference), relative(&self.rows, rates, difference))
        });
        let all = [(
            "limits of servers: the best rate over users, and the fewest users that reach 95 % of it (the knee)",
            limits,
        )]
        .into_iter()
        .chain(rates)
        .chain([(
            "a server is killed during the load: what failed from then on, and for how long",
            lost,
        )]);
        all.filter(|(_, table)| !table.rows.is_empty())
            .map(|(heading, table)| Section::headed(heading, vec![Block::Table(table)]))
            .collect()
    }
}

const fn heading(difference: Difference) -> &'static str {
    match difference {
        Difference::KeyExchange => {
            "what key exchanges cost (times the RSA key exchange with that certificate)"
        }
        Difference::Servers => "throughput of several servers (times that of one)",
        Difference::Beside => "what a second certificate costs (times a single certificate)",
    }
}

fn saturated(rows: &[Row]) -> Table {
    let mut columns = load_columns();
    columns.extend([
        Column::value("best rate (95 % interval)").shorten(3),
        Column::value("users"),
        Column::value("knee: users"),
        Column::value("its rate").leave(2),
        Column::value("rate within the limit").leave(3),
        Column::value("loads").leave(1),
        Column::provenance(),
    ]);
    let mut table = Table::new(columns);
    table.rows = loaded(rows)
        .filter_map(|(row, load)| {
            let found = load.saturated?;
            let mut cells = load_cells(&row.case);
            cells.extend([
                Cell::or_missing(row.throughput, Cell::RateEstimate),
                Cell::Count(found.best_users.into()),
                Cell::Count(found.knee_users.into()),
                Cell::or_missing(found.knee_rate, Cell::Rate),
                Cell::or_missing(found.within_limit, Cell::Rate),
                Cell::Count(found.loads),
            ]);
            Some(TableRow::of(&row.case, cells))
        })
        .collect();
    table
}

fn relative<'r>(
    rows: &[Row],
    rates: impl Iterator<Item = &'r RelativeRate>,
    difference: Difference,
) -> Table {
    let mut columns = load_columns();
    columns.extend([
        Column::value("rate (95 % interval)").shorten(2),
        Column::value(match difference {
            Difference::KeyExchange | Difference::Beside => "cost (95 % interval)",
            Difference::Servers => "gain (95 % interval)",
        })
        .shorten(1),
        Column::value("server CPU").leave(1),
        Column::provenance(),
    ]);
    let mut table = Table::new(columns);
    table.rows = rates
        .filter_map(|rate| {
            let row = rows.get(rate.case)?;
            let times = match difference {
                Difference::KeyExchange | Difference::Beside => inverse(rate.gain),
                Difference::Servers => rate.gain,
            };
            let mut cells = load_cells(&row.case);
            cells.extend([
                Cell::or_missing(row.throughput, Cell::RateEstimate),
                if rate.case == rate.beside {
                    Cell::Gain(times.value)
                } else {
                    Cell::GainEstimate(times)
                },
                Cell::or_missing(
                    (row.under_load.as_ref()).and_then(UnderLoad::server_cpu_each),
                    Cell::Duration,
                ),
            ]);
            Some(TableRow::of(&row.case, cells))
        })
        .collect();
    table
}

/// Time over time, where the other is rate over rate.
fn inverse(gain: Estimate<Ratio>) -> Estimate<Ratio> {
    let over = |ratio: Ratio| Ratio(1.0 / ratio.0);
    Estimate {
        value: over(gain.value),
        low: gain.high.map(over),
        high: gain.low.filter(|low| low.0 > 0.0).map(over),
        ..gain
    }
}

fn lost(rows: &[Row]) -> Table {
    let mut columns = load_columns();
    columns.extend([
        Column::value("rate before"),
        Column::value("failed"),
        Column::value("for at most"),
        Column::value("rate after"),
        Column::provenance(),
    ]);
    let mut table = Table::new(columns);
    table.rows = loaded(rows)
        .filter_map(|(row, load)| {
            let loss = load.loss?;
            let mut cells = load_cells(&row.case);
            cells.extend([
                Cell::or_missing(loss.before, Cell::Rate),
                Cell::Count(loss.failed),
                Cell::Duration(loss.lasted),
                Cell::or_missing(loss.after, Cell::Rate),
            ]);
            Some(TableRow::of(&row.case, cells))
        })
        .collect();
    table
}
