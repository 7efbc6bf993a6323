//! `keymark strength`, `keymark advise`

use std::time::Duration;

use clap::Args;
use jiff::civil::Date;
use keymark_advice::Strength;
use keymark_advice::compatibility::Peer;
use keymark_advice::key_spec::KeySpec;
use keymark_bench::Algorithm;

use super::hsm::{AdviceTopic, HsmArguments};
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
    /// The key is in use until this day [default: today]
    #[arg(long, value_name = "DATE", value_parser = last_day, help_heading = "Requirements")]
    pub until: Option<Date>,
    /// Require these policies to allow it then: nist, bsi, cnsa, anssi, ecrypt, sogis, openpgp, an id, or a .toml file
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        help_heading = "Requirements"
    )]
    pub policy: Vec<String>,
    /// Require firmware that can be read and built
    #[arg(long, help_heading = "Requirements")]
    pub open_firmware: bool,
    /// Longest acceptable operation
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Requirements")]
    pub tolerance: Option<Duration>,
    /// Programs that must accept it: gnupg-2.2, openssh-6.5, openssl-1.1.1, java-11, github, browsers, yubikey-5.2.3, …
    #[arg(
        long,
        value_name = "PROGRAM",
        value_delimiter = ',',
        help_heading = "Requirements"
    )]
    pub compatible: Vec<Peer>,
    /// Require post-quantum algorithms
    #[arg(long, help_heading = "Requirements")]
    pub post_quantum: bool,
    /// Share of a server's clients without elliptic curves, like 20%
    #[arg(long, value_name = "SHARE", value_parser = clients, help_heading = "Requirements")]
    pub old_clients: Option<f64>,
    /// Tokens to choose from, or software: yubikey-4, fst-01, …
    #[arg(
        long,
        short,
        value_name = "NAME",
        value_delimiter = ',',
        help_heading = "Candidates"
    )]
    pub device: Vec<String>,
    /// Algorithms to choose from
    #[arg(
        long,
        short,
        value_name = "LIST",
        value_delimiter = ',',
        help_heading = "Candidates"
    )]
    pub algorithm: Vec<Algorithm>,
    /// Measure on this machine first
    #[arg(long)]
    pub measure: bool,
    /// Format of the output
    #[command(flatten)]
    pub form: FormatArguments,
}

impl AdviseArguments {
    /// Returns whether a limit was given that HSMs do not have.
    pub fn has_limits_of_keys(&self) -> bool {
        let named = [&self.policy, &self.device];
        self.until.is_some()
            || self.tolerance.is_some()
            || self.old_clients.is_some()
            || self.open_firmware
            || self.post_quantum
            || self.measure
            || !self.compatible.is_empty()
            || named.iter().any(|list| !list.is_empty())
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
