//! Public keys out of files, whatever the files are: each form has its file, and the parsers are libraries. Of private
//! keys the public part alone is read.

mod armor;
mod der;
mod openpgp;
mod spki;
pub(super) mod ssh;
mod x509;

use std::collections::BTreeSet;
use std::error::Error;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::{fs, io};

use keymark_advice::key_spec::KeySpec;
use keymark_bench::Family;
use keymark_bench::outside::read;
use keymark_bench::outside::visible::excerpt;
use keymark_bench::shipped::shipped;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::key::{Form, FoundKey, Location, PublicKey};

/// A keyring of a hundred thousand keys has less.
const MOST: u64 = 1 << 29;
/// Depth to which directories are searched.
const DEPTH: usize = 16;
/// The mark of UTF-8 (U+FEFF).
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Files with keys that keymark does not read (`data/foreign-keys.toml`).
#[derive(Deserialize)]
struct ForeignKeys {
    /// Names that promise a key.
    key_files: Vec<String>,
    begins: Vec<ForeignMark>,
    contains: Vec<ForeignMark>,
}

#[derive(Deserialize)]
struct ForeignMark {
    mark: String,
    what: String,
}

impl ForeignMark {
    fn octets(&self) -> Vec<u8> {
        let octets = self.mark.chars().filter_map(|c| u8::try_from(c).ok());
        octets.collect()
    }
}

static FOREIGN: LazyLock<ForeignKeys> =
    LazyLock::new(|| shipped(include_str!("../../../../data/foreign-keys.toml")));

/// Keys of files.
#[derive(Debug, Default)]
pub struct Read {
    /// The keys, in the order of the files.
    pub keys: Vec<FoundKey>,
    pub not_read: Vec<NotRead>,
    pub without_key: Vec<WithoutKey>,
    /// Private keys whose public part cannot be seen: their places, and what they are in.
    pub(super) sealed: Vec<(Location, &'static str)>,
}

/// A search of a directory.
struct Walk {
    /// Start of the search: directories elsewhere, to which links lead, are not searched.
    root: PathBuf,
    seen: BTreeSet<PathBuf>,
}

/// Something that keymark does not understand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{place} ({reason})")]
pub struct NotRead {
    #[serde(flatten)]
    pub place: Location,
    pub reason: String,
}

/// Something that has no public key in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, derive_more::Display)]
#[display("{place} ({what})")]
pub struct WithoutKey {
    #[serde(flatten)]
    pub place: Location,
    pub what: String,
}

/// Text of whatever encoding: what is no UTF-8 is Latin-1.
fn text(octets: &[u8]) -> String {
    let latin = |_| octets.iter().copied().map(char::from).collect();
    std::str::from_utf8(octets).map_or_else(latin, str::to_owned)
}

/// Returns whether the first of two files is a private key, by its name, and the second its public key.
pub(super) fn is_beside(private: &str, public: &str) -> bool {
    let stem = |path: &str, endings: &[&str]| {
        endings
            .iter()
            .find_map(|ending| Some(path.strip_suffix(ending)?.to_owned()))
    };
    let own = stem(private, &[".key", ".pem", ".p8"]);
    let of_ssh = stem(public, &["-cert.pub", ".pub"]);
    let named = own.is_some() && own == stem(public, &[".crt", ".pem", ".cer", ".pub"]);
    let keyring = private
        .split_once("/private-keys-v1.d/")
        .map(|(home, _)| home);
    private == public
        || of_ssh.as_deref() == Some(private)
        || named
        || keyring.is_some_and(|home| public.starts_with(&format!("{home}/pub")))
}

impl Read {
    /// Adds what a file has, or all files in a directory.
    pub fn path(&mut self, path: &Path) {
        let mut walk = Walk {
            root: path.canonicalize().unwrap_or_default(),
            seen: BTreeSet::new(),
        };
        self.entry(path, &mut walk, DEPTH);
    }

