//! Sections about servers: their limits, their rates beside one another, the loss of one.

use keymark_bench::layers::Times;
use keymark_stats::{Estimate, Ratio};

use super::rates::Rates;
use super::tables::{handshakes, loaded};
use super::{Analysis, Row};
use crate::document::{Block, Cell, Section, Table};

impl Analysis {
    /// What there is of them.
    pub(crate) fn servers(&self) -> Vec<Section> {
        let limits = saturated(&self.rows);
        let lost = lost(&self.rows);
        let rates = self.rates.iter();
        let rates = rates.map(|rates| section(rates.heading, relative(&self.rows, rates)));
        // What was looked for is not beside the handshakes a second, but what they are for.
        let limits = section(
            "limits of servers: the best rate over users, and the fewest users that reach 95 % of it (the knee)",
            limits,
        );
        let lost = section(
            "a server is killed during the load: what failed from then on, and for how long",
            lost,
        );
        let first = [limits, lost].map(|section| section.map(Section::first));
        first.into_iter().chain(rates).flatten().collect()
    }
}

fn section(heading: &str, table: Table) -> Option<Section> {
    let some = !table.rows.is_empty();
    some.then(|| Section::headed(heading, vec![Block::Table(table)]))
}

fn saturated(rows: &[Row]) -> Table {
    let found = loaded(rows).filter_map(|(row, load)| Some((row, load.saturated?)));
    handshakes(found, |(row, _)| &row.case)
        .value("best rate (95 % interval)", |(row, _)| row.throughput)
        .shorten(3)
        .value("users", |(_, found)| found.best_users)
        .value("knee: users", |(_, found)| found.knee_users)
        .optional(2, "its rate", |(_, found)| found.knee_rate)
        .optional(3, "rate within the limit", |(_, found)| found.within_limit)
        .optional(1, "loads", |(_, found)| found.loads)
        .provenance()
        .table()
}

fn relative(rows: &[Row], rates: &Rates) -> Table {
    let each = rates.relative.iter();
    let known = each.filter_map(|rate| Some((rows.get(rate.case)?, rate)));
    let (heading, times): (_, fn(Estimate<Ratio>) -> _) = match rates.times {
        Times::Cost => ("cost (95 % interval)", inverse),
        Times::Gain => ("gain (95 % interval)", |gain| gain),
    };
    handshakes(known, |(row, _)| &row.case)
        .value("rate (95 % interval)", |(row, _)| row.throughput)
        .shorten(2)
        .value(heading, |(_, rate)| match times(rate.gain) {
            times if rate.case == rate.beside => Cell::Gain(times.value),
            times => Cell::GainEstimate(times),
        })
        .shorten(1)
        .optional(1, "server CPU", |(row, _)| {
            row.under_load.as_ref()?.server_cpu_each()
        })
        .provenance()
        .table()
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
    let lost = loaded(rows).filter_map(|(row, load)| Some((row, load.loss?)));
    handshakes(lost, |(row, _)| &row.case)
        .value("rate before", |(_, loss)| loss.before)
        .value("failed", |(_, loss)| loss.failed)
        .value("for at most", |(_, loss)| loss.lasted)
        .value("rate after", |(_, loss)| loss.after)
        .provenance()
        .table()
}
