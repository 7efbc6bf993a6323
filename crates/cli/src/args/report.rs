//! The command line of `keymark report`.

use std::path::PathBuf;

use clap::Args;
use keymark_report::archive::RunSelector;
use keymark_report::exchange::Shipped;
use keymark_report::render::Format;

use super::{comparison, forms};

/// `keymark report`
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// Which runs: last, last~1, an id or its beginning; the first is compared with each of the others
    #[arg(value_name = "RUN", default_value = "last", num_args = 1..)]
    pub runs: Vec<RunSelector>,
    /// The file to write, or - for stdout [default: for HTML reports/RUN.html beside the archive, else stdout]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Show these published figures beside the first run's: lwn-2017, zeitgitter-2019, …
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = comparison::published)]
    pub published: Vec<Shipped>,
    /// Format [default: by the file's name, else html]
    #[arg(long, value_parser = forms::reported())]
    pub format: Option<&'static Format>,
    /// Overwrite a file that keymark did not write
    #[arg(long)]
    pub force: bool,
}

impl ReportArguments {
    /// What was asked for, or what the file's name says.
    pub fn format(&self) -> &'static Format {
        let extension = self.output.as_ref().and_then(|path| path.extension());
        let extension = extension.map(|extension| extension.to_string_lossy().to_lowercase());
        let named = || forms::of_ending(&extension.unwrap_or_default());
        self.format.unwrap_or_else(named)
    }
}
