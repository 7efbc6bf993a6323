//! Tables: columns with a heading and a priority, and rows of values with units. How values are written is the
//! renderers' business.

use std::time::Duration;

use keymark_bench::{Algorithm, Case, DeviceName, Operation, Provenance};
use keymark_stats::{Estimate, PerSecond, Quantity, Ratio, Seconds};
use serde::Serialize;

use crate::units::Unit;

/// Rows of values under named columns.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Table {
    pub columns: Vec<Column>,
    /// Cells of each row, one for each column.
    pub rows: Vec<Vec<Cell>>,
}

/// Heading of the column with the kind of each row's figures.
const PROVENANCE: &str = "provenance";

impl Table {
    /// Returns the values of a column, from top to bottom.
    pub fn cells(&self, column: usize) -> impl Iterator<Item = &Cell> {
        self.rows.iter().filter_map(move |row| row.get(column))
    }

    /// Tells if all rows have the same value in a column.
    pub fn is_uniform(&self, column: usize) -> bool {
        let mut cells = self.cells(column);
        let first = cells.next();
        cells.all(|cell| Some(cell) == first)
    }

    /// Returns the kind of a row's figures, if the table has a column for it.
    pub fn provenance<'r>(&self, row: &'r [Cell]) -> Option<&'r str> {
        let is_kind = |column: &Column| column.name == PROVENANCE;
        match row.get(self.columns.iter().position(is_kind)?)? {
            Cell::Text(kind) => Some(kind),
            Cell::Missing | Cell::Number(_) | Cell::Link { .. } => None,
        }
    }
}

/// A table under construction, column by column. Each column is a heading and a function from an item to its value.
#[derive(Debug)]
pub struct TableOf<T> {
    items: Vec<T>,
    table: Table,
}

impl<T> TableOf<T> {
    /// Starts a table with a row for each item.
    pub fn new(items: impl IntoIterator<Item = T>) -> Self {
        let items: Vec<T> = items.into_iter().collect();
        let rows = items.iter().map(|_| Vec::new()).collect();
        let table = Table {
            columns: Vec::new(),
            rows,
        };
        Self { items, table }
    }

    /// Starts a table of cases with the columns algorithm, operation and device.
    pub fn keys(items: impl IntoIterator<Item = T>, case: impl Fn(&T) -> &Case) -> Self {
        Self::new(items)
            .name("algorithm", |item| case(item).algorithm)
            .name("operation", |item| case(item).operation)
            .name("device", |item| Cell::text(&case(item).device))
    }

    /// Starts a table of cases with the columns algorithm, operation, device and stack.
    pub fn cases(items: impl IntoIterator<Item = T>, case: impl Fn(&T) -> &Case) -> Self {
        Self::keys(items, &case).name("stack", |item| case(item).way())
    }

    /// Adds a column of words by which rows differ.
    pub fn name<C: Into<Cell>>(self, heading: impl Into<String>, cell: impl Fn(&T) -> C) -> Self {
        self.column(Column::name(heading), cell)
    }

    /// Adds a column of words that is shown even if all rows agree.
    pub fn label<C: Into<Cell>>(self, heading: impl Into<String>, cell: impl Fn(&T) -> C) -> Self {
        self.column(Column::label(heading), cell)
    }

    /// Adds a column of figures.
    pub fn value<C: Into<Cell>>(self, heading: impl Into<String>, cell: impl Fn(&T) -> C) -> Self {
        self.column(Column::value(heading), cell)
    }

    /// Adds a column of figures that a narrow terminal leaves out, the lowest rank first.
    pub fn optional<C: Into<Cell>>(
        self,
        rank: u8,
        heading: impl Into<String>,
        cell: impl Fn(&T) -> C,
    ) -> Self {
        self.column(Column::value(heading).leave(rank), cell)
    }

    /// Adds a column.
    pub fn column<C: Into<Cell>>(mut self, column: Column, cell: impl Fn(&T) -> C) -> Self {
        self.table.columns.push(column);
        for (row, item) in self.table.rows.iter_mut().zip(&self.items) {
            row.push(cell(item).into());
        }
        self
    }

    /// Adds a column, if there is one.
    pub fn maybe<C: Into<Cell>>(self, column: Option<Column>, cell: impl Fn(&T) -> C) -> Self {
        match column {
            Some(column) => self.column(column, cell),
            None => self,
        }
    }

    /// Adds the kind of each row's figures.
    pub fn provenance(self, kind: impl Fn(&T) -> Provenance) -> Self {
        self.column(Column::kind(PROVENANCE), kind)
    }

    /// Removes the last column if no row has a value in it.
    pub fn if_any(self) -> Self {
        self.unless_all(Cell::Missing)
    }

    /// Removes the last column if every row has this value in it.
    pub fn unless_all(mut self, cell: impl Into<Cell>) -> Self {
        let cell = cell.into();
        if self.table.rows.iter().all(|row| row.last() == Some(&cell)) {
            self.table.columns.pop();
            for row in &mut self.table.rows {
                row.pop();
            }
        }
        self
    }

    /// Returns the finished table.
    pub fn table(self) -> Table {
        self.table
    }
}

