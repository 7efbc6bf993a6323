//! What a home's agent asks for keys that it does not have in files: GnuPG's scdaemon, which reaches a card through
//! keymark's own PC/SC library, or a program in its place that reaches a token.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use keymark_bench::Error;
use keymark_shim_protocol::{CARD, SHARED, TRACE};

use super::token_home::TokenLink;

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
            Self::GnuPg(card) => card.environment(),
            Self::Pkcs11(token) => token.environment(home),
        }
    }

    /// What to do when a key cannot be used.
    pub(super) const fn key_advice(&self) -> &'static str {
        match self {
            Self::None => "is the right passphrase of the key in the agent's cache?",
            Self::GnuPg(_) => {
                "is the card in its reader? If it was reset, its PIN is no longer verified: measure this case again"
            }
            Self::Pkcs11(_) => "is the token there, with the same PIN as at the start of the run?",
        }
    }
}

/// The reader that scdaemon is to use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScdaemonReader {
    /// Served by keymark at a socket: virtual cards and twins, without pcscd.
    Served { socket: PathBuf },
    /// A reader of pcscd's, by its name.
    Pcscd {
        name: String,
        /// The socket of a pcscd that is not the system's.
        socket: Option<PathBuf>,
    },
}

impl ScdaemonReader {
    /// Whether a line of scdaemon.conf can name it: names of readers come from outside, and one with a line
    /// feed would set options.
    pub fn check(&self) -> Result<(), Error> {
        let Self::Pcscd { name, .. } = self else {
            return Ok(());
        };
        if is_plain_value(name) && !name.is_empty() {
            return Ok(());
        }
        Err(Error::call(
            "writing scdaemon.conf",
            format!("the reader's name {name:?} cannot stand in it"),
            "use another reader, or measure with --stack raw",
        ))
    }
}

/// How scdaemon reaches its card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardLink {
    /// The library, `libkeymark_pcsc.so`.
    pub driver: PathBuf,
    /// Where the card is.
    pub reader: ScdaemonReader,
    /// The file that takes down the PC/SC calls, if they are to be.
    pub trace: Option<PathBuf>,
}

impl CardLink {
    /// scdaemon.conf: no other way to any card than the library.
    pub(super) fn configuration(&self) -> String {
        let mut lines = format!("disable-ccid\npcsc-driver {}\n", self.driver.display());
        if let ScdaemonReader::Pcscd { name, .. } = &self.reader {
            lines.push_str(&format!("reader-port {name}\n"));
        }
        lines
    }

    /// What the library reads when scdaemon loads it.
    pub(super) fn environment(&self) -> Vec<(OsString, OsString)> {
        let (first, socket) = match &self.reader {
            ScdaemonReader::Served { socket } => ((CARD, socket.into()), None),
            // keymark itself talks to the card too.
            ScdaemonReader::Pcscd { socket, .. } => ((SHARED, "1".into()), socket.as_ref()),
        };
        let socket = socket.map(|socket| ("PCSCLITE_CSOCK_NAME", socket.into()));
        let trace = self.trace.as_ref().map(|trace| (TRACE, trace.into()));
        let variables = [first].into_iter().chain(socket).chain(trace);
        variables
            .map(|(name, value): (&str, OsString)| (name.into(), value))
            .collect()
    }
}

/// Whether it can be the rest of a line of GnuPG's options as it is: what stands around a value is cut, quotes are taken
/// away.
pub(super) fn is_plain_value(text: &str) -> bool {
    text.trim() == text && !text.starts_with('"') && !text.contains(char::is_control)
}

#[cfg(test)]
mod tests {
    use keymark_testkit::assert_says;

    use super::*;

    #[test]
    fn a_readers_name_sets_no_options() {
        let check = |name: &str| {
            let (name, socket) = (name.to_owned(), None);
            ScdaemonReader::Pcscd { name, socket }.check()
        };
        check("Gemalto PC Twin Reader (\"A\") [µ] 00 00").unwrap();
        for name in ["a\nallow-admin", "a\r", "\"a\"", "a ", "", "a\u{85}b"] {
            let error = check(name).unwrap_err().to_string();
            assert_says(&error, ["reader's name"]);
            assert!(!error.contains(char::is_control), "{error}");
        }
    }
}
