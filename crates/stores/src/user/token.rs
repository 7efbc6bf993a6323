//! What a token is called: PINs, consent and journals belong to one.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Manufacturer and serial number, as in `0006:0a1b2c3d`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TokenId(String);

impl TokenId {
    /// Takes the name over.
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into().to_ascii_lowercase())
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The part that users type: the serial number.
    #[must_use]
    pub fn serial(&self) -> &str {
        self.0.rsplit(':').next().unwrap_or_default()
    }

    /// Whether a user means this token: by all of its name, or by its serial number.
    #[must_use]
    pub fn is_called(&self, said: &str) -> bool {
        [self.as_str(), self.serial()]
            .iter()
            .any(|name| name.eq_ignore_ascii_case(said))
    }
}

impl fmt::Display for TokenId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_called_by_its_serial_or_in_full() {
        let token = TokenId::new("0006:0A1B2C3D");
        assert_eq!(token.serial(), "0a1b2c3d");
        for said in ["0a1b2c3d", "0A1B2C3D", "0006:0a1b2c3d"] {
            assert!(token.is_called(said), "{said}");
        }
        for said in ["", "0006", "1b2c3d", "0007:0a1b2c3d"] {
            assert!(!token.is_called(said), "{said}");
        }
    }
}
