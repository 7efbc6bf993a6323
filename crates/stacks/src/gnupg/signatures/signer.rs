//! The key that signs, out of its OpenPGP certificate (RFC 9580 §5.5), and the check of its signatures by OpenSSL.

use keymark_bench::outside::openpgp::{PUBLIC_KEY, PUBLIC_SUBKEY, mpi, packet, taken};
use keymark_bench::{Algorithm, Family};
use keymark_load::Expectation;
use keymark_stores::public_key::{PublicKey, der_signature};
use openssl::sha::sha1;

use super::message;
use super::signature::Signature;

/// The key that signs.
#[derive(Debug)]
pub struct Signer {
    fingerprint: [u8; 20],
    /// Number of its algorithm in packets (RFC 9580 §9.1).
    number: u8,
    form: Form,
    key: PublicKey,
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
    /// cannot be checked here. (GnuPG makes keys of Ed448 in version 5, which is not read here.)
    pub fn find(certificate: &[u8], fingerprint: &str) -> Option<Self> {
        let mut rest = certificate;
        std::iter::from_fn(|| packet(&mut rest))
            .filter(|(tag, _)| matches!(*tag, PUBLIC_KEY | PUBLIC_SUBKEY))
            .find_map(|(_, body)| Self::named(&body, fingerprint))
    }

    /// Reads a key's packet of version 4 (RFC 9580 §5.5.2.2), if it has that fingerprint (§5.5.4.2).
    fn named(body: &[u8], fingerprint: &str) -> Option<Self> {
        let [4, _, _, _, _, number, parameters @ ..] = body else {
            return None;
        };
        let length = u16::try_from(body.len()).ok()?;
        let own = sha1(&[&[0x99], &length.to_be_bytes()[..], body].concat());
        if hex::encode_upper(own) != fingerprint {
            return None;
        }
        let (form, key) = public_key(*number, parameters)?;
        Some(Self {
            fingerprint: own,
            number: *number,
            form,
            key,
        })
    }

    /// Checks that a message holds the text and this key's signature of it.
    pub fn check(&self, text: &[u8], message: &[u8]) -> Result<(), String> {
        let signature = message::signature(text, message)?;
        let digest = signature.digest(text)?;
        self.check_issuer(&signature)?;
        self.check_value(&signature, &digest)
    }

    /// Checks a detached signature, in armor or not, of the text by this key.
    ///
    /// # Errors
    /// What is not as expected.
    pub fn check_detached(&self, text: &[u8], signature: &[u8]) -> Result<(), Expectation> {
        let read = Signature::detached(signature).ok_or(Expectation::Form)?;
        let digest = read.check_kind(true).and_then(|()| read.digest(text));
        let digest = digest.map_err(|_| Expectation::Signature)?;
        self.check_issuer(&read).map_err(|_| Expectation::Signer)?;
        self.check_value(&read, &digest)
            .map_err(|_| Expectation::Signature)
    }

    /// The arithmetic would tell, but not who it was.
    fn check_issuer(&self, signature: &Signature) -> Result<(), String> {
        let Signature {
            fingerprints, ids, ..
        } = signature;
        if fingerprints.is_empty() && ids.is_empty() {
            return Err("the signature does not name its signer".to_owned());
        }
        let is_own = |named: &[u8]| named.split_first() == Some((&4, &self.fingerprint[..]));
        let other = fingerprints
            .iter()
            .find(|named| !is_own(named))
            .map(|named| hex::encode_upper(named.get(1..).unwrap_or_default()))
            .or_else(|| {
                ids.iter()
                    .find(|id| !self.fingerprint.ends_with(&id[..]))
                    .map(hex::encode_upper)
            });
        match other {
            Some(other) => Err(format!(
                "{other} signed, not {}",
                hex::encode_upper(self.fingerprint)
            )),
            None => Ok(()),
        }
    }

