//! Sections about servers: their limits, their rates compared, the loss of one, and what failed.
//!
//! A rate is compared with that of the case that differs in one thing, as families compare theirs. Loads take their turns
//! one after the other, so that both sides are independent.

use std::cmp::Reverse;
use std::collections::HashSet;

use itertools::Itertools;
use keymark_bench::{Case, CaseRecord, Comparison, Record, ServerLoad, Times};
use keymark_stats::{Estimate, Ratio, independent_gain};

use super::tables::{handshakes, loaded};
use super::{Analysis, Row, windows};
use crate::non_empty;
use crate::units::counted;
use crate::{Block, Cell, RemarkKind, Section, Table};

impl Analysis {
    pub(crate) fn servers(&self) -> Vec<Section> {
        let limits = saturated(&self.rows);
        let lost = lost(&self.rows);
        let rates = self
            .rates
            .iter()
            .map(|rates| section(rates.heading, rates_beside(&self.rows, rates)));
        // The searched limits do not come next to the handshakes per second, but before them.
        let mut limits = section(
            "limits of servers: the best rate over users, and the fewest users that reach 95 % of it (the knee)",
            limits,
        );
        let exceeded = loaded(&self.rows)
            .filter(|(_, load)| load.saturated.is_some_and(|found| found.exceeded));
        if let (Some(limits), number @ 1..) = (&mut limits, exceeded.count()) {
            let text = format!(
                "{}: the search saw higher rates than the best rate measured afterwards; they are left out. The machine \
                 was slower by then. Measure again when it is idle",
                counted(number, "server")
            );
            limits.blocks.push(Block::remark(RemarkKind::Basis, text));
        }
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
        .value("users", |(_, found)| found.best_users)
        .value("knee: users", |(_, found)| found.knee_users)
        .optional(2, "its rate", |(_, found)| found.knee_rate)
        .optional(3, "rate within the limit", |(_, found)| found.within_limit)
        .optional(1, "loads", |(_, found)| found.loads)
        .provenance(|(row, _)| row.case.provenance)
        .table()
}

fn rates_beside(rows: &[Row], rates: &Rates) -> Table {
    let known = rates
        .relative
        .iter()
        .filter_map(|rate| Some((rows.get(rate.case)?, rate)));
    let (heading, times): (_, fn(Estimate<Ratio>) -> _) = match rates.times {
        Times::Cost => ("cost (95 % interval)", |gain| gain.inverse()),
        Times::Gain => ("gain (95 % interval)", |gain| gain),
    };
    handshakes(known, |(row, _)| &row.case)
        .value("rate (95 % interval)", |(row, _)| row.throughput)
        .value(heading, |(_, rate)| match times(rate.gain) {
            times if rate.case == rate.beside => Cell::gain(times.value),
            times => Cell::gain(times),
        })
        .optional(1, "server CPU", |(row, _)| {
            row.under_load.as_ref()?.server_cpu_each()
        })
        .provenance(|(row, _)| row.case.provenance)
        .table()
}

fn lost(rows: &[Row]) -> Table {
    let lost = loaded(rows).filter_map(|(row, load)| Some((row, load.loss?)));
    handshakes(lost, |(row, _)| &row.case)
        .value("rate before", |(_, loss)| loss.before)
        .value("failed", |(_, loss)| loss.failed)
        .value("for at most", |(_, loss)| loss.lasted)
        .value("rate after", |(_, loss)| loss.after)
        .provenance(|(row, _)| row.case.provenance)
        .table()
}

/// Rates of cases over those that they are compared with, as a family compares its cases.
#[derive(Debug, Clone, PartialEq)]
pub struct Rates {
    /// Heading of their table.
    pub heading: &'static str,
    /// Wording of quotients.
    pub times: Times,
    /// Cases in the plan's order.
    pub relative: Vec<RelativeRate>,
}

/// The rate of a case over the one that it is compared with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RelativeRate {
    /// Place of the case in the plan.
    pub case: usize,
    /// Place of the case that it is compared with; its own where it is that one.
    pub beside: usize,
    /// The quotient.
    pub gain: Estimate<Ratio>,
}

/// Returns the rate of each case over that of its counterpart, counterparts included.
pub(super) fn relative<'c>(
    cases: &[CaseRecord],
    comparisons: impl Iterator<Item = &'c Comparison>,
    seed: u64,
) -> Vec<Rates> {
    let all_windows: Vec<_> = cases.iter().map(windows).collect();
    let gain = |(case, beside): (usize, usize)| {
        let gain = independent_gain(&all_windows[case], &all_windows[beside], seed)?;
        Some(RelativeRate {
            case,
            beside,
            gain: if case == beside {
                gain.map(|_| Ratio(1.0))
            } else {
                gain
            },
        })
    };
    let rates = comparisons.map(|comparison| Rates {
        heading: comparison.heading,
        times: comparison.times,
        relative: pairs(cases, comparison)
            .into_iter()
            .filter_map(gain)
            .collect(),
    });
    rates.collect()
}

