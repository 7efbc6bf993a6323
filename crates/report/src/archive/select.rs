//! How a user names a run, or one side of a comparison.

use std::fmt;
use std::str::FromStr;

/// What begins the name of a whole series.
const SERIES: &str = "series:";

/// One run of an archive, or one series.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunSelector {
    /// `last`, or so many before it: `last~2`. Published figures are no runs to go back over.
    Last(u32),
    /// Its name, or enough of the beginning.
    Id(String),
    /// `series:last`, or so many series before it.
    LastSeries(u32),
    /// `series:` and a series's name, or enough of the beginning.
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

/// One side of a comparison: a run, which stands for its series if it is of one, or several with commas
/// between, which stand for themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SideSelector(pub Vec<RunSelector>);

impl FromStr for SideSelector {
    type Err = SelectorError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.split(',')
            .map(str::parse)
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

impl fmt::Display for SideSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, run) in self.0.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            write!(f, "{comma}{run}")?;
        }
        Ok(())
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
