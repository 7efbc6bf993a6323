//! How a table fits a terminal: nothing is cut and no row wraps. Concessions are made one by one, those
//! first that lose nothing, until the widest row fits; those that turn out not to be needed are taken back.

use std::collections::HashMap;

use itertools::Itertools;
use textwrap::core::Word;
use unicode_width::UnicodeWidthStr;

use super::text::GAP;
use super::{Width, without_interval, words};
use crate::visible::{split, wrapped};
use crate::{Align, Cell, Column, Narrow, Source, Table};

/// Something given up for room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Concession {
    /// Headings take several lines.
    BreakHeadings,
    /// A column whose rows agree is said once.
    SayOnce(usize),
    /// Intervals of a column go.
    Shorten(usize),
    /// A column goes.
    Leave(usize),
    /// The names of a case stand in one column.
    JoinNames,
    /// Names of a column become numbers.
    Number(usize),
    /// The name of a case takes several lines.
    BreakNames,
}

/// Narrower than this, nobody reads a case's name.
const NAME: usize = 24;
/// What heads the column in which all names of a case stand.
const CASE: &str = "case";

/// A table with what was conceded.
pub(super) struct Layout<'a> {
    table: &'a Table,
    made: Vec<Concession>,
    /// Columns of the terminal.
    limit: usize,
}

impl<'a> Layout<'a> {
    pub(super) fn fit(table: &'a Table, width: Width) -> Self {
        let limit = match width {
            Width::Columns(limit) => usize::from(limit),
            Width::Unlimited => usize::MAX,
        };
        let mut layout = Self {
            table,
            made: Vec::new(),
            limit,
        };
        for concession in concessions(table) {
            if layout.width() <= limit {
                break;
            }
            layout.made.push(concession);
        }
        layout.take_back();
        layout
    }

    /// Whether every name stands in a column of its own.
    pub(super) fn is_legible(&self) -> bool {
        let is_of_names = |made: &Concession| {
            use Concession::{BreakNames, JoinNames, Number};
            matches!(made, JoinNames | Number(_) | BreakNames)
        };
        !self.made.iter().any(is_of_names)
    }

    /// From the last to the first: what went late is worth more. Names that are broken would be broken more for it.
    fn take_back(&mut self) {
        if self.width() > self.limit || self.has(Concession::BreakNames) {
            return;
        }
        for index in (0..self.made.len()).rev() {
            let concession = self.made.remove(index);
            if self.width() > self.limit {
                self.made.insert(index, concession);
            }
        }
    }

    fn has(&self, concession: Concession) -> bool {
        self.made.contains(&concession)
    }

    /// The columns that have a place, from left to right.
    fn shown(&self) -> impl Iterator<Item = usize> {
        let joined = self.joined();
        let first = joined.first().copied();
        (0..self.table.columns.len()).filter(move |column| {
            self.is_told(*column) && (Some(*column) == first || !joined.contains(column))
        })
    }

    /// Whether it says something of each row.
    fn is_told(&self, column: usize) -> bool {
        !self.has(Concession::Leave(column)) && !self.has(Concession::SayOnce(column))
    }

    /// The columns that stand in one, the place of the first.
    fn joined(&self) -> Vec<usize> {
        let mut joined = Vec::new();
        if self.has(Concession::JoinNames) {
            joined = parts_of_names(self.table);
            joined.retain(|column| self.is_told(*column));
        }
        joined
    }

    /// The names of each row's case, in lines that leave the others room if that helps.
    fn names(&self, columns: &[usize]) -> Vec<String> {
        let name = |row| {
            let cells = columns.iter().map(|column| self.table.cell(row, *column));
            let known = cells.filter(|cell| *cell != Cell::Missing);
            known.map(|cell| words(&cell)).join(" ")
        };
        let names: Vec<String> = self.table.rows.iter().map(name).collect();
        if !self.has(Concession::BreakNames) {
            return names;
        }
        let others = self.shown().filter(|column| !columns.contains(column));
        let others: usize = others.map(|column| self.column_width(column) + GAP).sum();
        let room = self.limit.saturating_sub(others).max(NAME);
        let names = names.iter();
        names
            .map(|name| wrapped(name, room, "", crate::visible::words).join("\n"))
            .collect()
    }

