//! Keys whose private half is public: those that Debian's OpenSSL made from 2006 to 2008 (CVE-2008-0166, DSA-1571), as
//! its packages `openssl-blacklist` and `openssh-blacklist` list them, and those of badkeys' list, which
//! `badkeys --update-bl` fetches.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use keymark_bench::outside::read;
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha256};

use super::{bits, trimmed};
use crate::read::ssh::blob_of;

/// Size limit of a list in octets: badkeys' has a hundred million.
const MOST: u64 = 1 << 30;
/// Hexadecimal digits in Debian's lists: the last 80 bits of a hash.
const DIGITS: usize = 20;
/// Octets of an entry of badkeys' list, and of the hash in it.
const ENTRY: usize = 16;
const HASH: usize = 15;

/// Directories of lists.
#[derive(Debug, Clone)]
pub struct Places {
    /// `openssl-blacklist`'s directory.
    pub openssl: PathBuf,
    /// `openssh-blacklist`'s.
    pub openssh: PathBuf,
    /// badkeys' list.
    pub badkeys: Option<PathBuf>,
}

impl Places {
    /// Directories of the packages, and badkeys' cache.
    pub fn usual() -> Self {
        let variable = |name| std::env::var_os(name).map(PathBuf::from);
        let cache =
            variable("XDG_CACHE_HOME").or_else(|| variable("HOME").map(|home| home.join(".cache")));
        Self {
            openssl: "/usr/share/openssl-blacklist".into(),
            openssh: "/usr/share/ssh".into(),
            badkeys: cache.map(|cache| cache.join("badkeys/blocklist.dat")),
        }
    }
}

/// The lists that are here; one of Debian's is read when the first key of its kind is looked up.
#[derive(Debug)]
pub struct Lists {
    places: Places,
    debian: BTreeMap<PathBuf, Option<HashSet<String>>>,
    badkeys: Option<Vec<u8>>,
}

/// A list that has a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listed {
    /// A list of Debian's.
    Debian,
    /// badkeys', under that number.
    Badkeys(u8),
}

impl Lists {
    /// Opens the lists.
    pub fn at(places: Places) -> Self {
        let badkeys = places.badkeys.as_deref();
        Self {
            badkeys: badkeys.and_then(|file| read::bytes(file, MOST).ok()),
            debian: BTreeMap::new(),
            places,
        }
    }

    /// Returns the missing lists, and how to get them.
    pub fn missing(&self) -> Vec<&'static str> {
        let has = |directory: &Path| {
            let files = fs::read_dir(directory).into_iter().flatten().flatten();
            files
                .map(|file| file.file_name())
                .any(|name| name.to_string_lossy().starts_with("blacklist."))
        };
        let mut missing = Vec::new();
        if !has(&self.places.openssl) && !has(&self.places.openssh) {
            missing.push(
                "Debian's weak keys of 2008 (packages openssl-blacklist and openssh-blacklist)",
            );
        }
        if self.badkeys.is_none() {
            missing.push("badkeys' list of published keys ('badkeys --update-bl')");
        }
        missing
    }

    /// Returns the list with an RSA modulus.
    pub fn has_rsa(&mut self, n: &[u8], e: &[u8]) -> Option<Listed> {
        let n = trimmed(n);
        let digits = hex::encode_upper(n);
        let line = format!("Modulus={}\n", digits.trim_start_matches('0'));
        let hash = end_of(&Sha1::digest(line));
        let name = format!("blacklist.RSA-{}", bits(n));
        let listed = self.in_debians(self.places.openssl.join(&name), hash)
            || self.in_debians(
                self.places.openssh.join(&name),
                of_openssh("ssh-rsa", &[e, n]),
            );
        if listed {
            return Some(Listed::Debian);
        }
        self.has_number(n)
    }

    /// Returns the list with a DSA key.
    pub fn has_dsa(&mut self, numbers: [&[u8]; 4]) -> Option<Listed> {
        let name = format!("blacklist.DSA-{}", bits(numbers[0]));
        let hash = of_openssh("ssh-dss", &numbers);
        if self.in_debians(self.places.openssh.join(name), hash) {
            return Some(Listed::Debian);
        }
        self.has_number(numbers[3])
    }

    /// Returns badkeys' list with the number that identifies a key: a modulus, x of a point, a string of RFC 7748,
    /// without leading zeros (badkeys, docs/BLOCKLISTFORMAT.md).
    pub fn has_number(&self, number: &[u8]) -> Option<Listed> {
        self.has(trimmed(number))
    }

    /// Returns badkeys' list with the octets of a public key: ML-KEM, ML-DSA.
    pub fn has(&self, number: &[u8]) -> Option<Listed> {
        let list = self.badkeys.as_deref()?;
        let hash = Sha256::digest(number);
        let (entries, _) = list.as_chunks::<ENTRY>();
        let found = entries.binary_search_by(|entry| entry[..HASH].cmp(&hash[..HASH]));
        found
            .ok()
            .map(|place| Listed::Badkeys(entries[place][HASH]))
    }

    fn in_debians(&mut self, file: PathBuf, hash: String) -> bool {
        let list = self.debian.entry(file);
        let list = list.or_insert_with_key(|file| {
            let text = read::text(file, MOST).ok()?;
            let hashes = text
                .lines()
                .map(str::trim)
                .filter(|line| line.len() == DIGITS);
            Some(hashes.map(str::to_owned).collect())
        });
        list.as_ref().is_some_and(|list| list.contains(&hash))
    }
}

