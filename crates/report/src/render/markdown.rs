//! The document as Markdown, with every column.

use std::fmt;

use askama::Template;
use askama::filters::Escaper;
use itertools::Itertools;

use super::{Format, filled, widths, words};
use crate::visible::visible;
use crate::{Block, Cell, Conditions, Document, Table, TableOf};

pub(crate) static FORMAT: Format = Format {
    word: "md",
    about: "Every column of every table, for README files and issues",
    endings: &["md"],
    write: |exported| Ok(render(&exported.document())?),
};

#[derive(Template)]
#[template(path = "report.md")]
struct Report<'a> {
    document: &'a Document,
}

/// Title, answers, conditions, sections, warnings, with an empty line between two of them.
///
/// # Errors
/// None: a template writes to memory.
pub fn render(document: &Document) -> askama::Result<String> {
    let text = Report { document }.render()?;
    Ok(text.trim_start_matches('\n').to_owned())
}

/// All values of the template.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Markdown;

impl Escaper for Markdown {
    fn write_escaped_str<W: fmt::Write>(&self, mut to: W, text: &str) -> fmt::Result {
        to.write_str(&escaped(text))
    }
}

/// Differences between runs.
fn differences(conditions: &Conditions) -> String {
    let facts = TableOf::new(conditions.differences());
    let mut table = facts.name("what", |fact| fact.name.as_str());
    for (place, run) in conditions.runs.iter().enumerate() {
        table = table.name(run, |fact| fact.values.get(place)?.clone());
    }
    self::table(&table.table())
}

fn table(table: &Table) -> String {
    let headings = table.columns.iter().map(|column| escaped(&column.name));
    let cells = |row: &Vec<Cell>| row.iter().map(|cell| escaped(&words(cell))).collect();
    let rows =
        std::iter::once(headings.collect::<Vec<String>>()).chain(table.rows.iter().map(cells));
    let rows: Vec<Vec<String>> = rows.collect();
    let widths = widths(&rows);
    let mut lines = rows.iter().map(|row| {
        let cells = row.iter().zip(&widths).zip(&table.columns);
        let cells = cells.map(|((cell, width), column)| filled(cell, *width, column.align));
        format!("| {} |\n", cells.format(" | "))
    });
    let rule = widths.iter().map(|width| "-".repeat(width + 2)).format("|");
    let heading = lines.next().unwrap_or_default();
    format!("{heading}|{rule}|\n{}", lines.format(""))
}

/// Escapes what would end a cell or pass for HTML: names of devices and reasons of failures come from outside.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    // A line that ends becomes a space, which is what Markdown makes of it elsewhere.
    let text = text.replace(['\n', '\r'], " ");
    for c in visible(&text).chars() {
        match c {
            '|' | '\\' | '*' | '_' | '`' | '[' | ']' | '<' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}
