//! Kinds of TLS servers: a file each, and a line in [`KINDS`].

use std::path::{Path, PathBuf};
use std::process::Command;

use keymark_bench::{Error, StackName};

use crate::installed::{Program, SearchPath, Version};
use crate::openssl::OpenSslBuild;
use crate::tls::servers::directory::ServerDirectory;
use crate::tls::servers::spec::ServerSpec;
use crate::tls::servers::text::{ServerFrame, Tls};
use crate::tls::servers::{apache, caddy, impossible, nginx};

/// The servers that can be measured.
pub const KINDS: [&ServerKind; 5] = [
    &apache::EVENT,
    &apache::PREFORK,
    &apache::WORKER,
    &nginx::KIND,
    &caddy::KIND,
];

/// A kind of TLS server.
#[derive(Debug)]
pub struct ServerKind {
    /// Its name in tables and on the command line.
    pub stack: StackName,
    /// Its program.
    pub program: Program,
    /// Finds its library of cryptography, if no part of it is missing.
    pub(crate) library: fn(&Self, &Path) -> Result<CryptoLibrary, Error>,
    /// Checks whether it supports the request.
    pub(crate) check: fn(&InstalledServer, &ServerSpec) -> Result<(), Error>,
    /// The whole configuration of one that is measured, in its frame; without one an administrator's steps (`guide.txt`).
    pub(crate) configuration:
        fn(&Self, &Tls<'_>, Option<&ServerFrame<'_>>) -> Result<String, Error>,
    /// Adds the arguments with which its program stays in the foreground.
    pub(crate) command: fn(&mut Command, &ServerDirectory),
    /// Multi-Processing Module of Apache.
    pub(crate) mpm: Option<&'static str>,
}

/// The kind with that name.
///
/// # Errors
/// When there is none, with those that are.
pub fn kind(name: &str) -> Result<&'static ServerKind, String> {
    let known = KINDS.into_iter().find(|kind| kind.stack.word() == name);
    known.ok_or_else(|| {
        let words = KINDS.map(|kind| kind.stack.to_string()).join(", ");
        format!("unknown server '{name}'; choose from {words}")
    })
}

/// Library of cryptography of a server.
#[derive(Debug, Clone)]
pub struct CryptoLibrary {
    /// Its name.
    pub name: &'static str,
    /// Its version.
    pub version: Version,
    /// Its build, if it is OpenSSL, with the ways to keys on tokens.
    pub openssl: Option<OpenSslBuild>,
}

impl CryptoLibrary {
    pub(crate) fn of_openssl(openssl: OpenSslBuild) -> Self {
        Self {
            name: "openssl",
            version: openssl.version.clone(),
            openssl: Some(openssl),
        }
    }
}

/// Server that is installed.
#[derive(Debug, Clone)]
pub struct InstalledServer {
    /// Its kind.
    pub kind: &'static ServerKind,
    /// Its program.
    pub program: PathBuf,
    /// Its version.
    pub version: Version,
    /// Its library of cryptography.
    pub library: CryptoLibrary,
}

impl InstalledServer {
    /// Looks for it.
    ///
    /// # Errors
    /// When it is missing, with what brings it.
    pub fn find(kind: &'static ServerKind, search: &SearchPath) -> Result<Self, Error> {
        let (program, version) = kind.program.find(search)?;
        Ok(Self {
            kind,
            library: (kind.library)(kind, &program)?,
            program,
            version,
        })
    }

    /// Its name for people.
    pub fn name(&self) -> &'static str {
        self.kind.program.name
    }

    /// OpenSSL by which it reaches tokens.
    ///
    /// # Errors
    /// When it has keys in files alone.
    pub fn openssl(&self) -> Result<&OpenSslBuild, Error> {
        let openssl = self.library.openssl.as_ref();
        openssl.ok_or_else(|| {
            let name = self.name();
            impossible(format!(
                "{name} reads private keys from files only, not from tokens"
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use keymark_testkit::assert_says;

    use super::*;

    #[test]
    fn a_missing_server_names_what_brings_it() {
        let nowhere = tempfile::tempdir().unwrap();
        let search = SearchPath::of(Some(nowhere.path()));
        for kind in KINDS {
            let error = InstalledServer::find(kind, &search)
                .unwrap_err()
                .to_string();
            assert_says(&error, ["not in /", "install"]);
        }
        let unknown = super::kind("lighttpd").unwrap_err();
        assert!(unknown.contains("apache, ") && unknown.contains(", caddy"));
    }
}
