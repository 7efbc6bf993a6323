//! A prediction as a JSON object.

use std::collections::BTreeMap;

use keymark_mcu::kernel::OPTION_NAMES;
use keymark_mcu::predict::Prediction;
use keymark_mcu::timing::Stall;
use keymark_stats::Seconds;
use serde::Serialize;

use super::hit_rate;

#[derive(Serialize)]
pub(super) struct Row {
    mcu: String,
    kernel: &'static str,
    /// Null where the kernel has no such option.
    options: BTreeMap<&'static str, Option<&'static str>>,
    provenance: &'static str,
    cycles: u64,
    seconds: Seconds,
    low_seconds: Seconds,
    high_seconds: Seconds,
    instructions: u64,
    classes: BTreeMap<&'static str, u64>,
    /// IT that took no cycle.
    folded: u64,
    stalls: BTreeMap<Stall, u64>,
    phases: BTreeMap<&'static str, u64>,
    sensitivity: BTreeMap<&'static str, u64>,
    instruction_cache_hit_rate: Option<f64>,
    data_cache_hit_rate: Option<f64>,
}

fn options(prediction: &Prediction) -> BTreeMap<&'static str, Option<&'static str>> {
    let words = prediction.target.options.words(prediction.kernel);
    let all = OPTION_NAMES.into_iter().map(|name| (name, None));
    all.chain(words.into_iter().map(|(name, word)| (name, Some(word))))
        .collect()
}

pub(super) fn row(prediction: &Prediction) -> Row {
    let band = prediction.band();
    let account = &prediction.account;
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
        options: options(prediction),
        provenance: "predicted",
        cycles: prediction.cycles(),
        seconds: prediction.seconds(),
        low_seconds: band.low,
        high_seconds: band.high,
        instructions: account.instructions(),
        classes: account
            .kinds()
            .into_iter()
            .map(|(name, tally)| (name, tally.count))
            .collect(),
        folded: account.folded(),
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
