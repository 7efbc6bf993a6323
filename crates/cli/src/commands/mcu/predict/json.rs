//! A prediction as a JSON object.

use std::collections::BTreeMap;

use keymark_mcu::kernel::OPTION_NAMES;
use keymark_mcu::predict::Prediction;
use keymark_mcu::timing::Stall;
use serde_json::{Value, json};

use super::hit_rate;

/// Null where the kernel has no such option.
fn options(prediction: &Prediction) -> BTreeMap<&'static str, Option<&'static str>> {
    let words = prediction.target.options.words(prediction.kernel);
    let all = OPTION_NAMES.into_iter().map(|name| (name, None));
    all.chain(words.into_iter().map(|(name, word)| (name, Some(word))))
        .collect()
}

pub(super) fn row(prediction: &Prediction) -> Value {
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
        .map(|(assumption, cycles)| (assumption.name(), *cycles));
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
