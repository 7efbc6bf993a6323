//! Layout of a table in a terminal: no figure is cut. Headings are broken over several lines, then columns are left
//! out, the lowest priority first, and a line says which.

use std::cmp::Reverse;

use itertools::Itertools;
use textwrap::core::Word;
use unicode_width::UnicodeWidthStr;

use super::{Width, words};
use crate::non_empty;
use crate::units::counted;
use crate::visible::{split, wrapped};
use crate::{Align, Cell, Column, Priority, Table};

/// Spaces between two columns.
pub(super) const GAP: usize = 2;
/// Columns of a terminal that a broken name has at least.
const NAME: usize = 24;
/// Columns that it has at least where nothing else gives room.
const SHORT: usize = 10;

/// A column as text.
struct Drawn {
    /// Its place in the table.
    place: usize,
    heading: Vec<String>,
    cells: Vec<String>,
    width: usize,
}

impl Drawn {
    fn of(table: &Table, place: usize) -> Self {
        let mut column = Self {
            place,
            heading: vec![table.columns[place].name.clone()],
            cells: table.cells(place).map(words).collect(),
            width: 0,
        };
        column.measure();
        column
    }

    fn measure(&mut self) {
        self.width = widest(&self.cells).max(widest(&self.heading));
    }

    /// Breaks the heading between words where it is wider than the values.
    fn break_heading(&mut self) {
        let name = self.heading.join(" ");
        let longest = pieces(&name).map(|piece| piece.width()).max();
        let room = widest(&self.cells).max(longest.unwrap_or(0));
        self.heading = wrapped(&name, room, "", pieces);
        self.measure();
    }

    /// Breaks values between words, and longer words anywhere.
    fn break_cells(&mut self, room: usize) {
        for cell in &mut self.cells {
            let lines = wrapped(cell, room, "", crate::visible::words);
            let pieces = lines.iter().flat_map(|line| {
                let letters = line.chars().chunks(room);
                letters.into_iter().map(String::from_iter).collect_vec()
            });
            *cell = pieces.collect_vec().join("\n");
        }
        self.measure();
    }
}

/// A table that fits a terminal, if it can.
pub(super) struct Layout<'a> {
    table: &'a Table,
    shown: Vec<Drawn>,
    left_out: Vec<usize>,
}

impl<'a> Layout<'a> {
    pub(super) fn fit(table: &'a Table, width: Width) -> Self {
        let columns = 0..table.columns.len();
        let mut layout = Self {
            table,
            shown: columns.map(|place| Drawn::of(table, place)).collect(),
            left_out: Vec::new(),
        };
        if let Width::Columns(limit) = width {
            layout.narrow(usize::from(limit));
        }
        layout
    }

    fn narrow(&mut self, limit: usize) {
        if self.width() <= limit {
            return;
        }
        self.shown.iter_mut().for_each(Drawn::break_heading);
        let mut gone: Vec<Drawn> = Vec::new();
        for place in dispensable(self.table) {
            let fits = self.width() <= limit;
            if fits || (!self.table.is_uniform(place) && self.break_prose(limit)) {
                break;
            }
            let index = self.shown.iter().position(|column| column.place == place);
            gone.extend(index.map(|index| self.shown.remove(index)));
        }
        // Narrow columns that went before a wide one may have room after all.
        for column in gone.into_iter().rev() {
            if self.width() + column.width + GAP <= limit {
                let shown = &mut self.shown;
                let index = shown.partition_point(|other| other.place < column.place);
                shown.insert(index, column);
            } else {
                self.left_out.push(column.place);
            }
        }
        self.left_out.sort_unstable();
        self.break_names(limit);
    }

    /// Breaks the widest words that are no name, if that is enough.
    fn break_prose(&mut self, limit: usize) -> bool {
        let beyond = self.width().saturating_sub(limit);
        let is_prose = |priority: Priority| priority == Priority::Always;
        let widest = self.widest(is_prose);
        let broken = widest.filter(|column| column.width >= NAME + beyond);
        let broken = broken.map(|column| column.break_cells(column.width - beyond));
        broken.is_some()
    }

