//! Tables whose rows know their device and the kind of their figures.

use keymark_bench::case::{Case, DeviceName, Provenance};
use serde::Serialize;

use super::Cell;

/// Rows of values under named columns.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Table {
    /// From left to right.
    pub columns: Vec<Column>,
    /// From top to bottom.
    pub rows: Vec<TableRow>,
}

impl Table {
    /// A table without rows.
    pub const fn new(columns: Vec<Column>) -> Self {
        Self {
            columns,
            rows: Vec::new(),
        }
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

impl TableRow {
    /// The row of a case.
    pub fn of(case: &Case, cells: Vec<Cell>) -> Self {
        Self {
            device: case.device.clone(),
            provenance: case.provenance,
            cells,
        }
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

    /// A value that always stands there.
    pub fn value(name: impl Into<String>) -> Self {
        Self {
            align: Align::Right,
            narrow: Narrow::Keep,
            ..Self::name(name)
        }
    }

    /// The rows' devices.
    pub fn device() -> Self {
        Self {
            source: Source::Device,
            ..Self::name("device")
        }
    }

    /// The kinds of the rows' figures.
    pub fn provenance() -> Self {
        Self {
            source: Source::Provenance,
            align: Align::Right,
            ..Self::name("provenance")
        }
    }

    /// The kinds of other figures than the rows' own.
    pub fn provenance_of(name: impl Into<String>) -> Self {
        Self {
            align: Align::Right,
            ..Self::name(name)
        }
    }

    /// May be left out; low ranks go first.
    pub fn leave(self, rank: u8) -> Self {
        Self {
            narrow: Narrow::Leave(rank),
            ..self
        }
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
    /// It is left out, the lowest rank first.
    Leave(u8),
}
