//! Tables whose rows know their device and the kind of their figures, and their values with units; how those are written
//! is the renderers' business.

use std::time::Duration;

use keymark_bench::{Algorithm, Case, DeviceName, Operation, Provenance};
use keymark_stats::{Estimate, PerSecond, Ratio, Seconds};
use serde::Serialize;

/// Rows of values under named columns.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Table {
    /// From left to right.
    pub columns: Vec<Column>,
    /// From top to bottom.
    pub rows: Vec<TableRow>,
}

impl Table {
    /// The same with some of its columns.
    pub fn only(&self, columns: &[usize]) -> Self {
        let kept = columns.iter().map(|&column| Column {
            source: Source::Cells,
            ..self.columns[column].clone()
        });
        let row = |row: &TableRow| TableRow {
            cells: columns
                .iter()
                .map(|&column| self.cell(row, column))
                .collect(),
            ..row.clone()
        };
        Self {
            columns: kept.collect(),
            rows: self.rows.iter().map(row).collect(),
        }
    }

    /// What stands in a row, from left to right.
    pub fn cells(&self, row: &TableRow) -> Vec<Cell> {
        let columns = 0..self.columns.len();
        columns.map(|column| self.cell(row, column)).collect()
    }

    /// What stands in a column of a row.
    pub fn cell(&self, row: &TableRow, column: usize) -> Cell {
        let Some(wanted) = self.columns.get(column) else {
            return Cell::Missing;
        };
        match wanted.source {
            Source::Device => Cell::Device(row.device.clone()),
            Source::Provenance => Cell::Provenance(row.provenance),
            Source::Cells => {
                let before = self.columns[..column].iter();
                let place = before.filter(|other| other.source == Source::Cells).count();
                row.cells.get(place).cloned().unwrap_or(Cell::Missing)
            }
        }
    }
}

/// One line of a table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TableRow {
    /// On what its figures were had.
    pub device: DeviceName,
    /// Their kind.
    pub provenance: Provenance,
    /// The values of the columns that show neither of the two.
    pub cells: Vec<Cell>,
}

/// A table that is made column by column: what heads a column stands beside what is in it.
#[derive(Debug)]
pub struct TableOf<T> {
    items: Vec<T>,
    table: Table,
}

impl<T> TableOf<T> {
    /// A row for each of them, still without columns.
    pub fn new(
        items: impl IntoIterator<Item = T>,
        subject: impl Fn(&T) -> (DeviceName, Provenance),
    ) -> Self {
        let items: Vec<T> = items.into_iter().collect();
        let row = |item| {
            let (device, provenance) = subject(item);
            TableRow {
                device,
                provenance,
                cells: Vec::new(),
            }
        };
        let table = Table {
            columns: Vec::new(),
            rows: items.iter().map(row).collect(),
        };
        Self { items, table }
    }

    /// The same of what is no case: nothing was measured of its rows.
    pub fn plain(items: impl IntoIterator<Item = T>) -> Self {
        Self::new(items, |_| (DeviceName::new(""), Provenance::Predicted))
    }

    /// The same of cases.
    pub fn of(items: impl IntoIterator<Item = T>, case: impl Fn(&T) -> &Case) -> Self {
        let subject = |item: &T| (case(item).device.clone(), case(item).provenance);
        Self::new(items, subject)
    }

    /// The same of cases, with the columns that tell keys and operations apart.
    pub fn keys(items: impl IntoIterator<Item = T>, case: impl Fn(&T) -> &Case) -> Self {
        Self::of(items, &case)
            .case("algorithm", |item| case(item).algorithm)
            .case("operation", |item| case(item).operation)
            .device()
    }

    /// The same with the way to the key.
    pub fn cases(items: impl IntoIterator<Item = T>, case: impl Fn(&T) -> &Case) -> Self {
        Self::keys(items, &case).case("stack", |item| case(item).way())
    }

    /// The next column is a name by which rows are told apart.
    pub fn name<C: Into<Cell>>(self, heading: impl Into<String>, cell: impl Fn(&T) -> C) -> Self {
        self.column(Column::name(heading), cell)
    }

