//! Versions of programs, as they tell them.

use std::fmt;

/// `2.4.71`, `3.0.19`, `2.6.12-1+deb12u4`: ordered by its first three numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    numbers: [u32; 3],
    text: String,
}

impl Version {
    /// The version at the beginning of the text, up to a space or parenthesis; none where there is no number.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let text: &str = text
            .split(|letter: char| letter.is_whitespace() || letter == '(')
            .next()?;
        let mut numbers = [0; 3];
        for (number, part) in numbers.iter_mut().zip(text.splitn(3, '.')) {
            let end = part.find(|letter: char| !letter.is_ascii_digit());
            *number = part[..end.unwrap_or(part.len())].parse().ok()?;
        }
        Some(Self {
            numbers,
            text: text.to_owned(),
        })
    }

    /// What stands behind `mark` in what a program says.
    #[must_use]
    pub fn behind(mark: &str, said: &str) -> Option<Self> {
        Self::read(said.split_once(mark)?.1)
    }

    /// Whether it is that one or a later one.
    #[must_use]
    pub fn is_at_least(&self, major: u32, minor: u32, patch: u32) -> bool {
        self.numbers >= [major, minor, patch]
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_ordered() {
        let said = "Server version: Apache/2.4.71 (Debian)\n";
        let apache = Version::behind("Apache/", said).unwrap();
        assert_eq!(apache.to_string(), "2.4.71");
        assert!(apache.is_at_least(2, 4, 9) && !apache.is_at_least(2, 5, 0));
        let haproxy = Version::read("2.6.12-1+deb12u4 2026/10/17").unwrap();
        assert!(haproxy.is_at_least(2, 6, 12) && haproxy.to_string() == "2.6.12-1+deb12u4");
        assert!(Version::read("3.2").unwrap().is_at_least(3, 2, 0));
        assert_eq!(Version::read("unknown"), None);
    }
}
