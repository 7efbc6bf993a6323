//! `keymark strength`, `keymark advise`

use clap::Args;
use keymark_advice::Strength;
use keymark_advice::key_spec::KeySpec;
use keymark_advice::until::Until;

use super::TableArguments;

/// `keymark strength`
#[derive(Debug, Args)]
pub struct StrengthArguments {
    /// Keys: rsa3072, rsa2047, nistp256, ed25519, mldsa65, dh2048, …
    #[arg(value_name = "KEY")]
    pub keys: Vec<KeySpec>,
    /// The weakest keys of each kind with so many bits of security
    #[arg(long, value_name = "BITS", value_parser = level, conflicts_with = "keys")]
    pub level: Option<Strength>,
    /// Status at this day [default: today]
    #[arg(long, value_name = "DATE")]
    pub until: Option<Until>,
    /// Only these policies, and without keys what they permit: nist, bsi, cnsa, anssi, ecrypt, sogis, openpgp, an id,
    /// or a .toml file
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub policy: Vec<String>,
    /// Also the documents, and what to know about them
    #[arg(long, help_heading = "Output")]
    pub long: bool,
    /// One JSON object for each key
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// How tables are shown
    #[command(flatten)]
    pub tables: TableArguments,
}

fn level(text: &str) -> Result<Strength, String> {
    let bits = text.parse().ok().filter(|bits| (1..=256).contains(bits));
    bits.map(Strength)
        .ok_or_else(|| format!("bits of security must be from 1 to 256, not '{text}'"))
}
