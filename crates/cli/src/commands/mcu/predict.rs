//! `keymark mcu predict`

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use indicatif::{ProgressBar, ProgressStyle};
use keymark_bench::record::Record;
use keymark_mcu::instruction::Class;
use keymark_mcu::kernel::Kernel;
use keymark_mcu::microcontroller::Microcontroller;
use keymark_mcu::predict::Prediction;
use keymark_mcu::target::Target;
use keymark_mcu::timing::{CacheUse, Stall};
use keymark_report::table::{self, Style};
use keymark_report::units;
use keymark_stats::Seconds;
use serde::Serialize;

use super::{count, record};
use crate::args::{OptionAxis, PredictArguments};
use crate::commands::{Outcome, open_archive};
use crate::exit::{Exit, Failure};
use crate::observers::print_json;
use crate::output;

pub(super) fn run(arguments: &PredictArguments, archive: Option<&PathBuf>) -> Outcome {
    let targets = targets(arguments)?;
    let wanted: Vec<(&Target, Kernel)> = arguments
        .kernel
        .iter()
        .flat_map(|&kernel| {
            distinct(&targets, kernel)
                .into_iter()
                .map(move |target| (target, kernel))
        })
        .collect();
    if wanted.is_empty() {
        return Err(Failure::nothing_usable(
            "none of these parts can do any of this; 'keymark mcu list' shows their cores",
        ));
    }
    let predictions = predict_all(&wanted)?;
    if arguments.json {
        for prediction in &predictions {
            print_json(&row(prediction));
        }
    } else {
        for kernel in &arguments.kernel {
            let of_kernel: Vec<&Prediction> = predictions
                .iter()
                .filter(|prediction| prediction.kernel == *kernel)
                .collect();
            print(&of_kernel, arguments);
        }
    }
    save(&record::of(&predictions, arguments.tolerance)?, archive);
    Ok(Exit::Fine)
}

/// Every combination of parts and options, without what a part cannot do.
fn targets(arguments: &PredictArguments) -> Result<Vec<Target>, Failure> {
    let mut targets = Vec::new();
    for name in &arguments.mcu {
        let mcu = Microcontroller::find(name).map_err(Failure::usage)?;
        let begun = vec![Target::new(mcu, arguments.preset)];
        let all = arguments.option.iter().fold(begun, vary);
        for target in all {
            match target.problem() {
                Some(reason) => output::warning(&format!("{target} is left out: {reason}")),
                None if targets.contains(&target) => {}
                None => targets.push(target),
            }
        }
    }
    Ok(targets)
}

fn vary(targets: Vec<Target>, axis: &OptionAxis) -> Vec<Target> {
    let with = |target: &Target, value: &String| {
        let mut target = target.clone();
        // The axis was checked when it was parsed.
        let set = target.options.set(&axis.name, value);
        set.ok().map(|()| target)
    };
    targets
        .iter()
        .flat_map(|target| axis.values.iter().filter_map(|value| with(target, value)))
        .collect()
}

/// Targets that differ in what matters to the kernel.
fn distinct(targets: &[Target], kernel: Kernel) -> Vec<&Target> {
    let mut kept: Vec<&Target> = Vec::new();
    for target in targets {
        let same = |other: &&Target| {
            other.mcu == target.mcu && other.options.words(kernel) == target.options.words(kernel)
        };
        if !kept.iter().any(same) {
            kept.push(target);
        }
    }
    kept
}

/// One after the other on each processor, in any order; the result has the order of the question.
fn predict_all(wanted: &[(&Target, Kernel)]) -> Result<Vec<Prediction>, Failure> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let (next, results) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let bar = ProgressBar::new(wanted.len() as u64);
    // The template is constant; without it the bar has its usual look.
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} predictions {elapsed}") {
        bar.set_style(style);
    }
    std::thread::scope(|scope| {
        for _ in 0..processors.min(wanted.len()) {
            scope.spawn(|| {
                while let Some((target, kernel)) = wanted.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    let position = (*kernel, target.to_string());
                    let result = Prediction::new(target, *kernel);
                    let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
                    results.insert(position, result);
                    bar.inc(1);
                }
            });
        }
    });
    bar.finish_and_clear();
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    wanted
        .iter()
        .filter_map(|(target, kernel)| results.remove(&(*kernel, target.to_string())))
        .map(|result| result.map_err(Failure::failed))
        .collect()
}

#[derive(Serialize)]
struct Row {
    mcu: String,
    kernel: &'static str,
    options: BTreeMap<&'static str, &'static str>,
    provenance: &'static str,
    cycles: u64,
    seconds: f64,
    low_seconds: f64,
    high_seconds: f64,
    instructions: u64,
    classes: BTreeMap<&'static str, u64>,
    stalls: BTreeMap<Stall, u64>,
    phases: BTreeMap<&'static str, u64>,
    sensitivity: BTreeMap<&'static str, u64>,
    instruction_cache_hit_rate: Option<f64>,
    data_cache_hit_rate: Option<f64>,
}

