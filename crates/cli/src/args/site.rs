//! The command line of `keymark site`.

use std::path::PathBuf;

use clap::Args;

/// `keymark site`
#[derive(Debug, Args)]
pub struct SiteArguments {
    /// The folder of contributed records: files of 'keymark share', and whatever 'keymark import' reads
    #[arg(value_name = "DIR")]
    pub records: PathBuf,
    /// Where the site goes: a directory that is not there, is empty, or holds an earlier site
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// Pages of the devices, too, that only articles have figures of
    #[arg(long)]
    pub all_published: bool,
    /// What the site is called
    #[arg(long, value_name = "TEXT", default_value = "What a private key costs")]
    pub title: String,
}
