//! How scdaemon reaches a card: through keymark's own PC/SC library, which notes what each call takes.

use std::ffi::OsString;
use std::path::PathBuf;

use keymark_bench::error::Error;
use keymark_shim_protocol::{CARD, SHARED, TRACE};

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
        // As GnuPG reads options: what stands around a value is cut, quotes are taken away.
        let plain = name.trim() == name && !name.is_empty() && !name.starts_with('"');
        if plain && !name.contains(char::is_control) {
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
    pub(super) fn environment(&self) -> Vec<(&'static str, OsString)> {
        let mut variables: Vec<(&str, OsString)> = Vec::new();
        match &self.reader {
            ScdaemonReader::Served { socket } => {
                variables.push((CARD, socket.into()));
            }
            ScdaemonReader::Pcscd { socket, .. } => {
                // keymark itself talks to the card too.
                variables.push((SHARED, "1".into()));
                let socket = socket.iter();
                variables.extend(socket.map(|socket| ("PCSCLITE_CSOCK_NAME", socket.into())));
            }
        }
        let trace = self.trace.iter();
        variables.extend(trace.map(|trace| (TRACE, trace.into())));
        variables
    }
}

#[cfg(test)]
mod tests {
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
            assert!(
                error.contains("reader's name") && !error.contains(char::is_control),
                "{error}"
            );
        }
    }
}
