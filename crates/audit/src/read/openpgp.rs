//! OpenPGP keys (RFC 9580): packets in a row, a certificate after another, and GnuPG's keybox around them.
//!
//! Numbers are read here and not by the library, which refuses RSA above 4096 bits and exponents that it thinks wrong:
//! those are what is looked for. Self-signatures are believed: an attacker who can put one into a keyring can put in a key.

use keymark_bench::Family;
use keymark_bench::outside::openpgp::{
    PUBLIC_KEY, PUBLIC_SUBKEY, SECRET_KEY, SECRET_SUBKEY, SIGNATURE, USER_ID, length_of_subpacket,
    mpi, number, packet, taken,
};
use md5::Md5;
use sha1::{Digest as _, Sha1};
use sha2::Sha256;

use super::{Read, spki};
use crate::key::{Broken, Form, FoundKey, Location, Numbers, PublicKey, day};
use keymark_advice::key_spec::KeySpec;
use keymark_advice::policy::Use;

/// A certificate as far as it has been read: the primary key, and subkeys.
#[derive(Default)]
struct Certificate {
    user: Option<String>,
    keys: Vec<Dated>,
    /// Its primary key could not be read, so that nobody knows whose signatures are in it.
    is_headless: bool,
}

/// A key with what its newest self-signature says.
struct Dated {
    key: FoundKey,
    id: Option<[u8; 8]>,
    created: u32,
    signed: u32,
}

/// Adds the keys of packets.
pub(super) fn packets(place: &Location, bytes: &[u8], read: &mut Read) {
    let mut rest = bytes;
    let mut block = Certificate::default();
    let mut first = None;
    let mut has_key = false;
    while !rest.is_empty() {
        let Some((tag, body)) = packet(&mut rest) else {
            let octets = rest.len();
            read.fail(
                place,
                format!("the last {octets} octets are no whole packet of OpenPGP"),
            );
            has_key = true;
            break;
        };
        first.get_or_insert(tag);
        let is_primary = matches!(tag, PUBLIC_KEY | SECRET_KEY);
        if is_primary {
            block.end(read);
        }
        // Other packets say nothing of a key.
        match tag {
            PUBLIC_KEY | SECRET_KEY | PUBLIC_SUBKEY | SECRET_SUBKEY => {
                has_key = true;
                match Dated::of(place, &body) {
                    Ok(key) => block.keys.push(key),
                    Err(reason) => {
                        block.is_headless |= is_primary;
                        read.fail(place, reason);
                    }
                }
            }
            USER_ID => {
                block.user.get_or_insert_with(|| super::text(&body));
            }
            // One that cannot be read says nothing.
            SIGNATURE => {
                if let Some(signature) = Signature::of(&body) {
                    block.signed(&signature);
                }
            }
            _ => {}
        }
    }
    block.end(read);
    if !has_key {
        read.without(
            place,
            match first {
                Some(SIGNATURE) => "OpenPGP signature",
                Some(USER_ID) => "OpenPGP user id without its key",
                _ => "OpenPGP message",
            },
        );
    }
}

/// A signature about the key before it (RFC 9580 §5.2).
#[derive(Default)]
struct Signature {
    kind: u8,
    hash: u8,
    made: u32,
    lasts: u32,
    flags: u8,
    /// The ends of the issuers' fingerprints and ids.
    issuers: Vec<[u8; 8]>,
}

impl Signature {
    fn of(body: &[u8]) -> Option<Self> {
        let mut left = body;
        let version = *taken(&mut left, 1)?.first()?;
        if matches!(version, 2 | 3) {
            let [_, kind, made @ .., _] = *taken(&mut left, 7)?.first_chunk::<7>()?;
            return Some(Self {
                kind,
                made: u32::from_be_bytes(*made.first_chunk()?),
                issuers: vec![*taken(&mut left, 8)?.first_chunk()?],
                hash: *left.get(1)?,
                ..Self::default()
            });
        }
        let [kind, _, hash] = *taken(&mut left, 3)?.first_chunk()?;
        let mut signature = Self {
            kind,
            hash,
            ..Self::default()
        };
        // Who made it may be outside of what is signed.
        for is_signed in [true, false] {
            let width = if version == 6 { 4 } else { 2 };
            let length = number(taken(&mut left, width)?);
            let mut area = taken(&mut left, length)?;
            while !area.is_empty() {
                let length = length_of_subpacket(&mut area)?;
                let (kind, content) = taken(&mut area, length)?.split_first()?;
                signature.told(kind & 0x7f, content, is_signed);
            }
        }
        Some(signature)
    }

