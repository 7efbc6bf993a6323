//! The command line of what runs are compared by.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use keymark_report::archive::SideSelector;

use super::{TableArguments, duration, share};

/// Pairs of runs that alternate, if nobody says how many.
const PAIRS: u32 = 5;

/// A series of runs, in place of one.
#[derive(Debug, Args)]
pub struct SeriesArguments {
    /// Make a series of so many runs of the plan, each in a process of its own, which can be compared with
    /// another series [default: 5 with --against]
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(2..=1000),
        allow_negative_numbers = true,
        conflicts_with_all = ["no_save", "pin_fd"],
        help_heading = "Comparing"
    )]
    pub repeat: Option<u32>,

    /// Let another keymark measure the same plan in turn with this one, and compare the two: an older
    /// build, or a script that sets something and runs keymark with its arguments
    #[arg(
        long,
        value_name = "PROGRAM",
        conflicts_with_all = ["no_save", "pin_fd"],
        help_heading = "Comparing"
    )]
    pub against: Option<PathBuf>,

    /// Wait about so long between runs, or pairs of them: from half to one and a half of it, by the seed
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = duration, allow_hyphen_values = true, help_heading = "Comparing")]
    pub pause: Duration,
}

impl SeriesArguments {
    /// Whether there is to be more than one run.
    #[must_use]
    pub const fn is_wanted(&self) -> bool {
        self.repeat.is_some() || self.against.is_some()
    }

    /// Runs of each side.
    #[must_use]
    pub fn runs(&self) -> u32 {
        let pairs = self.against.as_ref().map(|_| PAIRS);
        self.repeat.or(pairs).unwrap_or(1)
    }

    /// Runs in all.
    #[must_use]
    pub fn runs_in_all(&self) -> u32 {
        self.runs() * if self.against.is_some() { 2 } else { 1 }
    }
}

/// `keymark compare`
#[derive(Debug, Args)]
pub struct CompareArguments {
    /// The run to compare with. A run of a series stands for the series; 'series:last', 'series:last~1'
    /// and 'series:NAME' name one, 'last,last~2,last~4' several runs
    #[arg(value_name = "RUN")]
    pub first: SideSelector,
    /// The run or series that is compared; without it, copies within the first run
    #[arg(value_name = "RUN")]
    pub second: Option<SideSelector>,
    /// Exit with 1 if a case is slower by more than this, with at most 5 % for any false alarm; with 3 if
    /// there are single runs only, which cannot be judged
    #[arg(long, value_name = "PERCENT", value_parser = share, allow_hyphen_values = true)]
    pub fail_above: Option<f64>,
    /// What is never called a difference, whatever the intervals say [default: 2% of what was measured in
    /// turn, 10% of series at different times]
    #[arg(long, value_name = "PERCENT", value_parser = share, allow_hyphen_values = true)]
    pub noise: Option<f64>,
    /// One JSON object a pair
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// How tables are shown
    #[command(flatten)]
    pub tables: TableArguments,
}
