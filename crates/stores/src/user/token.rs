//! Names of tokens: PINs, consent and journals belong to one.

use std::collections::BTreeSet;

use derive_more::Display;
use serde::{Deserialize, Serialize};

/// Manufacturer and serial number, as in `0006:0a1b2c3d`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Display)]
#[serde(transparent)]
pub struct TokenId(String);

impl TokenId {
    /// Takes the name over.
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into().to_ascii_lowercase())
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The part that users type: the serial number.
    pub fn serial(&self) -> &str {
        self.0.rsplit(':').next().unwrap_or_default()
    }

    /// Returns the name of this token and no other.
    pub fn name(&self) -> TokenName {
        TokenName(self.0.clone())
    }

    /// Returns whether a user means this token: by all of its name, or by its serial number.
    pub fn is_called(&self, said: &TokenName) -> bool {
        [self.as_str(), self.serial()].contains(&said.as_str())
    }
}

/// Name of a token by its user: its serial number, which tokens of two manufacturers may share, or all of its
/// name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Display)]
#[serde(transparent)]
pub struct TokenName(String);

impl TokenName {
    /// Reads it, as in `0a1b2c3d` or `0006:0a1b2c3d`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let fits =
            |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_graphic());
        if text.split(':').all(fits) && !text.contains('=') {
            return Ok(Self(text.to_ascii_lowercase()));
        }
        Err(format!(
            "'{text}' is not a serial number; write it like 0a1b2c3d, or 0006:0a1b2c3d with the manufacturer"
        ))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The one token of those at hand that is meant: PINs and consent are for one.
    pub fn among<'t>(
        &self,
        tokens: impl IntoIterator<Item = &'t TokenId>,
    ) -> Result<&'t TokenId, String> {
        let called = tokens.into_iter().filter(|token| token.is_called(self));
        let called: BTreeSet<_> = called.collect();
        match (called.len(), called.first()) {
            (_, None) => {
                Err("no token here has that serial number; 'keymark devices' lists them".to_owned())
            }
            (1, Some(&one)) => Ok(one),
            // A serial number is its manufacturer's alone.
            _ => {
                let names: Vec<_> = called.into_iter().map(TokenId::as_str).collect();
                let names = names.join(" and ");
                Err(format!("it belongs to {names}: add the manufacturer"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> TokenName {
        TokenName::parse(text).unwrap()
    }

    #[test]
    fn a_token_is_called_by_its_serial_or_in_full() {
        let token = TokenId::new("0006:0A1B2C3D");
        assert_eq!(token.serial(), "0a1b2c3d");
        for said in ["0a1b2c3d", "0A1B2C3D", "0006:0a1b2c3d"] {
            assert!(token.is_called(&name(said)), "{said}");
        }
        for said in ["0006", "1b2c3d", "0007:0a1b2c3d"] {
            assert!(!token.is_called(&name(said)), "{said}");
        }
    }

    #[test]
    fn a_serial_number_that_two_tokens_have_says_neither() {
        let tokens = ["0006:00000001", "000f:00000001", "000f:00000002"].map(TokenId::new);
        assert_eq!(name("00000002").among(&tokens), Ok(&tokens[2]));
        assert_eq!(name("000F:00000001").among(&tokens), Ok(&tokens[1]));
        let error = name("00000001").among(&tokens).unwrap_err();
        assert!(error.contains("0006:00000001 and 000f:00000001"), "{error}");
        let error = name("0badcafe").among(&tokens).unwrap_err();
        assert!(error.starts_with("no token here"), "{error}");
    }

    #[test]
    fn what_no_token_is_called_is_refused() {
        for text in ["", " ", ":", "0006:", "0a1b 2c3d", "A=B", "0a1b\n"] {
            assert!(TokenName::parse(text).is_err(), "{text:?}");
        }
    }
}
