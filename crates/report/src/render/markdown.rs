//! The document as Markdown, with every column.

use std::fmt::Write;

use comfy_table::presets;

use super::{cell, grid};
use crate::document::{Align, Block, Document, Section, Table};
use crate::visible::visible;

/// Title, conditions, sections, warnings.
#[must_use]
pub fn render(document: &Document) -> String {
    let mut text = String::new();
    if let Some(title) = &document.title {
        begin(&mut text, &format!("# {}\n", escaped(title)));
    }
    list(&mut text, document.head.iter().map(String::as_str));
    for section in &document.sections {
        self::section(&mut text, section);
    }
    if !document.warnings.is_empty() {
        begin(&mut text, "## warnings\n");
        let warnings = document.warnings.iter();
        list(&mut text, warnings.map(|warning| warning.text.as_str()));
    }
    text
}

fn section(text: &mut String, section: &Section) {
    if let Some(heading) = &section.heading {
        begin(text, &format!("## {}\n", escaped(heading)));
    }
    for block in &section.blocks {
        match block {
            Block::Table(table) => begin(text, &self::table(table)),
            Block::Remark(remark) => begin(text, &format!("{}\n", escaped(&remark.text))),
            Block::Figure(_) => {}
        }
    }
}

fn table(table: &Table) -> String {
    let header: Vec<String> = table.columns.iter().map(|c| escaped(&c.name)).collect();
    let align: Vec<Align> = table.columns.iter().map(|column| column.align).collect();
    let rows = table.rows.iter().map(|row| {
        let cells = (0..table.columns.len()).map(|column| table.cell(row, column));
        cells.map(|cell| escaped(&cell::words(&cell))).collect()
    });
    grid(
        presets::ASCII_MARKDOWN,
        (1, 1),
        &header,
        &align,
        rows.collect(),
    )
}

/// Blocks are parted by an empty line.
fn begin(text: &mut String, block: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(block);
}

fn list<'a>(text: &mut String, items: impl Iterator<Item = &'a str>) {
    let items = items.fold(String::new(), |mut list, item| {
        // Writing to a string does not fail.
        let _ = writeln!(list, "- {}", escaped(item));
        list
    });
    if !items.is_empty() {
        begin(text, &items);
    }
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
