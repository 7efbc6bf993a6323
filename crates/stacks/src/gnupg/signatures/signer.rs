//! A signed message, taken apart with rPGP (RFC 9580 §10.3); the key that signed, out of its OpenPGP certificate; and the
//! check of its signatures.

use std::io::Read;

use keymark_bench::{Algorithm, Family};
use keymark_load::Expectation;
use keymark_stores::public_key::{PublicKey, der_signature};
use openssl::md::{Md, MdRef};
use pgp::composed::{Deserializable, DetachedSignature, Message};
use pgp::crypto::hash::HashAlgorithm;
use pgp::crypto::public_key::PublicKeyAlgorithm;
use pgp::packet::{Packet, PacketParser, Signature, SignatureType};
use pgp::ser::Serialize;
use pgp::types::{KeyId, Mpi, PublicParams, SignatureBytes, VerifyingKey};

/// The key that signs.
#[derive(Debug)]
pub struct Signer {
    /// Fingerprint as gpg writes it.
    fingerprint: String,
    id: KeyId,
    arithmetic: Arithmetic,
}

/// Calculator of a verification.
#[derive(Debug)]
enum Arithmetic {
    /// rPGP, of Ed25519: in less than half of OpenSSL's time.
    Rpgp(Box<dyn VerifyingKey + Send + Sync>),
    /// OpenSSL, which has every curve.
    OpenSsl(Form, PublicKey),
}

/// Form of a key's signatures in a packet (RFC 9580 §5.2.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Number of octets of a number as long as the modulus.
    Number(usize),
    /// Two numbers, which OpenSSL wants in DER.
    Pair,
    /// Two halves of a string, as two numbers without their leading zeros; octets of one.
    Halves(usize),
    /// The string.
    String,
}

impl Signer {
    /// The key with that fingerprint in a certificate; none if it is not there, or one whose signatures
    /// cannot be checked here. (GnuPG makes keys of Ed448 in version 5, which rPGP does not read.)
    #[allow(
        clippy::wildcard_enum_match_arm,
        reason = "the other packets of a certificate are no keys"
    )]
    pub fn find(certificate: &[u8], fingerprint: &str) -> Option<Self> {
        PacketParser::new(certificate)
            .flatten()
            .find_map(|packet| match packet {
                Packet::PublicKey(key) => Self::named(key, fingerprint),
                Packet::PublicSubkey(key) => Self::named(key, fingerprint),
                _ => None,
            })
    }

    fn named(packet: impl VerifyingKey + Send + Sync + 'static, fingerprint: &str) -> Option<Self> {
        let own = format!("{:X}", packet.fingerprint());
        if own != fingerprint {
            return None;
        }
        let (form, key) = public_key(packet.algorithm(), packet.public_params())?;
        Some(Self {
            fingerprint: own,
            id: packet.legacy_key_id(),
            arithmetic: if key.algorithm().family() == Family::Ed25519 {
                Arithmetic::Rpgp(Box::new(packet))
            } else {
                Arithmetic::OpenSsl(form, key)
            },
        })
    }

    /// Checks that a message holds the text and this key's signature of it.
    pub fn check(&self, text: &[u8], message: &[u8]) -> Result<(), String> {
        let message = SignedMessage::read(text, message)?;
        self.check_issuer(&message)?;
        if self.arithmetic.verifies(&message)? {
            Ok(())
        } else {
            Err("the signature does not verify".to_owned())
        }
    }

    /// Checks a detached signature, in armor or not, of the text by this key.
    ///
    /// # Errors
    /// What is not as expected.
    pub fn check_detached(&self, text: &[u8], signature: &[u8]) -> Result<(), Expectation> {
        let read = DetachedSignature::from_reader_single(signature);
        let (read, _) = read.map_err(|_| Expectation::Form)?;
        self.check_beside(text, &read.signature)
    }

    /// Checks a parsed detached signature; the lines of a text end with CR and LF.
    pub(crate) fn check_beside(&self, text: &[u8], read: &Signature) -> Result<(), Expectation> {
        let signed = SignedMessage::beside(text, read);
        let signed = signed.map_err(|_| Expectation::Signature)?;
        self.check_issuer(&signed)
            .map_err(|_| Expectation::Signer)?;
        match self.arithmetic.verifies(&signed) {
            Ok(true) => Ok(()),
            Ok(false) | Err(_) => Err(Expectation::Signature),
        }
    }

    /// The arithmetic would tell, but not who it was.
    fn check_issuer(&self, message: &SignedMessage) -> Result<(), String> {
        let fingerprints = message.signature.issuer_fingerprint();
        let ids = message.signature.issuer_key_id();
        if fingerprints.is_empty() && ids.is_empty() {
            return Err("the signature does not name its signer".to_owned());
        }
        let named = fingerprints.iter().map(|named| format!("{named:X}"));
        let other = named
            .filter(|named| *named != self.fingerprint)
            .chain(
                ids.iter()
                    .filter(|id| ***id != self.id)
                    .map(|id| id.to_string().to_uppercase()),
            )
            .next();
        match other {
            Some(other) => Err(format!("{other} signed, not {}", self.fingerprint)),
            None => Ok(()),
        }
    }
}

