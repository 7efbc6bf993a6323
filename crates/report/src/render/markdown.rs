//! The document as Markdown, with every column.

use std::fmt::Write;

use comfy_table::presets;

use super::{Format, cell, grid};
use crate::document::{Align, Block, Conditions, Document, Section, Table};
use crate::visible::visible;

pub(crate) static FORMAT: Format = Format {
    word: "markdown",
    about: "Every column of every table, for README files and issues",
    endings: &["md", "markdown"],
    write: |exported, out| Ok(out.write_all(render(&exported.document()).as_bytes())?),
};

/// Title, answers, conditions, sections, warnings.
pub fn render(document: &Document) -> String {
    let mut text = String::new();
    if let Some(title) = &document.title {
        begin(&mut text, &format!("# {}\n", escaped(title)));
    }
    for statement in &document.answers {
        begin(&mut text, &format!("{}\n", escaped(&statement.text)));
    }
    list(&mut text, document.head.iter().map(String::as_str));
    if let Some(conditions) = &document.conditions {
        differences(&mut text, conditions);
    }
    for section in document.told() {
        self::section(&mut text, section);
    }
    if !document.warnings.is_empty() {
        begin(&mut text, "## warnings\n");
        let warnings = document.warnings.iter();
        list(&mut text, warnings.map(|warning| warning.text.as_str()));
    }
    let commands = document
        .conditions
        .iter()
        .flat_map(|conditions| &conditions.commands);
    for (index, rerun) in commands.enumerate() {
        if index == 0 {
            begin(&mut text, "## repeat this run\n");
        }
        // Set in, so that nothing in it can end the block.
        begin(&mut text, &format!("    {}\n", visible(&rerun.command)));
    }
    text
}

/// What tells several runs apart.
fn differences(text: &mut String, conditions: &Conditions) {
    if conditions.differences().next().is_none() {
        return;
    }
    begin(text, "## what differs\n");
    let header: Vec<String> = ["what".to_owned()]
        .into_iter()
        .chain(conditions.runs.iter().map(|run| escaped(run)))
        .collect();
    let word = |value: &Option<String>| {
        value
            .as_ref()
            .map_or_else(|| "-".to_owned(), |v| escaped(v))
    };
    let rows = conditions.differences().map(|fact| {
        let values = fact.values.iter().map(word);
        [escaped(&fact.name)].into_iter().chain(values).collect()
    });
    let align = vec![Align::Left; header.len()];
    begin(
        text,
        &grid(
            presets::ASCII_MARKDOWN,
            (1, 1),
            &header,
            &align,
            rows.collect(),
        ),
    );
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
