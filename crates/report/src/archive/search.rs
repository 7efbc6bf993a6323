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
        self.ask(|database| {
            let snapshot = database.unchecked_transaction()?;
            let ids =
                format!("SELECT id FROM run WHERE {CONDITION} ORDER BY started_utc DESC, id DESC");
            let mut ids = snapshot.prepare_cached(&ids)?;
            // Who searches among the cases does that once.
            let ids: Vec<String> = ids
                .query_map(&wanted[..], |row| row.get(0))?
                .collect::<rusqlite::Result<_>>()?;
            let shown = ids
                .iter()
                .skip(window.skip as usize)
                .take(window.take as usize);
            let line = format!("{} FROM run WHERE id = ?1", super::reader::LINE);
            let mut runs = Vec::new();
            for id in shown {
                runs.extend(super::reader::lines(&snapshot, &line, [id])?);
            }
            Ok(Found {
                runs,
                all: ids.len() as u64,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use keymark_bench::case::DeviceName;
    use keymark_bench::record::Record;

    use super::*;
    use keymark_testkit::record::mixed as record;

    fn archive() -> (tempfile::TempDir, Archive) {
        let directory = tempfile::tempdir().unwrap();
        let mut archive = Archive::open(&directory.path().join("runs.sqlite3")).unwrap();
        for (day, device) in [(1, "software"), (2, "YubiKey 5"), (3, "yubikey 4")] {
            let mut run: Record = record(&format!("run-{day}"));
            run.started = format!("2026-01-0{day}T23:30:00Z").parse().unwrap();
            run.cases
                .iter_mut()
                .for_each(|case| case.case.device = DeviceName::new(device));
            archive.insert(&run).unwrap();
        }
        (directory, archive)
    }

    const ALL: Window = Window { skip: 0, take: 100 };

    fn found(archive: &Archive, search: &RunSearch) -> Vec<String> {
        let found = archive.search(search, ALL).unwrap();
        assert_eq!(found.all, found.runs.len() as u64);
        found.runs.into_iter().map(|run| run.id.0).collect()
    }

    #[test]
    fn runs_are_found_by_device_algorithm_and_day() {
        let (_directory, archive) = archive();
        let day = |text: &str| Some(text.parse().unwrap());
        let all = RunSearch::default();
        assert_eq!(found(&archive, &all), ["run-3", "run-2", "run-1"]);
        let device = |name: &str| RunSearch {
            device: Some(name.to_owned()),
            ..RunSearch::default()
        };
        assert_eq!(found(&archive, &device("YUBI")), ["run-3", "run-2"]);
        assert_eq!(found(&archive, &device("%")), [""; 0]);
        let algorithm = |name: &str| RunSearch {
            algorithm: Some(name.to_owned()),
            ..device("yubikey 5")
        };
        assert_eq!(found(&archive, &algorithm("RSA40")), ["run-2"]);
        assert_eq!(found(&archive, &algorithm("mldsa")), [""; 0]);
        let on = RunSearch {
            from: day("2026-01-02"),
            to: day("2026-01-02"),
            ..RunSearch::default()
        };
        assert_eq!(found(&archive, &on), ["run-2"]);
    }

    #[test]
    fn a_window_shows_some_and_counts_all() {
        let (_directory, archive) = archive();
        let window = Window { skip: 1, take: 1 };
        let found = archive.search(&RunSearch::default(), window).unwrap();
        assert_eq!(found.all, 3);
        assert_eq!(found.runs, archive.runs().unwrap()[1..2]);
        assert_eq!(found.runs[0].cases, 3);
        let beyond = Window { skip: 9, take: 1 };
        assert_eq!(
            archive.search(&RunSearch::default(), beyond).unwrap().runs,
            []
        );
    }
}
