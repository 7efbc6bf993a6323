//! The wording of devices, predictions and slow operations.

use itertools::Itertools;
use keymark_stats::Seconds;

use super::{capital, doing, duration, figure, listed, marked, of, on, percent, times};
use crate::units;
use crate::verdict::{
    DeviceRanking, Evidence, PredictedKey, PredictedPart, ProgramRanking, PublishedComparison,
    SlowCase, UsageLine,
};

/// Slow keys that are named.
const NAMED: usize = 2;

/// `Signing with ed25519 through gpg: 3.57 ms.`
pub(super) fn single(evidence: &Evidence) -> String {
    let what = capital(&of(evidence));
    format!("{what}: {}.", figure(&evidence.mean))
}

/// `Signing with rsa2048: OpenSSL 280 µs, gpg-agent 4.2 ms and gpg 7.5 ms.`
pub(super) fn programs(rankings: &[ProgramRanking]) -> String {
    let told = rankings.first().map(|ranking| {
        let first = ranking.programs.iter().take(1);
        let on = first.map(|first| on(&first.device)).join("");
        let (doing, key) = (doing(ranking.operation), ranking.algorithm);
        format!("{doing} with {key}{on}: {}.", listed(times_of(ranking)))
    });
    told.unwrap_or_default()
}

/// `rsop 1.5 ms`, for each program
fn times_of(ranking: &ProgramRanking) -> impl Iterator<Item = String> {
    ranking
        .programs
        .iter()
        .map(|of| format!("{} {}", of.program, figure(&of.mean)))
}

pub(super) fn line_of_programs(ranking: &ProgramRanking) -> UsageLine {
    UsageLine::of_key(ranking.operation, ranking.algorithm, times_of(ranking))
}

/// Says how long the fastest and the slowest take.
pub(super) fn cases(cases: usize, [fastest, slowest]: [&Evidence; 2]) -> String {
    format!(
        "{} take {} ({}) to {} ({}).",
        units::counted(cases, "case"),
        figure(&fastest.mean),
        of(fastest),
        figure(&slowest.mean),
        of(slowest)
    )
}

/// `libgcrypt signs with nistp256 42× slower than OpenSSL (938 µs and 22.2 µs).`
pub(super) fn libraries(slow: &Evidence, fast: &Evidence) -> String {
    format!(
        "{} {}s with {} {} slower than {} ({} and {}).",
        slow.program,
        slow.operation,
        slow.algorithm,
        times(slow.mean.over(&fast.mean).value),
        fast.program,
        duration(&slow.mean),
        duration(&fast.mean)
    )
}

/// `YubiKey 5: signing with rsa2048 takes 141 ms; published for firmware 5.1.2: 138 ms.`
pub(super) fn published(comparison: &PublishedComparison) -> String {
    let firmware = match comparison.firmware.as_str() {
        "" => String::new(),
        firmware => format!(" for firmware {firmware}"),
    };
    let evidence = &comparison.evidence;
    let slower = match comparison.is_slower() {
        true => format!(" It is {} slower.", times(comparison.times.value)),
        false => String::new(),
    };
    format!(
        "{}: {} with {} takes {}; published{firmware}: {}.{slower}",
        evidence.device,
        doing(evidence.operation).to_lowercase(),
        evidence.algorithm,
        duration(&evidence.mean),
        units::duration(comparison.published)
    )
}

/// Names the fastest device besides this CPU, and those that do not differ from it.
pub(super) fn fastest(rankings: &[DeviceRanking]) -> String {
    let is_device = |ranked: &&Evidence| !ranked.is_of_a_cpu();
    let named = rankings.iter().find_map(|ranking| {
        let mut devices = ranking.devices.iter().filter(is_device);
        let fastest = devices.next()?;
        let alike = devices.filter(|other| !fastest.mean.is_below(&other.mean));
        let alike = alike.map(marked).join(", ");
        let alike = match alike.as_str() {
            "" => String::new(),
            some => format!(" No difference shown: {some}."),
        };
        Some(format!(
            "Fastest device to {} with {}: {}, {}.{alike}",
            ranking.operation,
            ranking.algorithm,
            marked(fastest),
            figure(&fastest.mean)
        ))
    });
    named.unwrap_or_default()
}

pub(super) fn line(ranking: &DeviceRanking) -> UsageLine {
    let figures = ranking
        .devices
        .iter()
        .map(|ranked| format!("{} {}", marked(ranked), figure(&ranked.mean)));
    UsageLine::of_key(ranking.operation, ranking.algorithm, figures)
}

/// `To sign with rsa4096, twin:fst-01 is 29× slower than software.`
pub(super) fn gap(ranking: &DeviceRanking) -> Option<String> {
    let [first, .., last] = ranking.devices.as_slice() else {
        return None;
    };
    first.mean.is_below(&last.mean).then(|| {
        format!(
            "To {} with {}, {} is {} slower than {}.",
            ranking.operation,
            ranking.algorithm,
            marked(last),
            times(last.mean.over(&first.mean).value),
            marked(first)
        )
    })
}

/// Says of the first key which parts are fast enough.
pub(super) fn predictions(tolerated: Seconds, keys: &[PredictedKey]) -> String {
    let limit = units::duration(tolerated).replace(".00", "");
    let told = |part: &PredictedPart| {
        let Evidence { device, mean, .. } = &part.evidence;
        format!("{device} ({})", duration(mean))
    };
    let said = keys.iter().take(1).map(|key| {
        let of = |answer: Option<bool>| {
            listed(
                key.parts
                    .iter()
                    .filter(|part| part.tolerable == answer)
                    .map(told),
            )
        };
        let classes = [
            (format!("is within {limit} on"), of(Some(true))),
            ("is too slow on".to_owned(), of(Some(false))),
            (format!("may exceed {limit} on"), of(None)),
        ];
        let parts = classes.iter().filter(|(_, parts)| !parts.is_empty());
        let parts = parts
            .map(|(what, parts)| format!("{what} {parts}"))
            .join(", ");
        let (what, key) = (doing(key.operation).to_lowercase(), key.algorithm);
        format!("Predicted: {what} with {key} {parts}.")
    });
    said.collect()
}

pub(super) fn predicted(keys: &[PredictedKey]) -> Vec<UsageLine> {
    let lines = keys.iter().skip(1).map(|key| {
        let figures = key.parts.iter().map(|part| {
            let waiting = part.waiting.map(|share| percent(share.0));
            let waiting = waiting.map(|share| format!(" ({share} flash waits)"));
            let (device, time) = (&part.evidence.device, duration(&part.evidence.mean));
            format!("{device} {time}{}", waiting.unwrap_or_default())
        });
        UsageLine::of_key(key.operation, key.algorithm, figures)
    });
    lines.collect()
}

pub(super) fn too_slow(tolerated: Seconds, cases: &[SlowCase]) -> String {
    let mut named = cases.iter().take(NAMED).map(|slow| {
        let of = &slow.evidence;
        let instead = slow.instead.as_ref();
        let instead =
            instead.map(|other| format!("; {} takes {}", other.algorithm, duration(&other.mean)));
        let load = slow.load.iter().map(|load| format!(", {load}"));
        format!(
            "{} {} on {}{} ({}{})",
            of.algorithm,
            of.operation,
            marked(of),
            load.format(""),
            duration(&of.mean),
            instead.unwrap_or_default()
        )
    });
    let named = named.join(", ");
    let more = match cases.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {}", units::counted(more, "more key")),
    };
    let limit = units::duration(tolerated).replace(".00", "");
    format!("Slower than the {limit} limit: {named}{more}.")
}
