//! The tables of `keymark mcu predict`.

use keymark_mcu::predict::Prediction;
use keymark_mcu::timing::{CacheUse, Stall};
use keymark_report::render::text;
use keymark_report::units;

use super::hit_rate;
use crate::args::PredictArguments;
use crate::commands::mcu::count;
use crate::output;

/// More predictions than this have a line each, without where their cycles went.
const MOST_COLUMNS: usize = 5;

/// A table with a column a prediction.
pub(super) fn print(predictions: &[&Prediction], arguments: &PredictArguments) {
    let Some(first) = predictions.first() else {
        return;
    };
    output::heading(&format!(
        "{} (predicted; no device was measured)",
        first.kernel
    ));
    if predictions.len() > MOST_COLUMNS {
        print_lines(predictions, arguments);
        return;
    }
    let mut names = vec![String::new()];
    names.extend(predictions.iter().map(|prediction| prediction.name()));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut rows = head_rows(predictions, arguments);
    rows.extend(phase_rows(predictions));
    rows.extend(detail_rows(predictions));
    if arguments.sensitivity {
        rows.extend(sensitivity_rows(predictions));
    }
    output::print(&text::plain(&names, 1, rows));
    output::line("");
}

/// A table with a line a prediction: the head of the other, turned.
fn print_lines(predictions: &[&Prediction], arguments: &PredictArguments) {
    let head = head_rows(predictions, arguments);
    let names: Vec<&str> = ["prediction"]
        .into_iter()
        .chain(head.iter().map(|row| row[0].as_str()))
        .collect();
    let rows = predictions.iter().enumerate().map(|(index, prediction)| {
        [prediction.name()]
            .into_iter()
            .chain(head.iter().map(|row| row[index + 1].clone()))
            .collect()
    });
    output::print(&text::plain(&names, 1, rows.collect()));
    output::line(&format!(
        "for up to {MOST_COLUMNS} predictions the table shows where their cycles go and what --sensitivity adds; \
         --json always does"
    ));
    output::line("");
}

fn line(
    name: &str,
    predictions: &[&Prediction],
    cell: impl Fn(&Prediction) -> String,
) -> Vec<String> {
    [name.to_owned()]
        .into_iter()
        .chain(predictions.iter().map(|prediction| cell(prediction)))
        .collect()
}

fn head_rows(predictions: &[&Prediction], arguments: &PredictArguments) -> Vec<Vec<String>> {
    let first = predictions
        .first()
        .map_or(0.0, |prediction| prediction.seconds().0);
    let tolerance = arguments.tolerance;
    let under = format!("under {}", units::chosen(tolerance));
    let sure = |prediction: &Prediction| {
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
        line("clock", predictions, |p| p.target.mcu.clock.to_string()),
        line("time", predictions, |p| units::duration(p.seconds())),
        line("band of the assumptions", predictions, |p| {
            let band = p.band();
            format!(
                "{} – {}",
                units::duration(band.low),
                units::duration(band.high)
            )
        }),
        line(&under, predictions, sure),
        line("speed-up", predictions, |p| {
            format!("{:.2}", first / p.seconds().0)
        }),
        line("cycles", predictions, |p| count(p.cycles())),
        line("instructions", predictions, |p| {
            count(p.account.instructions())
        }),
        line("cycles an instruction", predictions, |p| {
            format!(
                "{:.2}",
                p.cycles() as f64 / p.account.instructions().max(1) as f64
            )
        }),
    ]
}

fn phase_rows(predictions: &[&Prediction]) -> Vec<Vec<String>> {
    let numbers = predictions.first().map_or(&[][..], |first| &first.phases);
    if numbers.len() < 2 {
        return Vec::new();
    }
    numbers
        .iter()
        .map(|phase| {
            let name = format!("cycles: {}", predictions[0].kernel.phase_name(phase.number));
            line(&name, predictions, |prediction| {
                let cycles = prediction
                    .phases
                    .iter()
                    .filter(|other| other.number == phase.number)
                    .map(|other| other.account.cycles())
                    .sum();
                count(cycles)
            })
        })
        .collect()
}

/// Instructions by class, stalls by cause, hit rates; lines that are empty everywhere are left out.
fn detail_rows(predictions: &[&Prediction]) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    let kinds: Vec<_> = predictions
        .iter()
        .map(|prediction| prediction.account.kinds())
        .collect();
    for (index, (name, _)) in kinds.iter().take(1).flatten().enumerate() {
        let counts = kinds.iter().map(|kinds| kinds[index].1.count);
        if counts.clone().any(|instructions| instructions > 0) {
            let cells = counts.map(count);
            rows.push(
                [format!("instructions: {name}")]
                    .into_iter()
                    .chain(cells)
                    .collect(),
            );
        }
    }
    rows.push(line("IT that took no cycle", predictions, |p| {
        count(p.account.folded())
    }));
    for &stall in Stall::ALL {
        if predictions
            .iter()
            .any(|prediction| prediction.account.stall(stall) > 0)
        {
            rows.push(line(
                &format!("stalls: {}", stall.name()),
                predictions,
                |p| count(p.account.stall(stall)),
            ));
        }
    }
    for (name, usage) in [
        (
            "hits: instruction cache",
            (|p| p.account.instruction_cache) as fn(&Prediction) -> CacheUse,
        ),
        ("hits: data cache", |p| p.account.data_cache),
    ] {
        if predictions
            .iter()
            .any(|prediction| usage(prediction).lookups > 0)
        {
            rows.push(line(name, predictions, |p| {
                hit_rate(usage(p))
                    .map_or_else(|| "-".to_owned(), |rate| format!("{:.1} %", 100.0 * rate))
            }));
        }
    }
    rows
}

/// The time with each assumption varied, against the prediction.
fn sensitivity_rows(predictions: &[&Prediction]) -> Vec<Vec<String>> {
    let mut assumptions: Vec<_> = predictions
        .iter()
        .flat_map(|prediction| {
            prediction
                .variations
                .iter()
                .map(|(assumption, _)| *assumption)
        })
        .collect();
    assumptions.sort();
    assumptions.dedup();
    assumptions
        .into_iter()
        .map(|assumption| {
            let remark = if assumption.is_doubt() {
                ""
            } else {
                " (not in the band)"
            };
            line(
                &format!("if: {}{remark}", assumption.name()),
                predictions,
                |prediction| {
                    let found = prediction
                        .variations
                        .iter()
                        .find(|(other, _)| *other == assumption);
                    found.map_or_else(
                        || "-".to_owned(),
                        |(_, cycles)| {
                            format!(
                                "{:+.1} %",
                                100.0 * (*cycles as f64 / prediction.cycles() as f64 - 1.0)
                            )
                        },
                    )
                },
            )
        })
        .collect()
}
