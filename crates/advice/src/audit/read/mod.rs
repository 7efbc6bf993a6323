//! Public keys out of files, whatever the files are: each form has its file, and the parsers are libraries. Of private
//! keys the public part alone is read.

mod armor;
mod openpgp;
mod spki;
mod ssh;
mod x509;

use std::collections::BTreeSet;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::{fs, io};

use keymark_bench::outside::read;
use keymark_bench::outside::visible::excerpt;
use zeroize::Zeroizing;

use super::key::{Form, FoundKey, Location, PublicKey};

/// A keyring of a hundred thousand keys has less.
const MOST: u64 = 1 << 29;
/// How deep directories are searched.
const DEPTH: usize = 16;
/// Why an encrypted key has no place among the others.
const ENCRYPTED: &str =
    "the public part of an encrypted private key cannot be seen; give its public key";

/// What files have.
#[derive(Debug, Default)]
pub struct Read {
    /// The keys, in the order of the files.
    pub keys: Vec<FoundKey>,
    /// What could not be read, with its place.
    pub failures: Vec<Failure>,
    /// Files with a key in them.
    pub files: usize,
    /// Files without one.
    pub others: usize,
}

/// Something that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {reason}")]
pub struct Failure {
    /// Where.
    pub place: Location,
    /// What is wrong.
    pub reason: String,
}

/// Whose words a failure quotes is not known: they are made visible.
fn failure(place: &Location, reason: impl std::fmt::Display) -> Failure {
    Failure {
        place: place.clone(),
        reason: excerpt(&reason.to_string()),
    }
}

impl Read {
    /// Adds what a file has, or all files in a directory.
    pub fn path(&mut self, path: &Path) {
        let mut seen = BTreeSet::new();
        self.entry(path, &mut seen, DEPTH);
    }

    fn entry(&mut self, path: &Path, seen: &mut BTreeSet<PathBuf>, depth: usize) {
        if let Err(error) = self.visit(path, seen, depth) {
            let place = Location::of(path.display().to_string());
            self.failures.push(failure(&place, error));
        }
    }

    /// A file that was seen by another name already is the same.
    fn visit(
        &mut self,
        path: &Path,
        seen: &mut BTreeSet<PathBuf>,
        depth: usize,
    ) -> Result<(), Box<dyn Error>> {
        let is_new = seen.insert(path.canonicalize()?);
        let kind = fs::metadata(path)?;
        if kind.is_dir() && is_new {
            if depth == 0 {
                return Err("the directories are too deep; name this one itself".into());
            }
            let entries = fs::read_dir(path)?.map(|entry| Ok(entry?.path()));
            let entries = entries.collect::<io::Result<BTreeSet<PathBuf>>>()?;
            for entry in &entries {
                self.entry(entry, seen, depth - 1);
            }
        } else if kind.is_file() && is_new {
            let bytes = Zeroizing::new(read::bytes(path, MOST)?);
            self.bytes(&path.display().to_string(), &bytes);
        }
        Ok(())
    }

    /// Adds what the content of a file has, which goes by that name.
    pub fn bytes(&mut self, name: &str, bytes: &[u8]) {
        let before = (self.keys.len(), self.failures.len());
        let place = Location::of(name);
        if bytes.get(8..12) == Some(b"KBXf") {
            openpgp::keybox(&place, bytes, self);
        } else if bytes.first() == Some(&0x30) {
            self.der(&place, bytes);
        } else if openpgp::begins(bytes) {
            openpgp::packets(&place, bytes, self);
        } else if let Ok(text) = std::str::from_utf8(bytes) {
            self.text(name, text);
        }
        if before == (self.keys.len(), self.failures.len()) {
            self.others += 1;
        } else {
            self.files += 1;
        }
    }

    /// Blocks of armor, and lines of SSH between them.
    fn text(&mut self, name: &str, text: &str) {
        let blocks = armor::blocks(text);
        for block in &blocks {
            let place = Location {
                line: Some(block.line),
                ..Location::of(name)
            };
            match block.bytes() {
                Ok(bytes) => self.block(&place, block.label, &bytes),
                Err(reason) => self.failures.push(failure(&place, reason)),
            }
        }
        if blocks.is_empty() {
            ssh::lines(name, text, self);
        }
    }

    fn block(&mut self, place: &Location, label: &str, bytes: &[u8]) {
        match label {
            "PGP PUBLIC KEY BLOCK" | "PGP PRIVATE KEY BLOCK" => {
                openpgp::packets(place, bytes, self);
            }
            "OPENSSH PRIVATE KEY" => self.add(place, ssh::of_private(bytes), "", Form::Ssh),
            "SSH2 PUBLIC KEY" => self.add(place, ssh::of_blob(bytes), "", Form::Ssh),
            "CERTIFICATE" | "X509 CERTIFICATE" | "TRUSTED CERTIFICATE" => {
                self.certificate(place, bytes);
            }
            "ENCRYPTED PRIVATE KEY" => self.failures.push(failure(place, ENCRYPTED)),
            "CERTIFICATE REQUEST" | "NEW CERTIFICATE REQUEST" => {
                self.take(place, x509::of_request(place, bytes));
            }
            "PUBLIC KEY" | "RSA PUBLIC KEY" | "PRIVATE KEY" | "RSA PRIVATE KEY"
            | "EC PRIVATE KEY" | "DSA PRIVATE KEY" => {
                self.add(place, spki::of_der(label, bytes), "", Form::Plain);
            }
            // Lists of revocation, parameters, signatures: no keys.
            _ => {}
        }
    }

    /// DER says what it is by its structure alone.
    fn der(&mut self, place: &Location, bytes: &[u8]) {
        let certificate = match x509::of_certificate(place, bytes) {
            Ok(key) => return self.keys.push(key),
            Err(error) => error,
        };
        let labels = [
            "PUBLIC KEY",
            "PRIVATE KEY",
            "RSA PRIVATE KEY",
            "RSA PUBLIC KEY",
            "EC PRIVATE KEY",
        ];
        let mut read = labels.iter().map(|label| spki::of_der(label, bytes));
        match read.find_map(Result::ok) {
            Some(key) => self.add(place, Ok(key), "", Form::Plain),
            // Lists of revocation and signatures are DER, too.
            None if looks_like_certificate(place) => {
                self.failures.push(failure(place, certificate));
            }
            None => {}
        }
    }

    /// Adds a certificate in DER.
    pub fn certificate(&mut self, place: &Location, bytes: &[u8]) {
        self.take(place, x509::of_certificate(place, bytes));
    }

    /// Adds a SubjectPublicKeyInfo in DER, of a key that goes by that name.
    pub fn public_key(&mut self, place: &Location, owner: &str, bytes: &[u8]) {
        self.add(place, spki::of_der("PUBLIC KEY", bytes), owner, Form::Token);
    }

    fn add(&mut self, place: &Location, key: Result<PublicKey, String>, owner: &str, form: Form) {
        let found = key.map(|key| FoundKey::new(place.clone(), owner, form, key));
        self.take(place, found);
    }

    fn take(&mut self, place: &Location, found: Result<FoundKey, String>) {
        match found {
            Ok(key) => self.keys.push(key),
            Err(error) => self.failures.push(failure(place, error)),
        }
    }
}

fn looks_like_certificate(place: &Location) -> bool {
    let endings = [".cer", ".crt", ".der", ".pem", ".key"];
    endings.iter().any(|ending| place.within.ends_with(ending))
}

#[cfg(test)]
mod tests;