    fn cells(&self, column: usize) -> Vec<String> {
        let joined = self.joined();
        if joined.first() == Some(&column) {
            return self.names(&joined);
        }
        if self.has(Concession::Number(column)) {
            let names = names(self.table, column);
            let numbers: HashMap<&String, usize> = names.iter().zip(0..).collect();
            let words = words_of(self.table, column);
            let places = words.iter().filter_map(|name| numbers.get(name));
            return places.copied().map(numbered).collect();
        }
        let written = match self.has(Concession::Shorten(column)) {
            true => without_interval,
            false => words,
        };
        let values = values(self.table, column);
        values.map(|value| written(&value)).collect()
    }

    /// The heading's lines over cells that are so wide.
    fn heading(&self, column: usize, content: usize) -> Vec<String> {
        let name = if self.joined().first() == Some(&column) {
            CASE
        } else if self.has(Concession::Shorten(column)) {
            short(&self.table.columns[column])
        } else {
            &self.table.columns[column].name
        };
        if self.has(Concession::BreakHeadings) {
            let longest = pieces(name).map(|piece| piece.width()).max();
            wrapped(name, content.max(longest.unwrap_or(0)), "", pieces)
        } else {
            vec![name.to_owned()]
        }
    }

    /// Columns of a terminal that it takes.
    pub(super) fn width(&self) -> usize {
        let widths: Vec<usize> = self
            .shown()
            .map(|column| self.column_width(column))
            .collect();
        widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1)
    }

    fn column_width(&self, column: usize) -> usize {
        let content = widest(&self.cells(column));
        content.max(widest(&self.heading(column, content)))
    }

    /// Headings, alignments and rows.
    pub(super) fn drawn(&self) -> (Vec<String>, Vec<Align>, Vec<Vec<String>>) {
        let mut headings = Vec::new();
        let mut align = Vec::new();
        let mut rows = vec![Vec::new(); self.table.rows.len()];
        for column in self.shown() {
            let cells = self.cells(column);
            headings.push(self.heading(column, widest(&cells)));
            align.push(self.table.columns[column].align);
            for (row, cell) in rows.iter_mut().zip(cells) {
                row.push(cell);
            }
        }
        let deepest = headings.iter().map(Vec::len).max().unwrap_or(0);
        // They stand on their columns.
        let heading = |lines: Vec<String>| "\n".repeat(deepest - lines.len()) + &lines.join("\n");
        (headings.into_iter().map(heading).collect(), align, rows)
    }

    /// What all rows share.
    pub(super) fn above(&self) -> Option<String> {
        let once = self.columns(Concession::SayOnce);
        let shared: Vec<String> = once
            .into_iter()
            .filter_map(|column| {
                let name = &self.table.columns[column].name;
                Some(format!("{name} {}", words_of(self.table, column).first()?))
            })
            .collect();
        (!shared.is_empty()).then(|| format!("in every row: {}", shared.join(", ")))
    }

    /// What numbers stand for, and what is not there.
    pub(super) fn below(&self) -> Vec<String> {
        let numbered_columns = self.columns(Concession::Number);
        let mut lines: Vec<String> = numbered_columns
            .into_iter()
            .map(|column| {
                let names = names(self.table, column);
                let names = names.iter().enumerate();
                let names = names.map(|(place, name)| format!("{} {name}", numbered(place)));
                let column = &self.table.columns[column].name;
                format!("{column}: {}", names.format(", "))
            })
            .collect();
        let left = self.columns(Concession::Leave);
        let shortened = self.columns(Concession::Shorten);
        let left = left
            .into_iter()
            .map(|column| self.table.columns[column].name.clone());
        let shortened = shortened
            .into_iter()
            .filter(|&column| !self.has(Concession::Leave(column)))
            .map(|column| format!("interval of {}", short(&self.table.columns[column])));
        let missing: Vec<String> = left.chain(shortened).collect();
        if !missing.is_empty() {
            lines.push(format!(
                "hidden columns (terminal too narrow): {} (--wide shows all)",
                missing.join(", ")
            ));
        }
        lines
    }

    /// Columns of one kind of concession, from left to right.
    fn columns(&self, kind: fn(usize) -> Concession) -> Vec<usize> {
        let all = 0..self.table.columns.len();
        all.filter(|column| self.has(kind(*column))).collect()
    }
}

