//! Daemon for keys that are not in files: GnuPG's scdaemon, which reaches a card through keymark's own PC/SC library,
//! or a program in its place that reaches a token.

use std::ffi::OsString;
use std::path::PathBuf;

use keymark_bench::Error;
use keymark_shim_protocol::{CARD, SHARED, TRACE};

/// The daemon between the agent and its keys.
#[derive(Debug)]
pub(super) struct Scdaemon {
    /// Lines of gpg-agent.conf.
    pub(super) agent_options: String,
    /// Its own configuration: the file's name and the text.
    pub(super) configuration: Option<(&'static str, String)>,
    /// Environment variables besides the agent's own.
    pub(super) environment: Vec<(OsString, OsString)>,
    /// Advice when a key cannot be used.
    pub(super) key_advice: &'static str,
    /// Link to a card, if it has one.
    pub(super) card: Option<CardLink>,
}

impl Scdaemon {
    /// Returns no daemon: the keys are in files.
    pub(super) fn none() -> Self {
        Self {
            agent_options: "disable-scdaemon\n".to_owned(),
            configuration: None,
            environment: Vec::new(),
            key_advice: "is the right passphrase of the key in the agent's cache?",
            card: None,
        }
    }

    /// GnuPG's own, with a card, and no other way to any than the library.
    ///
    /// # Errors
    /// When its configuration cannot name the reader.
    pub(super) fn with_card(link: CardLink) -> Result<Self, Error> {
        link.reader.check()?;
        let mut text = format!("disable-ccid\npcsc-driver {}\n", link.driver.display());
        // What the library reads when scdaemon loads it.
        let mut environment: Vec<(OsString, OsString)> = Vec::new();
        match &link.reader {
            ScdaemonReader::Served { socket } => environment.push((CARD.into(), socket.into())),
            ScdaemonReader::Pcscd { name, socket } => {
                text += &format!("reader-port {name}\n");
                // keymark itself talks to the card too.
                environment.push((SHARED.into(), "1".into()));
                let socket = socket.iter();
                environment
                    .extend(socket.map(|socket| ("PCSCLITE_CSOCK_NAME".into(), socket.into())));
            }
        }
        environment.extend(link.trace.iter().map(|trace| (TRACE.into(), trace.into())));
        Ok(Self {
            agent_options: String::new(),
            configuration: Some(("scdaemon.conf", text)),
            environment,
            key_advice: "is the card in its reader? If it was reset, its PIN is no longer verified: measure this case again",
            card: Some(link),
        })
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
    /// Checks that a line of scdaemon.conf can name it: names of readers come from outside, and one with a line feed
    /// would set options.
    pub fn check(&self) -> Result<(), Error> {
        let Self::Pcscd { name, .. } = self else {
            return Ok(());
        };
        if is_plain_value(name) && !name.is_empty() {
            return Ok(());
        }
        Err(Error::call(
            "writing scdaemon.conf",
            format!("the reader's name {name:?} cannot be put in it"),
            "use another reader, or measure with --stack raw",
        ))
    }
}

/// Link of scdaemon to its card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardLink {
    /// The library, `libkeymark_pcsc.so`.
    pub driver: PathBuf,
    /// Reader of the card.
    pub reader: ScdaemonReader,
    /// The file that takes down the PC/SC calls, if they are to be.
    pub trace: Option<PathBuf>,
}

/// Returns true if it can be the rest of a line of GnuPG's options as it is: space around a value is cut, quotes
/// are taken away.
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
