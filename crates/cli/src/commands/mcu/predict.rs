//! `keymark mcu predict`

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use itertools::Itertools;
use keymark_mcu::McuError;
use keymark_mcu::kernel::{Kernel, OPTION_NAMES};
use keymark_mcu::predict::Prediction;
use keymark_mcu::target::Target;
use keymark_mcu::timing::{CacheUse, Stall};
use keymark_report::charts::Theme;
use keymark_report::pictures::PictureKind;
use keymark_report::verdict::Verdict;
use keymark_report::{Document, TableOf, grouped, units};
use parking_lot::Mutex;
use serde_json::{Value, json};

use super::{count, record};
use crate::args::PredictArguments;
use crate::documents::{self, pictures};
use crate::exit::{Exit, Failure, Outcome};
use crate::view::bar;
use crate::{frame, output, parts};

pub(super) fn run(arguments: &PredictArguments, archive: Option<&PathBuf>) -> Outcome {
    let targets = targets(arguments)?;
    let kernels: Vec<Kernel> = arguments.algorithm.iter().copied().unique().collect();
    let all = kernels.iter().cartesian_product(&targets);
    let all = all.map(|(kernel, target)| (target, *kernel));
    // Targets that differ in what matters to the kernel.
    let words = |(target, kernel): &(&Target, Kernel)| {
        (
            *kernel,
            target.mcu.name.clone(),
            target.options.words(*kernel),
        )
    };
    let wanted: Vec<(&Target, Kernel)> = all.unique_by(words).collect();
    if wanted.is_empty() {
        return Err(Failure::nothing_usable(
            "none of these parts can run any of this; 'keymark mcu list' shows their cores",
        ));
    }
    let results = predict_all(&wanted);
    let mut predictions = Vec::new();
    for ((target, kernel), result) in wanted.iter().zip(results) {
        match result {
            Ok(prediction) => predictions.push(prediction),
            Err(error) => output::error(&format!("{kernel} on {target}: {error}")),
        }
    }
    if predictions.is_empty() {
        return Ok(Exit::Failed);
    }
    let mut record = record::of(&predictions, arguments.tolerance)?;
    if arguments.form.is_json() {
        for prediction in &predictions {
            output::print_json(&row(prediction));
        }
    } else {
        let verdict = Verdict::of(&documents::analysis(&record), &record);
        output::document(&Document {
            verdict: Some(verdict),
            ..Document::of(Vec::new())
        });
        for kernel in kernels {
            let of_kernel: Vec<&Prediction> = predictions
                .iter()
                .filter(|prediction| prediction.kernel == kernel)
                .collect();
            print_table(&of_kernel, arguments);
        }
    }
    if let Some(file) = &arguments.output {
        let charts = pictures::charts(std::slice::from_mut(&mut record), Some(PictureKind::Means))?;
        pictures::write(&charts, file, Theme::Light)?;
    }
    let saved = frame::keep(&record, archive);
    Ok(if predictions.len() < wanted.len() {
        Exit::Failed
    } else {
        saved
    })
}

fn targets(arguments: &PredictArguments) -> Result<Vec<Target>, Failure> {
    let mut targets: Vec<Target> = Vec::new();
    // An option may be named several times, with other values.
    let axes = grouped(&arguments.option, |axis| &axis.name);
    for name in &arguments.mcu {
        let mcu = parts::part(name).map_err(Failure::usage)?;
        if targets
            .iter()
            .any(|target| target.mcu.name == mcu.name && target.mcu != mcu)
        {
            return Err(Failure::usage(format!(
                "two different parts have the name '{}'; rename one in its file",
                mcu.name
            )));
        }
        let values = axes.iter().map(|(name, same)| {
            let values = same.iter().flat_map(|axis| &axis.values);
            values.map(move |value| (*name, value))
        });
        for options in values.multi_cartesian_product() {
            let mut target = Target::new(mcu.clone(), arguments.preset);
            for (name, value) in options {
                let set = target.options.set(name, value);
                set.map_err(Failure::failed)?;
            }
            match target.problem() {
                Some(reason) => output::warning(&format!("skipping {target}: {reason}")),
                None if targets.contains(&target) => {}
                None => targets.push(target),
            }
        }
    }
    Ok(targets)
}

/// Predicts on all processors; the results have the order of the questions.
pub(crate) fn predict_all(wanted: &[(&Target, Kernel)]) -> Vec<Result<Prediction, McuError>> {
    let bar = bar("{bar:30} {pos}/{len} predictions {elapsed}");
    bar.set_length(wanted.len() as u64);
    let questions = Mutex::new(wanted.iter().enumerate());
    let results: Mutex<Vec<(usize, _)>> = Mutex::default();
    let next = || questions.lock().next();
    let predict = || {
        while let Some((place, (target, kernel))) = next() {
            let result = Prediction::new(target, *kernel);
            results.lock().push((place, result));
            bar.inc(1);
        }
    };
    let processors = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    thread::scope(|scope| {
        for _ in 0..processors {
            scope.spawn(predict);
        }
    });
    bar.finish_and_clear();
    let results = results.into_inner().into_iter();
    let in_order = results.sorted_by_key(|(place, _)| *place);
    in_order.map(|(_, result)| result).collect()
}

fn hit_rate(usage: CacheUse) -> Option<f64> {
    (usage.lookups > 0).then(|| usage.hits as f64 / usage.lookups as f64)
}

/// Null where the kernel has no such option.
fn options(prediction: &Prediction) -> BTreeMap<&'static str, Option<&'static str>> {
    let words = prediction.target.options.words(prediction.kernel);
    let all = OPTION_NAMES.into_iter().map(|name| (name, None));
    all.chain(words.into_iter().map(|(name, word)| (name, Some(word))))
        .collect()
}

fn row(prediction: &Prediction) -> Value {
    let (band, account) = (prediction.band(), &prediction.account);
    let (kinds, kernel) = (account.kinds().into_iter(), prediction.kernel);
    let classes = kinds.map(|(name, tally)| (name, tally.count));
    let stalls = Stall::ALL
        .iter()
        .map(|&stall| (stall, account.stall(stall)));
    let phases = prediction
        .phases
        .iter()
        .map(|phase| (kernel.phase_name(phase.number), phase.account.cycles()));
    let varied = prediction
        .variations
        .iter()
        .map(|(assumption, cycles)| (assumption.name, *cycles));
    json!({
        "mcu": prediction.target.mcu.name,
        "algorithm": kernel.name(),
        "options": options(prediction),
        "provenance": "predicted",
        "cycles": prediction.cycles(),
        "seconds": prediction.seconds(),
        "low_seconds": band.low,
        "high_seconds": band.high,
        "instructions": account.instructions(),
        "classes": classes.collect::<BTreeMap<_, _>>(),
        // IT that took no cycle.
        "folded": account.folded(),
        "stalls": stalls.collect::<BTreeMap<_, _>>(),
        "phases": phases.collect::<BTreeMap<_, _>>(),
        "sensitivity": varied.collect::<BTreeMap<_, _>>(),
        "instruction_cache_hit_rate": hit_rate(account.instruction_cache),
        "data_cache_hit_rate": hit_rate(account.data_cache),
    })
}

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
fn print_table(predictions: &[&Prediction], arguments: &PredictArguments) {
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