    /// Breaks the widest names, if figures alone do not leave them enough room.
    fn break_names(&mut self, limit: usize) {
        for least in [NAME, SHORT] {
            let mut beyond = self.width().saturating_sub(limit);
            while beyond > 0 {
                let broadest = self.widest(|_| true);
                let Some(column) = broadest.filter(|column| widest(&column.cells) > least) else {
                    break;
                };
                column.break_cells(column.width.saturating_sub(beyond).max(least));
                let before = std::mem::replace(&mut beyond, self.width().saturating_sub(limit));
                if beyond == before {
                    break;
                }
            }
        }
    }

    /// The widest column of words with such a priority.
    fn widest(&mut self, wanted: impl Fn(Priority) -> bool) -> Option<&mut Drawn> {
        let columns = &self.table.columns;
        let words = self.shown.iter_mut().filter(|column| {
            let Column {
                align, priority, ..
            } = columns[column.place];
            align == Align::Left && wanted(priority)
        });
        words.max_by_key(|column| column.width)
    }

    fn width(&self) -> usize {
        let widths = self.shown.iter().map(|column| column.width + GAP);
        widths.sum::<usize>().saturating_sub(GAP)
    }

    /// Returns the alignment of each column, and rows of cells, the first of headings.
    pub(super) fn drawn(&self) -> (Vec<Align>, Vec<Vec<String>>) {
        let columns = || self.shown.iter();
        let deepest = columns().map(|column| column.heading.len()).max();
        let heading = |column: &Drawn| {
            // Headings end at the line above their columns.
            let above = deepest.unwrap_or(0) - column.heading.len();
            "\n".repeat(above) + &column.heading.join("\n")
        };
        // A row without a figure in the columns that are left says nothing.
        let align = |column: &Drawn| self.table.columns[column.place].align;
        let figures = columns().filter(|column| align(column) == Align::Right);
        let figures: Vec<usize> = figures.map(|column| column.place).collect();
        let says = |row: &[Cell]| figures.iter().any(|place| row[*place] != Cell::Missing);
        let all = self.left_out.is_empty() || figures.is_empty();
        let rows = self.table.rows.iter().enumerate();
        let rows = rows.filter(|(_, row)| all || says(row));
        let cells =
            rows.map(|(row, _)| columns().map(|column| column.cells[row].clone()).collect());
        let headings = columns().map(heading).collect();
        let rows = std::iter::once(headings).chain(cells);
        (columns().map(align).collect(), rows.collect())
    }

    /// Returns what all rows share and no column shows.
    pub(super) fn above(&self) -> Option<String> {
        let (shared, _) = self.hidden();
        let shared = shared.into_iter().map(|column| {
            let value = self.table.cells(column).next().map(words);
            let (name, value) = (&self.table.columns[column].name, value.unwrap_or_default());
            format!("{name} {value}")
        });
        non_empty(shared).map(|shared| format!("in every row: {}", shared.join(", ")))
    }

    /// Returns how many columns are left out, and which.
    pub(super) fn below(&self) -> Option<String> {
        let (_, hidden) = self.hidden();
        let columns = counted(hidden.len(), "column");
        let names = hidden
            .iter()
            .map(|column| &self.table.columns[*column].name);
        let names = non_empty(names)?.into_iter().format(", ");
        Some(format!("{columns} hidden (terminal too narrow): {names}"))
    }

    /// Columns without a place: those with one value, and the others.
    fn hidden(&self) -> (Vec<usize>, Vec<usize>) {
        let is_said = |column: &usize| {
            self.table.is_uniform(*column)
                && self.table.cells(*column).next() != Some(&Cell::Missing)
        };
        self.left_out.iter().partition(|column| is_said(column))
    }
}

/// Columns that may be left out, the first one first: those whose rows agree from the right, others by their rank.
fn dispensable(table: &Table) -> impl Iterator<Item = usize> {
    let order = |place: usize| {
        let uniform = table.is_uniform(place);
        match table.columns[place].priority {
            Priority::Always => None,
            Priority::Rank(_) | Priority::Name if uniform => Some((0, Reverse(place))),
            Priority::Rank(rank) => Some((1 + u32::from(rank), Reverse(place))),
            Priority::Name => None,
        }
    };
    let places = 0..table.columns.len();
    let places = places.filter_map(|place| Some((order(place)?, place)));
    places.sorted().map(|(_, place)| place)
}