    fn told(&mut self, kind: u8, content: &[u8], is_signed: bool) {
        let seconds = || content.get(..4).map_or(0, number) as u32;
        match kind {
            2 if is_signed => self.made = seconds(),
            9 if is_signed => self.lasts = seconds(),
            27 if is_signed => self.flags = content.first().copied().unwrap_or_default(),
            16 => self.issuers.extend(content.first_chunk()),
            // A fingerprint behind its version, of which the id is the end, and since version 5 the beginning.
            33 => self.issuers.extend(match content.split_first() {
                Some((5.., print)) => print.first_chunk(),
                _ => content.last_chunk(),
            }),
            _ => {}
        }
    }
}

impl Certificate {
    /// Hands over what it has, and is empty again.
    fn end(&mut self, read: &mut Read) {
        let Self { user, keys, .. } = std::mem::take(self);
        let user = user.unwrap_or_else(|| "no user id".to_owned());
        // Subkeys end with the primary key.
        let end = keys.first().and_then(|primary| primary.key.expires);
        let is_revoked = keys.first().is_some_and(|primary| primary.key.is_revoked);
        read.keys
            .extend(keys.into_iter().map(|Dated { mut key, .. }| {
                key.owner.clone_from(&user);
                key.expires = [key.expires, end].into_iter().flatten().min();
                key.is_revoked |= is_revoked;
                key
            }));
    }

    /// Returns a signature about the key before it, if its owner has made it.
    fn signed(&mut self, signature: &Signature) {
        let Some((primary, subkeys)) = self.keys.split_first_mut().filter(|_| !self.is_headless)
        else {
            return;
        };
        if !signature
            .issuers
            .iter()
            .any(|issuer| Some(*issuer) == primary.id)
        {
            return;
        }
        match signature.kind {
            // Certifications, and a signature of the key alone. The others bind no key to anything.
            0x10..=0x13 | 0x1f => primary.bound(signature),
            0x20 => primary.key.is_revoked = true,
            _ => {}
        }
        match (signature.kind, subkeys.last_mut()) {
            (0x18, Some(subkey)) => subkey.bound(signature),
            (0x28, Some(subkey)) => subkey.key.is_revoked = true,
            _ => {}
        }
    }
}

impl Dated {
    /// RFC 9580 §5.5.2: version, time, algorithm, and its numbers.
    fn of(place: &Location, body: &[u8]) -> Result<Self, String> {
        let cut_off = || "an OpenPGP key is cut off".to_owned();
        let mut left = body;
        let version = *taken(&mut left, 1)
            .and_then(<[u8]>::first)
            .ok_or_else(cut_off)?;
        if !(2..=6).contains(&version) {
            return Err(format!("an OpenPGP key of version {version}"));
        }
        let mut field = |octets| taken(&mut left, octets).map(number).ok_or_else(cut_off);
        let created = field(4)? as u32;
        // Version 3 has days of validity, and 5 and 6 the length of the numbers.
        let days = if version < 4 { field(2)? } else { 0 };
        let algorithm = field(1)? as u8;
        if version > 4 {
            let length = field(4)?;
            left = left.get(..length).ok_or_else(cut_off)?;
        }
        let before = body.len() - left.len();
        let before = if version > 4 { 10 } else { before };
        let whole = left.len();
        let key = numbers_of(algorithm, &mut left).ok_or_else(cut_off)?;
        let public = &body[..before + whole - left.len()];
        let print = fingerprint(version, public, &key);
        let uses = match algorithm {
            2 | 8 | 16 | 18 | 25 | 26 | 35 | 36 => vec![Use::Encryption],
            1 => Vec::new(),
            _ => vec![Use::Signature],
        };
        let end = u64::from(created) + 86_400 * days as u64;
        Ok(Self {
            id: key_id(version, &print, &key),
            created,
            signed: 0,
            key: FoundKey {
                uses,
                expires: day(end).filter(|_| days > 0),
                fingerprint: Some(hex::encode_upper(print)),
                ..FoundKey::new(place.clone(), "", Form::OpenPgp, key)
            },
        })
    }

    /// Applies a self-signature, of which the newest counts.
    fn bound(&mut self, signature: &Signature) {
        if signature.made < self.signed {
            return;
        }
        self.signed = signature.made;
        if signature.lasts > 0 {
            self.key.expires = day(u64::from(self.created) + u64::from(signature.lasts));
        } else if self.id_is_hashed() {
            self.key.expires = None;
        }
        let hash = match signature.hash {
            1 => Some("MD5"),
            2 => Some("SHA-1"),
            3 => Some("RIPEMD-160"),
            _ => None,
        };
        let is_root = false;
        self.key.broken = hash.map(|hash| Broken { hash, is_root });
        // Certify, sign and authenticate; encrypt what is sent and what is stored.
        let uses = [(0x23, Use::Signature), (0x0c, Use::Encryption)];
        let uses = uses
            .into_iter()
            .filter(|(flags, _)| signature.flags & flags != 0);
        let uses: Vec<Use> = uses.map(|(_, usage)| usage).collect();
        if !uses.is_empty() {
            self.key.uses = uses;
        }
    }

