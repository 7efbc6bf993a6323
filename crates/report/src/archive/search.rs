//! Runs by what was measured in them and when.

use rusqlite::types::ToSql;

use super::reader::RunLine;
use super::{Archive, Result};

/// What is looked for; what is not said leaves all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunSearch {
    /// A part of a device's name, in any case.
    pub device: Option<String>,
    /// A part of an algorithm's name, in any case.
    pub algorithm: Option<String>,
    /// Started on this day (UTC) or later.
    pub from: Option<jiff::civil::Date>,
    /// Started on this day (UTC) or earlier.
    pub to: Option<jiff::civil::Date>,
}

/// Some of the runs that were found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Those that were wanted, the newest first.
    pub runs: Vec<RunLine>,
    /// How many there are.
    pub all: u64,
}

/// Which of the runs that are found are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// How many newer ones are skipped.
    pub skip: u64,
    /// How many at most.
    pub take: u64,
}

const CONDITION: &str = "
    (?1 IS NULL OR EXISTS (SELECT 1 FROM case_ WHERE run = run.id AND instr(lower(device), ?1) > 0))
    AND (?2 IS NULL OR EXISTS (SELECT 1 FROM case_ WHERE run = run.id AND instr(algorithm, ?2) > 0))
    AND (?3 IS NULL OR started_utc >= ?3)
    AND (?4 IS NULL OR started_utc < ?4)";

impl Archive {
    /// Runs that a search finds.
    ///
    /// # Errors
    /// When the archive cannot be read.
    pub fn search(&self, search: &RunSearch, window: Window) -> Result<Found> {
        let day = |day: jiff::civil::Date| format!("{day}T");
        let device = search.device.as_ref().map(|name| name.to_lowercase());
        let algorithm = search.algorithm.as_ref().map(|name| name.to_lowercase());
        let from = search.from.map(day);
        // The day after the last one.
        let to = search
            .to
            .map(|to| day(to.saturating_add(jiff::Span::new().days(1))));
        let wanted: [&dyn ToSql; 4] = [&device, &algorithm, &from, &to];
        let read = || {
            let snapshot = self.connection.unchecked_transaction()?;
            let all: i64 = snapshot.query_row(
                &format!("SELECT count(*) FROM run WHERE {CONDITION}"),
                &wanted[..],
                |row| row.get(0),
            )?;
            let (take, skip) = (window.take.cast_signed(), window.skip.cast_signed());
            let page: Vec<&dyn ToSql> = wanted
                .iter()
                .copied()
                .chain([&take as &dyn ToSql, &skip])
                .collect();
            let lines = format!(
                "{} FROM run WHERE {CONDITION} ORDER BY started_utc DESC, id DESC LIMIT ?5 OFFSET ?6",
                super::reader::LINE
            );
            let runs = super::reader::lines(&snapshot, &lines, &page[..])?;
            Ok(Found {
                runs,
                all: all.unsigned_abs(),
            })
        };
        read().map_err(|error| self.failed(error))
    }
}
