//! Names that are registered, not enumerated: key stores and stacks come and go without this crate, and
//! nothing here or above can decide by a list of them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::words::as_text;

/// Letters a name has at most.
const LONGEST: usize = 20;

/// A lower-case word of letters, digits and hyphens that begins with a letter.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct NameWord {
    letters: [u8; LONGEST],
    length: u8,
}

impl NameWord {
    const fn parse(word: &[u8]) -> Option<Self> {
        if word.is_empty() || word.len() > LONGEST || !word[0].is_ascii_lowercase() {
            return None;
        }
        let mut letters = [0; LONGEST];
        let mut at = 0;
        while at < word.len() {
            let letter = word[at];
            if !(letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == b'-') {
                return None;
            }
            letters[at] = letter;
            at += 1;
        }
        Some(Self {
            letters,
            length: word.len() as u8,
        })
    }

    fn as_str(&self) -> &str {
        // ASCII, as `parse` has seen to it.
        std::str::from_utf8(&self.letters[..usize::from(self.length)]).unwrap_or_default()
    }
}

/// Returns true if a text is such a word.
pub(super) fn is_name(text: &str) -> bool {
    NameWord::parse(text.as_bytes()).is_some()
}

/// Text that is no such name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{word}' is not a valid name for a {kind}: use up to 20 lower-case letters, digits and hyphens"
)]
pub struct BadName {
    kind: &'static str,
    word: String,
}

macro_rules! name {
    ($(#[$meta:meta])* pub struct $name:ident($kind:literal)) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(into = "String", try_from = "String")]
        pub struct $name(NameWord);

        impl $name {
            /// The name, for a constant of the family that has it.
            ///
            /// # Panics
            /// When it is none: while compiling, if it is a constant.
            pub const fn of(word: &'static str) -> Self {
                match NameWord::parse(word.as_bytes()) {
                    Some(word) => Self(word),
                    None => panic!("a name must have up to 20 lower-case letters, digits and hyphens"),
                }
            }

            /// The word itself.
            pub fn word(&self) -> &str {
                self.0.as_str()
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({})", stringify!($name), self.word())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.word())
            }
        }

        impl FromStr for $name {
            type Err = BadName;

            fn from_str(word: &str) -> Result<Self, BadName> {
                let lower = word.to_ascii_lowercase();
                NameWord::parse(lower.as_bytes()).map(Self).ok_or_else(|| BadName {
                    kind: $kind,
                    word: word.to_owned(),
                })
            }
        }

        as_text!($name);
    };
}

name! {
    /// The program path through which a key is reached, as its family has registered it.
    pub struct StackName("stack")
}

impl StackName {
    /// A library call or an APDU, nothing around it: the base of every other stack.
    pub const RAW: Self = Self::of("raw");
    /// gpg-agent, asked over its Assuan socket.
    pub const AGENT: Self = Self::of("agent");
    /// Stack `gpg`: a `gpg` process per operation.
    pub const GPG: Self = Self::of("gpg");
    /// Apache's mod_ssl; so far of published figures only.
    pub const APACHE: Self = Self::of("apache");
}

name! {
    /// Family of the key store that holds the private key.
    pub struct StoreKind("key store")
}

impl StoreKind {
    /// Memory of this CPU.
    pub const SOFTWARE: Self = Self::of("software");
    /// An OpenPGP card: YubiKey, Nitrokey, Gnuk, or a virtual one.
    pub const OPENPGP_CARD: Self = Self::of("openpgp-card");
    /// A token behind a PKCS#11 module.
    pub const PKCS11: Self = Self::of("pkcs11");
    /// A TPM, through tpm2-tss.
    pub const TPM: Self = Self::of("tpm");
    /// Scripted latencies, for tests of the pipeline.
    pub const FAKE: Self = Self::of("fake");
    /// Device of a published figure, named as in its source.
    pub const REPORTED: Self = Self::of("reported");
}

#[cfg(test)]
mod tests {
    use keymark_testkit::assert_says;

    use super::*;

    #[test]
    fn names_are_words_and_survive_serialisation() {
        let ssh: StackName = "SSH".parse().unwrap();
        assert_eq!((ssh.word(), ssh), ("ssh", StackName::of("ssh")));
        let json = serde_json::to_string(&StoreKind::OPENPGP_CARD).unwrap();
        assert_eq!(json, "\"openpgp-card\"");
        assert_eq!(
            serde_json::from_str::<StoreKind>(&json).unwrap(),
            StoreKind::OPENPGP_CARD
        );
        for bad in ["", "-x", "9p", "a b", "é", "a_b", "abcdefghijklmnopqrstu"] {
            let error = bad.parse::<StackName>().unwrap_err().to_string();
            assert_says(&error, ["is not a valid name for a stack"]);
        }
    }
}