    /// The same of words that stay where all rows agree.
    pub fn label<C: Into<Cell>>(self, heading: impl Into<String>, cell: impl Fn(&T) -> C) -> Self {
        self.column(Column::name(heading).narrow(Narrow::Keep), cell)
    }

    /// The next column is a part of the name of the row's case.
    pub fn case<C: Into<Cell>>(self, heading: impl Into<String>, cell: impl Fn(&T) -> C) -> Self {
        self.column(Column::case(heading), cell)
    }

    /// The next column is a figure.
    pub fn value<C: Into<Cell>>(self, heading: impl Into<String>, cell: impl Fn(&T) -> C) -> Self {
        self.column(Column::value(heading), cell)
    }

    /// The next column is a figure that may be left out where there is too little room; low ranks go first.
    pub fn optional<C: Into<Cell>>(
        self,
        rank: u8,
        heading: impl Into<String>,
        cell: impl Fn(&T) -> C,
    ) -> Self {
        self.column(Column::value(heading).leave(rank), cell)
    }

    /// The last column may lose its intervals; low ranks go first.
    pub fn shorten(mut self, rank: u8) -> Self {
        if let Some(column) = self.table.columns.last_mut() {
            column.shorten = Some(rank);
        }
        self
    }

    /// The last column is not there if nothing stands in it.
    pub fn if_any(mut self) -> Self {
        let mut rows = self.table.rows.iter();
        if rows.all(|row| row.cells.last() == Some(&Cell::Missing)) {
            self.table.columns.pop();
            for row in &mut self.table.rows {
                row.cells.pop();
            }
        }
        self
    }

    /// The next column, and what stands in it.
    pub fn column<C: Into<Cell>>(mut self, column: Column, cell: impl Fn(&T) -> C) -> Self {
        self.table.columns.push(column);
        for (row, item) in self.table.rows.iter_mut().zip(&self.items) {
            row.cells.push(cell(item).into());
        }
        self
    }

    /// A column that the table may lack.
    pub fn maybe<C: Into<Cell>>(self, column: Option<Column>, cell: impl Fn(&T) -> C) -> Self {
        match column {
            Some(column) => self.column(column, cell),
            None => self,
        }
    }

    /// The rows' devices.
    pub fn device(self) -> Self {
        self.known(Column {
            source: Source::Device,
            ..Column::case("device")
        })
    }

    /// The kinds of the rows' figures.
    pub fn provenance(self) -> Self {
        self.known(Column::provenance())
    }

    /// A column of what each row knows of itself.
    pub fn known(mut self, column: Column) -> Self {
        self.table.columns.push(column);
        self
    }

    /// All of it.
    pub fn table(self) -> Table {
        self.table
    }
}

/// A column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Column {
    /// Its heading.
    pub name: String,
    /// Where its values stand.
    pub source: Source,
    /// On which side they are aligned.
    #[serde(skip)]
    pub align: Align,
    /// What becomes of it where there is too little room.
    #[serde(skip)]
    pub narrow: Narrow,
    /// When its intervals go, if they may: together with columns of this rank.
    #[serde(skip)]
    pub shorten: Option<u8>,
}

impl Column {
    /// A name by which rows are told apart.
    pub fn name(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            source: Source::Cells,
            align: Align::Left,
            narrow: Narrow::Once,
            shorten: None,
        }
    }

    /// A part of the name of the row's case, which is never a number.
    pub fn case(name: impl Into<String>) -> Self {
        Self::name(name).narrow(Narrow::Case)
    }

    /// A value that always stands there.
    pub fn value(name: impl Into<String>) -> Self {
        Self {
            align: Align::Right,
            narrow: Narrow::Keep,
            ..Self::name(name)
        }
    }

    /// The kinds of the rows' figures.
    pub fn provenance() -> Self {
        Self {
            source: Source::Provenance,
            ..Self::provenance_of("provenance")
        }
    }

    /// The kinds of other figures than the rows' own.
    pub fn provenance_of(name: impl Into<String>) -> Self {
        Self {
            align: Align::Right,
            ..Self::name(name)
        }
    }

    /// With that fate where there is too little room.
    pub fn narrow(self, narrow: Narrow) -> Self {
        Self { narrow, ..self }
    }

    /// May be left out; low ranks go first.
    pub fn leave(self, rank: u8) -> Self {
        self.narrow(Narrow::Leave(rank))
    }

    /// May lose its intervals; low ranks go first.
    pub fn shorten(self, rank: u8) -> Self {
        Self {
            shorten: Some(rank),
            ..self
        }
    }
}

