//! The last day of what somebody plans for.

use std::str::FromStr;

use jiff::civil::Date;

/// A day: `2035` is its last one, `2035-06` that month's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Until(pub Date);

/// Text that is no day.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a day; write it like 2035, 2035-06 or 2035-06-30")]
pub struct NotADay(String);

impl FromStr for Until {
    type Err = NotADay;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let read = |day: String| day.parse::<Date>().ok();
        let day = match text.len() {
            4 => read(format!("{text}-12-31")),
            7 => read(format!("{text}-01")).map(Date::last_of_month),
            _ => read(text.to_owned()),
        };
        day.map(Self).ok_or_else(|| NotADay(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_year_ends_with_its_last_day() {
        let day = |text: &str| text.parse::<Until>().map(|until| until.0.to_string());
        assert_eq!(day("2035").as_deref(), Ok("2035-12-31"));
        assert_eq!(day("2028-02").as_deref(), Ok("2028-02-29"));
        assert_eq!(day("2030-07-01").as_deref(), Ok("2030-07-01"));
        assert!(day("35").unwrap_err().to_string().contains("2035-06"));
        assert!(day("2035-13").is_err() && day("2035-02-30").is_err());
    }
}
