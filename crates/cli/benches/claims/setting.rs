//! Machine and build of the figures.

use keymark_bench::environment::Environment;
use keymark_stacks::gnupg::Gnupg;

use super::figure::Failure;
use super::program;

#[derive(Debug, Clone)]
pub(crate) struct Setting {
    /// UTC date.
    pub(crate) date: String,
    /// The machine and the versions of its programs.
    pub(crate) environment: Environment,
}

impl Setting {
    pub(crate) fn here() -> Result<Self, Failure> {
        let mut environment = Environment::capture(&program::version()?);
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
