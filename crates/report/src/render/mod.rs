//! How a document looks: text on a terminal, Markdown, JSON; and what is written in each of the forms there are.

pub mod html;
mod layout;
pub mod markdown;
pub mod text;

use std::io::{self, Write};

use comfy_table::{CellAlignment, ContentArrangement, TableStyle};
use keymark_bench::{Layers, Record};

use crate::analysis::{Analysis, Row};
use crate::report::{series, series_rows};
use crate::units::Bare;
use crate::visible::{self, visible};
use crate::{Align, Cell, Document, Form, Number};

/// Room for a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// As much as it takes.
    Unlimited,
    /// So many columns of a terminal.
    Columns(u16),
}

/// Draws cells that are already words.
fn grid(
    style: TableStyle,
    padding: (u16, u16),
    header: &[String],
    align: &[Align],
    rows: Vec<Vec<String>>,
) -> String {
    let mut table = comfy_table::Table::new();
    table.load_style(style);
    table
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(header)
        .add_rows(rows);
    for (column, align) in table.column_iter_mut().zip(align) {
        column.set_padding(padding);
        column.set_cell_alignment(match align {
            Align::Left => CellAlignment::Left,
            Align::Right => CellAlignment::Right,
        });
    }
    let text = table.to_string();
    text.lines()
        .map(str::trim_end)
        .fold(String::new(), |text, line| text + line + "\n")
}

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
    let stated = number.provenance.is_some_and(|kind| !kind.is_of_a_run());
    let bare = if stated {
        Bare::Stated
    } else {
        Bare::Uncertain
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
    word: "document",
    about: "All that is said as one JSON object, with the data of pictures",
    endings: &["json"],
    write: |exported, out| Ok(out.write_all(json(&exported.document())?.as_bytes())?),
};

/// The document as one JSON object with the data of pictures, on one line, which is ended.
pub fn json(document: &Document) -> serde_json::Result<String> {
    Ok(visible::json(document)? + "\n")
}
