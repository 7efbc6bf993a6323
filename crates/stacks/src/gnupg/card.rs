//! Homes whose keys are on a card: scdaemon reaches it through keymark's own PC/SC library, which
//! notes what each call takes.

use std::fs;
use std::path::PathBuf;

use keymark_bench::error::Error;
use keymark_stores::openpgp_card::Pin;
use zeroize::Zeroizing;

use super::assuan::data_lines;
use super::home::Home;

/// Where the card of a home is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reader {
    /// Served by keymark at a socket: virtual cards and twins, without pcscd.
    Served {
        /// The socket.
        socket: PathBuf,
    },
    /// A reader of pcscd's, by its name.
    Pcscd {
        /// The name.
        name: String,
        /// The socket of a pcscd that is not the system's.
        socket: Option<PathBuf>,
    },
}

/// How scdaemon reaches its card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardAccess {
    /// libkeymark_pcsc.so.
    pub driver: PathBuf,
    /// The card.
    pub reader: Reader,
    /// The file that takes down the PC/SC calls, if they are to be.
    pub trace: Option<PathBuf>,
}

impl CardAccess {
    /// scdaemon.conf: no other way to any card than the library.
    pub(super) fn configuration(&self) -> String {
        let mut lines = format!("disable-ccid\npcsc-driver {}\n", self.driver.display());
        if let Reader::Pcscd { name, .. } = &self.reader {
            // keymark itself talks to the card too.
            lines.push_str(&format!("reader-port {name}\npcsc-shared\n"));
        }
        lines
    }

    /// What the library reads when scdaemon loads it.
    pub(super) fn environment(&self) -> Vec<(&'static str, PathBuf)> {
        let mut variables = Vec::new();
        if let Reader::Served { socket } = &self.reader {
            variables.push(("KEYMARK_PCSC_CARD", socket.clone()));
        }
        if let Some(trace) = &self.trace {
            variables.push(("KEYMARK_PCSC_TRACE", trace.clone()));
        }
        if let Reader::Pcscd {
            socket: Some(socket),
            ..
        } = &self.reader
        {
            variables.push(("PCSCLITE_CSOCK_NAME", socket.clone()));
        }
        variables
    }
}

impl Home {
    /// Has the agent take note of the keys on its card, and the card verify its user PIN: scdaemon
    /// does not ask for it again until the card is reset.
    ///
    /// # Errors
    /// When scdaemon does not find the card, or the card refuses the PIN.
    pub fn learn_card(&self, pin: &Pin) -> Result<(), Error> {
        self.learn_keys()?;
        let mut connection = self.connect()?;
        connection.command("OPTION pinentry-mode=loopback")?;
        let answer = connection.status("SCD SERIALNO", "SERIALNO")?;
        let reply = Zeroizing::new(data_lines(pin.expose().as_bytes()));
        connection.transact(
            &format!("SCD CHECKPIN {answer}"),
            Some(&reply),
            &mut Vec::new(),
        )
    }

    /// Has the agent take note of the keys on its card.
    ///
    /// # Errors
    /// When scdaemon does not find the card.
    pub fn learn_keys(&self) -> Result<(), Error> {
        self.connect()?.command("LEARN --force").map(drop)
    }

    /// The public keys of another home, without any secret ones.
    ///
    /// # Errors
    /// When they cannot be copied.
    pub fn copy_public_keys(&self, from: &Self) -> Result<(), Error> {
        for name in ["pubring.kbx", "trustdb.gpg"] {
            let (source, target) = (from.path().join(name), self.path().join(name));
            fs::copy(&source, &target)
                .map_err(|error| Error::call(format!("copying {}", source.display()), error, ""))?;
        }
        Ok(())
    }
}
