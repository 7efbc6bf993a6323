//! What is written in each of the forms there are.

use std::io::{self, Write};

use keymark_bench::layers::Layers;
use keymark_bench::record::Record;

use super::html::HtmlError;
use crate::analysis::{Analysis, Row};
use crate::document::Document;
use crate::series;

/// A form in which runs are written.
#[derive(Debug)]
pub struct Format {
    /// The word for it on the command line.
    pub word: &'static str,
    /// What it is, for the help.
    pub about: &'static str,
    /// How names of such files end.
    pub endings: &'static [&'static str],
    /// Writes all of it.
    pub write: fn(&Exported<'_>, &mut dyn Write) -> Result<(), FormatError>,
}

/// Why something has no such form.
#[derive(Debug, thiserror::Error)]
pub enum FormatError {
    /// A value has no form in JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// There is no room for it, or nobody reads it.
    #[error("cannot write it: {0}")]
    Io(#[from] io::Error),
    /// A row cannot be written.
    #[error(transparent)]
    Csv(#[from] csv::Error),
    /// A page cannot be written.
    #[error(transparent)]
    Html(#[from] HtmlError),
    /// A template, which writes to memory only.
    #[error(transparent)]
    Template(#[from] askama::Error),
    /// It is more than the form has a place for.
    #[error("CSV has the rows of one run; name one, or choose another format")]
    SeveralRuns,
}

/// What is written: runs, each by itself, or those of a series as one.
#[allow(
    missing_debug_implementations,
    reason = "what makes the report has no form"
)]
pub enum Exported<'a> {
    /// Runs, and all that is said of them.
    Runs {
        /// At least one.
        runs: &'a [Record],
        /// How stacks lie on one another.
        families: &'a [Layers],
        /// The report.
        document: &'a dyn Fn() -> Document,
    },
    /// A series by its name.
    Series {
        /// `series:NAME`
        name: String,
        /// Its runs.
        runs: &'a [Record],
    },
}

impl Exported<'_> {
    /// The run, or the series.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Runs { runs, .. } => runs.first().map(|run| run.id.to_string()),
            Self::Series { name, .. } => Some(name.clone()),
        }
        .unwrap_or_default()
    }

    pub(crate) const fn records(&self) -> &[Record] {
        match self {
            Self::Runs { runs, .. } | Self::Series { runs, .. } => runs,
        }
    }

    /// Of runs, the rows of the first.
    pub(crate) fn rows(&self) -> Vec<Row> {
        match self {
            Self::Runs { runs, families, .. } => {
                let run = runs.first();
                run.map_or_else(Vec::new, |run| Analysis::of(run, families).rows)
            }
            Self::Series { .. } => Vec::new(),
        }
    }

    /// What there is to say.
    pub(crate) fn document(&self) -> Document {
        match self {
            Self::Runs { document, .. } => document(),
            Self::Series { runs, .. } => series::document(runs, &series::rows(runs)),
        }
    }
}
