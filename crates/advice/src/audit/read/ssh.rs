//! Lines of `authorized_keys`, `known_hosts` and files of public keys (sshd(8)), and OpenSSH's private keys, whose
//! public part is not encrypted.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ssh_key::Certificate;
use ssh_key::public::KeyData;

use super::Read;
use crate::audit::key::{Form, FoundKey, Location, PublicKey, day};

/// How blobs begin whose first field is a name of four to sixteen million octets: with 00.
const BLOB: &str = "AAAA";
/// What a private key of OpenSSH begins with (PROTOCOL.key).
const MAGIC: &[u8] = b"openssh-key-v1\0";

/// Adds the key of each line that has one.
pub(super) fn lines(name: &str, text: &str, read: &mut Read) {
    for (number, line) in text.lines().enumerate() {
        if line.trim_start().starts_with('#') {
            continue;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_key = |pair: &[&str]| is_kind(pair[0]) && pair[1].starts_with(BLOB);
        let Some(at) = words.windows(2).position(is_key) else {
            continue;
        };
        let place = Location {
            line: Some(number + 1),
            ..Location::of(name)
        };
        // A comment stands behind the key, and before it hosts or options.
        let owner = match &words[at + 2..] {
            [] => words[..at].join(" "),
            comment => comment.join(" "),
        };
        let key = STANDARD
            .decode(words[at + 1])
            .map_err(|error| error.to_string());
        let found = key.and_then(|blob| found(place.clone(), &owner, &blob));
        read.take(&place, found);
    }
}

/// Whether a word is the name of a kind of key, that keymark knows or not.
fn is_kind(word: &str) -> bool {
    ["ssh-", "ecdsa-", "sk-"]
        .iter()
        .any(|begin| word.starts_with(begin))
}

/// The key of a blob, or of a certificate (PROTOCOL.certkeys), which has an end.
fn found(place: Location, owner: &str, blob: &[u8]) -> Result<FoundKey, String> {
    let name = first_field(blob).ok_or("the key has no name")?;
    if !name.ends_with(b"-cert-v01@openssh.com") {
        return Ok(FoundKey::new(place, owner, Form::Ssh, of_blob(blob)?));
    }
    let certificate = Certificate::from_bytes(blob).map_err(|error| error.to_string())?;
    let key = of_data(certificate.public_key(), blob);
    Ok(FoundKey {
        expires: day(certificate.valid_before()),
        ..FoundKey::new(place, owner, Form::Ssh, key)
    })
}

fn first_field(blob: &[u8]) -> Option<&[u8]> {
    let (length, rest) = blob.split_first_chunk()?;
    rest.get(..u32::from_be_bytes(*length) as usize)
}

/// A key in the form of RFC 4253 §6.6.
pub(super) fn of_blob(blob: &[u8]) -> Result<PublicKey, String> {
    let key = ssh_key::PublicKey::from_bytes(blob).map_err(|error| error.to_string())?;
    Ok(of_data(key.key_data(), blob))
}

fn of_data(data: &KeyData, blob: &[u8]) -> PublicKey {
    let number = |number: &ssh_key::Mpint| number.as_positive_bytes().unwrap_or_default().to_vec();
    #[allow(clippy::wildcard_enum_match_arm, reason = "the library's own rule")]
    match data {
        KeyData::Rsa(key) => PublicKey::rsa(&number(&key.n), &number(&key.e)),
        KeyData::Dsa(key) => {
            let numbers = [&key.p, &key.q, &key.g, &key.y].map(number);
            PublicKey::dsa(numbers.each_ref().map(Vec::as_slice))
        }
        KeyData::Ed25519(key) => PublicKey::on_curve("ed25519", &key.0),
        KeyData::SkEd25519(key) => PublicKey::on_curve("ed25519", &key.public_key().0),
        KeyData::Ecdsa(key) => PublicKey::on_curve(key.curve().as_str(), key.as_sec1_bytes()),
        KeyData::SkEcdsaSha2NistP256(key) => {
            PublicKey::on_curve("nistp256", key.ec_point().as_bytes())
        }
        // What the library learns of later.
        other => PublicKey::named(other.algorithm().as_str(), blob),
    }
}

/// The public part of a private key (PROTOCOL.key): it stands before the encrypted one, which is not looked at.
pub(super) fn of_private(bytes: &[u8]) -> Result<PublicKey, String> {
    let cut_off = || "the private key is cut off before its public part".to_owned();
    let mut rest = bytes.strip_prefix(MAGIC).ok_or_else(cut_off)?;
    // Cipher, derivation of its key, options of that.
    for _ in 0..3 {
        let field = first_field(rest).ok_or_else(cut_off)?;
        rest = &rest[4 + field.len()..];
    }
    let blob = rest.get(4..).and_then(first_field).ok_or_else(cut_off)?;
    of_blob(blob)
}