impl Arithmetic {
    /// Both libraries call padding that is not right an error, and numbers that are none.
    fn verifies(&self, message: &SignedMessage) -> Result<bool, String> {
        let octets = message.octets()?;
        match self {
            Self::Rpgp(key) => Ok(key.verify(message.hash, &message.digest, octets).is_ok()),
            Self::OpenSsl(form, key) => {
                let signature = form.signature(octets)?;
                let verified =
                    key.verify_digest(digest_of(message.hash)?, &message.digest, &signature);
                Ok(verified.unwrap_or(false))
            }
        }
    }
}

impl Form {
    /// The signature in OpenSSL's form.
    fn signature(self, octets: &SignatureBytes) -> Result<Vec<u8>, String> {
        let numbers: &[Mpi] = match octets {
            SignatureBytes::Mpis(numbers) => numbers,
            SignatureBytes::Native(_) => &[],
        };
        let signature = match (self, numbers, octets) {
            (Self::Number(length), [number], _) => padded(number, length),
            (Self::Pair, [r, s], _) => der_signature(r.as_ref(), s.as_ref()).ok(),
            (Self::Halves(length), [r, s], _) => {
                let halves = padded(r, length).zip(padded(s, length));
                halves.map(|(r, s)| [r, s].concat())
            }
            (Self::String, _, SignatureBytes::Native(string)) => Some(string.to_vec()),
            _ => None,
        };
        signature.ok_or_else(|| "the signature does not have the key's algorithm".to_owned())
    }
}

fn padded(number: &Mpi, length: usize) -> Option<Vec<u8>> {
    let number = number.as_ref();
    let mut octets = vec![0; length.checked_sub(number.len())?];
    octets.extend_from_slice(number);
    Some(octets)
}

/// OpenSSL's digest of OpenPGP's name; those that gpg signs with.
#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "gpg signs with no other, or only if told to"
)]
fn digest_of(hash: HashAlgorithm) -> Result<&'static MdRef, String> {
    match hash {
        HashAlgorithm::Sha1 => Ok(Md::sha1()),
        HashAlgorithm::Sha224 => Ok(Md::sha224()),
        HashAlgorithm::Sha256 => Ok(Md::sha256()),
        HashAlgorithm::Sha384 => Ok(Md::sha384()),
        HashAlgorithm::Sha512 => Ok(Md::sha512()),
        _ => Err(format!(
            "a signature of a {hash} digest is not checked here"
        )),
    }
}

/// The key's parameters as they lie in its packet (RFC 9580 §5.5.5), and what its signatures look like.
#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "no other signs that keymark knows"
)]
fn public_key(algorithm: PublicKeyAlgorithm, params: &PublicParams) -> Option<(Form, PublicKey)> {
    let octets = params.to_bytes().ok()?;
    let mut rest = octets.as_slice();
    match algorithm {
        PublicKeyAlgorithm::RSA | PublicKeyAlgorithm::RSASign => {
            let [n, e] = numbers(&mut rest)?;
            let algorithm = Algorithm::of(Family::Rsa(bits(&n)))?;
            let key = PublicKey::rsa(algorithm, n.as_ref(), e.as_ref()).ok()?;
            Some((Form::Number(n.len()), key))
        }
        PublicKeyAlgorithm::DSA => {
            let numbers: [Mpi; 4] = numbers(&mut rest)?;
            let algorithm = Algorithm::of(Family::Dsa(bits(&numbers[0])))?;
            let key = PublicKey::dsa(algorithm, numbers.each_ref().map(AsRef::as_ref)).ok()?;
            Some((Form::Pair, key))
        }
        PublicKeyAlgorithm::ECDSA => on_curve(rest, Form::Pair),
        PublicKeyAlgorithm::EdDSALegacy => on_curve(rest, Form::Halves(32)),
        PublicKeyAlgorithm::Ed25519 => native(Family::Ed25519, rest),
        PublicKeyAlgorithm::Ed448 => native(Family::Ed448, rest),
        _ => None,
    }
}

