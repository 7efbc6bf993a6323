//! The owner of a card: GnuPG in a home of its own, with its usual configuration.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use keymark_testkit::place::{said, short_directory};

/// A `GNUPGHOME` whose agent and scdaemon end with the value.
#[derive(Debug)]
pub(super) struct Owner {
    home: TempDir,
    pcscd: PathBuf,
}

impl Owner {
    /// Makes a home with the public keys of another home, and cards in the readers of the pcscd at that socket.
    pub(super) fn with_keys_of(other: &Path, pcscd: &Path) -> Self {
        let home = short_directory();
        for name in ["pubring.kbx", "trustdb.gpg"] {
            std::fs::copy(other.join(name), home.path().join(name)).unwrap();
        }
        std::fs::write(home.path().join("scdaemon.conf"), "disable-ccid\n").unwrap();
        Self {
            home,
            pcscd: pcscd.to_owned(),
        }
    }

    /// The home.
    pub(super) fn home(&self) -> &Path {
        self.home.path()
    }

    /// Adds a line to the configuration of scdaemon, which must not run yet.
    pub(super) fn configure(&self, line: &str) {
        let file = self.home().join("scdaemon.conf");
        let before = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, format!("{before}{line}\n")).unwrap();
    }

    pub(super) fn run(&self, program: &str, arguments: &[&str]) -> String {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env("GNUPGHOME", self.home())
            .env("PCSCLITE_CSOCK_NAME", &self.pcscd);
        said(&command.output().unwrap())
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.run("gpgconf", &["--kill", "all"]);
    }
}
