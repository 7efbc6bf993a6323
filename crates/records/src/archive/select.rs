//! Names of runs, series and sides of comparisons, and their look-up in an archive.

use std::fmt;
use std::str::FromStr;

use derive_more::Display;
use itertools::Itertools;
use keymark_bench::outside::visible::excerpt;
use keymark_bench::series::SeriesId;
use keymark_bench::{Record, RunState};

use super::database::{SqlRow, values};
use super::{Archive, ArchiveError};

/// Prefix of the name of a series.
const SERIES: &str = "series:";

/// A run or series of an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunSelector {
    /// `last`, or `last~N` for N runs before it. Published figures do not count.
    Last(u32),
    /// Name of the run, or a unique prefix.
    Id(String),
    /// `series:last`, or `series:last~N` for N series before it.
    LastSeries(u32),
    /// `series:` with the name of a series, or a unique prefix.
    Series(String),
}

/// Text that names no run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' is not a run: write 'last', 'last~1' for the one before, or the beginning of a name that 'keymark \
     runs' lists; for a series 'series:last' and so on"
)]
pub struct SelectorError(String);

impl FromStr for RunSelector {
    type Err = SelectorError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refused = || SelectorError(text.to_owned());
        let (whole, name) = match text.strip_prefix(SERIES) {
            Some(name) => (true, name),
            None => (false, text),
        };
        let back = match name.strip_prefix("last") {
            Some("") => Some(0),
            Some(rest) if rest.starts_with('~') => Some(rest[1..].parse().map_err(|_| refused())?),
            _ if name.trim().is_empty() => return Err(refused()),
            _ => None,
        };
        Ok(match (whole, back) {
            (false, Some(back)) => Self::Last(back),
            (false, None) => Self::Id(name.to_owned()),
            (true, Some(back)) => Self::LastSeries(back),
            (true, None) => Self::Series(name.to_owned()),
        })
    }
}

impl fmt::Display for RunSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Last(0) => f.pad("last"),
            Self::Last(back) => write!(f, "last~{back}"),
            Self::Id(id) => f.pad(id),
            Self::LastSeries(0) => write!(f, "{SERIES}last"),
            Self::LastSeries(back) => write!(f, "{SERIES}last~{back}"),
            Self::Series(id) => write!(f, "{SERIES}{id}"),
        }
    }
}

/// A side of a comparison. A single run brings its whole series with it; a list separated by commas does not.
#[derive(Debug, Clone, PartialEq, Eq, Display)]
#[display("{}", _0.iter().format(","))]
pub struct SideSelector(pub Vec<RunSelector>);

impl FromStr for SideSelector {
    type Err = SelectorError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let runs = text.split(',').map(str::parse);
        runs.collect::<Result<_, _>>().map(Self)
    }
}

