//! How scdaemon reaches a card: through keymark's own PC/SC library, which notes what each call takes.

use std::path::PathBuf;

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
            // keymark itself talks to the card too.
            lines.push_str(&format!("reader-port {name}\npcsc-shared\n"));
        }
        lines
    }

    /// What the library reads when scdaemon loads it.
    pub(super) fn environment(&self) -> Vec<(&'static str, PathBuf)> {
        let mut variables = Vec::new();
        if let ScdaemonReader::Served { socket } = &self.reader {
            variables.push(("KEYMARK_PCSC_CARD", socket.clone()));
        }
        if let Some(trace) = &self.trace {
            variables.push(("KEYMARK_PCSC_TRACE", trace.clone()));
        }
        if let ScdaemonReader::Pcscd {
            socket: Some(socket),
            ..
        } = &self.reader
        {
            variables.push(("PCSCLITE_CSOCK_NAME", socket.clone()));
        }
        variables
    }
}