fn row(prediction: &Prediction) -> Row {
    let (low_seconds, high_seconds) = prediction.band();
    let account = &prediction.account;
    let mut classes = BTreeMap::new();
    for class in Class::ALL {
        *classes.entry(class.name()).or_insert(0) += account.class(class).count;
    }
    let phases = prediction.phases.iter().map(|phase| {
        (
            prediction.kernel.phase_name(phase.number),
            phase.account.cycles(),
        )
    });
    let sensitivity = prediction.variations.iter();
    Row {
        mcu: prediction.target.mcu.name.clone(),
        kernel: prediction.kernel.name(),
        options: prediction
            .target
            .options
            .words(prediction.kernel)
            .into_iter()
            .collect(),
        provenance: "predicted",
        cycles: prediction.cycles(),
        seconds: prediction.seconds(),
        low_seconds,
        high_seconds,
        instructions: account.instructions(),
        classes,
        stalls: Stall::ALL
            .iter()
            .map(|&stall| (stall, account.stall(stall)))
            .collect(),
        phases: phases.collect(),
        sensitivity: sensitivity
            .map(|(assumption, cycles)| (assumption.name(), *cycles))
            .collect(),
        instruction_cache_hit_rate: hit_rate(account.instruction_cache),
        data_cache_hit_rate: hit_rate(account.data_cache),
    }
}

fn hit_rate(usage: CacheUse) -> Option<f64> {
    (usage.lookups > 0).then(|| usage.hits as f64 / usage.lookups as f64)
}

fn duration(seconds: f64) -> String {
    units::duration(Seconds(seconds))
}

/// More predictions than this have a line each, without where their cycles went.
const MOST_COLUMNS: usize = 5;

/// A table with a column a prediction.
fn print(predictions: &[&Prediction], arguments: &PredictArguments) {
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
    names.extend(
        predictions
            .iter()
            .map(|prediction| prediction.target.to_string()),
    );
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut rows = head_rows(predictions, arguments);
    rows.extend(phase_rows(predictions));
    rows.extend(detail_rows(predictions));
    if arguments.sensitivity {
        rows.extend(sensitivity_rows(predictions));
    }
    output::print(&table::plain(Style::Text, &names, 1, rows));
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
        [prediction.target.to_string()]
            .into_iter()
            .chain(head.iter().map(|row| row[index + 1].clone()))
            .collect()
    });
    output::print(&table::plain(Style::Text, &names, 1, rows.collect()));
    output::line(&format!(
        "with at most {MOST_COLUMNS} predictions at a time the table says where their cycles go, and so does --json"
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
        .map_or(0.0, |prediction| prediction.seconds());
    let tolerance = arguments.tolerance;
    let under = format!("under {}", humantime::format_duration(tolerance));
    let sure = |prediction: &Prediction| {
        let (low, high) = prediction.band();
        let limit = tolerance.as_secs_f64();
        match (high <= limit, low <= limit) {
            (true, _) => "yes",
            (false, true) => "perhaps",
            (false, false) => "no",
        }
        .to_owned()
    };
    vec![
        line("clock", predictions, |p| p.target.mcu.clock.to_string()),
        line("time", predictions, |p| duration(p.seconds())),
        line("band of the assumptions", predictions, |p| {
            let (low, high) = p.band();
            format!("{} – {}", duration(low), duration(high))
        }),
        line(&under, predictions, sure),
        line("speed-up", predictions, |p| {
            format!("{:.2}", first / p.seconds())
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
    let mut named: Vec<&str> = Class::ALL.iter().map(|class| class.name()).collect();
    named.dedup();
    for name in named {
        let instructions = |prediction: &Prediction| -> u64 {
            let classes = Class::ALL.iter().filter(|class| class.name() == name);
            classes
                .map(|&class| prediction.account.class(class).count)
                .sum()
        };
        if predictions
            .iter()
            .any(|prediction| instructions(prediction) > 0)
        {
            rows.push(line(&format!("instructions: {name}"), predictions, |p| {
                count(instructions(p))
            }));
        }
    }
    for stall in Stall::ALL {
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

/// Predictions are worth showing whether or not they can be kept.
fn save(record: &Record, archive: Option<&PathBuf>) {
    let saved = open_archive(archive).and_then(|mut archive| archive.insert(record));
    match saved {
        Ok(()) => output::note(&format!(
            "saved as {}; 'keymark show' shows it beside other runs",
            record.id
        )),
        Err(error) => output::warning(&format!("{error}; the predictions are not saved")),
    }
}