    /// Lets OpenSSL check the numbers; it calls padding that is not right an error, and numbers that are none.
    fn check_value(&self, signature: &Signature, digest: &[u8]) -> Result<(), String> {
        let value = Some(&signature.value)
            .filter(|_| signature.algorithm == self.number)
            .and_then(|value| self.form.signature(value))
            .ok_or("the signature does not have the key's algorithm")?;
        let verified = self.key.verify_digest(signature.md()?, digest, &value);
        if verified.unwrap_or(false) {
            Ok(())
        } else {
            Err("the signature does not verify".to_owned())
        }
    }
}

impl Form {
    /// The signature in OpenSSL's form.
    fn signature(self, value: &[u8]) -> Option<Vec<u8>> {
        let mut rest = value;
        let signature = match self {
            Self::Number(length) => {
                let [number] = numbers(&mut rest)?;
                padded(number, length)
            }
            Self::Pair => {
                let [r, s] = numbers(&mut rest)?;
                der_signature(r, s).ok()
            }
            Self::Halves(length) => {
                let [r, s] = numbers(&mut rest)?;
                let halves = padded(r, length).zip(padded(s, length));
                halves.map(|(r, s)| [r, s].concat())
            }
            Self::String => Some(std::mem::take(&mut rest).to_vec()),
        };
        signature.filter(|_| rest.is_empty())
    }
}

fn padded(number: &[u8], length: usize) -> Option<Vec<u8>> {
    let mut octets = vec![0; length.checked_sub(number.len())?];
    octets.extend_from_slice(number);
    Some(octets)
}

/// The key's parameters as they lie in its packet (RFC 9580 §5.5.5), and what its signatures look like.
fn public_key(number: u8, parameters: &[u8]) -> Option<(Form, PublicKey)> {
    let mut rest = parameters;
    match number {
        // RSA, and RSA only for signatures.
        1 | 3 => {
            let [n, e] = numbers(&mut rest)?;
            let algorithm = Algorithm::of(Family::Rsa(bits(n)))?;
            let key = PublicKey::rsa(algorithm, n, e).ok()?;
            Some((Form::Number(n.len()), key))
        }
        17 => {
            let numbers: [&[u8]; 4] = numbers(&mut rest)?;
            let algorithm = Algorithm::of(Family::Dsa(bits(numbers[0])))?;
            Some((Form::Pair, PublicKey::dsa(algorithm, numbers).ok()?))
        }
        // ECDSA, and EdDSA as before RFC 9580.
        19 => on_curve(rest, Form::Pair),
        22 => on_curve(rest, Form::Halves(32)),
        27 => native(Family::Ed25519, rest),
        28 => native(Family::Ed448, rest),
        // No other signs that keymark knows.
        _ => None,
    }
}

/// A key that names its curve by its identifier.
fn on_curve(mut octets: &[u8], form: Form) -> Option<(Form, PublicKey)> {
    let length = *taken(&mut octets, 1)?.first()?;
    let oid = taken(&mut octets, length.into())?;
    let algorithm = Algorithm::of(Family::of_oid(oid)?)?;
    let [point] = numbers(&mut octets)?;
    Some((form, PublicKey::point(algorithm, point).ok()?))
}

fn native(family: Family, string: &[u8]) -> Option<(Form, PublicKey)> {
    let key = PublicKey::point(Algorithm::of(family)?, string).ok()?;
    Some((Form::String, key))
}

/// Splits numbers off, without their leading zeros.
fn numbers<'a, const N: usize>(octets: &mut &'a [u8]) -> Option<[&'a [u8]; N]> {
    let mut numbers = [&[][..]; N];
    for number in &mut numbers {
        let octets = mpi(octets)?;
        let zeros = octets.iter().take_while(|octet| **octet == 0).count();
        *number = octets.get(zeros..)?;
    }
    Some(numbers)
}

fn bits(number: &[u8]) -> u32 {
    let zeros = number.first().map_or(0, |octet| octet.leading_zeros());
    number.len() as u32 * 8 - zeros
}
