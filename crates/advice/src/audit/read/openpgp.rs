//! OpenPGP keys (RFC 9580): packets in a row, a certificate after another, and GnuPG's keybox around them.
//!
//! Numbers are read here and not by the library, which refuses RSA above 4096 bits and exponents that it thinks wrong:
//! those are what is looked for. Self-signatures are believed: whoever can put one into a keyring can put in a key.

use std::io::Read as _;

use keymark_bench::Family;
use pgp::crypto::hash::HashAlgorithm;
use pgp::packet::{PacketParser, Signature, SignatureType};
use pgp::types::Tag;
use sha1::{Digest as _, Sha1};
use sha2::Sha256;

use super::{Read, failure, spki};
use crate::audit::key::{Broken, Form, FoundKey, Location, Numbers, PublicKey, day};
use crate::key_spec::KeySpec;
use crate::policy::Use;

/// Whether a file begins with a key (RFC 9580 §4.2: bit 7, and the type in one of two places).
pub(super) fn begins(bytes: &[u8]) -> bool {
    let tag = match bytes.first() {
        Some(first) if first & 0xc0 == 0xc0 => first & 0x3f,
        Some(first) if first & 0x80 != 0 => first >> 2 & 0xf,
        _ => return false,
    };
    // Secret and public key; GnuPG's keyrings begin with such a packet.
    matches!(tag, 5 | 6)
}

/// One certificate as far as it has been read: the primary key, and subkeys.
#[derive(Default)]
struct Block {
    user: Option<String>,
    keys: Vec<Dated>,
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
    let mut parser = PacketParser::new(bytes);
    let mut block = Block::default();
    while let Some(packet) = parser.next_ref() {
        let mut body = Vec::new();
        let whole = packet
            .map_err(|error| error.to_string())
            .and_then(|mut packet| {
                let octets = packet.read_to_end(&mut body);
                let header = packet.packet_header();
                octets.map(|_| header).map_err(|error| error.to_string())
            });
        let header = match whole {
            Ok(header) => header,
            Err(error) => {
                read.failures
                    .push(failure(place, format!("packets: {error}")));
                break;
            }
        };
        // Other packets say nothing of a key.
        let tag = header.tag();
        let is_primary = matches!(tag, Tag::PublicKey | Tag::SecretKey);
        if is_primary {
            block.end(read);
        }
        if is_primary || matches!(tag, Tag::PublicSubkey | Tag::SecretSubkey) {
            match Dated::of(place, &body) {
                Ok(key) => block.keys.push(key),
                Err(reason) => read.failures.push(failure(place, reason)),
            }
        } else if tag == Tag::UserId {
            let text = String::from_utf8_lossy(&body).into_owned();
            block.user.get_or_insert(text);
        } else if tag == Tag::Signature
            // One that cannot be read says nothing.
            && let Ok(signature) = Signature::try_from_reader(header, &body[..])
        {
            block.signed(&signature);
        }
    }
    block.end(read);
}

impl Block {
    /// Hands over what it has, and is empty again.
    fn end(&mut self, read: &mut Read) {
        let Self { user, keys } = std::mem::take(self);
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

    /// What a signature says of the key before it, if its owner has made it.
    fn signed(&mut self, signature: &Signature) {
        let Some(kind) = signature.typ() else {
            return;
        };
        let Some((primary, subkeys)) = self.keys.split_first_mut() else {
            return;
        };
        let by_fingerprint = signature.issuer_fingerprint().into_iter();
        let issuers = by_fingerprint.filter_map(|print| match print.version() {
            Some(pgp::types::KeyVersion::V6) => print.as_bytes().first_chunk().copied(),
            _ => print.as_bytes().last_chunk().copied(),
        });
        let by_id = signature.issuer_key_id().into_iter();
        let issuers =
            issuers.chain(by_id.filter_map(|id| AsRef::<[u8]>::as_ref(id).first_chunk().copied()));
        if !issuers.into_iter().any(|issuer| Some(issuer) == primary.id) {
            return;
        }
        // The others bind no key to anything.
        if matches!(
            kind,
            SignatureType::CertGeneric
                | SignatureType::CertPersona
                | SignatureType::CertCasual
                | SignatureType::CertPositive
                | SignatureType::Key
        ) {
            primary.bound(signature);
        }
        primary.key.is_revoked |= kind == SignatureType::KeyRevocation;
        if let Some(subkey) = subkeys.last_mut() {
            if kind == SignatureType::SubkeyBinding {
                subkey.bound(signature);
            }
            subkey.key.is_revoked |= kind == SignatureType::SubkeyRevocation;
        }
    }
}

impl Dated {
    /// RFC 9580 §5.5.2: version, time, algorithm, and its numbers.
    fn of(place: &Location, body: &[u8]) -> Result<Self, String> {
        let cut_off = || "a key is cut off".to_owned();
        let (version, rest) = body.split_first().ok_or_else(cut_off)?;
        let (created, rest) = rest.split_first_chunk().ok_or_else(cut_off)?;
        // Days of validity in version 3, and the length of the numbers in 6.
        let (before, behind) = match version {
            2 | 3 => (2, 0),
            6 => (0, 4),
            _ => (0, 0),
        };
        let rest = rest.get(before..).and_then(<[u8]>::split_first);
        let (algorithm, rest) = rest.ok_or_else(cut_off)?;
        let mut left = rest.get(behind..).ok_or_else(cut_off)?;
        let key = numbers_of(*algorithm, &mut left).ok_or_else(cut_off)?;
        let length = body.len() - left.len();
        let uses = match algorithm {
            2 | 16 | 18 | 25 | 26 => vec![Use::Encryption],
            1 => Vec::new(),
            _ => vec![Use::Signature],
        };
        Ok(Self {
            id: key_id(*version, &body[..length], &key),
            created: u32::from_be_bytes(*created),
            signed: 0,
            key: FoundKey {
                uses,
                ..FoundKey::new(place.clone(), "", Form::OpenPgp, key)
            },
        })
    }

