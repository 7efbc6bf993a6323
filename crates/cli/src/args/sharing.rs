//! The command line of what leaves the archive.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use keymark_records::archive::{Identity, RunSelector};

/// `keymark share`
#[derive(Debug, Args)]
pub struct ShareArguments {
    /// Run: last, last~1, an id or its beginning
    #[arg(value_name = "RUN")]
    pub run: RunSelector,
    /// The file to write; it must not exist
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,
    /// Remove this text, such as a name that only you know
    #[arg(long, value_name = "TEXT")]
    pub remove: Vec<String>,
    /// Write without asking, for scripts
    #[arg(long)]
    pub yes: bool,
}

/// Identity that a team's archive is sent.
#[derive(Debug, Clone, Args)]
pub struct IdentityArguments {
    /// Send a team's archive serial numbers, and names of machines and people; its owner and you can read them
    #[arg(long, help_heading = "Output")]
    identify: bool,
}

impl IdentityArguments {
    /// Nothing, unless the user wants it.
    pub const fn wanted(&self) -> Identity {
        if self.identify {
            Identity::Kept
        } else {
            Identity::Hidden
        }
    }
}

/// `keymark archive`
#[derive(Debug, Subcommand)]
pub enum ArchiveCommand {
    /// Send the runs that are kept here because a server could not be reached, each to its archive or to --archive
    Push,
    /// Copy every run of an archive into another one
    Copy {
        /// A file, postgresql://… or service=…
        from: PathBuf,
        /// Archive to copy to; existing runs stay
        to: PathBuf,
        /// Identity that the archive is sent
        #[command(flatten)]
        identity: IdentityArguments,
    },
}

/// `keymark site`
#[derive(Debug, Args)]
pub struct SiteArguments {
    /// The folder of contributed records: files of 'keymark share', or others that 'keymark import' reads
    #[arg(value_name = "DIR")]
    pub records: PathBuf,
    /// Directory for the site: a new one, an empty one, or an earlier site
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// Add pages of devices with published figures only
    #[arg(long)]
    pub all_published: bool,
}