/// Everything that may be given up, in this order: the form of headings, columns without a value, names that
/// are the same in every row, intervals and columns by rank, at last columns for each part of a case's name, and the
/// longest of other names.
fn concessions(table: &Table) -> Vec<Concession> {
    let case = parts_of_names(table);
    let mut all = vec![((0, 0), Concession::BreakHeadings)];
    if !case.is_empty() {
        all.extend([
            ((4, 0), Concession::JoinNames),
            ((6, 0), Concession::BreakNames),
        ]);
    }
    for (index, column) in table.columns.iter().enumerate() {
        let (may_go, names) = match column.narrow {
            Narrow::Keep | Narrow::Continue => (false, 0),
            Narrow::Leave(_) => (true, 0),
            Narrow::Once | Narrow::Case => (true, names(table, index).len()),
        };
        if may_go && values(table, index).all(|value| value == Cell::Missing) {
            all.push(((1, index), Concession::Leave(index)));
            continue;
        }
        if names == 1 {
            all.push(((2, usize::MAX - index), Concession::SayOnce(index)));
        }
        // Of one rank intervals go first.
        if let Some(rank) = column.shorten {
            all.push(((3, 2 * usize::from(rank)), Concession::Shorten(index)));
        }
        if let Narrow::Leave(rank) = column.narrow {
            all.push(((3, 2 * usize::from(rank) + 1), Concession::Leave(index)));
        }
        // A provenance is a word that says more than a number, as are those that name a case.
        if names > 1 && !case.contains(&index) && column.source != Source::Provenance {
            let width = widest(&words_of(table, index));
            all.push(((5, usize::MAX - width), Concession::Number(index)));
        }
    }
    all.sort_by_key(|(order, _)| *order);
    all.into_iter().map(|(_, concession)| concession).collect()
}

/// The columns that together name a row's case.
fn parts_of_names(table: &Table) -> Vec<usize> {
    let columns = table.columns.iter().enumerate();
    let parts = columns.filter(|(_, column)| column.narrow == Narrow::Case);
    parts.map(|(index, _)| index).collect()
}

/// What stays together in a heading: `+ agent`, `≤ 2 s`, `(95 % interval)`.
fn pieces(heading: &str) -> Box<dyn Iterator<Item = Word<'_>> + '_> {
    split(heading, |piece, _| {
        let open = piece.starts_with('(') && !piece.ends_with(')');
        !open && piece.contains(char::is_alphabetic)
    })
}

fn values(table: &Table, column: usize) -> impl Iterator<Item = Cell> {
    table.rows.iter().map(move |row| table.cell(row, column))
}

fn words_of(table: &Table, column: usize) -> Vec<String> {
    values(table, column).map(|value| words(&value)).collect()
}

/// The different words of a column, in order.
fn names(table: &Table, column: usize) -> Vec<String> {
    words_of(table, column).into_iter().unique().collect()
}

fn numbered(place: usize) -> String {
    format!("[{}]", place + 1)
}

/// The heading of a column whose intervals went.
fn short(column: &Column) -> &str {
    column
        .name
        .rsplit_once(" (")
        .map_or(&*column.name, |(name, _)| name)
}

