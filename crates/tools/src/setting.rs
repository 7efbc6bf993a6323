//! On what the figures are measured.

use std::path::PathBuf;
use std::process::Command;

use keymark_bench::environment::Environment;
use keymark_stacks::gnupg::Gnupg;

use crate::Failure;

/// When and where.
#[derive(Debug, Clone)]
pub struct Setting {
    /// UTC date.
    pub date: String,
    /// The machine and the versions of its programs.
    pub environment: Environment,
}

impl Setting {
    /// This machine, today.
    ///
    /// # Errors
    /// When keymark or GnuPG is not there.
    pub fn here() -> Result<Self, Failure> {
        let mut environment = Environment::capture(&keymark_version()?);
        let gnupg = Gnupg::find(None)?;
        let libgcrypt = gnupg.libgcrypt.map(|version| ("libgcrypt", version));
        let openssl = openssl::version::version()
            .trim_start_matches("OpenSSL ")
            .to_owned();
        let versions = [("gnupg", gnupg.version), ("openssl", openssl)];
        environment.versions = versions
            .into_iter()
            .chain(libgcrypt)
            .map(|(name, version)| (name.to_owned(), version))
            .collect();
        Ok(Self {
            date: jiff::Timestamp::now().strftime("%Y-%m-%d").to_string(),
            environment,
        })
    }
}

/// With the commit, which only the program knows.
fn keymark_version() -> Result<String, Failure> {
    let output = Command::new(keymark()?).arg("--version").output()?;
    let text = String::from_utf8(output.stdout)?;
    let version = text.trim();
    Ok(version
        .strip_prefix("keymark ")
        .unwrap_or(version)
        .to_owned())
}

/// The keymark that was built beside this program.
///
/// # Errors
/// When it was not.
pub fn keymark() -> Result<PathBuf, Failure> {
    let path = std::env::current_exe()?.with_file_name("keymark");
    if path.exists() {
        Ok(path)
    } else {
        Err("build keymark first: make build".into())
    }
}
