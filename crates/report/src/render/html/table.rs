//! Tables as HTML. The script takes their numbers from the page's data, by the table's number.

use askama::Template;
use keymark_bench::case::Provenance;

use super::super::cell::words;
use crate::document::{Align, Cell, Narrow, Source, Table};
use crate::visible::visible;

/// What a section without a heading shows.
pub(super) const EVERY: &str = "every case";
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
    class: String,
}

struct RowHtml {
    provenance: String,
    cells: Vec<CellHtml>,
}

struct CellHtml {
    words: String,
    /// Where it leads, if anywhere.
    address: Option<String>,
    class: String,
}

impl CellHtml {
    fn of(cell: &Cell, class: &Class) -> Self {
        let words = words(cell);
        // A word in it may be broken.
        let long = words.split(' ').any(|word| word.chars().count() > WORD);
        let address = if let Cell::Record { page, .. } = cell {
            Some(page.clone())
        } else {
            None
        };
        Self {
            words,
            address,
            class: class.of_cell(long),
        }
    }
}

/// How a column is shown.
struct Class {
    right: bool,
    /// Left out in a narrow window.
    more: bool,
}

impl Class {
    /// What may be left out of a terminal may be left out here, and what is the same in every row.
    fn of(table: &Table, number: usize) -> Self {
        let column = &table.columns[number];
        let mut cells = table.rows.iter().map(|row| table.cell(row, number));
        let first = cells.next();
        let same = table.rows.len() > 1 && cells.all(|cell| Some(cell) == first);
        let more = match (column.narrow, column.source) {
            (Narrow::Leave(_), _) => true,
            (Narrow::Once, Source::Provenance) => {
                let mut rows = table.rows.iter();
                rows.all(|row| row.provenance == Provenance::Measured)
            }
            (Narrow::Once, _) => same,
            (Narrow::Keep | Narrow::Continue, _) => false,
        };
        Self {
            right: column.align == Align::Right,
            more,
        }
    }

    fn of_cell(&self, long: bool) -> String {
        let words = [
            (self.right, "n"),
            (long && !self.right, "long"),
            (self.more, "more"),
        ];
        let words = words
            .iter()
            .filter_map(|(is_so, word)| is_so.then_some(*word));
        words.collect::<Vec<_>>().join(" ")
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
        let classes = (0..table.columns.len()).map(|column| Class::of(table, column));
        let classes: Vec<Class> = classes.collect();
        TableHtml {
            number,
            heading: match heading {
                "" => EVERY.to_owned(),
                heading => visible(heading).into_owned(),
            },
            caption: rows(table.rows.len()),
            columns: table
                .columns
                .iter()
                .zip(&classes)
                .map(|(column, class)| ColumnHtml {
                    name: visible(&column.name).into_owned(),
                    class: class.of_cell(false),
                })
                .collect(),
            rows: table
                .rows
                .iter()
                .map(|row| RowHtml {
                    provenance: row.provenance.to_string(),
                    cells: (0..)
                        .zip(&classes)
                        .map(|(column, class)| CellHtml::of(&table.cell(row, column), class))
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