impl Archive {
    /// Returns the runs of a side, the oldest first. A single run brings its series with it. Interrupted runs of a series are
    /// left out if there are others.
    ///
    /// # Errors
    /// When a run is missing or named twice, or the archive cannot be read.
    pub fn side(&self, side: &SideSelector) -> super::Result<Vec<Record>> {
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
                    return Err(ArchiveError::Other(format!(
                        "{} has the run {} twice; name it once",
                        excerpt(&side.to_string()),
                        excerpt(&id)
                    )));
                }
                ids.push(id);
            }
        }
        ids.iter().map(|id| self.load_id(id)).collect()
    }

    /// Returns the name of a series.
    ///
    /// # Errors
    /// When there is none, or more than one.
    pub fn series(&self, which: &RunSelector) -> super::Result<SeriesId> {
        match which {
            RunSelector::Last(_) | RunSelector::Id(_) => {
                let id = self.id_of(which)?;
                let series = self.series_of(&id)?;
                series.ok_or_else(|| self.no_such_run(&which.to_string()))
            }
            RunSelector::LastSeries(back) => {
                // Names begin with the time; of two that alternate, the one of the keymark that made them is the last.
                let nth = "SELECT DISTINCT series FROM run WHERE series IS NOT NULL
                           ORDER BY series DESC LIMIT 1 OFFSET $1";
                let found = |row: &SqlRow| row.get(0).map(SeriesId);
                let series = self.ask(|database| database.first(nth, values![*back], found))?;
                series.ok_or_else(|| self.no_such_run(&which.to_string()))
            }
            RunSelector::Series(prefix) => {
                let names = "SELECT series FROM run WHERE substr(series, 1, length($1)) = $1
                             GROUP BY series ORDER BY length(series), series";
                self.one_of(names, prefix, &which.to_string()).map(SeriesId)
            }
        }
    }

    fn series_of(&self, id: &str) -> super::Result<Option<SeriesId>> {
        let series = "SELECT series FROM run WHERE id = $1";
        let name = self.ask(|database| database.value::<Option<String>>(series, values![id]))?;
        Ok(name.map(SeriesId))
    }

    /// Returns the names of a series' runs in their order, only finished ones if there are any.
    fn runs_of(&self, series: &SeriesId) -> super::Result<Vec<String>> {
        let runs: Vec<(String, RunState)> = self.ask(|database| {
            let runs = "SELECT id, state FROM run WHERE series = $1
                        ORDER BY series_number, started_utc, id";
            database.rows(runs, values![&series.0], |row| {
                Ok((row.get(0)?, row.word(1)?))
            })
        })?;
        let is_finished = |(_, state): &(String, RunState)| *state == RunState::Finished;
        let some = runs.iter().any(is_finished);
        let kept = runs.into_iter().filter(|run| !some || is_finished(run));
        Ok(kept.map(|(id, _)| id).collect())
    }

    /// Returns the last finished run of each machine with a label.
    ///
    /// # Errors
    /// When the archive cannot be read.
    pub fn last_of_machines(&self) -> super::Result<Vec<RunSelector>> {
        let newest = "SELECT max(started_utc || ' ' || id) FROM run
                      WHERE state = 'finished' AND environment ->> 'machine' IS NOT NULL
                      GROUP BY environment ->> 'machine' ORDER BY environment ->> 'machine'";
        let newest: Vec<String> =
            self.ask(|database| database.rows(newest, &[], |row| row.get(0)))?;
        let ids = newest.iter().filter_map(|run| run.split_once(' '));
        Ok(ids.map(|(_, id)| RunSelector::Id(id.to_owned())).collect())
    }

    /// Returns the series if both selections are the same runs of one.
    pub fn common_series(old: &[Record], new: &[Record]) -> Option<SeriesId> {
        let (old_ids, new_ids) = [old, new].map(|side| side.iter().map(|run| &run.id)).into();
        let series = old.first()?.series.as_ref()?;
        old_ids.eq(new_ids).then(|| series.id.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_named_from_the_end_or_by_their_beginning() {
        assert_eq!("last".parse(), Ok(RunSelector::Last(0)));
        assert_eq!("last~12".parse(), Ok(RunSelector::Last(12)));
        assert_eq!("2026".parse(), Ok(RunSelector::Id("2026".to_owned())));
        assert_eq!("lastly".parse(), Ok(RunSelector::Id("lastly".to_owned())));
        for bad in ["", " ", "last~", "last~-1", "last~x", "last~99999999999"] {
            assert!(bad.parse::<RunSelector>().is_err(), "{bad}");
        }
        for text in ["last", "last~3", "20261121-"] {
            assert_eq!(text.parse::<RunSelector>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn series_are_named_likewise() {
        assert_eq!("series:last~1".parse(), Ok(RunSelector::LastSeries(1)));
        assert_eq!(
            "series:2026".parse(),
            Ok(RunSelector::Series("2026".to_owned()))
        );
        for bad in ["series:", "series: ", "series:last~x"] {
            assert!(bad.parse::<RunSelector>().is_err(), "{bad}");
        }
        for text in ["series:last", "series:last~3", "series:20261121-"] {
            assert_eq!(text.parse::<RunSelector>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn a_side_is_one_run_or_several() {
        let side: SideSelector = "last,last~2,series:x".parse().unwrap();
        assert_eq!(side.0.len(), 3);
        assert_eq!(side.to_string(), "last,last~2,series:x");
        assert!("last,".parse::<SideSelector>().is_err());
    }
}
