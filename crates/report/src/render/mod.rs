//! Forms of a document: terminal text, Markdown, HTML, JSON; and forms of runs.

pub mod html;
mod layout;
pub mod markdown;
pub mod text;

use keymark_bench::{Layers, Record};
use unicode_width::UnicodeWidthStr;

use crate::report::{series, series_rows};
use crate::site::Collision;
use crate::units::Bare;
use crate::visible::{self, visible};
use crate::{Align, Cell, Document, Form, Number};

/// Room for a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    Unlimited,
    /// Columns of a terminal.
    Columns(u16),
}

/// Returns the width of each column of lines.
fn widths(rows: &[Vec<String>]) -> Vec<usize> {
    let columns = rows.first().map_or(0, Vec::len);
    let widest = |column: usize| {
        let lines = rows.iter().flat_map(|row| row[column].lines());
        lines.map(UnicodeWidthStr::width).max().unwrap_or(0)
    };
    (0..columns).map(widest).collect()
}

/// Fills a line up to a width.
fn filled(line: &str, width: usize, align: Align) -> String {
    let space = " ".repeat(width.saturating_sub(line.width()));
    match align {
        Align::Left => format!("{line}{space}"),
        Align::Right => format!("{space}{line}"),
    }
}

/// A form in which runs are written.
#[derive(Debug)]
pub struct Format {
    /// The word for it on the command line.
    pub word: &'static str,
    /// Description for the help.
    pub about: &'static str,
    /// Endings of such files.
    pub endings: &'static [&'static str],
    /// Returns all of it as text.
    pub write: fn(&Exported<'_>) -> Result<String, FormatError>,
}

/// Why something has no such form.
#[derive(Debug, thiserror::Error)]
pub enum FormatError {
    /// A value has no form in JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// A record is too large to be imported again, or text is not UTF-8.
    #[error("cannot write it: {0}")]
    Io(#[from] std::io::Error),
    /// A row cannot be written.
    #[error(transparent)]
    Csv(#[from] csv::Error),
    /// A template, which writes to memory only.
    #[error(transparent)]
    Template(#[from] askama::Error),
    /// Two pages of a site want the same place.
    #[error(transparent)]
    Collision(#[from] Collision),
    /// Several runs in a form for one.
    #[error("CSV has the rows of one run; name one, or choose another format")]
    SeveralRuns,
}

/// Runs to be written, each by itself or as one series.
#[allow(
    missing_debug_implementations,
    reason = "what makes the report has no form"
)]
pub enum Exported<'a> {
    /// Runs, and all statements about them.
    Runs {
        runs: &'a [Record],
        /// Order of stacks.
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
            Self::Runs { runs, .. } => {
                let first = runs.first().map(|run| run.id.to_string());
                first.unwrap_or_default()
            }
            Self::Series { name, .. } => name.clone(),
        }
    }

    pub(crate) const fn records(&self) -> &[Record] {
        match self {
            Self::Runs { runs, .. } | Self::Series { runs, .. } => runs,
        }
    }

    /// Report.
    pub(crate) fn document(&self) -> Document {
        match self {
            Self::Runs { document, .. } => document(),
            Self::Series { runs, .. } => series(runs, &series_rows(runs)),
        }
    }
}

const DASH: &str = "-";

/// Returns a value as people read it.
pub(crate) fn words(cell: &Cell) -> String {
    match cell {
        Cell::Missing => DASH.to_owned(),
        Cell::Text(text) | Cell::Link { text, .. } => visible(text).into_owned(),
        Cell::Number(number) => self::number(number),
    }
}

/// `7.91 ms (7.85–7.98)`, `< 3 ms`; in brief `5.8 ms`, `17 ms ±28 %`, and `[1.3 s]` if others were measured and this was
/// not.
fn number(number: &Number) -> String {
    let bare = match number.provenance {
        Some(kind) if !kind.is_of_a_run() => Bare::Stated,
        Some(_) | None => Bare::Uncertain,
    };
    let brief = || number.unit.brief(&number.estimate, bare);
    let words = match number.form {
        Form::Full => number.unit.full(&number.estimate),
        Form::AtMost => format!("< {}", number.unit.full(&number.estimate)),
        Form::Brief => brief(),
        Form::Bracketed => format!("[{}]", brief()),
    };
    match number.warning {
        None => words,
        Some(warning) => format!("{words} {warning}"),
    }
}

pub(crate) static DOCUMENT: Format = Format {
    word: "json",
    about: "All that is said as one JSON object, with the data of pictures",
    endings: &["json"],
    write: |exported| Ok(json(&exported.document())?),
};

/// The document as one JSON object with the data of pictures, on one line, which is ended.
pub fn json(document: &Document) -> serde_json::Result<String> {
    Ok(visible::json(document)? + "\n")
}
