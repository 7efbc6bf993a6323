//! How GnuPG reaches a token: through gnupg-pkcs11-scd, which stands in scdaemon's place and loads the module.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use keymark_bench::algorithm::Family;
use keymark_bench::error::Error;
use keymark_stores::pkcs11::ProgramKey;

use crate::program;

const PROGRAM: &str = "gnupg-pkcs11-scd";

/// The way to a token.
#[derive(Debug)]
pub(super) struct TokenLink {
    program: PathBuf,
    module: PathBuf,
    environment: Vec<(OsString, OsString)>,
}

/// The installed program.
pub(super) fn program() -> Result<PathBuf, Error> {
    program::locate(None, PROGRAM).ok_or_else(|| Error::Missing {
        what: format!("{PROGRAM}, through which GnuPG reaches PKCS#11 tokens,"),
        reason: "not in PATH".to_owned(),
        advice: format!("install it with 'apt-get install {PROGRAM}' (Debian, Ubuntu)"),
    })
}

/// The version of the installed one: it says `gnupg-pkcs11-scd 0.10.0`.
pub(super) fn version() -> Option<(String, String)> {
    let said = program::command(&program().ok()?).arg("--version").output();
    let said = String::from_utf8(said.ok()?.stdout).ok()?;
    let version = said.split_whitespace().nth(1)?;
    Some((PROGRAM.to_owned(), version.to_owned()))
}

/// Whether it takes keys of the family: its S-expressions (0.10, `keyutil.c`) are of RSA only.
pub(super) const fn takes(family: Family) -> bool {
    match family {
        Family::Rsa(_) => true,
        Family::Dsa(_)
        | Family::Elgamal(_)
        | Family::Weierstrass(_)
        | Family::Cv25519
        | Family::Cv448
        | Family::Ed25519
        | Family::Ed448
        | Family::MlKem(_)
        | Family::MlDsa(_)
        | Family::SlhDsa(..)
        | Family::KyberComposite(_) => false,
    }
}

impl TokenLink {
    /// To the token that has that key.
    pub(super) fn to(key: &ProgramKey) -> Result<Self, Error> {
        let link = Self {
            program: program()?,
            module: key.module().to_owned(),
            environment: key.environment.clone(),
        };
        for path in [&link.program, &link.module] {
            check(path)?;
        }
        Ok(link)
    }

    pub(super) fn agent_options(&self) -> String {
        format!("scdaemon-program {}\n", self.program.display())
    }

    /// One provider (gnupg-pkcs11-scd(1)): the module. A PIN is good for as long as the token's session is.
    pub(super) fn configuration(&self) -> String {
        format!(
            "providers token\nprovider-token-library {}\n",
            self.module.display()
        )
    }

    /// It makes a directory for a socket, which it leaves behind when it is ended: in the home, that is removed.
    pub(super) fn environment(&self, home: &Path) -> Vec<(OsString, OsString)> {
        let own = ("TMPDIR".into(), home.into());
        self.environment.iter().cloned().chain([own]).collect()
    }
}

/// A path is the rest of its line in both configurations: what stands around it is cut.
fn check(path: &Path) -> Result<(), Error> {
    let plain = path.to_str().filter(|path| {
        path.trim() == *path && !path.starts_with('"') && !path.contains(char::is_control)
    });
    plain.map(drop).ok_or_else(|| {
        Error::call(
            "configuring gnupg-pkcs11-scd",
            "the module's path has letters that mean something in its configuration",
            "give it another name, by a symbolic link",
        )
    })
}