/// Breaks a heading into pieces that stay together: `+ agent`, `≤ 2 s`, `(95 % interval)`.
fn pieces(heading: &str) -> Box<dyn Iterator<Item = Word<'_>> + '_> {
    split(heading, |piece, _| {
        let open = piece.starts_with('(') && !piece.ends_with(')');
        !open && piece.contains(char::is_alphabetic)
    })
}

fn widest(lines: &[String]) -> usize {
    let lines = lines.iter().flat_map(|cell| cell.lines());
    lines.map(UnicodeWidthStr::width).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use keymark_bench::case::Provenance;
    use keymark_stats::{Estimate, Ratio, Seconds};
    use keymark_testkit::assert_says;

    use super::*;
    use crate::document::TableOf;
    use crate::render::text;

    fn table() -> Table {
        let rows = [
            ("software", "rsa2048", 200_u64),
            ("a card of quite some name 0a1b2c3d", "rsa4096", 100),
        ];
        let ratio = Estimate {
            low: Some(Ratio(1.98)),
            high: Some(Ratio(2.02)),
            ..Estimate::bare(Ratio(2.0))
        };
        TableOf::new(rows)
            .name("algorithm", |(_, algorithm, _)| *algorithm)
            .name("device", |(device, ..)| *device)
            .value("mean", |_| Seconds(0.012))
            .optional(0, "n", |(.., n)| *n)
            .optional(1, "ratio (95 % interval)", move |(.., n)| {
                (*n > 100).then_some(ratio)
            })
            .provenance(|_| Provenance::Measured)
            .table()
    }

    fn lines(width: u16) -> Vec<String> {
        let text = text::table(&table(), Width::Columns(width));
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        for line in &lines {
            assert!(line.width() <= usize::from(width), "{width}: {line}");
        }
        lines
    }

    #[test]
    fn headings_break_first_and_stand_on_their_columns() {
        let wide = text::table(&table(), Width::Unlimited);
        assert_eq!(lines(200).join("\n") + "\n", wide);
        let widest = wide.lines().map(|line| line.width()).max().unwrap();
        let lines = lines(widest as u16 - 1);
        assert!(lines[1].starts_with("algorithm") && lines[1].contains("(95 % interval)"));
        assert!(lines[2].contains("2.00 (1.98–2.02)"), "{lines:#?}");
    }

    #[test]
    fn columns_go_by_priority_and_a_line_says_so() {
        let shared = lines(85);
        assert_eq!(shared[0], "in every row: provenance measured");
        assert!(shared.join("\n").contains("200"), "{shared:#?}");
        let without_n = lines(75).join("\n");
        assert!(
            without_n.ends_with("1 column hidden (terminal too narrow): n"),
            "{without_n}"
        );
        assert_says(&without_n, ["2.00 (1.98–2.02)"]);
        let without_ratio = lines(63).join("\n");
        assert_says(&without_ratio, ["ratio (95 % interval)", "200"]);
        assert!(
            !without_ratio.contains("1.98"),
            "what fits again comes back"
        );
    }

    #[test]
    fn names_are_broken_last_and_figures_never() {
        let broken = lines(44).join("\n");
        assert_says(
            &broken,
            [
                "rsa4096    a card of quite some",
                "name 0a1b2c3d",
                "12.0 ms",
            ],
        );
        let text = text::table(&table(), Width::Columns(10));
        assert_says(&text, ["12.0 ms"]);
    }

    #[test]
    fn signs_and_brackets_stay_with_their_words() {
        let pieces = |heading| -> Vec<&str> { pieces(heading).map(|piece| piece.word).collect() };
        assert_eq!(pieces("+ gpg process"), ["+ gpg", "process"]);
        assert_eq!(pieces("≤ 2 s"), ["≤ 2 s"]);
        assert_eq!(pieces("mean (95 % interval)"), ["mean", "(95 % interval)"]);
    }
}