/// Where a column's values stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The next of the row's cells.
    Cells,
    /// The row's device.
    Device,
    /// The row's provenance.
    Provenance,
}

/// Alignment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Figures.
    Right,
}

/// What becomes of a column where there is too little room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Narrow {
    /// It stays.
    Keep,
    /// Where all rows agree it is said once, above them; long names become numbers that a line below explains.
    Once,
    /// The same, but it is a part of the case's name: where there is too little room, all parts stand in one column.
    Case,
    /// It is left out, the lowest rank first.
    Leave(u8),
    /// It stands below the others, behind the same names.
    Continue,
}

/// One value.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", content = "value", rename_all = "snake_case")]
pub enum Cell {
    /// There is none.
    Missing,
    /// There is none, because the case failed.
    Failed,
    /// A word of the vocabulary, a name.
    Text(String),
    /// A record, and its page as seen from the one that the table stands on.
    Record {
        /// What it is called.
        name: String,
        /// A relative address.
        page: String,
    },
    /// A device other than the row's.
    Device(DeviceName),
    /// The kind of a figure that is not of the row's kind.
    Provenance(Provenance),
    /// A number of things.
    Count(u64),
    /// Whether something holds.
    Answer(Answer),
    /// A time.
    Duration(Seconds),
    /// A time with its interval.
    DurationEstimate(Estimate<Seconds>),
    /// A time that is at most this.
    AtMost(Seconds),
    /// A quotient.
    Ratio(Ratio),
    /// A quotient with its interval.
    RatioEstimate(Estimate<Ratio>),
    /// How many times as much.
    Gain(Ratio),
    /// How many times as much, with its interval.
    GainEstimate(Estimate<Ratio>),
    /// Operations a second.
    Rate(PerSecond),
    /// Operations a second with their interval.
    RateEstimate(Estimate<PerSecond>),
    /// A figure with what makes it doubtful, in the fewest signs.
    Brief(Brief),
    /// A share of a whole, 1 being all.
    Share(Ratio),
    /// A share with its interval.
    ShareEstimate(Estimate<Ratio>),
}

impl Cell {
    /// The words of something that has them.
    pub fn text(words: impl ToString) -> Self {
        Self::Text(words.to_string())
    }
}

/// `Missing` for `None`.
impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Missing, Into::into)
    }
}

macro_rules! cells {
    ($($value:ty => $cell:expr),* $(,)?) => {
        $(impl From<$value> for Cell {
            fn from(value: $value) -> Self {
                $cell(value)
            }
        })*
    };
}

cells! {
    String => Cell::Text,
    &str => Cell::text,
    Algorithm => Cell::text,
    Operation => Cell::text,
    u64 => Cell::Count,
    u32 => |number| Cell::Count(u64::from(number)),
    usize => |number| Cell::Count(number as u64),
    Provenance => Cell::Provenance,
    Answer => Cell::Answer,
    Seconds => Cell::Duration,
    Duration => |time: Duration| Cell::Duration(Seconds(time.as_secs_f64())),
    PerSecond => Cell::Rate,
    Estimate<Seconds> => Cell::DurationEstimate,
    Estimate<PerSecond> => Cell::RateEstimate,
}

/// A figure among others that may be of other kinds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Brief {
    /// The figure.
    pub figure: Figured,
    /// Its kind.
    pub provenance: Provenance,
    /// What says that it is of another kind than its neighbours.
    #[serde(skip)]
    pub mark: Mark,
    /// What nobody may overlook: that a handshake has less than 112 bits of security.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<&'static str>,
}

/// A time or a rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Figured {
    /// Of an operation, on average.
    Time(Estimate<Seconds>),
    /// Operations a second.
    Rate(Estimate<PerSecond>),
}

/// How a figure that was not measured is told from one that was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// Not at all: it was, or its table says what all are.
    None,
    /// `[1.3 s]`
    Brackets,
}

/// Whether something holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// It does.
    Yes,
    /// It does not.
    No,
    /// So few samples do not tell.
    Unknown,
}