fn widest(lines: &[String]) -> usize {
    let lines = lines.iter().flat_map(|cell| cell.lines());
    lines.map(UnicodeWidthStr::width).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use keymark_bench::case::{DeviceName, Provenance};
    use keymark_stats::{Estimate, Method, Ratio, Seconds};
    use keymark_testkit::assert_says;

    use super::*;
    use crate::document::TableOf;
    use crate::render::text;

    fn estimate(value: f64) -> Cell {
        Cell::RatioEstimate(Estimate {
            value: Ratio(value),
            low: Some(Ratio(value * 0.99)),
            high: Some(Ratio(value * 1.01)),
            confidence: 0.95,
            method: Method::BootstrapT,
        })
    }

    fn table() -> Table {
        let rows = [
            ("software", "rsa2048", 200_u64),
            ("a card of quite some name 0a1b2c3d", "rsa4096", 100),
        ];
        let subject =
            |(device, ..): &(&str, _, _)| (DeviceName::new(*device), Provenance::Measured);
        TableOf::new(rows, subject)
            .case("algorithm", |(_, algorithm, _)| *algorithm)
            .device()
            .value("mean", |_| Seconds(0.012))
            .optional(0, "n", |(.., n)| *n)
            .value("ratio (95 % interval)", |_| estimate(2.0))
            .shorten(1)
            .provenance()
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
    fn where_there_is_room_nothing_changes() {
        let wide = text::table(&table(), Width::Unlimited);
        assert_eq!(lines(200).join("\n") + "\n", wide);
        assert!(wide.contains("ratio (95 % interval)") && wide.contains("2.00 (1.98–2.02)"));
    }

    #[test]
    fn headings_are_broken_first_and_stand_on_their_columns() {
        let widest = text::table(&table(), Width::Unlimited);
        let widest = widest.lines().map(|line| line.width()).max().unwrap();
        let lines = lines(widest as u16 - 1);
        assert!(lines[0].contains("ratio"), "{lines:#?}");
        assert!(
            lines[1].starts_with("algorithm") && lines[1].contains("(95 % interval)"),
            "{lines:#?}"
        );
        assert!(lines[3].contains("2.00 (1.98–2.02)"), "{lines:#?}");
    }

    #[test]
    fn what_all_rows_share_is_said_once() {
        let lines = lines(85);
        assert_eq!(lines[0], "in every row: provenance measured");
        assert!(
            lines.iter().any(|line| line.contains("200")),
            "nothing is left out yet: {lines:#?}"
        );
    }

    #[test]
    fn columns_and_intervals_go_by_rank_and_it_is_said() {
        let without_n = lines(75).join("\n");
        assert!(without_n.ends_with("hidden columns (terminal too narrow): n (--wide shows all)"));
        assert_says(&without_n, ["2.00 (1.98–2.02)"]);
        let without_interval = lines(63).join("\n");
        assert_says(&without_interval, ["interval of ratio", "2.00"]);
    }

    #[test]
    fn a_cases_names_come_together_and_are_broken_but_no_numbers() {
        let joined = lines(58).join("\n");
        assert_says(
            &joined,
            [
                "case",
                "rsa4096 a card of quite some name 0a1b2c3d  12.0 ms",
            ],
        );
        let broken = lines(50);
        assert!(
            broken
                .iter()
                .any(|line| line.starts_with("rsa2048 software")),
            "{broken:#?}"
        );
        let broken = broken.join("\n");
        assert_says(&broken, ["rsa4096 a card of quite", "12.0 ms", "2.00"]);
        assert!(!joined.contains('[') && !broken.contains('['), "{broken}");
    }

    #[test]
    fn long_names_of_others_become_numbers_and_what_fits_again_comes_back() {
        let mut table = table();
        for column in &mut table.columns[..2] {
            column.narrow = Narrow::Once;
        }
        let lines = text::table(&table, Width::Columns(52));
        assert_says(
            &lines,
            [
                "device: [1] software, [2] a card of quite some name",
                "200",
                "2.00 (1.98–2.02)",
            ],
        );
    }

    #[test]
    fn a_column_without_values_goes_before_one_that_has_them() {
        let mut table = table();
        table.columns.insert(3, Column::value("empty").leave(9));
        for row in &mut table.rows {
            row.cells.insert(2, Cell::Missing);
        }
        let text = text::table(&table, Width::Columns(95));
        assert_says(&text, ["hidden columns (terminal too narrow): empty"]);
    }

    #[test]
    fn where_nothing_helps_figures_stay_whole() {
        let text = text::table(&table(), Width::Columns(10));
        assert_says(&text, ["12.0 ms", "2.00"]);
    }

    #[test]
    fn signs_and_brackets_stay_with_their_words() {
        let pieces = |heading| -> Vec<&str> { pieces(heading).map(|piece| piece.word).collect() };
        assert_eq!(pieces("+ gpg process"), ["+ gpg", "process"]);
        assert_eq!(pieces("≤ 2 s"), ["≤ 2 s"]);
        assert_eq!(pieces("mean (95 % interval)"), ["mean", "(95 % interval)"]);
    }
}
