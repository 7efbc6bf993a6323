//! The stack `ssh`: an authentication signature asked of an SSH agent, OpenSSH's own or gpg-agent, as
//! ssh asks for it when it logs in.

pub mod agent;
pub mod key;
pub mod protocol;
mod provider;
pub mod stack;

use std::collections::BTreeMap;
use std::path::PathBuf;

use keymark_bench::Error;

use crate::installed::{Program, SearchPath};

pub use provider::FAMILY;
pub(crate) use provider::{Agents, SshProvider, keys};

const SSH: Program = Program::of_package("ssh (OpenSSH)", &["ssh"], "openssh-client");
const AGENT: Program = Program::of_package("ssh-agent (OpenSSH)", &["ssh-agent"], "openssh-client");

/// The installed OpenSSH.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenSsh {
    agent: PathBuf,
    /// Its version: `9.2p1 Debian-2`.
    pub version: String,
    /// The library that does the arithmetic, with its version.
    pub libcrypto: Option<String>,
}

impl OpenSsh {
    /// Its version and that of the library that does the arithmetic.
    pub fn versions(&self) -> BTreeMap<String, String> {
        let libcrypto = self
            .libcrypto
            .iter()
            .map(|version| ("openssh-libcrypto".to_owned(), version.clone()));
        let openssh = ("openssh".to_owned(), self.version.clone());
        libcrypto.chain([openssh]).collect()
    }

    /// Asks the installed ssh.
    pub fn find() -> Result<Self, Error> {
        let search = SearchPath::of(None);
        let banner = SSH.said(&SSH.locate(&search)?, &["-V"])?;
        let (version, libcrypto) = versions(&banner).ok_or_else(|| unusable(banner.trim()))?;
        Ok(Self {
            agent: AGENT.locate(&search)?,
            version,
            libcrypto,
        })
    }
}

/// The reason why an ssh that is installed does not tell its version.
fn unusable(said: &str) -> Error {
    if said.starts_with("No user exists for uid") {
        let advice =
            "OpenSSH's programs need an entry for it in /etc/passwd (or another nsswitch source)";
        return Error::call("ssh -V", format!("this user has no name: {said}"), advice);
    }
    SSH.missing(format!("ssh -V says '{said}'"))
}

/// `OpenSSH_9.2p1 Debian-2, OpenSSL 3.0.19 27 Jan 2026`; one without a library says so in its place.
fn versions(banner: &str) -> Option<(String, Option<String>)> {
    let line = banner.lines().next()?.strip_prefix("OpenSSH_")?;
    let (version, library) = line.split_once(", ").unwrap_or((line, "without"));
    let library = (!library.starts_with("without")).then(|| library.trim().to_owned());
    Some((version.trim().to_owned(), library))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_banner_is_read() {
        let read = |banner| versions(banner).unwrap();
        assert_eq!(
            read("OpenSSH_9.2p1 Debian-2+deb12u6, OpenSSL 3.0.19 27 Jan 2026\n"),
            (
                "9.2p1 Debian-2+deb12u6".to_owned(),
                Some("OpenSSL 3.0.19 27 Jan 2026".to_owned())
            )
        );
        assert_eq!(
            read("OpenSSH_10.0p2, without OpenSSL"),
            ("10.0p2".to_owned(), None)
        );
        assert_eq!(versions("dropbear v2022.83"), None);
    }

    #[test]
    fn a_user_without_a_name_is_not_told_to_install_ssh() {
        let text = unusable("No user exists for uid 12345").to_string();
        assert!(
            text.contains("uid 12345") && text.contains("/etc/passwd"),
            "{text}"
        );
        assert!(!text.contains("install"), "{text}");
        let other = unusable("dropbear v2022.83").to_string();
        assert!(
            other.contains("dropbear") && other.contains("install"),
            "{other}"
        );
    }
}
