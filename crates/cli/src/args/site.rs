//! The command line of `keymark site`.

use std::path::PathBuf;

use clap::Args;

/// `keymark site`
#[derive(Debug, Args)]
pub struct SiteArguments {
    /// The folder of contributed records: files of 'keymark share', or others that 'keymark import' reads
    #[arg(value_name = "DIR")]
    pub records: PathBuf,
    /// Directory for the site: a new one, an empty one, or an earlier site
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// Also make pages of devices for which only articles have figures
    #[arg(long)]
    pub all_published: bool,
    /// Title of the site
    #[arg(long, value_name = "TEXT", default_value = "What a private key costs")]
    pub title: String,
}
