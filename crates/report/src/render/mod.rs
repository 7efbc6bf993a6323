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
use crate::units::{self, Bare};
use crate::visible::{self, visible};
use crate::{Align, Answer, Brief, Cell, Document, Figured, Mark};

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

pub(crate) fn words(cell: &Cell) -> String {
    match cell {
        Cell::Missing => DASH.to_owned(),
        Cell::Failed => "failed".to_owned(),
        Cell::Text(text) | Cell::Record { name: text, .. } => visible(text).into_owned(),
        Cell::Device(device) => visible(device.as_str()).into_owned(),
        Cell::Provenance(provenance) => provenance.to_string(),
        Cell::Count(number) => number.to_string(),
        Cell::Answer(Answer::Yes) => "yes".to_owned(),
        Cell::Answer(Answer::No) => "no".to_owned(),
        Cell::Answer(Answer::Unknown) => "?".to_owned(),
        Cell::Duration(time) => units::duration(*time),
        Cell::DurationEstimate(estimate) => units::estimated_duration(estimate),
        Cell::AtMost(time) => format!("< {}", units::duration(*time)),
        Cell::Ratio(ratio) => units::ratio(*ratio),
        Cell::RatioEstimate(estimate) => units::estimated_ratio(estimate),
        Cell::Gain(gain) => units::gain(*gain),
        Cell::GainEstimate(estimate) => units::estimated_gain(estimate),
        Cell::Rate(rate) => units::rate(*rate),
        Cell::RateEstimate(estimate) => units::estimated_rate(estimate),
        Cell::Brief(brief) => self::brief(brief),
        Cell::Share(share) => units::percent(share.0),
        Cell::ShareEstimate(estimate) => units::estimated_percent(estimate),
    }
}

/// `5.8 ms`, `17 ms ±28 %` if that is worse than ±10 %, `~17 ms` without an interval, `≥ 8.2 s` if nothing bounds it from above, `[1.3 s]` if it was not measured.
fn brief(brief: &Brief) -> String {
    let bare = match brief.provenance.is_of_a_run() {
        true => Bare::Uncertain,
        false => Bare::Stated,
    };
    let words = match &brief.figure {
        Figured::Time(time) => units::brief(time, bare, units::rounded_duration),
        Figured::Rate(rate) => units::brief(rate, bare, units::rounded_rate),
    };
    let words = match brief.mark {
        Mark::None => words,
        Mark::Brackets => format!("[{words}]"),
    };
    match brief.warning {
        None => words,
        Some(warning) => format!("{words} {warning}"),
    }
}

/// The value alone where there is little room.
#[allow(clippy::wildcard_enum_match_arm, reason = "said as they are")]
fn without_interval(cell: &Cell) -> String {
    match cell {
        Cell::DurationEstimate(estimate) => units::duration(estimate.value),
        Cell::RatioEstimate(estimate) => units::ratio(estimate.value),
        Cell::GainEstimate(estimate) => units::gain(estimate.value),
        Cell::RateEstimate(estimate) => units::rate(estimate.value),
        Cell::ShareEstimate(estimate) => units::tenths_of_percent(estimate.value),
        other => words(other),
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
