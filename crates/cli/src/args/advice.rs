//! `keymark strength`, `keymark advise`

use std::str::FromStr;
use std::time::Duration;

use clap::Args;
use jiff::civil::Date;
use keymark_advice::Strength;
use keymark_advice::advise::Purpose;
use keymark_advice::compatibility::Peer;
use keymark_advice::hsm::HsmClass;
use keymark_advice::key_spec::KeySpec;
use keymark_bench::Algorithm;
use keymark_records::published::Certification;
use keymark_stats::PerSecond;

use super::capacity::rate;
use super::{FormatArguments, duration, share};

/// `keymark strength`
#[derive(Debug, Args)]
pub struct StrengthArguments {
    /// Keys: rsa3072, rsa2047, nistp256, ed25519, mldsa65, dh2048, …
    #[arg(value_name = "KEY")]
    pub keys: Vec<KeySpec>,
    /// Show the weakest keys of each kind with BITS bits of security
    #[arg(long, value_name = "BITS", value_parser = level, conflicts_with = "keys")]
    pub level: Option<Strength>,
    /// Status on this day [default: today]
    #[arg(long, value_name = "DATE", value_parser = last_day)]
    pub until: Option<Date>,
    /// Policies to judge by; without keys, list what they permit: nist, bsi, cnsa, anssi, ecrypt, sogis, openpgp, an id,
    /// or a .toml file
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub policy: Vec<String>,
    /// Show documents and remarks
    #[arg(long, help_heading = "Output")]
    pub long: bool,
    /// Format of the output
    #[command(flatten)]
    pub form: FormatArguments,
}

/// `keymark advise`
#[derive(Debug, Args)]
pub struct AdviseArguments {
    /// Purpose of the key: card, server, timestamping, ssh, email; or hsm: how many HSMs a rate takes
    #[arg(value_name = "PURPOSE", default_value = "card")]
    pub purpose: AdviceTopic,
    /// Load of HSMs
    #[command(flatten)]
    pub hsm: HsmArguments,
    /// Requirements of the key
    #[command(flatten)]
    pub requirements: RequirementArguments,
    /// What to choose from
    #[command(flatten)]
    pub candidates: CandidateArguments,
    /// Measure on this machine first
    #[arg(long)]
    pub measure: bool,
    /// Format of the output
    #[command(flatten)]
    pub form: FormatArguments,
}

/// Requirements of a key.
#[derive(Debug, Args)]
#[command(next_help_heading = "Requirements")]
pub struct RequirementArguments {
    /// The key is in use until this day [default: today]
    #[arg(long, value_name = "DATE", value_parser = last_day)]
    pub until: Option<Date>,
    /// Require these policies to allow it then: nist, bsi, cnsa, anssi, ecrypt, sogis, openpgp, an id, or a .toml file
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub policy: Vec<String>,
    /// Require firmware that can be read and built
    #[arg(long)]
    pub open_firmware: bool,
    /// Longest acceptable operation
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub tolerance: Option<Duration>,
    /// Programs that must accept it: gnupg-2.2, openssh-6.5, openssl-1.1.1, java-11, github, browsers, yubikey-5.2.3, …
    #[arg(long, value_name = "PROGRAM", value_delimiter = ',')]
    pub compatible: Vec<Peer>,
    /// Require post-quantum algorithms
    #[arg(long)]
    pub post_quantum: bool,
    /// Share of a server's clients without elliptic curves, like 20%
    #[arg(long, value_name = "SHARE", value_parser = clients)]
    pub old_clients: Option<f64>,
}

/// Tokens and algorithms to choose from.
#[derive(Debug, Args)]
#[command(next_help_heading = "Candidates")]
pub struct CandidateArguments {
    /// Tokens to choose from, or software: yubikey-4, fst-01, …
    #[arg(long, short, value_name = "NAME", value_delimiter = ',')]
    pub device: Vec<String>,
    /// Algorithms to choose from
    #[arg(long, short, value_name = "LIST", value_delimiter = ',')]
    pub algorithm: Vec<Algorithm>,
}

