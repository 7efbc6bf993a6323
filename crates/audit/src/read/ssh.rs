//! Lines of `authorized_keys`, `known_hosts` and files of public keys (sshd(8)), and OpenSSH's private keys, whose
//! public part is not encrypted.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use keymark_bench::Algorithm;
use keymark_bench::outside::openpgp;
use sha2::{Digest as _, Sha256};

use super::armor::BASE64;
use crate::key::{Broken, Form, FoundKey, Location, Numbers, PublicKey, day};
use crate::weakness::trimmed;
use keymark_advice::key_spec::KeySpec;

/// Suffix of a certificate's name (PROTOCOL.certkeys).
const CERTIFICATE: &str = "-cert-v01@openssh.com";
/// Prefix of an OpenSSH private key (PROTOCOL.key).
const MAGIC: &[u8] = b"openssh-key-v1\0";
/// Characters of Base64 that are no accident behind the name of a kind of key.
const LEAST: usize = 16;

/// The key of a line, if it has one or should have one.
pub(super) fn of_line(place: &Location, line: &[u8]) -> Option<Result<FoundKey, String>> {
    if line.starts_with(b"#") {
        return None;
    }
    let words: Vec<&[u8]> = line
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty())
        .collect();
    let is_number = |word: &&[u8]| word.iter().all(u8::is_ascii_digit);
    // Bits, exponent and modulus, behind hosts or options.
    let is_old = |numbers: &[&[u8]]| numbers.iter().all(is_number) && numbers[2].len() > 100;
    if words.windows(3).any(is_old) {
        return Some(Err("a key for version 1 of SSH".to_owned()));
    }
    let mut refused = None;
    let mut rest = line.trim_ascii_start();
    while !rest.is_empty() {
        if let Some((blob, comment)) = key_at(rest) {
            // A comment follows the key, and hosts or options precede it.
            let before = &line[..line.len() - rest.len()];
            let owner = if comment.is_empty() { before } else { comment };
            let blob = BASE64.decode(blob);
            let blob = blob.map_err(|error| format!("not Base64: {error}"));
            let owner = super::text(owner.trim_ascii());
            match blob.and_then(|blob| of_blob(place, &owner, &blob)) {
                Ok(key) => return Some(Ok(key)),
                Err(error) => refused = refused.or(Some(error)),
            }
        }
        rest = behind_word(rest);
    }
    refused.map(Err)
}

/// The blob of a key at the beginning, and what is behind it.
fn key_at(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let (kind, rest) = split_word(text);
    let (blob, rest) = split_word(rest);
    let is_long = blob.len() >= LEAST
        && blob
            .iter()
            .all(|octet| octet.is_ascii_alphanumeric() || b"+/=".contains(octet));
    let is_blob = is_long || blob.starts_with(b"AAAA");
    (is_kind(kind) && is_blob).then_some((blob, rest))
}

/// The first word, and what is behind it and the space after it.
fn split_word(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(u8::is_ascii_whitespace);
    let (word, rest) = text.split_at(end.unwrap_or(text.len()));
    (word, rest.trim_ascii_start())
}

/// Returns the rest behind the first word, in which quotes may enclose spaces, as sshd reads options.
fn behind_word(text: &[u8]) -> &[u8] {
    let (mut is_quoted, mut before) = (false, 0);
    let end = text.iter().position(|octet| {
        is_quoted ^= *octet == b'"' && before != b'\\';
        before = *octet;
        !is_quoted && octet.is_ascii_whitespace()
    });
    match end {
        Some(end) => text[end..].trim_ascii_start(),
        None if is_quoted => split_word(text).1,
        None => &[],
    }
}

/// Returns whether a word is the name of a kind of key, known or not.
fn is_kind(word: &[u8]) -> bool {
    let kinds: [&[u8]; 6] = [
        b"ssh-",
        b"ecdsa-",
        b"sk-",
        b"webauthn-",
        b"rsa-sha2-",
        b"x509v3-",
    ];
    kinds.iter().any(|begin| word.starts_with(begin))
}

/// Fields in a row (RFC 4251 §5).
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn taken(&mut self, length: usize) -> Result<&'a [u8], String> {
        openpgp::taken(&mut self.0, length).ok_or_else(|| "the key is cut off".to_owned())
    }

    fn string(&mut self) -> Result<&'a [u8], String> {
        let length = openpgp::number(self.taken(4)?);
        self.taken(length)
    }

    /// A number. OpenSSH ignores zeros that lead, and refuses negative numbers.
    fn number(&mut self) -> Result<&'a [u8], String> {
        match self.string()? {
            [0x80..=0xff, ..] => Err("a number of the key is negative".to_owned()),
            octets => Ok(octets),
        }
    }

    fn of_length(&mut self, length: usize) -> Result<&'a [u8], String> {
        let string = self.string()?;
        let wrong = || format!("the key has {} octets and not {length}", string.len());
        (string.len() == length).then_some(string).ok_or_else(wrong)
    }
}

