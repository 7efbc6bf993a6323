//! Runs that stand together: series, and the sides of comparisons.

use keymark_bench::record::{Record, RunId};
use keymark_bench::series::SeriesId;
use rusqlite::{OptionalExtension, Row};

use super::{Archive, ArchiveError, Result, RunSelector, SideSelector};

impl Archive {
    /// The runs of one side of a comparison, the oldest first: a run that is named alone brings its series
    /// with it. Of a series, runs that were broken off are left out if there are others.
    ///
    /// # Errors
    /// When something is not there, named twice, or the archive cannot be read.
    pub fn side(&self, side: &SideSelector) -> Result<Vec<Record>> {
        let mut ids: Vec<String> = Vec::new();
        for run in &side.0 {
            let of_one = match run {
                RunSelector::Last(_) | RunSelector::Id(_) => {
                    let id = self.id_of(run)?;
                    match self.series_of(&id)? {
                        Some(series) if side.0.len() == 1 => self.runs_of(&series)?,
                        _ => vec![id],
                    }
                }
                RunSelector::LastSeries(_) | RunSelector::Series(_) => {
                    self.runs_of(&self.series(run)?)?
                }
            };
            for id in of_one {
                if ids.contains(&id) {
                    return Err(ArchiveError::Twice {
                        id,
                        side: side.to_string(),
                    });
                }
                ids.push(id);
            }
        }
        ids.iter().map(|id| self.load_id(id)).collect()
    }

    /// The name of the series that a selector names.
    ///
    /// # Errors
    /// When there is none, or more than one.
    pub fn series(&self, which: &RunSelector) -> Result<SeriesId> {
        match which {
            RunSelector::Last(_) | RunSelector::Id(_) => {
                let id = self.id_of(which)?;
                let series = self.series_of(&id)?;
                series.ok_or_else(|| self.no_such_run(&which.to_string()))
            }
            RunSelector::LastSeries(back) => self.last_series(*back, which),
            RunSelector::Series(prefix) => self
                .one_of(
                    "SELECT DISTINCT series FROM run
                     WHERE substr(series, 1, length(?1)) = ?1 ORDER BY length(series), series",
                    prefix,
                    &which.to_string(),
                )
                .map(SeriesId),
        }
    }

    fn last_series(&self, back: u32, which: &RunSelector) -> Result<SeriesId> {
        // Names begin with the time; of two that alternate, the one of the keymark that made them is the last.
        let nth = "SELECT DISTINCT series FROM run WHERE series IS NOT NULL
                   ORDER BY series DESC LIMIT 1 OFFSET ?1";
        let name = |row: &Row<'_>| row.get::<_, String>(0);
        let name = self.ask(|database| Ok(database.query_row(nth, [back], name).optional()?))?;
        name.map(SeriesId)
            .ok_or_else(|| self.no_such_run(&which.to_string()))
    }

    fn series_of(&self, id: &str) -> Result<Option<SeriesId>> {
        let series = "SELECT series FROM run WHERE id = ?1";
        let name = |row: &Row<'_>| row.get::<_, Option<String>>(0);
        let name = self.ask(|database| Ok(database.query_row(series, [id], name)?))?;
        Ok(name.map(SeriesId))
    }

    /// The runs of a series in their order: the finished ones, if there are any.
    fn runs_of(&self, series: &SeriesId) -> Result<Vec<String>> {
        let runs: Vec<(String, bool)> = self.ask(|database| {
            let mut runs = database.prepare(
                "SELECT id, state = 'finished' FROM run WHERE series = ?1
                 ORDER BY series_number, started_utc, id",
            )?;
            let runs = runs.query_map([&series.0], |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(runs.collect::<rusqlite::Result<_>>()?)
        })?;
        let some = runs.iter().any(|(_, finished)| *finished);
        let kept = runs.into_iter().filter(|(_, finished)| *finished || !some);
        Ok(kept.map(|(id, _)| id).collect())
    }

    /// Whether two selections are about the same runs of one series, though they read differently.
    pub fn common_series(old: &[Record], new: &[Record]) -> Option<SeriesId> {
        let ids = |side: &[Record]| -> Vec<RunId> {
            let ids = side.iter().map(|record| record.id.clone());
            ids.collect()
        };
        let series = old.first()?.series.as_ref()?;
        (ids(old) == ids(new)).then(|| series.id.clone())
    }
}