    /// Since version 4: before it the key itself says when it ends.
    fn id_is_hashed(&self) -> bool {
        self.key
            .fingerprint
            .as_ref()
            .is_some_and(|print| print.len() > 32)
    }
}

/// RFC 9580 §9.1, §5.5.5, RFC 9980, and LibrePGP's.
fn numbers_of(algorithm: u8, left: &mut &[u8]) -> Option<PublicKey> {
    Some(match algorithm {
        1..=3 => PublicKey::rsa(mpi(left)?, mpi(left)?),
        16 | 20 => {
            let (p, _, y) = (mpi(left)?, mpi(left)?, mpi(left)?);
            PublicKey::discrete(|bits| KeySpec::Family(Family::Elgamal(bits)), p, y)
        }
        17 => PublicKey::dsa([mpi(left)?, mpi(left)?, mpi(left)?, mpi(left)?]),
        18 | 19 | 22 => {
            let length = usize::from(*taken(left, 1)?.first()?);
            let curve = spki::curve_of_octets(taken(left, length)?);
            let point = mpi(left)?;
            if algorithm == 18 {
                let length = usize::from(*taken(left, 1)?.first()?);
                taken(left, length)?;
            }
            // OpenPGP's mark of a string of RFC 7748.
            let string = point
                .strip_prefix(&[0x40])
                .filter(|_| curve.contains("25519"));
            PublicKey::on_curve(&curve, string.unwrap_or(point))
        }
        25 => PublicKey::on_curve("cv25519", taken(left, 32)?),
        26 => PublicKey::on_curve("x448", taken(left, 56)?),
        27 => PublicKey::on_curve("ed25519", taken(left, 32)?),
        28 => PublicKey::on_curve("ed448", taken(left, 57)?),
        // Composites of RFC 9980: the key on the curve, then that of the lattice.
        30 => PublicKey::named("mldsa65+ed25519", taken(left, 32 + 1952)?),
        35 => PublicKey::named("mlkem768+x25519", taken(left, 32 + 1184)?),
        other => PublicKey::named(
            &format!("OpenPGP algorithm {other}"),
            taken(left, left.len())?,
        ),
    })
}

/// RFC 9580 §5.5.4, LibrePGP's version 5, and RFC 1991's MD5 of the numbers.
fn fingerprint(version: u8, public: &[u8], key: &PublicKey) -> Vec<u8> {
    let length = public.len() as u32;
    let long =
        |first: u8| Sha256::digest([&[first][..], &length.to_be_bytes(), public].concat()).to_vec();
    match (version, &key.numbers) {
        (6, _) => long(0x9b),
        (5, _) => long(0x9a),
        (2 | 3, Numbers::Rsa { n, e }) => Md5::digest([&n[..], e].concat()).to_vec(),
        _ => {
            let hashed = [&[0x99][..], &length.to_be_bytes()[2..], public].concat();
            Sha1::digest(hashed).to_vec()
        }
    }
}

/// The id of a key, for the issuer of signatures.
fn key_id(version: u8, print: &[u8], key: &PublicKey) -> Option<[u8; 8]> {
    match (version, &key.numbers) {
        (2 | 3, Numbers::Rsa { n, .. }) => n.last_chunk().copied(),
        (5 | 6, _) => print.first_chunk().copied(),
        _ => print.last_chunk().copied(),
    }
}

/// The kinds of a keybox's blobs (GnuPG, kbx/keybox-blob.c).
const HEADER_BLOBS: [u8; 2] = [0, 1];
const OPENPGP_BLOB: u8 = 2;
const X509_BLOB: u8 = 3;

/// Adds the keys of GnuPG's keybox: each blob has its length, its kind, and where in it the key is.
pub(super) fn keybox(place: &Location, bytes: &[u8], read: &mut Read) {
    let field = |bytes: &[u8], at: usize| bytes.get(at..at + 4).map(number);
    let before = read.named();
    let mut rest = bytes;
    while !rest.is_empty() {
        let whole = field(rest, 0).filter(|length| *length > 4);
        let Some((blob, behind)) = whole.and_then(|length| rest.split_at_checked(length)) else {
            return read.fail(place, "the keybox is cut off".to_owned());
        };
        rest = behind;
        let found = field(blob, 8).zip(field(blob, 12));
        let key = found.and_then(|(at, length)| blob.get(at..)?.get(..length));
        match (blob[4], key) {
            (OPENPGP_BLOB, Some(key)) => packets(place, key, read),
            (X509_BLOB, Some(key)) => read.certificate(place, key),
            (kind, _) if HEADER_BLOBS.contains(&kind) => {}
            (kind, _) => read.fail(place, format!("a blob of kind {kind} in the keybox")),
        }
    }
    if before == read.named() {
        read.without(place, "empty keybox");
    }
}
