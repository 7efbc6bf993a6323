//! The command line of `keymark serve`.

use clap::Args;

/// `keymark serve`
#[derive(Debug, Args)]
pub struct PageArguments {
    /// Port to listen at [default: a free one]
    #[arg(long, value_name = "N")]
    pub port: Option<u16>,
    /// Take in runs that are uploaded with the token that is printed
    #[arg(long)]
    pub allow_import: bool,
}
