//! Tables as HTML. The script takes their numbers from the page's data, by the table's number.

use askama::Template;

use super::super::cell::words;
use crate::document::{Align, Cell, Table};
use crate::visible::visible;

/// Letters of a word that does not widen its column much.
const WORD: usize = 24;

#[derive(Template)]
#[template(path = "table.html")]
struct TableHtml {
    number: usize,
    heading: String,
    caption: String,
    columns: Vec<ColumnHtml>,
    rows: Vec<RowHtml>,
}

struct ColumnHtml {
    name: String,
    right: bool,
}

struct RowHtml {
    provenance: String,
    cells: Vec<CellHtml>,
}

struct CellHtml {
    words: String,
    /// Where it leads, if anywhere.
    address: Option<String>,
    right: bool,
    /// Whether a word in it may be broken.
    long: bool,
}

impl CellHtml {
    fn of(cell: &Cell, right: bool) -> Self {
        let words = words(cell);
        let long = words.split(' ').any(|word| word.chars().count() > WORD);
        let address = if let Cell::Record { page, .. } = cell {
            Some(page.clone())
        } else {
            None
        };
        Self {
            words,
            address,
            right,
            long,
        }
    }
}

/// Tables are numbered in the order in which they stand in the document.
#[derive(Default)]
pub(super) struct Numbering {
    next: usize,
}

impl Numbering {
    pub(super) fn table(&mut self, table: &Table, heading: &str) -> Result<String, askama::Error> {
        let number = self.next;
        self.next += 1;
        if table.rows.is_empty() {
            return Ok("<p class=\"note\">Not enough data for this table.</p>".to_owned());
        }
        let right = |column: usize| table.columns[column].align == Align::Right;
        let columns = 0..table.columns.len();
        TableHtml {
            number,
            heading: match heading {
                "" => "every case".to_owned(),
                heading => visible(heading).into_owned(),
            },
            caption: rows(table.rows.len()),
            columns: columns
                .clone()
                .map(|column| ColumnHtml {
                    name: visible(&table.columns[column].name).into_owned(),
                    right: right(column),
                })
                .collect(),
            rows: table
                .rows
                .iter()
                .map(|row| RowHtml {
                    provenance: row.provenance.to_string(),
                    cells: columns
                        .clone()
                        .map(|column| CellHtml::of(&table.cell(row, column), right(column)))
                        .collect(),
                })
                .collect(),
        }
        .render()
    }
}

fn rows(number: usize) -> String {
    match number {
        1 => "1 row".to_owned(),
        number => format!("{number} rows"),
    }
}
