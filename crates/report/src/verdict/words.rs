//! The wording of verdicts.

use itertools::Itertools;
use keymark_bench::{Case, Operation, StackName, StoreKind};
use keymark_stats::{Estimate, PerSecond, Ratio, Seconds};

use super::{
    Certainty, DeviceRanking, Evidence, Finding, KeyChoice, KeyUsage, REASONS, RankedDevice,
    Verdict,
};
use crate::answers::marked;
use crate::units::{self, Bare, Digits, Unit, two_digits};

impl KeyUsage {
    /// Heading of its line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gnupg => "GnuPG",
            Self::GnupgCached => "with a cached passphrase",
            Self::SshLogin => "ssh login",
            Self::TlsServer => "TLS server",
            Self::PostQuantum => "post-quantum",
        }
    }

    /// Its program, in a sentence.
    pub const fn program(self) -> &'static str {
        match self {
            Self::Gnupg => "gpg",
            Self::GnupgCached => "gpg and a cached passphrase",
            Self::SshLogin => "an SSH agent",
            Self::TlsServer | Self::PostQuantum => "OpenSSL",
        }
    }
}

/// The program that a case ran, as people call it.
pub(super) fn program(case: &Case) -> String {
    match case.parameters.get("library") {
        Some(library) => library.to_owned(),
        None if case.stack == StackName::GNUPG => "gpg".to_owned(),
        None if case.stack == StackName::AGENT => "gpg-agent".to_owned(),
        None if case.stack == StackName::RAW && case.store == StoreKind::SOFTWARE => {
            "OpenSSL".to_owned()
        }
        None if case.stack == StackName::RAW => "the device's own interface".to_owned(),
        None => case.stack.to_string(),
    }
}

/// One line of a verdict: a use, its keys, their figures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageLine {
    /// `GnuPG`
    pub name: String,
    /// `ed25519 + cv25519`
    pub keys: String,
    /// `sign 5.8 ms ±13 %, decrypt 7.6 ms ±11 %`
    pub figures: String,
}

impl Verdict {
    /// The first sentence: what to do, or what is so.
    pub fn headline(&self) -> String {
        match &self.finding {
            Finding::Keys { choices } => keys(choices),
            Finding::Devices { rankings } => devices(rankings),
            Finding::Single {
                evidence,
                program,
                device,
            } => {
                let on = match device.as_str() {
                    "software" => String::new(),
                    device => format!(" on {device}"),
                };
                format!(
                    "{} with {} through {program}{on}: {}.",
                    doing(evidence.operation),
                    evidence.algorithm,
                    figure(&evidence.mean)
                )
            }
        }
    }

    /// A line for each use of a key.
    pub fn lines(&self) -> Vec<UsageLine> {
        match &self.finding {
            Finding::Keys { choices } => usage_lines(choices),
            Finding::Devices { rankings } => rankings.iter().map(ranking_line).collect(),
            Finding::Single { .. } => Vec::new(),
        }
    }

    /// At most two reasons, each a comparison with figures.
    pub fn because(&self) -> Vec<String> {
        match &self.finding {
            Finding::Keys { choices } => choices.iter().filter_map(reason).take(REASONS).collect(),
            Finding::Devices { rankings } => {
                rankings.iter().filter_map(gap).take(REASONS).collect()
            }
            Finding::Single { .. } => Vec::new(),
        }
    }

    /// How certain the figures are, in one sentence.
    pub fn certainty(&self) -> String {
        certainty(&self.certainty)
    }
}

fn keys(choices: &[KeyChoice]) -> String {
    let Some(first) = choices.iter().find(|choice| choice.chosen.is_some()) else {
        let is_weak = |choice: &KeyChoice| choice.alike.is_empty();
        let why = match choices.iter().all(is_weak) {
            true => "all these keys have less than 128-bit strength",
            false => "the times are too uncertain. Repeat the run when the machine is idle",
        };
        return format!("No recommendation: {why}.");
    };
    let usage = first.usage;
    let chosen: Vec<&Evidence> = choices
        .iter()
        .filter(|choice| choice.usage == usage)
        .filter_map(|choice| choice.chosen.as_ref())
        .collect();
    let what = chosen
        .iter()
        .map(|key| format!("{} with {}", key.operation, key.algorithm))
        .join(" and ");
    let times = chosen.iter().map(|key| duration(&key.mean)).join(" and ");
    let mut what = what.chars();
    let begin: String = what
        .next()
        .into_iter()
        .flat_map(char::to_uppercase)
        .collect();
    format!(
        "{begin}{}: {times} with {} on this machine.",
        what.as_str(),
        usage.program()
    )
}

fn usage_lines(choices: &[KeyChoice]) -> Vec<UsageLine> {
    let groups = crate::grouped(choices, |choice| choice.usage);
    let lines = groups.into_iter().filter_map(|(usage, choices)| {
        let chosen: Vec<&Evidence> = choices
            .iter()
            .filter_map(|choice| choice.chosen.as_ref())
            .collect();
        let mut keys = chosen.iter().map(|key| key.algorithm.to_string()).unique();
        let mut figures = choices.iter().map(|choice| {
            let operation = choice.operation;
            choice.chosen.as_ref().map_or_else(
                || format!("{operation}: too uncertain"),
                |key| {
                    let rate = rate(usage, key).unwrap_or_default();
                    format!("{operation} {}{rate}", figure(&key.mean))
                },
            )
        });
        (!chosen.is_empty()).then(|| UsageLine {
            name: usage.name().to_owned(),
            keys: keys.join(" + "),
            figures: figures.join(", "),
        })
    });
    lines.collect()
}

