//! The tables of `keymark mcu predict`.

use std::time::Duration;

use keymark_mcu::predict::Prediction;
use keymark_mcu::timing::{CacheUse, Stall};
use keymark_report::TableOf;
use keymark_report::units;

use super::hit_rate;
use crate::args::PredictArguments;
use crate::commands::mcu::count;
use crate::output;

/// More predictions than this have a line each, without where their cycles went.
const MOST_COLUMNS: usize = 5;

/// A row of the table with a column a prediction, and a column of that with a line each.
struct PredictionLine {
    name: String,
    cell: Box<dyn Fn(&Prediction) -> String>,
}

fn line(name: impl Into<String>, cell: impl Fn(&Prediction) -> String + 'static) -> PredictionLine {
    PredictionLine {
        name: name.into(),
        cell: Box::new(cell),
    }
}

/// A table with a column a prediction, or of many with a line each.
pub(super) fn print(predictions: &[&Prediction], arguments: &PredictArguments) {
    let Some(first) = predictions.first() else {
        return;
    };
    output::heading(&format!(
        "{} (predicted; no device was measured)",
        first.kernel
    ));
    let mut lines = head(first, arguments.tolerance);
    if predictions.len() > MOST_COLUMNS {
        let mut table = TableOf::new(predictions).name("prediction", |one| one.name());
        for line in &lines {
            table = table.value(line.name.as_str(), |one| (line.cell)(one));
        }
        output::table(table);
        output::line(&format!(
            "for up to {MOST_COLUMNS} predictions the table shows where their cycles go; --format json always does"
        ));
    } else {
        lines.extend(phases(first));
        lines.extend(details(predictions));
        let mut table = TableOf::new(&lines).name("", |line| line.name.as_str());
        for prediction in predictions {
            table = table.value(prediction.name(), |line| (line.cell)(prediction));
        }
        output::table(table);
    }
    output::line("");
}

fn head(first: &Prediction, tolerance: Duration) -> Vec<PredictionLine> {
    let first = first.seconds().0;
    let sure = move |prediction: &Prediction| {
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
        line("clock", |p| p.target.mcu.clock.to_string()),
        line("time", |p| units::duration(p.seconds())),
        line("band of the assumptions", |p| {
            let [low, high] = [p.band().low, p.band().high].map(units::duration);
            format!("{low} – {high}")
        }),
        line(format!("under {}", units::chosen(tolerance)), sure),
        line("speed-up", move |p| format!("{:.2}", first / p.seconds().0)),
        line("cycles", |p| count(p.cycles())),
        line("instructions", |p| count(p.account.instructions())),
        line("cycles an instruction", |p| {
            let instructions = p.account.instructions().max(1);
            format!("{:.2}", p.cycles() as f64 / instructions as f64)
        }),
    ]
}

fn phases(first: &Prediction) -> Vec<PredictionLine> {
    if first.phases.len() < 2 {
        return Vec::new();
    }
    let of_phase = |number: u8| {
        let name = format!("cycles: {}", first.kernel.phase_name(number));
        line(name, move |prediction: &Prediction| {
            let its = prediction
                .phases
                .iter()
                .filter(|phase| phase.number == number);
            count(its.map(|phase| phase.account.cycles()).sum())
        })
    };
    first
        .phases
        .iter()
        .map(|phase| of_phase(phase.number))
        .collect()
}

/// Instructions by class, stalls by cause, hit rates; lines that are empty everywhere are left out.
fn details(predictions: &[&Prediction]) -> Vec<PredictionLine> {
    type Usage = fn(&Prediction) -> CacheUse;
    let anywhere =
        |number: &dyn Fn(&Prediction) -> u64| predictions.iter().any(|one| number(one) > 0);
    let mut lines: Vec<PredictionLine> = Vec::new();
    let classes = predictions.first().map(|first| first.account.kinds());
    for (index, (name, _)) in classes.into_iter().flatten().enumerate() {
        let number = move |p: &Prediction| p.account.kinds()[index].1.count;
        if anywhere(&number) {
            lines.push(line(format!("instructions: {name}"), move |p| {
                count(number(p))
            }));
        }
    }
    lines.push(line("IT that took no cycle", |p| count(p.account.folded())));
    for &stall in Stall::ALL {
        let number = move |p: &Prediction| p.account.stall(stall);
        if anywhere(&number) {
            lines.push(line(format!("stalls: {}", stall.name()), move |p| {
                count(number(p))
            }));
        }
    }
    let caches: [(&str, Usage); 2] = [
        ("hits: instruction cache", |p| p.account.instruction_cache),
        ("hits: data cache", |p| p.account.data_cache),
    ];
    for (name, usage) in caches {
        if anywhere(&|p| usage(p).lookups) {
            lines.push(line(name, move |p| {
                let rate = hit_rate(usage(p));
                rate.map_or_else(|| "-".to_owned(), |rate| format!("{:.1} %", 100.0 * rate))
            }));
        }
    }
    lines
}
