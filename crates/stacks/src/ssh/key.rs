//! Keys as SSH has them, and how each kind signs.

use keymark_bench::algorithm::{Algorithm, Curve, Family};
use keymark_bench::error::Error;
use keymark_bench::operation::Operation;
use keymark_stores::public_key::PublicKey;
use keymark_stores::test_key::TestKey;
use openssl::bn::{BigNumContext, BigNumRef};
use openssl::ec::{EcKeyRef, PointConversionForm};
use openssl::error::ErrorStack;
use openssl::hash::MessageDigest;
use openssl::pkey::{HasPublic, PKey, Private, Public};
use openssl::rsa::RsaRef;
use ssh_encoding::{Decode, Encode};
use ssh_key::private::{
    EcdsaKeypair, Ed25519Keypair, Ed25519PrivateKey, KeypairData, RsaKeypair, RsaPrivateKey,
};
use ssh_key::public::{EcdsaPublicKey, Ed25519PublicKey, KeyData, RsaPublicKey};
use ssh_key::{EcdsaCurve, Mpint};

/// How a key signs.
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
    /// That of an algorithm's keys, if OpenSSH takes them.
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

    /// What a request has to say for the agent to sign so: `SSH_AGENT_RSA_SHA2_256`.
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
    Scheme::of(algorithm).ok_or_else(|| Error::Unsupported {
        by: "SSH".to_owned(),
        operation: Operation::Authenticate,
        algorithm,
    })
}

/// A public key as SSH has it.
pub fn public(key: &PublicKey) -> Result<ssh_key::PublicKey, Error> {
    let scheme = scheme(key.algorithm())?;
    let data = key
        .spki_der()
        .and_then(|der| PKey::public_key_from_der(&der))
        .map_err(Unconverted::from)
        .and_then(|key| public_data(scheme, &key))?;
    Ok(ssh_key::PublicKey::new(data, COMMENT))
}

/// A private key as an agent is given it.
pub fn private(key: &TestKey) -> Result<ssh_key::PrivateKey, Error> {
    let scheme = scheme(key.algorithm)?;
    let der = key.pkcs8_der()?;
    let data = PKey::private_key_from_pkcs8(&der)
        .map_err(Unconverted::from)
        .and_then(|key| private_data(scheme, &key))?;
    Ok(ssh_key::PrivateKey::new(data, COMMENT).map_err(Unconverted::from)?)
}

/// The comment by which `ssh-add -l` shows a key.
const COMMENT: &str = "keymark test key";

/// Why a key of a right algorithm has no SSH form.
#[derive(Debug, thiserror::Error)]
enum Unconverted {
    #[error("{0}")]
    OpenSsl(#[from] ErrorStack),
    #[error("{0}")]
    Ssh(#[from] ssh_key::Error),
    #[error("it has no primes")]
    NoPrimes,
    #[error("it has {0} bytes, not 32")]
    Length(usize),
}

impl From<Unconverted> for Error {
    fn from(reason: Unconverted) -> Self {
        Self::call("converting a key for SSH", reason, "")
    }
}

fn public_data(scheme: Scheme, key: &PKey<Public>) -> Result<KeyData, Unconverted> {
    Ok(match scheme {
        Scheme::RsaSha2_256 => rsa_public(&*key.rsa()?)?.into(),
        Scheme::Ecdsa(_) => ecdsa_public(&*key.ec_key()?)?.into(),
        Scheme::Ed25519 => Ed25519PublicKey(octets(&key.raw_public_key()?)?).into(),
    })
}

fn private_data(scheme: Scheme, key: &PKey<Private>) -> Result<KeypairData, Unconverted> {
    Ok(match scheme {
        Scheme::RsaSha2_256 => {
            let rsa = key.rsa()?;
            let of_crt = |number: Option<&BigNumRef>| mpint(number.ok_or(Unconverted::NoPrimes)?);
            let private = RsaPrivateKey {
                d: mpint(rsa.d())?,
                iqmp: of_crt(rsa.iqmp())?,
                p: of_crt(rsa.p())?,
                q: of_crt(rsa.q())?,
            };
            let public = rsa_public(&*rsa)?;
            RsaKeypair { public, private }.into()
        }
        Scheme::Ecdsa(_) => {
            let ec = key.ec_key()?;
            let length = ec.group().degree().div_ceil(8);
            let scalar = ec.private_key().to_vec_padded(length.cast_signed())?;
            // The only way in without the arithmetic of the crate's own.
            let mut wire = Vec::new();
            ecdsa_public(&*ec)?
                .encode(&mut wire)
                .and_then(|()| scalar.encode(&mut wire))
                .map_err(ssh_key::Error::from)?;
            EcdsaKeypair::decode(&mut wire.as_slice())?.into()
        }
        Scheme::Ed25519 => Ed25519Keypair {
            public: Ed25519PublicKey(octets(&key.raw_public_key()?)?),
            private: Ed25519PrivateKey::from_bytes(&octets(&key.raw_private_key()?)?),
        }
        .into(),
    })
}

fn rsa_public<T: HasPublic>(rsa: &RsaRef<T>) -> Result<RsaPublicKey, Unconverted> {
    Ok(RsaPublicKey {
        e: mpint(rsa.e())?,
        n: mpint(rsa.n())?,
    })
}

fn ecdsa_public<T: HasPublic>(ec: &EcKeyRef<T>) -> Result<EcdsaPublicKey, Unconverted> {
    let form = PointConversionForm::UNCOMPRESSED;
    let mut ctx = BigNumContext::new()?;
    let point = ec.public_key().to_bytes(ec.group(), form, &mut ctx)?;
    Ok(EcdsaPublicKey::from_sec1_bytes(&point)?)
}

fn mpint(number: &BigNumRef) -> Result<Mpint, Unconverted> {
    Ok(Mpint::from_positive_bytes(&number.to_vec())?)
}

fn octets(string: &[u8]) -> Result<[u8; 32], Unconverted> {
    string
        .try_into()
        .map_err(|_| Unconverted::Length(string.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(algorithm: &str) -> TestKey {
        TestKey::generate(algorithm.parse().unwrap()).unwrap()
    }

    #[test]
    fn the_private_half_belongs_to_the_public_one() {
        for algorithm in ["rsa2048", "nistp256", "nistp384", "nistp521", "ed25519"] {
            let key = key(algorithm);
            let public = public(&PublicKey::of(&key).unwrap()).unwrap();
            let private = private(&key).unwrap();
            assert_eq!(private.public_key(), &public, "{algorithm}");
        }
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
