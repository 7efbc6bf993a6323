//! How a user names a run.

use std::fmt;
use std::str::FromStr;

/// One run of an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunSelector {
    /// `last`, or so many before it: `last~2`. Published figures are no runs to go back over.
    Last(u32),
    /// Its name, or enough of the beginning.
    Id(String),
}

/// Text that names no run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' names no run: write 'last', 'last~1' for the one before, or the beginning of a name that 'keymark runs' lists"
)]
pub struct SelectorError(String);

impl FromStr for RunSelector {
    type Err = SelectorError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refused = || SelectorError(text.to_owned());
        match text.strip_prefix("last") {
            Some("") => Ok(Self::Last(0)),
            Some(rest) if rest.starts_with('~') => {
                rest[1..].parse().map(Self::Last).map_err(|_| refused())
            }
            _ if text.trim().is_empty() => Err(refused()),
            _ => Ok(Self::Id(text.to_owned())),
        }
    }
}

impl fmt::Display for RunSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Last(0) => f.pad("last"),
            Self::Last(back) => write!(f, "last~{back}"),
            Self::Id(id) => f.pad(id),
        }
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
}
