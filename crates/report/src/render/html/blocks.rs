//! Tables and pictures in a page. The script takes a table's numbers from the page's data, by the table's number. Pictures
//! have the colors of the light theme, which the page's style changes for the dark one; each is there twice, of
//! which the style shows the one that there is room for: in a narrow window the text of the other could not be read.

use std::collections::HashSet;

use askama::Template;
use itertools::Itertools;

use crate::charts::svg::{self, Breadth};
use crate::charts::{Chart, Theme, light_and_dark};
use crate::{Align, Cell, Priority, Table};

/// Heading of a section without one.
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

/// Classes of a column.
struct Class {
    right: bool,
    /// Left out in a narrow window.
    more: bool,
}

impl Class {
    /// A narrow window shows what a narrow terminal shows at least.
    fn of(table: &Table, number: usize) -> Self {
        let column = &table.columns[number];
        let more = match column.priority {
            Priority::Rank(_) => true,
            Priority::Name => table.rows.len() > 1 && table.is_uniform(number),
            Priority::Always => false,
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
        self.words(is_long(cell))
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

/// Tells if a word widens its column.
pub(super) fn is_long(text: &str) -> bool {
    text.split(' ').any(|word| word.chars().count() > WORD)
}

/// Tables and pictures of a page so far.
#[derive(Default)]
pub(super) struct Placed {
    /// Tables are numbered in the order of the document.
    tables: usize,
    /// Identifiers of pictures, which are told apart: two runs may have the same picture.
    used: HashSet<String>,
}

impl Placed {
    pub(super) fn table(&mut self, table: &Table, heading: &str) -> Result<String, askama::Error> {
        let number = self.tables;
        self.tables += 1;
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

    /// Draws a picture for wide and for narrow windows.
    pub(super) fn picture(&mut self, chart: &Chart) -> String {
        // Nothing in it is text that has not been escaped.
        let forms = [(Breadth::Page, "wide"), (Breadth::Narrow, "narrow")];
        let forms = forms.map(|(breadth, class)| {
            let drawn = svg::draw_within(chart, Theme::Light, breadth, &mut self.used);
            format!("<div class=\"{class}\">{drawn}</div>")
        });
        format!("<figure>{}</figure>", forms.concat())
    }
}

/// The style that turns pictures dark.
pub(super) fn dark() -> String {
    let mut rules = String::from("@media screen and (prefers-color-scheme: dark) {\n");
    for (light, dark) in light_and_dark() {
        for ink in ["fill", "stroke", "stop-color"] {
            rules += &format!("figure svg [{ink}=\"{light}\"] {{ {ink}: {dark}; }}\n");
        }
    }
    rules + "}\n"
}
