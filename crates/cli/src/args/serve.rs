//! The command line of `keymark serve`.

use clap::Args;

/// `keymark serve`
#[derive(Debug, Args)]
pub struct PageArguments {
    /// Port to listen on [default: a free one]
    #[arg(long, value_name = "N")]
    pub port: Option<u16>,
    /// Accept uploaded runs, with the token that keymark prints
    #[arg(long)]
    pub allow_import: bool,
}