/// The last 80 bits of a hash, in hexadecimal digits.
fn end_of(hash: &[u8]) -> String {
    hex::encode(&hash[hash.len().saturating_sub(DIGITS / 2)..])
}

/// The end of the MD5 fingerprint of a key in OpenSSH's form.
fn of_openssh(kind: &str, numbers: &[&[u8]]) -> String {
    end_of(&Md5::digest(blob_of(kind, numbers)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `openssl rsa -modulus | sha1sum | cut -c 21-40`, as the package's files say in their heads; the same with
    /// `ssh-keygen -l -E md5` for OpenSSH's.
    #[test]
    fn lists_have_the_ends_of_hashes() {
        let place = tempfile::tempdir().unwrap();
        let places = Places {
            openssl: place.path().join("openssl"),
            openssh: place.path().join("openssh"),
            badkeys: Some(place.path().join("blocklist.dat")),
        };
        assert_eq!(Lists::at(places.clone()).missing().len(), 2);
        let mut n = [0x5a; 128];
        n[0] = 0xc0;
        n[127] = 1;
        let modulus = hex::encode_upper(n);
        let hash = Sha1::digest(format!("Modulus={modulus}\n"));
        let hash = hex::encode(hash);
        fs::create_dir(&places.openssl).unwrap();
        let list = format!("# a comment\n00005890bc78bcbee3ca\n{}\n", &hash[20..]);
        fs::write(places.openssl.join("blacklist.RSA-1024"), list).unwrap();
        let mut known = Sha256::digest([7, 8]).to_vec();
        known[HASH] = 9;
        fs::write(place.path().join("blocklist.dat"), &known[..ENTRY]).unwrap();

        let mut lists = Lists::at(places);
        assert_eq!(lists.missing(), Vec::<&str>::new());
        assert_eq!(lists.has_rsa(&n, &[1, 0, 1]), Some(Listed::Debian));
        n[126] = 0;
        assert_eq!(lists.has_rsa(&n, &[1, 0, 1]), None);
        assert_eq!(lists.has_rsa(&[7, 8], &[3]), Some(Listed::Badkeys(9)));
        assert_eq!(lists.has_number(&[0, 7, 8]), Some(Listed::Badkeys(9)));
        assert_eq!(lists.has(&[0, 7, 8]), None);
        assert_eq!(lists.has(&[7, 9]), None);
    }

    #[test]
    fn openssh_keys_are_hashed_with_their_padding() {
        // echo 'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAAgDB' has the fields "ssh-rsa", 010001, 00c1.
        let blob = [
            &[0, 0, 0, 7][..],
            b"ssh-rsa",
            &[0, 0, 0, 3, 1, 0, 1, 0, 0, 0, 2, 0, 0xc1],
        ];
        let hash = Md5::digest(blob.concat());
        assert_eq!(of_openssh("ssh-rsa", &[&[1, 0, 1], &[0xc1]]), end_of(&hash));
    }
}
