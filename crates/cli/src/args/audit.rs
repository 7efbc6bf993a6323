//! `keymark audit`

use clap::{Args, ValueEnum};
use jiff::civil::Date;

use super::advice::last_day;

/// `keymark audit`
#[derive(Debug, Args)]
pub struct AuditArguments {
    /// Files, directories, keyrings, 'card', a pkcs11: URI, HOST:PORT of a TLS server, or '-' for stdin
    /// [default: your own ~/.ssh and GnuPG keyring]
    #[arg(value_name = "TARGET")]
    pub targets: Vec<String>,
    /// Judge by these policies: nist, bsi, cnsa, …, or a .toml file
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        default_value = "nist"
    )]
    pub policy: Vec<String>,
    /// Name keys that these policies do not allow until that day: 2035, 2035-06, 2035-06-30
    #[arg(long, value_name = "DATE", value_parser = last_day)]
    pub until: Option<Date>,
    /// Confirm that a server elsewhere is yours
    #[arg(long)]
    pub i_own_this_server: bool,
    /// Show every key, and every finding
    #[arg(long, help_heading = "Output")]
    pub long: bool,
    /// Format of the output: for people, one JSON object per key, SARIF 2.1.0 for code scanners, JUnit's XML with a test
    /// case per key
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "text",
        help_heading = "Output"
    )]
    pub format: AuditFormat,
}

/// Format of an audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AuditFormat {
    Text,
    Json,
    Sarif,
    Junit,
}
