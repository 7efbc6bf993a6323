//! The command line of `keymark report`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use keymark_report::archive::RunSelector;
use keymark_report::exchange::Shipped;

use super::comparison;

/// Formats of `keymark report`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// One page for a browser, which works offline and from a file
    Html,
    /// Markdown, for README files and issues
    Markdown,
    /// Tables for an article, with booktabs
    Latex,
    /// One line for each case, of one run
    Csv,
    /// The whole report as one object, with the data of pictures
    Json,
}

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
    #[arg(long, value_enum)]
    pub format: Option<ReportFormat>,
    /// Overwrite a file that keymark did not write
    #[arg(long)]
    pub force: bool,
}

impl ReportArguments {
    /// What was asked for, or what the file's name says.
    #[must_use]
    pub fn format(&self) -> ReportFormat {
        let extension = self.output.as_ref().and_then(|path| path.extension());
        let extension = extension.map(|extension| extension.to_string_lossy().to_lowercase());
        self.format.unwrap_or(match extension.as_deref() {
            Some("md" | "markdown") => ReportFormat::Markdown,
            Some("tex") => ReportFormat::Latex,
            Some("csv") => ReportFormat::Csv,
            Some("json") => ReportFormat::Json,
            _ => ReportFormat::Html,
        })
    }
}
