//! The command line of what leaves the archive.

use std::path::PathBuf;

use clap::Args;
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

/// `keymark import`
#[derive(Debug, Args)]
pub struct ImportArguments {
    /// A CSV table of published figures, a record of another machine, or another archive: a file, postgresql://… or
    /// service=…
    #[arg(value_name = "SOURCE")]
    pub source: PathBuf,
    /// Identity that a team's archive is sent
    #[command(flatten)]
    pub identity: IdentityArguments,
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