    fn entry(&mut self, path: &Path, walk: &mut Walk, depth: usize) {
        if let Err(error) = self.visit(path, walk, depth) {
            self.fail(&Location::of(path.display().to_string()), error.to_string());
        }
    }

    /// A file that was seen by another name already is the same.
    fn visit(&mut self, path: &Path, walk: &mut Walk, depth: usize) -> Result<(), Box<dyn Error>> {
        let real = path.canonicalize()?;
        if !walk.seen.insert(real.clone()) {
            return Ok(());
        }
        let name = || path.display().to_string();
        let kind = fs::metadata(path)?.file_type();
        if kind.is_dir() {
            if !real.starts_with(&walk.root) {
                return Err("a link to a directory outside; name that itself".into());
            }
            if depth == 0 {
                return Err("the directories are too deep; name this one itself".into());
            }
            let entries = fs::read_dir(path)?.map(|entry| Ok(entry?.path()));
            let entries = entries.collect::<io::Result<BTreeSet<PathBuf>>>()?;
            for entry in &entries {
                self.entry(entry, walk, depth - 1);
            }
        } else if kind.is_file() {
            let bytes = Zeroizing::new(read::regular(path, MOST)?);
            self.bytes(&name(), &bytes);
        } else if kind.is_socket() {
            self.without(&Location::of(name()), "socket");
        } else {
            return Err("a pipe or a device; 'keymark audit -' reads one that is its input".into());
        }
        Ok(())
    }

    /// Adds what the content of a file has, which goes by that name.
    pub fn bytes(&mut self, name: &str, bytes: &[u8]) {
        let place = Location::of(name);
        let bytes = bytes.strip_prefix(MARK).unwrap_or(bytes);
        let is_der = der::Element::first(bytes).is_some_and(|(element, _)| element.is_whole());
        let is_der = is_der || matches!(bytes.get(1), Some(0x80..=0x84));
        if bytes.trim_ascii().is_empty() {
            self.without(&place, "empty file");
        } else if bytes.get(8..12) == Some(b"KBXf") {
            openpgp::keybox(&place, bytes, self);
        } else if bytes[0] == der::SEQUENCE && is_der {
            self.der(&place, bytes, "");
        } else if keymark_bench::outside::openpgp::begins(bytes) {
            openpgp::packets(&place, bytes, self);
        } else {
            self.text(&place, bytes);
        }
    }

    /// Blocks of armor, and lines of SSH between them.
    fn text(&mut self, place: &Location, bytes: &[u8]) {
        let before = self.named();
        let at = |line| Location {
            line: Some(line),
            ..place.clone()
        };
        let (blocks, outside) = armor::blocks(bytes);
        for block in &blocks {
            self.block(&at(block.line), block);
        }
        for (line, text) in outside {
            if let Some(found) = ssh::of_line(&at(line), text) {
                self.take(&at(line), found);
            }
        }
        if before == self.named() {
            self.unknown_file(place, bytes);
        }
    }

    /// A file without anything that keymark knows: a text, or what nobody should take for one.
    fn unknown_file(&mut self, place: &Location, bytes: &[u8]) {
        let contains = |mark: &[u8]| bytes.windows(mark.len()).any(|window| window == mark);
        let known = FOREIGN
            .begins
            .iter()
            .find(|known| bytes.starts_with(&known.octets()));
        let known = known.or_else(|| {
            FOREIGN
                .contains
                .iter()
                .find(|known| contains(&known.octets()))
        });
        let is_text = !bytes
            .iter()
            .any(|octet| matches!(octet, 0..=6 | 14..=26 | 28..=31));
        let mut lines = bytes.split(|octet| *octet == b'\n').map(<[u8]>::trim_ascii);
        let is_comment = lines.all(|line| line.is_empty() || line.starts_with(b"#"));
        let promises = FOREIGN
            .key_files
            .iter()
            .any(|ending| place.within.ends_with(ending));
        match known {
            Some(known) => self.fail(place, known.what.clone()),
            None if bytes.starts_with(b"\x01gpg") => self.without(place, "trust database of GnuPG"),
            None if !is_text => self.fail(place, "a binary file of an unknown kind".to_owned()),
            None if promises && !is_comment => {
                self.fail(place, "no key in it that keymark can read".to_owned());
            }
            None => self.without(place, "text"),
        }
    }