/// The key of a blob (RFC 4253 §6.6), or of a certificate (PROTOCOL.certkeys), which has an end.
pub(super) fn of_blob(place: &Location, owner: &str, blob: &[u8]) -> Result<FoundKey, String> {
    let mut fields = Fields(blob);
    let name = super::text(fields.string()?);
    let base = name.strip_suffix(CERTIFICATE);
    if base.is_some() {
        fields.string()?;
    }
    let key = of_fields(base.unwrap_or(&name), &mut fields, blob)?;
    let mut found = FoundKey::new(place.clone(), owner, Form::Ssh, key);
    if base.is_some() {
        // Serial number, kind, id, names, and the times from which and until which it is valid.
        fields.taken(8 + 4)?;
        fields.string()?;
        fields.string()?;
        fields.taken(8)?;
        // Of 64 bits on every machine: all of them set mean no end.
        let until = fields.taken(8)?.first_chunk().copied();
        found.expires = day(until.map_or(u64::MAX, u64::from_be_bytes));
        // Options, extensions, a reserved field, the key of the issuer and its signature.
        for _ in 0..4 {
            fields.string()?;
        }
        let signature = Fields(fields.string()?).string()?;
        let is_root = false;
        let hash = matches!(signature, b"ssh-rsa" | b"ssh-dss").then_some("SHA-1");
        found.broken = hash.map(|hash| Broken { hash, is_root });
    } else if name.contains("sk-") {
        // Its application is in its fingerprint.
        found.fingerprint = Some(fingerprint(blob));
    }
    match fields.0.len() {
        0 => Ok(found),
        octets => Err(format!("{octets} octets too many behind the key")),
    }
}

fn of_fields(name: &str, fields: &mut Fields<'_>, blob: &[u8]) -> Result<PublicKey, String> {
    // A security key has an application behind its key.
    let (kind, is_security_key) = match name.trim_end_matches("@openssh.com") {
        "sk-ssh-ed25519" => ("ssh-ed25519", true),
        "sk-ecdsa-sha2-nistp256" | "webauthn-sk-ecdsa-sha2-nistp256" => {
            ("ecdsa-sha2-nistp256", true)
        }
        "rsa-sha2-256" | "rsa-sha2-512" => ("ssh-rsa", false),
        other => (other, false),
    };
    let key = match kind {
        "ssh-rsa" => {
            let (e, n) = (fields.number()?, fields.number()?);
            if trimmed(n).is_empty() {
                return Err("the modulus is 0".to_owned());
            }
            PublicKey::rsa(n, e)
        }
        "ssh-dss" => PublicKey::dsa([
            fields.number()?,
            fields.number()?,
            fields.number()?,
            fields.number()?,
        ]),
        "ssh-ed25519" => PublicKey::on_curve("ed25519", fields.of_length(32)?),
        "ssh-ed448" => PublicKey::on_curve("ed448", fields.of_length(57)?),
        _ if kind.starts_with("ecdsa-sha2-") => {
            let curve = super::text(fields.string()?);
            if kind.strip_prefix("ecdsa-sha2-") != Some(&*curve) {
                return Err(format!("its curve {curve} is not that of {kind}"));
            }
            PublicKey::on_curve(&curve, fields.string()?)
        }
        // Kinds that are not settled yet, such as ssh-mldsa-65.
        _ => {
            let short: String = kind.trim_start_matches("ssh-").replace('-', "");
            let name = short.split('@').next().unwrap_or_default();
            let known = name.parse::<Algorithm>().map(Algorithm::name);
            fields.0 = &[];
            return Ok(PublicKey::named(known.unwrap_or(kind), blob));
        }
    };
    if is_security_key {
        fields.string()?;
    }
    Ok(key)
}

/// The public part of a private key (PROTOCOL.key): it is before the encrypted one, which is not looked at.
pub(super) fn of_private(place: &Location, bytes: &[u8]) -> Result<FoundKey, String> {
    let rest = bytes
        .strip_prefix(MAGIC)
        .ok_or("the private key is cut off before its public part")?;
    let mut fields = Fields(rest);
    // Cipher, derivation of its key, options of that, how many keys.
    for _ in 0..3 {
        fields.string()?;
    }
    fields.taken(4)?;
    of_blob(place, "", fields.string()?)
}

fn fingerprint(blob: &[u8]) -> String {
    format!("SHA256:{}", STANDARD_NO_PAD.encode(Sha256::digest(blob)))
}

fn string(octets: &[u8]) -> Vec<u8> {
    [&(octets.len() as u32).to_be_bytes(), octets].concat()
}

/// The blob of a key that consists of numbers (RFC 4253 §6.6).
pub(crate) fn blob_of(kind: &str, numbers: &[&[u8]]) -> Vec<u8> {
    let number = |octets: &&[u8]| {
        let octets = trimmed(octets);
        let is_high = octets.first() >= Some(&0x80);
        string(&[&[0][..usize::from(is_high)], octets].concat())
    };
    let numbers = numbers.iter().flat_map(number);
    string(kind.as_bytes()).into_iter().chain(numbers).collect()
}

/// Returns the fingerprint of `ssh-keygen -l`; `None` if SSH has no such keys.
pub(crate) fn fingerprint_of(key: &PublicKey) -> Option<String> {
    let name = key.spec.as_ref().ok().map(KeySpec::to_string)?;
    let blob = match (&key.numbers, &*name) {
        (Numbers::Rsa { n, e }, _) => blob_of("ssh-rsa", &[e, n]),
        (Numbers::Dsa { p, q, g, y }, _) if !p.is_empty() => blob_of("ssh-dss", &[p, q, g, y]),
        (Numbers::Point(point), "ed25519" | "ed448") if !point.is_empty() => {
            [string(format!("ssh-{name}").as_bytes()), string(point)].concat()
        }
        (Numbers::Point(point), "nistp256" | "nistp384" | "nistp521")
            if point.first() == Some(&4) =>
        {
            let kind = format!("ecdsa-sha2-{name}");
            let fields = [kind.as_bytes(), name.as_bytes(), point.as_slice()];
            fields.map(string).concat()
        }
        _ => return None,
    };
    Some(fingerprint(&blob))
}