/// Each case with the one that it is compared with.
fn pairs(cases: &[CaseRecord], comparison: &Comparison) -> Vec<(usize, usize)> {
    let pairs = cases.iter().enumerate().filter_map(|(index, record)| {
        let wanted = Case {
            parameters: (comparison.beside)(&record.case.parameters)?,
            ..record.case.clone()
        };
        Some((index, cases.iter().position(|other| other.case == wanted)?))
    });
    let pairs: Vec<(usize, usize)> = pairs.collect();
    // Alone it tells nothing.
    let compared = pairs.iter().filter(|(one, other)| one != other);
    let compared: HashSet<usize> = compared.map(|(_, beside)| *beside).collect();
    let told = pairs.iter().filter(|(_, beside)| compared.contains(beside));
    told.copied().collect()
}

/// Lines of a log; the record has more.
const LINES: usize = 8;

/// Returns the failures of loads.
pub(crate) fn failed(record: &Record) -> Option<Section> {
    let loads = record
        .cases
        .iter()
        .filter_map(|case| Some((case, case.server_load.as_deref()?)));
    let failed = loads.filter(|(case, load)| case.failure().is_some() || load.totals.failed > 0);
    let blocks = non_empty(failed.flat_map(|(case, load)| about(case, load)))?;
    Some(Section::headed("what failed under load", blocks))
}

fn about(case: &CaseRecord, load: &ServerLoad) -> Vec<Block> {
    let line = |text: String| Block::remark(RemarkKind::Elsewhere, text);
    let classes = load.failures().into_iter();
    let classes = classes.sorted_by_key(|(_, count)| Reverse(*count));
    let mut words = classes.map(|(class, count)| format!("{count} {class}"));
    let words = words.join(", ");
    let mut blocks = Vec::new();
    if !words.is_empty() {
        let all = load.totals.failed + load.totals.transactions;
        blocks.push(line(format!(
            "{}: {} of {all} failed: {}",
            case.case, load.totals.failed, words
        )));
    }
    let end = &load.log[load.log.len().saturating_sub(LINES)..];
    if !end.is_empty() {
        blocks.push(line(format!("{}: the server's log ends:", case.case)));
        blocks.extend(end.iter().map(|text| line(format!("  {text}"))));
    }
    blocks
}

#[cfg(test)]
mod tests {
    use keymark_bench::case::{Parameters, StackName, USUAL};
    use keymark_testkit::record::{batch, case, server_load};
    use keymark_testkit::{assert_says, assert_silent};

    use super::*;

    const COLOUR: Comparison = Comparison {
        heading: "what colors cost",
        times: Times::Cost,
        beside: |own| {
            own.get("colour")?;
            Some(own.clone().replaced("colour", "grey"))
        },
    };
    const NUMBER: Comparison = Comparison {
        heading: "what more of them bring",
        times: Times::Gain,
        beside: |own| {
            own.get("number")?;
            Some(own.clone().replaced("number", "1"))
        },
    };

    fn loaded(colour: &str, number: &str, completed: u64) -> CaseRecord {
        let mut load = server_load();
        let steady = load.steady.as_mut().unwrap();
        let of = |part| batch(part, completed + u64::from(part % 2), 1_000_000_000);
        steady.batches = (0..20).map(of).collect();
        let of = Case {
            parameters: Parameters::from([("colour", colour), ("number", number)]),
            ..case("rsa2048", StackName::of("server"))
        };
        CaseRecord {
            server_load: Some(Box::new(load)),
            ..CaseRecord::new(of)
        }
    }

    #[test]
    fn rates_stand_beside_the_case_that_differs_in_one_thing() {
        let cases = [
            loaded("red", USUAL, 50),
            loaded("grey", USUAL, 100),
            loaded("red", "1", 40),
            loaded("red", "4", 120),
        ];
        let rates = relative(&cases, [COLOUR, NUMBER].iter(), 1);
        let told = |rates: &Rates| -> Vec<_> {
            rates
                .relative
                .iter()
                .map(|rate| (rate.case, rate.beside))
                .collect()
        };
        assert_eq!(rates[0].heading, COLOUR.heading);
        assert_eq!(told(&rates[0]), [(0, 1), (1, 1)]);
        assert_eq!(told(&rates[1]), [(2, 2), (3, 2)]);
        let half = rates[0].relative[0].gain;
        assert!((half.value.0 - 50.5 / 100.5).abs() < 1e-9, "{half:?}");
        assert!(half.low.unwrap().0 > 0.49 && half.high.unwrap().0 < 0.52);
        assert_eq!(rates[0].relative[1].gain.value, Ratio(1.0));
        assert!((rates[1].relative[1].gain.value.0 - 120.5 / 40.5).abs() < 1e-9);
    }

    #[test]
    fn other_sizes_are_no_comparison() {
        let mut other = loaded("grey", USUAL, 100);
        other.case.algorithm = "rsa3072".parse().unwrap();
        let cases = [loaded("red", USUAL, 50), other];
        assert_eq!(relative(&cases, [COLOUR].iter(), 1)[0].relative, []);
    }

    #[test]
    fn failures_are_told_by_class_and_the_end_of_the_log_behind_them() {
        let mut load = server_load();
        load.log = (0..20).map(|number| format!("line {number}")).collect();
        let mut record = CaseRecord::new(case("rsa2048", StackName::of("nginx")));
        record.server_load = Some(Box::new(load.clone()));
        let said = format!("{:?}", about(&record, &load));
        assert_says(
            &said,
            ["3 of 12 failed: 3 handshake timeout", "line 12", "line 19"],
        );
        assert_silent(&said, ["line 11"]);
    }
}
