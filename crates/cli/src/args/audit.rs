//! `keymark audit`

use clap::Args;
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
    /// Print one JSON object per key
    #[arg(long, help_heading = "Output", group = "form")]
    pub json: bool,
    /// Write SARIF 2.1.0, as code scanners do
    #[arg(long, help_heading = "Output", group = "form")]
    pub sarif: bool,
    /// Write JUnit's XML: a test case for each key
    #[arg(long, help_heading = "Output", group = "form")]
    pub junit: bool,
}
