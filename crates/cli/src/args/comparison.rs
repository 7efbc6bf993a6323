//! The command line of what runs are compared by.

use std::error::Error;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::Args;
use derive_more::Display;
use keymark_bench::Baseline;
use keymark_records::archive::SideSelector;
use keymark_records::published::PublishedTable;

use super::{FormatArguments, baseline, duration, share};

/// Pairs of runs that alternate, if nobody says how many.
const PAIRS: u32 = 5;

/// A series of runs, in place of one.
#[derive(Debug, Args)]
pub struct SeriesArguments {
    /// Make a series of N runs, to compare with another one [default: 5 with --against]
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(2..=1000),
        conflicts_with_all = ["no_save", "pin_fd"],
        help_heading = "Comparing"
    )]
    pub repeat: Option<u32>,

    /// Let another keymark and this one measure the same plan in turn, and compare the two: an older build, or
    /// a script that sets something and runs keymark with its arguments
    #[arg(
        long,
        value_name = "PROGRAM",
        conflicts_with_all = ["no_save", "pin_fd"],
        help_heading = "Comparing"
    )]
    pub against: Option<PathBuf>,

    /// Pause between runs or pairs of runs, from half this time to one and a half times
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = duration, help_heading = "Comparing")]
    pub pause: Duration,
}

impl SeriesArguments {
    /// Returns whether more than one run is wanted.
    pub const fn is_wanted(&self) -> bool {
        self.repeat.is_some() || self.against.is_some()
    }

    /// Runs of each side.
    pub fn runs(&self) -> u32 {
        let pairs = self.against.as_ref().map(|_| PAIRS);
        self.repeat.or(pairs).unwrap_or(1)
    }

    /// Runs in all.
    pub fn runs_in_all(&self) -> u32 {
        self.runs() * if self.against.is_some() { 2 } else { 1 }
    }
}

/// Prefix of the names of shipped figures.
const PUBLISHED: &str = "published:";

/// Runs to compare: of the archive, or published figures.
#[derive(Debug, Display, Clone, PartialEq, Eq)]
pub enum SideArgument {
    /// A run, a series or several.
    Runs(SideSelector),
    /// `published:lwn-2017`
    #[display("{PUBLISHED}{}", _0.name)]
    Published(PublishedTable),
}

impl FromStr for SideArgument {
    type Err = Box<dyn Error + Send + Sync>;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text.strip_prefix(PUBLISHED) {
            Some(name) => Self::Published(PublishedTable::named(name)?),
            None => Self::Runs(text.parse()?),
        })
    }
}

/// Baseline of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BaselineArgument {
    /// A case of each run, as for `keymark bench --baseline`.
    Case(Baseline),
    /// Runs.
    Side(SideArgument),
}

impl FromStr for BaselineArgument {
    type Err = Box<dyn Error + Send + Sync>;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // Names of runs begin with digits, or are 'last' and 'series:'.
        match baseline(text) {
            Ok(case) => Ok(Self::Case(case)),
            Err(_) => text.parse().map(Self::Side),
        }
    }
}

/// `keymark compare`
#[derive(Debug, Args)]
pub struct CompareArguments {
    /// The runs: keymark compares the others with the first, or with --baseline; in a single one, its copies. A
    /// run of a series means the series; 'series:last', 'series:last~1' and 'series:NAME' name one,
    /// 'last,last~2,last~4' several runs, 'published:lwn-2017' an article's figures
    #[arg(value_name = "RUN", required_unless_present = "by")]
    pub sides: Vec<SideArgument>,
    /// Put the runs together by machine, each against the fastest; without runs, the last one (or series) of each
    /// machine that has a label (KEYMARK_MACHINE)
    #[arg(
        long,
        value_name = "machine",
        value_parser = ["machine"],
        hide_possible_values = true,
        conflicts_with = "baseline"
    )]
    pub by: Option<String>,
    /// Baseline: a run, or a case of each run, written as for 'keymark bench --baseline':
    /// rsa2048, raw, w=1, device=twin:yubikey-4
    #[arg(long, value_name = "RUN|CASE")]
    pub baseline: Option<BaselineArgument>,
    /// Show the geometric mean of the ratios over all cases
    #[arg(long)]
    pub geometric_mean: bool,
    /// Verdict 'same' where the whole interval lies within this
    #[arg(long, value_name = "PERCENT", value_parser = share, default_value = "2%")]
    pub equivalence: f64,
    /// Exit with 1 if a case is slower by more than this, with 4 if a case is undecided, with 5 for both; with 0
    /// only if every case is shown to be within it
    #[arg(long, value_name = "PERCENT", value_parser = share)]
    pub fail_above: Option<f64>,
    /// Differences up to this never count, whatever the intervals [default: 2% if measured in turn, 10% for
    /// series at different times]
    #[arg(long, value_name = "PERCENT", value_parser = share)]
    pub noise: Option<f64>,
    /// Format of the output
    #[command(flatten)]
    pub form: FormatArguments,
}
