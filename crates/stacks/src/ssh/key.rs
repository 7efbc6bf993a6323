//! Keys as SSH has them, and how each kind signs.

use keymark_bench::store::Capability;
use keymark_bench::{Algorithm, Curve, During as _, Error, Family, Operation};
use keymark_stores::public_key::PublicKey;
use keymark_stores::store::unsupported;
use keymark_stores::test_key::{Numbers, TestKey};
use openssl::bn::BigNumContext;
use openssl::ec::PointConversionForm;
use openssl::error::ErrorStack;
use openssl::hash::MessageDigest;
use openssl::pkey::PKey;
use ssh_encoding::{Decode, Encode};
use ssh_key::EcdsaCurve;
use ssh_key::private::KeypairData;
use ssh_key::public::KeyData;
use zeroize::Zeroizing;

/// Scheme of a key's signatures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// RFC 8332 §3; the one that ssh tries of those an agent's RSA key has.
    RsaSha2_256,
    /// RFC 5656 §3.1, on the curves that every SSH has (§10.1).
    Ecdsa(EcdsaCurve),
    /// RFC 8709 §6.
    Ed25519,
}

impl Scheme {
    /// Returns the scheme of an algorithm's keys, if OpenSSH takes them.
    #[allow(
        clippy::wildcard_enum_match_arm,
        reason = "OpenSSH has keys of three families"
    )]
    pub const fn of(algorithm: Algorithm) -> Option<Self> {
        match algorithm.family() {
            Family::Rsa(_) => Some(Self::RsaSha2_256),
            Family::Weierstrass(Curve::NistP256) => Some(Self::Ecdsa(EcdsaCurve::NistP256)),
            Family::Weierstrass(Curve::NistP384) => Some(Self::Ecdsa(EcdsaCurve::NistP384)),
            Family::Weierstrass(Curve::NistP521) => Some(Self::Ecdsa(EcdsaCurve::NistP521)),
            Family::Ed25519 => Some(Self::Ed25519),
            _ => None,
        }
    }

    /// The public key algorithm's name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::RsaSha2_256 => "rsa-sha2-256",
            Self::Ecdsa(EcdsaCurve::NistP256) => "ecdsa-sha2-nistp256",
            Self::Ecdsa(EcdsaCurve::NistP384) => "ecdsa-sha2-nistp384",
            Self::Ecdsa(EcdsaCurve::NistP521) => "ecdsa-sha2-nistp521",
            Self::Ed25519 => "ssh-ed25519",
        }
    }

    /// Returns the flags of a request to sign: `SSH_AGENT_RSA_SHA2_256`.
    pub const fn flags(self) -> u32 {
        match self {
            Self::RsaSha2_256 => 2,
            Self::Ecdsa(_) | Self::Ed25519 => 0,
        }
    }

    /// The digest that is signed in place of the data, where the data themselves are not.
    pub fn digest(self) -> Option<MessageDigest> {
        match self {
            Self::RsaSha2_256 | Self::Ecdsa(EcdsaCurve::NistP256) => Some(MessageDigest::sha256()),
            Self::Ecdsa(EcdsaCurve::NistP384) => Some(MessageDigest::sha384()),
            Self::Ecdsa(EcdsaCurve::NistP521) => Some(MessageDigest::sha512()),
            Self::Ed25519 => None,
        }
    }
}

/// The scheme of an algorithm's keys.
pub fn scheme(algorithm: Algorithm) -> Result<Scheme, Error> {
    let capability = Capability::new(algorithm, Operation::Authenticate);
    Scheme::of(algorithm).ok_or_else(|| unsupported("SSH", capability))
}

/// The comment by which `ssh-add -l` shows a key.
const COMMENT: &str = "keymark test key";
const CONVERTING: &str = "converting a key for SSH";

/// A public key as SSH has it.
pub fn public(key: &PublicKey) -> Result<ssh_key::PublicKey, Error> {
    let scheme = scheme(key.algorithm())?;
    let parts = key.spki_der().and_then(|der| public_parts(scheme, &der));
    let wire = wire(scheme, &parts.during(CONVERTING)?)?;
    let data = KeyData::decode(&mut wire.as_slice()).during(CONVERTING)?;
    Ok(ssh_key::PublicKey::new(data, COMMENT))
}

fn public_parts(scheme: Scheme, spki: &[u8]) -> Result<Vec<Vec<u8>>, ErrorStack> {
    let key = PKey::public_key_from_der(spki)?;
    Ok(match scheme {
        Scheme::RsaSha2_256 => {
            let rsa = key.rsa()?;
            [rsa.e(), rsa.n()]
                .map(|number| mpint(number.to_vec()))
                .into()
        }
        Scheme::Ecdsa(curve) => {
            let ec = key.ec_key()?;
            let (form, mut ctx) = (PointConversionForm::UNCOMPRESSED, BigNumContext::new()?);
            let point = ec.public_key().to_bytes(ec.group(), form, &mut ctx)?;
            vec![curve.as_str().into(), point]
        }
        Scheme::Ed25519 => vec![key.raw_public_key()?],
    })
}

/// A private key as an agent is given it.
pub fn private(key: &TestKey) -> Result<ssh_key::PrivateKey, Error> {
    let scheme = scheme(key.algorithm)?;
    let parts: Vec<Vec<u8>> = match (scheme, key.numbers()?) {
        // The primes are in libgcrypt's order, which is the other one.
        (_, Numbers::Rsa([n, e, d, p, q, u])) => [n, e, d, u, q, p].map(mpint).into(),
        (Scheme::Ecdsa(curve), Numbers::Weierstrass { point, d }) => {
            vec![curve.as_str().into(), point, d]
        }
        (_, Numbers::Raw { public, secret }) => vec![public.clone(), [secret, public].concat()],
        _ => return Err(Error::call(CONVERTING, "it has other numbers", "")),
    };
    let wire = Zeroizing::new(wire(scheme, &parts)?);
    KeypairData::decode(&mut wire.as_slice())
        .and_then(|data| ssh_key::PrivateKey::new(data, COMMENT))
        .during(CONVERTING)
}

/// A key on the wire: the name of its kind, and its parts as strings.
fn wire(scheme: Scheme, parts: &[Vec<u8>]) -> Result<Vec<u8>, Error> {
    let kind = match scheme {
        Scheme::RsaSha2_256 => "ssh-rsa",
        Scheme::Ecdsa(_) | Scheme::Ed25519 => scheme.name(),
    };
    let mut wire = Vec::new();
    kind.encode(&mut wire).during(CONVERTING)?;
    let written = parts.iter().try_for_each(|part| part.encode(&mut wire));
    written.during(CONVERTING)?;
    Ok(wire)
}

/// A number's octets, with a zero before a bit that would be its sign (RFC 4251 §5).
fn mpint(mut number: Vec<u8>) -> Vec<u8> {
    if number.first().is_some_and(|octet| octet & 0x80 != 0) {
        number.insert(0, 0);
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(algorithm: &str) -> TestKey {
        TestKey::generate(algorithm.parse().unwrap()).unwrap()
    }

    #[test]
    fn what_ssh_has_no_keys_of_is_refused() {
        let key = key("brainpoolp256r1");
        for error in [
            private(&key).unwrap_err(),
            public(&PublicKey::of(&key).unwrap()).unwrap_err(),
        ] {
            assert_eq!(
                error.to_string(),
                "SSH has no authenticate with brainpoolp256r1"
            );
        }
    }
}