    /// By a self-signature, of which the newest counts.
    fn bound(&mut self, signature: &Signature) {
        let made = signature.created().map_or(0, |time| time.as_secs());
        if made < self.signed {
            return;
        }
        self.signed = made;
        let lasts = signature.key_expiration_time().map(|lasts| lasts.as_secs());
        let lasts = lasts.filter(|lasts| *lasts > 0);
        self.key.expires = lasts.and_then(|lasts| day(u64::from(self.created) + u64::from(lasts)));
        let hash = match signature.hash_alg() {
            Some(HashAlgorithm::Md5) => Some("MD5"),
            Some(HashAlgorithm::Sha1) => Some("SHA-1"),
            Some(HashAlgorithm::Ripemd160) => Some("RIPEMD-160"),
            _ => None,
        };
        let is_root = false;
        self.key.broken = hash.map(|hash| Broken { hash, is_root });
        let flags = signature.key_flags();
        let signs = flags.certify() || flags.sign() || flags.authentication();
        let encrypts = flags.encrypt_comms() || flags.encrypt_storage();
        let uses = [
            signs.then_some(Use::Signature),
            encrypts.then_some(Use::Encryption),
        ];
        let uses: Vec<Use> = uses.into_iter().flatten().collect();
        if !uses.is_empty() {
            self.key.uses = uses;
        }
    }
}

/// RFC 9580 §9.1, §5.5.5, and LibrePGP's.
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
        other => PublicKey::named(
            &format!("OpenPGP algorithm {other}"),
            taken(left, left.len())?,
        ),
    })
}

fn taken<'a>(left: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, rest) = left.split_at_checked(length)?;
    *left = rest;
    Some(taken)
}

/// RFC 9580 §3.2: its length in bits, and the number.
fn mpi<'a>(left: &mut &'a [u8]) -> Option<&'a [u8]> {
    let [high, low] = *taken(left, 2)?.first_chunk()?;
    taken(
        left,
        usize::from(u16::from_be_bytes([high, low])).div_ceil(8),
    )
}

/// RFC 9580 §5.5.4, for the issuer of signatures.
fn key_id(version: u8, public: &[u8], key: &PublicKey) -> Option<[u8; 8]> {
    match version {
        4 => {
            let length = u16::try_from(public.len()).ok()?.to_be_bytes();
            let hashed = [&[0x99], &length[..], public].concat();
            Sha1::digest(hashed).last_chunk().copied()
        }
        6 => {
            let length = u32::try_from(public.len()).ok()?.to_be_bytes();
            let hashed = [&[0x9b], &length[..], public].concat();
            Sha256::digest(hashed).first_chunk().copied()
        }
        _ => {
            let Numbers::Rsa { n, .. } = &key.numbers else {
                return None;
            };
            n.last_chunk().copied()
        }
    }
}

/// The kinds of a keybox's blobs (GnuPG, kbx/keybox-blob.c).
const OPENPGP_BLOB: u8 = 2;
const X509_BLOB: u8 = 3;

/// Adds the keys of GnuPG's keybox: each blob has its length, its kind, and where in it the key is.
pub(super) fn keybox(place: &Location, bytes: &[u8], read: &mut Read) {
    let number = |bytes: &[u8], at: usize| {
        let octets = bytes.get(at..)?.first_chunk()?;
        usize::try_from(u32::from_be_bytes(*octets)).ok()
    };
    let mut rest = bytes;
    while let Some(length) = number(rest, 0) {
        let Some((blob, behind)) = rest.split_at_checked(length).filter(|_| length > 4) else {
            let reason = "the keybox is cut off";
            read.failures.push(failure(place, reason));
            return;
        };
        rest = behind;
        let found = number(blob, 8).zip(number(blob, 12));
        let key = found.and_then(|(at, length)| blob.get(at..)?.get(..length));
        match (blob[4], key) {
            (OPENPGP_BLOB, Some(key)) => packets(place, key, read),
            (X509_BLOB, Some(key)) => read.certificate(place, key),
            _ => {}
        }
    }
}
