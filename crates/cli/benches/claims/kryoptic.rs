//! Kryoptic with a token that OpenSC's tool has filled.

use std::path::{Path, PathBuf};
use std::process::Command;

use keymark_stores::pkcs11::ManagedKind;
use keymark_stores::pkcs11::modules::Places;
use keymark_testkit::softhsm::{LABEL, PIN};
use tempfile::TempDir;

use super::figure::Failure;

/// Variable with the path of its tokens: a database, or a file that names some (kryoptic.conf(5)).
pub(crate) const CONFIGURATION: &str = "KRYOPTIC_CONF";
const SO_PIN: &str = "31415926";

/// A token; gone with the value.
#[derive(Debug)]
pub(crate) struct KryopticToken {
    directory: TempDir,
    library: PathBuf,
}

impl KryopticToken {
    /// Initializes one.
    pub(crate) fn new() -> Result<Self, Failure> {
        let token = Self {
            directory: TempDir::new()?,
            library: ManagedKind::Kryoptic.library(&Places::of_user())?,
        };
        let so = ["--so-pin", SO_PIN];
        token.run(token.tool().args(so).args([
            "--init-token",
            "--slot-index",
            "0",
            "--label",
            LABEL,
        ]))?;
        let login = ["--login", "--login-type", "so", "--init-pin", "--pin", PIN];
        token.run(token.tool().args(so).args(login))?;
        Ok(token)
    }

    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn library(&self) -> &Path {
        &self.library
    }

    pub(crate) fn configuration(&self) -> PathBuf {
        self.directory.path().join("token.sql")
    }

    /// A key pair of `pkcs11-tool`'s: `rsa:2048`, `EC:prime256v1`.
    pub(crate) fn make_key(&self, kind: &str, id: &str, label: &str) -> Result<(), Failure> {
        let mut tool = self.tool();
        tool.args(["--login", "--pin", PIN, "--keypairgen", "--key-type", kind]);
        self.run(tool.args(["--id", id, "--label", label, "--usage-sign"]))
    }

    fn tool(&self) -> Command {
        let mut tool = Command::new("pkcs11-tool");
        tool.arg("--module").arg(&self.library);
        tool.env(CONFIGURATION, self.configuration());
        tool
    }

    fn run(&self, command: &mut Command) -> Result<(), Failure> {
        let output = command.output()?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        Err(format!("{command:?}: {}: {said}", output.status).into())
    }
}
