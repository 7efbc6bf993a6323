//! `keymark advise hsm`

use std::str::FromStr;
use std::time::Duration;

use clap::Args;
use keymark_advice::advise::Purpose;
use keymark_advice::hsm::HsmClass;
use keymark_records::published::Certification;
use keymark_stats::PerSecond;

use super::{capacity, duration};

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
pub struct HsmArguments {
    /// Operations that arrive at random, or the lowest rate of a key: 50/s, 500/min, 1000000/day
    #[arg(long, value_name = "RATE", value_parser = capacity::rate, help_heading = "Requirements")]
    pub rate: Option<PerSecond>,
    /// Limit for 99 % of the operations
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "For hsm")]
    pub latency: Option<Duration>,
    /// Classes: usb, network, cloud
    #[arg(
        long,
        value_name = "CLASS",
        value_delimiter = ',',
        help_heading = "For hsm"
    )]
    pub class: Vec<HsmClass>,
    /// Accepted certifications: fips-140-3-level-3, cc-eal5+
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        help_heading = "For hsm"
    )]
    pub certification: Vec<Certification>,
}

impl HsmArguments {
    /// Returns whether a limit was given that keys do not have.
    pub const fn is_of_hsms(&self) -> bool {
        self.latency.is_some() || !self.class.is_empty() || !self.certification.is_empty()
    }
}