/// ` (66000/s on one core)` for a TLS server, whose readers count in rates.
fn rate(usage: KeyUsage, key: &Evidence) -> Option<String> {
    let rate = PerSecond(two_digits(1.0 / key.mean.value.0));
    let written = || units::rounded_rate(rate, Digits::Two);
    (usage == KeyUsage::TlsServer).then(|| format!(" ({} on one core)", written()))
}

/// `To sign with gpg, slower than ed25519: rsa4096 3.7×; no difference shown: nistp256.`
fn reason(choice: &KeyChoice) -> Option<String> {
    let chosen = choice.chosen.as_ref()?;
    let slower = choice.slower.iter().map(|slower| {
        let times = times(slower.times.value);
        format!("{} {times}", slower.evidence.algorithm)
    });
    let slower: Vec<String> = slower.collect();
    let alike = choice.alike.iter().map(|key| key.algorithm.to_string());
    let alike: Vec<String> = alike.collect();
    let to = format!("To {} with {}", choice.operation, choice.usage.program());
    let slow = match slower.as_slice() {
        [] => None,
        some => Some(format!(
            "slower than {}: {}",
            chosen.algorithm,
            some.join(", ")
        )),
    };
    let same = match alike.as_slice() {
        [] => None,
        some => Some(format!("no difference shown: {}", some.join(", "))),
    };
    let parts: Vec<String> = slow.into_iter().chain(same).collect();
    (!parts.is_empty()).then(|| format!("{to}, {}.", parts.join("; ")))
}

/// Names the fastest device besides this CPU, and those that do not differ from it.
fn devices(rankings: &[DeviceRanking]) -> String {
    let ranking = &rankings[0];
    let is_device = |ranked: &&RankedDevice| ranked.device.as_str() != "software";
    let mut devices = ranking.devices.iter().filter(is_device);
    let Some(fastest) = devices.next() else {
        return ranking_line(ranking).figures;
    };
    let alike: Vec<String> = devices
        .filter(|other| !fastest.evidence.mean.is_below(&other.evidence.mean))
        .map(RankedDevice::marked)
        .collect();
    let alike = match alike.as_slice() {
        [] => String::new(),
        some => format!(" No difference shown: {}.", some.join(", ")),
    };
    format!(
        "Fastest device to {} with {}: {}, {}.{alike}",
        ranking.operation,
        ranking.algorithm,
        fastest.marked(),
        figure(&fastest.evidence.mean)
    )
}

impl RankedDevice {
    fn marked(&self) -> String {
        marked(&self.device, self.provenance)
    }
}

fn ranking_line(ranking: &DeviceRanking) -> UsageLine {
    let figures = ranking.devices.iter();
    UsageLine {
        name: format!("{} {}", ranking.operation, ranking.algorithm),
        keys: String::new(),
        figures: figures
            .map(|ranked| format!("{} {}", ranked.marked(), figure(&ranked.evidence.mean)))
            .join(", "),
    }
}

fn gap(ranking: &DeviceRanking) -> Option<String> {
    let [first, .., last] = ranking.devices.as_slice() else {
        return None;
    };
    let (fastest, slowest) = (&first.evidence.mean, &last.evidence.mean);
    fastest.is_below(slowest).then(|| {
        format!(
            "To {} with {}, {} is {} slower than {}.",
            ranking.operation,
            ranking.algorithm,
            last.marked(),
            times(slowest.over(fastest).value),
            first.marked()
        )
    })
}

fn certainty(certainty: &Certainty) -> String {
    let mut parts = Vec::new();
    if certainty.measured > 0 {
        parts.push(format!("{} measured", certainty.measured));
    }
    if certainty.simulated > 0 {
        parts.push(format!("{} simulated", certainty.simulated));
    }
    if certainty.failed > 0 {
        parts.push(format!("{} failed", certainty.failed));
    }
    let mut text = format!("{}.", parts.join(", "));
    let percent = |permille: u32| units::width(f64::from(permille) / 1000.0);
    match (certainty.typical_permille, certainty.worst_permille) {
        (Some(typical), Some(worst)) if typical == worst => {
            text.push_str(&format!(" Error ±{}.", percent(worst)));
        }
        (Some(typical), Some(worst)) => text.push_str(&format!(
            " Typical error ±{}, worst ±{}.",
            percent(typical),
            percent(worst)
        )),
        _ => {}
    }
    if certainty.without_interval > 0 {
        let figures = units::counted(certainty.without_interval, "figure");
        text.push_str(&format!(" {figures} without an interval."));
    }
    text
}

/// `Signing`
fn doing(operation: Operation) -> &'static str {
    match operation {
        Operation::Sign => "Signing",
        Operation::Decrypt => "Decrypting",
        Operation::Authenticate => "Authenticating",
        Operation::Decapsulate => "Decapsulating",
        Operation::Handshake => "A handshake",
    }
}

/// `2.7×`, `35×`
fn times(ratio: Ratio) -> String {
    let digits = usize::from(ratio.0 < 9.95);
    format!("{:.digits$}×", ratio.0)
}

/// `5.8 ms ±13 %`: as in the table.
fn figure(mean: &Estimate<Seconds>) -> String {
    Unit::Seconds.brief(&mean.map(|time| time.0), Bare::Uncertain)
}

/// `5.8 ms`
fn duration(mean: &Estimate<Seconds>) -> String {
    Unit::Seconds.known(&mean.map(|time| time.0))
}