/// A column's heading, alignment and priority.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Column {
    pub name: String,
    #[serde(skip)]
    pub align: Align,
    #[serde(skip)]
    pub priority: Priority,
}

impl Column {
    /// Words by which rows differ.
    pub fn name(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            align: Align::Left,
            priority: Priority::Name,
        }
    }

    /// Words that are shown even if all rows agree.
    pub fn label(name: impl Into<String>) -> Self {
        Self {
            priority: Priority::Always,
            ..Self::name(name)
        }
    }

    /// Figures.
    pub fn value(name: impl Into<String>) -> Self {
        Self {
            align: Align::Right,
            ..Self::label(name)
        }
    }

    /// Kinds of figures.
    pub fn kind(name: impl Into<String>) -> Self {
        Self {
            align: Align::Right,
            ..Self::name(name)
        }
    }

    /// Lets narrow terminals leave the column out, the lowest rank first.
    pub fn leave(self, rank: u8) -> Self {
        Self {
            priority: Priority::Rank(rank),
            ..self
        }
    }
}

/// Side on which a column is aligned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Figures.
    Right,
}

/// Order in which a narrow terminal leaves columns out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Priority {
    /// Left out before columns of a higher rank.
    Rank(u8),
    /// Left out if all rows agree; a line above the table then has the value.
    Name,
    /// Never.
    Always,
}

/// Value of a table.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", content = "value", rename_all = "snake_case")]
pub enum Cell {
    /// No value.
    Missing,
    /// A name or a word.
    Text(String),
    /// A figure.
    Number(Number),
    /// The name of a record with the relative address of its page.
    Link { text: String, page: String },
}

impl Cell {
    /// Anything that has words.
    pub fn text(words: impl ToString) -> Self {
        Self::Text(words.to_string())
    }

    /// A share of a whole that is 1.
    pub fn share(share: impl Into<Number>) -> Self {
        share.into().in_unit(Unit::Share)
    }

    /// A factor.
    pub fn gain(gain: impl Into<Number>) -> Self {
        gain.into().in_unit(Unit::Times)
    }

    /// A time that is at most this.
    pub fn at_most(time: Seconds) -> Self {
        let form = Form::AtMost;
        Self::Number(Number {
            form,
            ..Number::from(time)
        })
    }
}

/// A figure with its unit and interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Number {
    pub unit: Unit,
    #[serde(flatten)]
    pub estimate: Estimate<f64>,
    /// Kind of the figure, if it may differ from that of its neighbors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Provenance>,
    /// A word that belongs to the figure: a handshake below 112 bits of security is weak.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<&'static str>,
    pub form: Form,
}

impl Number {
    /// A figure in a unit, with its interval.
    pub fn new<T: Quantity>(unit: Unit, estimate: Estimate<T>) -> Self {
        Self {
            unit,
            estimate: estimate.map(T::to_f64),
            provenance: None,
            warning: None,
            form: Form::Full,
        }
    }

    const fn in_unit(self, unit: Unit) -> Cell {
        Cell::Number(Self { unit, ..self })
    }
}

/// Digits of a figure as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// Three digits, and the interval.
    Full,
    /// The digits that are known, and the interval's width if that is large.
    Brief,
    /// Brief and in brackets: a figure that was not measured among others that were.
    Bracketed,
    /// An upper bound alone.
    AtMost,
}

/// `Missing` for `None`.
impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Missing, Into::into)
    }
}

macro_rules! numbers {
    ($($value:ty => $unit:ident),*) => {
        $(impl From<$value> for Number {
            fn from(value: $value) -> Self {
                Self::new(Unit::$unit, Estimate::bare(value))
            }
        }
        impl From<Estimate<$value>> for Number {
            fn from(estimate: Estimate<$value>) -> Self {
                Self::new(Unit::$unit, estimate)
            }
        }
        impl From<$value> for Cell {
            fn from(value: $value) -> Self {
                Self::Number(value.into())
            }
        }
        impl From<Estimate<$value>> for Cell {
            fn from(estimate: Estimate<$value>) -> Self {
                Self::Number(estimate.into())
            }
        })*
    };
}

numbers!(Seconds => Seconds, PerSecond => PerSecond, Ratio => Ratio);

macro_rules! cells {
    ($($value:ty => $cell:expr),* $(,)?) => {
        $(impl From<$value> for Cell {
            fn from(value: $value) -> Self {
                $cell(value)
            }
        })*
    };
}

fn count(number: f64) -> Cell {
    Cell::Number(Number::new(Unit::Count, Estimate::bare(number)))
}

cells! {
    String => Cell::Text,
    &str => Cell::text,
    &DeviceName => Cell::text,
    Algorithm => Cell::text,
    Operation => Cell::text,
    Provenance => Cell::text,
    Answer => Cell::text,
    u64 => |number| count(number as f64),
    u32 => |number| count(f64::from(number)),
    usize => |number| count(number as f64),
    Duration => |time: Duration| Seconds(time.as_secs_f64()).into(),
}

/// Answer to a yes-or-no question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display)]
pub enum Answer {
    #[strum(to_string = "yes")]
    Yes,
    #[strum(to_string = "no")]
    No,
    /// Too few samples to decide.
    #[strum(to_string = "?")]
    Unknown,
}
