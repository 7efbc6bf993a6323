//! Tables as HTML. The script takes their numbers from the page's data, by the table's number.

use askama::Template;
use itertools::Itertools;
use keymark_bench::case::Provenance;

use super::super::cell;
use crate::document::{Align, Cell, Narrow, Source, Table};

/// What a section without a heading shows.
pub(super) const EVERY: &str = "every case";
/// Letters of a word that does not widen its column much.
const WORD: usize = 24;

#[derive(Template)]
#[template(path = "table.html")]
struct TableHtml<'a> {
    number: usize,
    heading: &'a str,
    table: &'a Table,
    columns: Vec<Class>,
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
            (Narrow::Once | Narrow::Case, _) => same,
            (Narrow::Keep | Narrow::Continue, _) => false,
        };
        Self {
            right: column.align == Align::Right,
            more,
        }
    }

    fn of_heading(&self) -> String {
        self.words(false)
    }

    /// A word that is long may be broken.
    fn of_cell(&self, cell: &str) -> String {
        self.words(cell.split(' ').any(|word| word.chars().count() > WORD))
    }

    fn words(&self, long: bool) -> String {
        let words = [
            (self.right, "n"),
            (long && !self.right, "long"),
            (self.more, "more"),
        ];
        let words = words.iter().filter(|(is_so, _)| *is_so);
        words.map(|(_, word)| word).join(" ")
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
        let heading = if heading.is_empty() { EVERY } else { heading };
        let classes = (0..table.columns.len()).map(|column| Class::of(table, column));
        let columns = classes.collect();
        TableHtml {
            number,
            heading,
            table,
            columns,
        }
        .render()
    }
}