/// A key that names its curve by its identifier.
fn on_curve(octets: &[u8], form: Form) -> Option<(Form, PublicKey)> {
    let (&length, rest) = octets.split_first()?;
    let (oid, mut point) = rest.split_at_checked(length.into())?;
    let algorithm = Algorithm::of(Family::of_oid(oid)?)?;
    let [point] = numbers(&mut point)?;
    Some((form, PublicKey::point(algorithm, point.as_ref()).ok()?))
}

fn native(family: Family, string: &[u8]) -> Option<(Form, PublicKey)> {
    let key = PublicKey::point(Algorithm::of(family)?, string).ok()?;
    Some((Form::String, key))
}

fn numbers<const N: usize>(octets: &mut &[u8]) -> Option<[Mpi; N]> {
    let numbers: Vec<Mpi> = (0..N)
        .map(|_| Mpi::try_from_reader(&mut *octets).ok())
        .collect::<Option<_>>()?;
    numbers.try_into().ok()
}

fn bits(number: &Mpi) -> u32 {
    let octets = number.as_ref();
    let zeros = octets.first().map_or(0, |octet| octet.leading_zeros());
    octets.len() as u32 * 8 - zeros
}

/// Signature in a message and the digest that it signs.
struct SignedMessage {
    signature: Signature,
    hash: HashAlgorithm,
    digest: Vec<u8>,
}

impl SignedMessage {
    /// Reads a message that has to hold this text and one signature of it.
    fn read(text: &[u8], bytes: &[u8]) -> Result<Self, String> {
        let mut message =
            opened(bytes).map_err(|error| format!("cannot read the OpenPGP message: {error}"))?;
        if !message.is_signed() {
            return Err("the message is not signed".to_owned());
        }
        // One byte more than there has to be: the end is read, and no bomb inflated.
        let mut content = Vec::with_capacity(text.len() + 1);
        (&mut message)
            .take(text.len() as u64 + 1)
            .read_to_end(&mut content)
            .map_err(|error| format!("cannot read the signed message: {error}"))?;
        if content != text {
            return Err("the signed text is not the expected text".to_owned());
        }
        let Message::Signed { reader, .. } = &message else {
            return Err("the message is not signed".to_owned());
        };
        if reader.num_signatures() != 1 {
            return Err(format!("{} signatures, not one", reader.num_signatures()));
        }
        let (Some(signature), Some(digest)) = (reader.signature(0), reader.hash(0)) else {
            return Err("the signature does not match the message's announcement".to_owned());
        };
        Self::of(signature, digest)
    }

    /// A signature that stands beside the text.
    fn beside(text: &[u8], signature: &Signature) -> Result<Self, String> {
        let read = |error: pgp::errors::Error| format!("cannot read the signature: {error}");
        let config = signature
            .config()
            .ok_or("a signature of an unknown version")?;
        let mut hasher = config
            .hash_alg
            .new_hasher()
            .map_err(|error| error.to_string())?;
        hasher.update(text);
        let length = config.hash_signature_data(&mut hasher).map_err(read)?;
        hasher.update(&config.trailer(length).map_err(read)?);
        Self::digested(signature, &hasher.finalize())
    }

    fn of(signature: &Signature, digest: &[u8]) -> Result<Self, String> {
        let Some(config) = signature.config() else {
            return Err(format!("a signature of {:?}", signature.version()));
        };
        if config.typ() != SignatureType::Binary {
            return Err(format!("a signature of type {:?}", config.typ()));
        }
        Self::digested(signature, digest)
    }

    fn digested(signature: &Signature, digest: &[u8]) -> Result<Self, String> {
        let Some(config) = signature.config() else {
            return Err(format!("a signature of {:?}", signature.version()));
        };
        // gpg refuses a signature whose two octets of the digest in the clear are others.
        let announced = signature.signed_hash_value();
        if announced.is_none_or(|octets| !digest.starts_with(&octets)) {
            return Err("the signature has another digest".to_owned());
        }
        Ok(Self {
            signature: signature.clone(),
            hash: config.hash_alg,
            digest: digest.to_vec(),
        })
    }

    /// The numbers of the signature, or its octets.
    fn octets(&self) -> Result<&SignatureBytes, String> {
        let octets = self.signature.signature();
        octets.ok_or_else(|| "the signature is of an unknown version".to_owned())
    }
}

/// The message in its compressed packet, if it is in one.
fn opened(bytes: &[u8]) -> pgp::errors::Result<Message<'_>> {
    let message = Message::from_bytes(bytes)?;
    if message.is_compressed() {
        message.decompress()
    } else {
        Ok(message)
    }
}