    fn block(&mut self, place: &Location, block: &armor::ArmorBlock<'_>) {
        let label = &*block.label;
        match label {
            // Signatures that come with their text, and what has no form in DER.
            "PGP SIGNED MESSAGE"
            | "PGP SIGNATURE"
            | "PGP MESSAGE"
            | "OPENVPN STATIC KEY V1"
            | "SSH SIGNATURE" => return self.without(place, label),
            _ if block.is_encrypted() => return self.sealed.push((place.clone(), "")),
            _ => {}
        }
        let bytes = match block.bytes() {
            Ok(bytes) => bytes,
            Err(reason) => return self.fail(place, reason),
        };
        match label {
            _ if label.starts_with("PGP ") => openpgp::packets(place, &bytes, self),
            "OPENSSH PRIVATE KEY" => self.take(place, ssh::of_private(place, &bytes)),
            "SSH2 PUBLIC KEY" => self.take(place, ssh::of_blob(place, "", &bytes)),
            _ => self.der(place, &bytes, label),
        }
    }

    /// Adds a certificate in DER.
    pub fn certificate(&mut self, place: &Location, bytes: &[u8]) {
        self.der(place, bytes, "CERTIFICATE");
    }

    /// Adds a SubjectPublicKeyInfo in DER, of a key that goes by that name.
    pub fn public_key(&mut self, place: &Location, owner: &str, bytes: &[u8]) {
        let info = der::Element::first(bytes).ok_or_else(|| "not DER".to_owned());
        let key = info.and_then(|(info, _)| spki::of_info(&info));
        let found = key.map(|key| FoundKey::new(place.clone(), owner, Form::Token, key));
        self.take(place, found);
    }

    /// Adds a DSA key of a token by its prime and public number.
    pub fn dsa(&mut self, place: &Location, owner: &str, p: &[u8], y: &[u8]) {
        let key = PublicKey::discrete(|bits| KeySpec::Family(Family::Dsa(bits)), p, y);
        self.keys
            .push(FoundKey::new(place.clone(), owner, Form::Token, key));
    }

    /// Notes what could not be read. Whose words the reason quotes is not known: they are made visible.
    pub fn fail(&mut self, place: &Location, reason: String) {
        let (place, reason) = (place.clone(), excerpt(&reason));
        self.not_read.push(NotRead { place, reason });
    }

    fn without(&mut self, place: &Location, what: &str) {
        let (place, what) = (place.clone(), excerpt(what));
        self.without_key.push(WithoutKey { place, what });
    }

    fn take(&mut self, place: &Location, found: Result<FoundKey, String>) {
        match found {
            Ok(key) => self.keys.push(key),
            Err(error) => self.fail(place, error),
        }
    }

    fn named(&self) -> usize {
        self.keys.len() + self.not_read.len() + self.without_key.len() + self.sealed.len()
    }

    /// Puts private keys that cannot be seen on one of the lists: with their public key next to them they are nothing
    /// to worry about.
    pub(super) fn settle(&mut self) {
        for (place, within) in std::mem::take(&mut self.sealed) {
            let what = format!("encrypted private key {within}");
            match self
                .keys
                .iter()
                .find(|key| is_beside(&place.within, &key.place.within))
            {
                Some(key) => self.without(
                    &place,
                    &format!("{}; its public key is in {}", what.trim(), key.place.within),
                ),
                None => self.fail(&place, format!("{}; give its public key", what.trim())),
            }
        }
    }
}

#[cfg(test)]
mod tests;