impl AdviseArguments {
    /// Returns whether a limit was given that HSMs do not have.
    pub fn has_limits_of_keys(&self) -> bool {
        let keys = &self.requirements;
        keys.until.is_some()
            || keys.tolerance.is_some()
            || keys.old_clients.is_some()
            || keys.open_firmware
            || keys.post_quantum
            || self.measure
            || !keys.compatible.is_empty()
            || !keys.policy.is_empty()
            || !self.candidates.device.is_empty()
    }
}

fn clients(text: &str) -> Result<f64, String> {
    let part = share(text)?;
    if part > 1.0 {
        return Err(format!("clients are at most 100%, not '{text}'"));
    }
    Ok(part)
}

fn level(text: &str) -> Result<Strength, String> {
    let bits = text.parse().ok().filter(|bits| (1..=256).contains(bits));
    bits.map(Strength)
        .ok_or_else(|| format!("bits of security must be from 1 to 256, not '{text}'"))
}

/// `2035` is its last day, `2035-06` that month's.
pub(super) fn last_day(text: &str) -> Result<Date, String> {
    let read = |day: String| day.parse::<Date>().ok();
    let day = match text.len() {
        4 => read(format!("{text}-12-31")),
        7 => read(format!("{text}-01")).map(Date::last_of_month),
        _ => read(text.to_owned()),
    };
    day.ok_or_else(|| format!("'{text}' is not a day; write it like 2035, 2035-06 or 2035-06-30"))
}

/// Subject of advice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdviceTopic {
    /// A key for a purpose.
    Key(Purpose),
    /// A number of HSMs.
    Hsm,
}

impl FromStr for AdviceTopic {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        if word.eq_ignore_ascii_case("hsm") {
            return Ok(Self::Hsm);
        }
        let purpose = word.parse().map(Self::Key);
        purpose.map_err(|_| {
            let known = Purpose::WORDS.join(", ");
            let alike = alike(&word.to_lowercase());
            let alike = alike.map(|purpose| format!(" Did you mean {purpose}?"));
            format!(
                "unknown purpose '{word}'.{} Choose from {known}, hsm",
                alike.unwrap_or_default()
            )
        })
    }
}

/// Finds the purpose that people mean by a program or a thing.
fn alike(word: &str) -> Option<Purpose> {
    match word {
        "gpg" | "gnupg" | "openpgp" | "mail" | "git" => Some(Purpose::Email),
        "tls" | "https" | "web" | "apache" | "nginx" => Some(Purpose::Server),
        "openssh" | "login" => Some(Purpose::Ssh),
        "token" | "keycard" | "yubikey" | "nitrokey" => Some(Purpose::Card),
        "sign" | "signing" | "rfc3161" | "tsa" => Some(Purpose::Timestamping),
        _ => None,
    }
}

/// Load of HSMs.
#[derive(Debug, Args)]
#[command(next_help_heading = "For hsm")]
pub struct HsmArguments {
    /// Operations that arrive at random, or the lowest rate of a key: 50/s, 500/min, 1000000/day
    #[arg(long, value_name = "RATE", value_parser = rate, help_heading = "Requirements")]
    pub rate: Option<PerSecond>,
    /// Limit for 99 % of the operations
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub latency: Option<Duration>,
    /// Classes: usb, network, cloud
    #[arg(long, value_name = "CLASS", value_delimiter = ',')]
    pub class: Vec<HsmClass>,
    /// Accepted certifications: fips-140-3-level-3, cc-eal5+
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub certification: Vec<Certification>,
}

impl HsmArguments {
    /// Returns whether a limit was given that keys do not have.
    pub const fn is_of_hsms(&self) -> bool {
        self.latency.is_some() || !self.class.is_empty() || !self.certification.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_year_ends_with_its_last_day() {
        let day = |text: &str| last_day(text).map(|day| day.to_string());
        assert_eq!(day("2035").as_deref(), Ok("2035-12-31"));
        assert_eq!(day("2028-02").as_deref(), Ok("2028-02-29"));
        assert_eq!(day("2030-07-01").as_deref(), Ok("2030-07-01"));
        assert!(day("35").unwrap_err().contains("2035-06"));
        assert!(day("2035-13").is_err() && day("2035-02-30").is_err());
    }
}
