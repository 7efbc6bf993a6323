//! Versions from which on programs, services and firmware take a key (`data/compatibility.toml`).

use std::str::FromStr;
use std::sync::LazyLock;

use itertools::Itertools;
use keymark_bench::Algorithm;
use keymark_bench::shipped::shipped;
use serde::Deserialize;

use crate::catalogue::version;

/// A program with what is known of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// Name: `gnupg`.
    pub id: String,
    pub name: String,
    rows: Vec<PeerRow>,
    /// Keys that it does not take.
    #[serde(default)]
    not: Vec<String>,
    #[serde(default)]
    pub not_source: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PeerRow {
    keys: Vec<String>,
    since: String,
    source: String,
    words: String,
    /// True if the source is secondary.
    #[serde(default)]
    secondary: bool,
}

#[derive(Debug, Deserialize)]
struct PeerFile {
    program: Vec<Program>,
}

static PROGRAMS: LazyLock<Vec<Program>> = LazyLock::new(|| {
    let file: PeerFile = shipped(include_str!("../../../data/compatibility.toml"));
    file.program
});

/// A program that has to take the key: `gnupg-2.2`, or `github`, whose version nobody chooses.
#[derive(Debug, Clone)]
pub struct Peer {
    program: &'static Program,
    version: Option<Vec<u32>>,
    pub words: String,
}

/// Support of a key by a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// Support, as the source says.
    Yes,
    /// Support from a version on.
    Since(&'static str),
    /// Not at all.
    No,
    /// No source says so.
    Unknown,
}

/// A program of which nothing is known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("nothing is known of '{0}'; write it like gnupg-2.2, choosing from {known}", known = known())]
pub struct UnknownPeer(String);

fn known() -> String {
    PROGRAMS.iter().map(|program| &program.id).join(", ")
}

impl FromStr for Peer {
    type Err = UnknownPeer;

    fn from_str(words: &str) -> Result<Self, UnknownPeer> {
        let program = |id: &str| PROGRAMS.iter().find(|program| program.id == id);
        let lower = words.to_ascii_lowercase();
        let whole = program(&lower).map(|program| (program, None));
        let with_version = || {
            let (id, number) = lower.rsplit_once('-')?;
            Some((program(id)?, Some(version(number)?)))
        };
        let found = whole.or_else(with_version);
        let (program, version) = found.ok_or_else(|| UnknownPeer(words.to_owned()))?;
        Ok(Self {
            program,
            version,
            words: words.to_owned(),
        })
    }
}

impl Peer {
    /// The program's name without a version.
    pub(crate) fn program(&self) -> &str {
        &self.program.id
    }

    pub fn takes(&self, algorithm: Algorithm) -> Takes {
        if means(&self.program.not, algorithm) {
            return Takes::No;
        }
        let Some(row) = self.row(algorithm) else {
            return Takes::Unknown;
        };
        match (&self.version, version(&row.since)) {
            (Some(version), Some(since)) if *version < since => Takes::Since(&row.since),
            _ => Takes::Yes,
        }
    }

    /// Returns the source's words on a key.
    pub fn source(&self, algorithm: Algorithm) -> Option<String> {
        let row = self.row(algorithm)?;
        let mark = if row.secondary { ", secondary" } else { "" };
        let (name, words, source) = (&self.program.name, &row.words, &row.source);
        Some(format!("{name}: {words} ({source}{mark})"))
    }

    fn row(&self, algorithm: Algorithm) -> Option<&'static PeerRow> {
        self.program
            .rows
            .iter()
            .find(|row| means(&row.keys, algorithm))
    }
}

/// Returns whether a key is among those, by its name or by its kind.
fn means(keys: &[String], algorithm: Algorithm) -> bool {
    let (kind, _) = algorithm.length();
    keys.iter()
        .any(|key| key == algorithm.name() || key == kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn takes(peer: &str, key: &str) -> Takes {
        peer.parse::<Peer>().unwrap().takes(key.parse().unwrap())
    }

    #[test]
    fn a_version_decides() {
        assert_eq!(takes("openssh-6.4", "ed25519"), Takes::Since("6.5"));
        assert_eq!(takes("openssh-6.5", "ed25519"), Takes::Yes);
        assert_eq!(takes("gnupg-2.1.6", "cv25519"), Takes::Since("2.2"));
        assert_eq!(takes("gnupg-2.2", "cv25519"), Takes::Yes);
        assert_eq!(takes("openssl-3.4", "mldsa65"), Takes::Since("3.5"));
        assert_eq!(takes("openssl-3.10", "mldsa65"), Takes::Yes);
        assert_eq!(takes("yubikey-5.2.2", "ed25519"), Takes::Since("5.2.3"));
        assert_eq!(takes("yubikey-piv-5.6", "rsa4096"), Takes::Since("5.7"));
        assert_eq!(takes("github", "dsa3072"), Takes::No);
        assert_eq!(takes("browsers", "ed25519"), Takes::No);
        assert_eq!(takes("openssh-9.0", "mldsa65"), Takes::Unknown);
        assert_eq!(takes("browsers", "nistp521"), Takes::Unknown);
        let peer: Peer = "openssh-9".parse().unwrap();
        let source = peer.source("ed25519".parse().unwrap()).unwrap();
        assert!(source.ends_with(", secondary)"), "{source}");
        assert_eq!(takes("nitrokey-3-1.7", "nistp384"), Takes::Since("1.8"));
    }

    #[test]
    fn every_row_has_a_source_and_keys_that_exist() {
        let kinds: Vec<_> = Algorithm::all().map(|one| one.length().0).collect();
        for program in PROGRAMS.iter() {
            assert_eq!(program.not.is_empty(), program.not_source.is_empty());
            for row in &program.rows {
                assert!(row.source.starts_with("https://"), "{}", program.id);
                assert!(version(&row.since).is_some(), "{}", row.since);
                for key in &row.keys {
                    let known = kinds.contains(&key.as_str()) || key.parse::<Algorithm>().is_ok();
                    assert!(known, "{} {key}", program.id);
                }
            }
        }
        let error = "gnupgg-2".parse::<Peer>().unwrap_err().to_string();
        assert!(error.contains("openssh"), "{error}");
        assert!("gnupg-two".parse::<Peer>().is_err());
    }
}
