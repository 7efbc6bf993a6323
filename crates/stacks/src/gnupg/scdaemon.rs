//! What a home's agent asks for keys that it does not have in files.

use std::ffi::OsString;
use std::path::Path;

use super::card_link::CardLink;
use super::token_link::TokenLink;

/// The daemon between the agent and its keys.
#[derive(Debug)]
pub(super) enum Scdaemon {
    /// None: the keys are in files.
    None,
    /// GnuPG's own, with a card.
    GnuPg(CardLink),
    /// gnupg-pkcs11-scd, with a token.
    Pkcs11(TokenLink),
}

impl Scdaemon {
    /// Lines of gpg-agent.conf.
    pub(super) fn agent_options(&self) -> String {
        match self {
            Self::None => "disable-scdaemon\n".to_owned(),
            Self::GnuPg(_) => String::new(),
            Self::Pkcs11(token) => token.agent_options(),
        }
    }

    /// Its own configuration: the file's name and the text.
    pub(super) fn configuration(&self) -> Option<(&'static str, String)> {
        match self {
            Self::None => None,
            Self::GnuPg(card) => Some(("scdaemon.conf", card.configuration())),
            Self::Pkcs11(token) => Some(("gnupg-pkcs11-scd.conf", token.configuration())),
        }
    }

    /// What it is to find in its environment besides the agent's own, whose home that is.
    pub(super) fn environment(&self, home: &Path) -> Vec<(OsString, OsString)> {
        match self {
            Self::None => Vec::new(),
            Self::GnuPg(card) => {
                let variables = card.environment().into_iter();
                variables
                    .map(|(name, value)| (name.into(), value))
                    .collect()
            }
            Self::Pkcs11(token) => token.environment(home),
        }
    }

    /// What to do when a key cannot be used.
    pub(super) const fn key_advice(&self) -> &'static str {
        match self {
            Self::None => "is the key's passphrase in the agent's cache, and the right one?",
            Self::GnuPg(_) => {
                "is the card in its reader? If it was reset, its PIN is no longer verified: measure this case again"
            }
            Self::Pkcs11(_) => "is the token there, and its PIN what it was when the run began?",
        }
    }
}
