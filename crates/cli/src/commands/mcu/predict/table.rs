//! The tables of `keymark mcu predict`.

use std::collections::BTreeSet;
use std::time::Duration;

use keymark_mcu::predict::Prediction;
use keymark_mcu::sensitivity::Assumption;
use keymark_mcu::timing::{CacheUse, Stall};
use keymark_report::units;

use super::hit_rate;
use crate::args::PredictArguments;
use crate::commands::mcu::count;
use crate::output::{self, Column, column};

/// More predictions than this have a line each, without where their cycles went.
const MOST_COLUMNS: usize = 5;

/// A row of the table with a column a prediction, and a column of that with a line each.
type Line<'a> = Column<'a, &'a Prediction>;

/// A table with a column a prediction, or of many with a line each.
pub(super) fn print(predictions: &[&Prediction], arguments: &PredictArguments) {
    let Some(first) = predictions.first() else {
        return;
    };
    output::heading(&format!(
        "{} (predicted; no device was measured)",
        first.kernel
    ));
    let name = column("prediction", |one: &&Prediction| one.name());
    let mut lines = head(first, arguments.tolerance);
    if predictions.len() > MOST_COLUMNS {
        lines.insert(0, name);
        output::table(1, predictions.iter().copied(), &lines);
        output::line(&format!(
            "for up to {MOST_COLUMNS} predictions the table shows where their cycles go and what --sensitivity adds; \
             --json always does"
        ));
    } else {
        lines.extend(phases(first));
        lines.extend(details(predictions));
        if arguments.sensitivity {
            lines.extend(sensitivity(predictions));
        }
        let mut columns = vec![column("", |(heading, _): &&Line<'_>| heading.clone())];
        columns.extend(predictions.iter().map(|prediction| {
            column(prediction.name(), move |(_, cell): &&Line<'_>| {
                cell(prediction)
            })
        }));
        output::table(1, &lines, &columns);
    }
    output::line("");
}

fn head<'a>(first: &Prediction, tolerance: Duration) -> Vec<Line<'a>> {
    let first = first.seconds().0;
    let sure = move |prediction: &&Prediction| {
        let band = prediction.band();
        let limit = tolerance.as_secs_f64();
        match (band.high.0 <= limit, band.low.0 <= limit) {
            (true, _) => "yes",
            (false, true) => "perhaps",
            (false, false) => "no",
        }
        .to_owned()
    };
    vec![
        column("clock", |p: &&Prediction| p.target.mcu.clock.to_string()),
        column("time", |p| units::duration(p.seconds())),
        column("band of the assumptions", |p| {
            let [low, high] = [p.band().low, p.band().high].map(units::duration);
            format!("{low} – {high}")
        }),
        column(format!("under {}", units::chosen(tolerance)), sure),
        column("speed-up", move |p| format!("{:.2}", first / p.seconds().0)),
        column("cycles", |p| count(p.cycles())),
        column("instructions", |p| count(p.account.instructions())),
        column("cycles an instruction", |p| {
            let instructions = p.account.instructions().max(1);
            format!("{:.2}", p.cycles() as f64 / instructions as f64)
        }),
    ]
}

fn phases<'a>(first: &Prediction) -> Vec<Line<'a>> {
    if first.phases.len() < 2 {
        return Vec::new();
    }
    let line = |number| {
        let name = format!("cycles: {}", first.kernel.phase_name(number));
        column(name, move |prediction: &&Prediction| {
            let phases = prediction.phases.iter();
            let its = phases.filter(|phase| phase.number == number);
            count(its.map(|phase| phase.account.cycles()).sum())
        })
    };
    first
        .phases
        .iter()
        .map(|phase| line(phase.number))
        .collect()
}

/// Instructions by class, stalls by cause, hit rates; lines that are empty everywhere are left out.
fn details<'a>(predictions: &[&Prediction]) -> Vec<Line<'a>> {
    let anywhere =
        |number: &dyn Fn(&Prediction) -> u64| predictions.iter().any(|one| number(one) > 0);
    let mut lines: Vec<Line<'a>> = Vec::new();
    let classes = predictions.first().map(|first| first.account.kinds());
    for (index, (name, _)) in classes.into_iter().flatten().enumerate() {
        let number = move |p: &Prediction| p.account.kinds()[index].1.count;
        if anywhere(&number) {
            lines.push(column(format!("instructions: {name}"), move |p| {
                count(number(p))
            }));
        }
    }
    lines.push(column("IT that took no cycle", |p| {
        count(p.account.folded())
    }));
    for &stall in Stall::ALL {
        let number = move |p: &Prediction| p.account.stall(stall);
        if anywhere(&number) {
            lines.push(column(format!("stalls: {}", stall.name()), move |p| {
                count(number(p))
            }));
        }
    }
    let caches: [(&str, fn(&Prediction) -> CacheUse); 2] = [
        ("hits: instruction cache", |p| p.account.instruction_cache),
        ("hits: data cache", |p| p.account.data_cache),
    ];
    for (name, usage) in caches {
        if anywhere(&|p| usage(p).lookups) {
            lines.push(column(name, move |p| {
                let rate = hit_rate(usage(p));
                rate.map_or_else(|| "-".to_owned(), |rate| format!("{:.1} %", 100.0 * rate))
            }));
        }
    }
    lines
}

/// The time with each assumption varied, against the prediction.
fn sensitivity<'a>(predictions: &[&Prediction]) -> Vec<Line<'a>> {
    let varied = predictions.iter().flat_map(|one| &one.variations);
    let assumptions: BTreeSet<_> = varied.map(|(assumption, _)| *assumption).collect();
    let line = |assumption: Assumption| {
        let remark = if assumption.is_doubt() {
            ""
        } else {
            " (not in the band)"
        };
        let name = format!("if: {}{remark}", assumption.name());
        column(name, move |prediction: &&Prediction| {
            let mut variations = prediction.variations.iter();
            let found = variations.find(|(other, _)| *other == assumption);
            found.map_or_else(
                || "-".to_owned(),
                |(_, cycles)| {
                    let ratio = *cycles as f64 / prediction.cycles() as f64;
                    format!("{:+.1} %", 100.0 * (ratio - 1.0))
                },
            )
        })
    };
    assumptions.into_iter().map(line).collect()
}
