//! The wording of choices of keys.

use itertools::Itertools;
use keymark_stats::{PerSecond, Seconds};

use super::{duration, figure, on, times};
use crate::units::{self, Digits, two_digits};
use crate::verdict::{Evidence, Finding, KeyChoice, KeyUsage, LEAST, UsageLine, Verdict};

impl KeyUsage {
    /// Heading of its line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gnupg => "GnuPG",
            Self::GnupgCached => "cached passphrase",
            Self::SshLogin => "ssh login",
            Self::TlsServer => "TLS server",
            Self::PostQuantum => "post-quantum",
            Self::Program => "",
        }
    }
}

impl KeyChoice {
    /// The program, in a sentence.
    fn through(&self) -> &str {
        match self.usage == KeyUsage::GnupgCached {
            true => "gpg and a cached passphrase",
            false => &self.program,
        }
    }
}

/// `Sign with ed25519 and decrypt with cv25519: 5.8 ms and 7.6 ms with gpg on this machine.`
pub(super) fn sentence(choices: &[KeyChoice]) -> String {
    let Some(first) = choices.iter().find(|choice| choice.chosen.is_some()) else {
        let is_weak = |choice: &KeyChoice| choice.alike.is_empty();
        let why = match choices.iter().all(is_weak) {
            true => "all these keys have less than 128-bit strength",
            false => "the times are too uncertain. Repeat the run when the machine is idle",
        };
        return format!("No recommendation: {why}.");
    };
    let of_use = choices.iter().filter(|choice| {
        (choice.usage, &choice.program, &choice.device)
            == (first.usage, &first.program, &first.device)
    });
    let chosen = of_use.filter_map(|choice| choice.chosen.as_ref());
    let chosen = chosen.map(|key| {
        let what = format!("{} with {}", key.operation, key.algorithm);
        (what, duration(&key.mean))
    });
    let (what, times): (Vec<String>, Vec<String>) = chosen.unzip();
    let (what, times) = (super::capital(&what.join(" and ")), times.join(" and "));
    format!(
        "{what}: {times} with {}{}.",
        first.through(),
        on(&first.device)
    )
}

pub(super) fn lines(choices: &[KeyChoice], verdict: &Verdict) -> Vec<UsageLine> {
    let groups = crate::grouped(choices, |choice| choice.usage);
    let lines = groups.into_iter().filter_map(|(usage, choices)| {
        let chosen = choices.iter().filter_map(|choice| choice.chosen.as_ref());
        let keys = chosen.map(|key| key.algorithm).unique().join(" + ");
        let mut figures = choices.iter().map(|choice| match &choice.chosen {
            None => format!("{}: too uncertain", choice.operation),
            Some(key) => {
                let rate = rate(usage, key).unwrap_or_default();
                format!("{} {}{rate}", choice.operation, figure(&key.mean))
            }
        });
        let known = usage != KeyUsage::Program && !keys.is_empty();
        known.then(|| UsageLine {
            name: usage.name().to_owned(),
            keys,
            figures: figures.join(", ") + &keycard(usage, verdict).unwrap_or_default(),
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

/// ` (keycard: 135 ms)` for a cached passphrase, where a card is faster.
fn keycard(usage: KeyUsage, verdict: &Verdict) -> Option<String> {
    let mut cards = verdict.findings().filter_map(|finding| {
        if let Finding::Passphrase { keycard, .. } = finding {
            *keycard
        } else {
            None
        }
    });
    let card = cards.next().filter(|_| usage == KeyUsage::GnupgCached)?;
    Some(format!(" (a keycard of 2017: {})", units::duration(card)))
}

/// `To sign with gpg, slower than ed25519: rsa4096 3.7×; no difference shown: nistp256.`
pub(super) fn reason(choice: &KeyChoice) -> Option<String> {
    let chosen = choice.chosen.as_ref()?;
    let mut slower = choice.slower.iter().map(|slower| {
        let times = times(slower.times.value);
        format!("{} {times}", slower.evidence.algorithm)
    });
    let names = |keys: &[Evidence]| keys.iter().map(|key| key.algorithm).join(", ");
    let parts = [
        (
            format!("slower than {}", chosen.algorithm),
            slower.join(", "),
        ),
        ("no difference shown".to_owned(), names(&choice.alike)),
        (format!("below {LEAST} strength"), names(&choice.weak)),
    ];
    let parts = parts.iter().filter(|(_, keys)| !keys.is_empty());
    let parts = parts
        .map(|(what, keys)| format!("{what}: {keys}"))
        .join("; ");
    let to = format!("To {} with {}", choice.operation, choice.through());
    (!parts.is_empty()).then(|| format!("{to}, {parts}."))
}

/// `With a cached passphrase, gpg takes 260 to 280 ms whatever the key (5.6 to 26 ms without): …`
pub(super) fn passphrase(pairs: &[[Evidence; 2]], keycard: Option<Seconds>) -> String {
    let range = |place: usize| {
        let means = pairs.iter().map(|pair| &pair[place]);
        let ends = means.minmax_by(|a, b| a.by_mean(b));
        let ends = ends.into_option().map(|(least, most)| [least, most]);
        let words = ends.map(|ends| ends.map(|of| duration(&of.mean)));
        words.map_or_else(String::new, |[least, most]| between(&least, &most))
    };
    let program = pairs.first().map_or("gpg", |pair| pair[0].program.as_str());
    let card = keycard.map(units::duration);
    let card = card.map(|time| format!(" A keycard of 2017 decrypts in {time} (published)."));
    format!(
        "With a cached passphrase {program} takes {} for each operation, without one {}: gpg-agent derives a key every \
         time.{}",
        range(0),
        range(1),
        card.unwrap_or_default()
    )
}

/// `9.79 to 10.2 ms`
fn between(least: &str, most: &str) -> String {
    match (least.rsplit_once(' '), most.rsplit_once(' ')) {
        _ if least == most => least.to_owned(),
        (Some((number, unit)), Some((_, other))) if unit == other => format!("{number} to {most}"),
        _ => format!("{least} to {most}"),
    }
}
