//! The document as Markdown, with every column.

use std::fmt;

use askama::Template;
use askama::filters::Escaper;
use comfy_table::presets;

use super::{Format, grid, words};
use crate::visible::visible;
use crate::{Align, Block, Conditions, Document, Table, TableOf};

pub(crate) static FORMAT: Format = Format {
    word: "markdown",
    about: "Every column of every table, for README files and issues",
    endings: &["md", "markdown"],
    write: |exported, out| Ok(out.write_all(render(&exported.document())?.as_bytes())?),
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

/// All that stands in the template.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Markdown;

impl Escaper for Markdown {
    fn write_escaped_str<W: fmt::Write>(&self, mut to: W, text: &str) -> fmt::Result {
        to.write_str(&escaped(text))
    }
}

/// What tells several runs apart.
fn differences(conditions: &Conditions) -> String {
    let facts = TableOf::new(conditions.differences());
    let mut table = facts.name("what", |fact| fact.name.as_str());
    for (place, run) in conditions.runs.iter().enumerate() {
        table = table.name(run, |fact| fact.values.get(place)?.clone());
    }
    self::table(&table.table())
}

fn table(table: &Table) -> String {
    let header: Vec<String> = table.columns.iter().map(|c| escaped(&c.name)).collect();
    let align: Vec<Align> = table.columns.iter().map(|column| column.align).collect();
    let rows = table.rows.iter().map(|row| {
        let cells = row.iter();
        cells.map(|cell| escaped(&words(cell))).collect()
    });
    let rows = rows.collect();
    grid(presets::ASCII_MARKDOWN, (1, 1), &header, &align, rows)
}

/// What would end a cell, or be taken for HTML: names of devices and reasons of failures are anybody's.
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
