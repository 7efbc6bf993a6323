//! `keymark mcu predict`

mod json;
mod table;

use std::path::PathBuf;

use indicatif::{ProgressBar, ProgressStyle};
use itertools::Itertools;
use keymark_mcu::kernel::{Kernel, KernelError};
use keymark_mcu::predict::Prediction;
use keymark_mcu::target::Target;
use keymark_mcu::timing::CacheUse;
use keymark_report::Document;
use keymark_report::charts::Theme;
use keymark_report::pictures::PictureKind;
use keymark_report::verdict::Verdict;
use rayon::prelude::*;

use super::record;
use crate::args::{OptionAxis, PredictArguments};
use crate::documents::{self, pictures};
use crate::exit::{Exit, Failure, Outcome};
use crate::{frame, output, parts};

pub(super) fn run(arguments: &PredictArguments, archive: Option<&PathBuf>) -> Outcome {
    let targets = targets(arguments)?;
    let kernels: Vec<Kernel> = arguments.algorithm.iter().copied().unique().collect();
    let wanted: Vec<(&Target, Kernel)> = kernels
        .iter()
        .flat_map(|&kernel| {
            distinct(&targets, kernel)
                .into_iter()
                .map(move |target| (target, kernel))
        })
        .collect();
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
            output::print_json(&json::row(prediction));
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
            table::print(&of_kernel, arguments);
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
        let begun = vec![Target::new(mcu, arguments.preset)];
        let all = axes(&arguments.option).iter().fold(begun, vary);
        for target in all {
            match target.problem() {
                Some(reason) => output::warning(&format!("skipping {target}: {reason}")),
                None if targets.contains(&target) => {}
                None => targets.push(target),
            }
        }
    }
    Ok(targets)
}

/// The options to vary, each with all its values, however often it was named.
fn axes(said: &[OptionAxis]) -> Vec<OptionAxis> {
    let mut axes: Vec<OptionAxis> = Vec::new();
    for axis in said {
        match axes.iter_mut().find(|known| known.name == axis.name) {
            Some(known) => known.values.extend(axis.values.iter().cloned()),
            None => axes.push(axis.clone()),
        }
    }
    axes
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
    let words = |target: &&Target| (target.mcu.name.clone(), target.options.words(kernel));
    targets.iter().unique_by(words).collect()
}

/// Predicts on all processors; the results have the order of the questions.
pub(crate) fn predict_all(wanted: &[(&Target, Kernel)]) -> Vec<Result<Prediction, KernelError>> {
    let bar = ProgressBar::new(wanted.len() as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} predictions {elapsed}") {
        bar.set_style(style);
    }
    let predict = |(target, kernel): &(&Target, Kernel)| {
        let result = Prediction::new(target, *kernel);
        bar.inc(1);
        result
    };
    let results = wanted.par_iter().map(predict).collect();
    bar.finish_and_clear();
    results
}

fn hit_rate(usage: CacheUse) -> Option<f64> {
    (usage.lookups > 0).then(|| usage.hits as f64 / usage.lookups as f64)
}
