//! Identity of a server: its certificates, and the places of their private keys.

use std::sync::Arc;

use keymark_bench::{Algorithm, Curve, During as _, Error, Family};
use keymark_load::ClientIdentity;
use keymark_stores::pkcs11::{ProgramKey, is_known_to_programs};
use keymark_stores::test_key::TestKey;
use openssl::pkey::{PKey, PKeyRef, Private, Public};
use openssl::x509::X509;

use crate::openssl::TokenWay;
use crate::tls::servers::certificate::{self, Authority, Purpose, private_key};
use crate::tls::servers::impossible;
use crate::tls::servers::kind::InstalledServer;
use crate::tls::servers::token::{self, Tracing};

#[derive(Clone)]
pub(crate) enum PrivateKey {
    File(PKey<Private>),
    Token(Arc<ProgramKey>, TokenWay),
}

/// A certificate with its private key.
#[derive(Clone, derive_more::Debug)]
#[debug("Identity({algorithm}, {:?})", self.way())]
pub struct Identity {
    /// Algorithm of the key.
    pub algorithm: Algorithm,
    /// The server's certificate.
    pub certificate: X509,
    /// Certificate that a client has to trust.
    pub authority: X509,
    /// Counting of the server's calls for a key on a token.
    pub tracing: Tracing,
    pub(crate) key: PrivateKey,
}

impl Identity {
    /// A test key that a server or client gets as a file, with a new certificate.
    ///
    /// # Errors
    /// When no certificate for TLS can have such a key.
    pub fn in_file(key: &TestKey, purpose: Purpose) -> Result<Self, Error> {
        let private = private_key(key)?;
        let public = private
            .public_key_to_der()
            .and_then(|der| PKey::public_key_from_der(&der))
            .during("i2d_PUBKEY")?;
        Self::certified(key.algorithm, &public, PrivateKey::File(private), purpose)
    }

    fn certified(
        algorithm: Algorithm,
        public: &PKeyRef<Public>,
        key: PrivateKey,
        purpose: Purpose,
    ) -> Result<Self, Error> {
        let authority = Authority::signing_for(algorithm)?;
        Ok(Self {
            algorithm,
            certificate: authority.issue(public, purpose)?,
            authority: authority.certificate().clone(),
            tracing: Tracing::Off,
            key,
        })
    }

    /// A new key in a file.
    ///
    /// # Errors
    /// When no certificate for TLS can have such a key.
    pub fn generate(algorithm: Algorithm, purpose: Purpose) -> Result<Self, Error> {
        // Asked first: a large key takes its time.
        certificate::check(algorithm)?;
        Self::in_file(&TestKey::generate(algorithm)?, purpose)
    }

    /// The certificate as a client has it; none with a key on a token.
    pub fn client(&self) -> Option<ClientIdentity> {
        match &self.key {
            PrivateKey::File(key) => Some(ClientIdentity {
                algorithm: self.algorithm,
                certificate: self.certificate.clone(),
                key: key.clone(),
            }),
            PrivateKey::Token(..) => None,
        }
    }

    /// A key on a token, with a new certificate. The installed program `openssl` loads the key once with what the server
    /// will use, so that a wrong PIN is tried once and no server tries it again.
    ///
    /// # Errors
    /// When the way cannot have such a key, or the token refuses.
    pub fn on_token(
        server: &InstalledServer,
        algorithm: Algorithm,
        key: ProgramKey,
        way: TokenWay,
    ) -> Result<Self, Error> {
        // libp11 0.4.12 has RSA and ECDSA, and no EdDSA.
        if way == TokenWay::Engine && !is_known_to_programs(algorithm.family()) {
            return Err(impossible(format!(
                "a {algorithm} key on a token is impossible through the engine: libp11 supports RSA and the NIST curves"
            )));
        }
        certificate::check(algorithm)?;
        let public = token::public_key(server, &key, way)?;
        let key = PrivateKey::Token(Arc::new(key), way);
        Self::certified(algorithm, &public, key, Purpose::Server)
    }

    /// Way of the server to the private key; none where it is in a file.
    pub fn way(&self) -> Option<TokenWay> {
        self.token().map(|(_, way)| way)
    }

    pub(crate) fn token(&self) -> Option<(&ProgramKey, TokenWay)> {
        match &self.key {
            PrivateKey::File(_) => None,
            PrivateKey::Token(key, way) => Some((key, *way)),
        }
    }
}

/// Certificates of a host: one, or an ECDSA one with an RSA one for old clients.
#[derive(Debug, Clone)]
pub struct Certificates {
    /// The only one, or the RSA one.
    pub first: Identity,
    second: Option<Identity>,
}

impl Certificates {
    /// Creates a set of one.
    pub const fn one(identity: Identity) -> Self {
        Self {
            first: identity,
            second: None,
        }
    }

    /// Two, in either order.
    ///
    /// # Errors
    /// When they are not an RSA and an ECDSA one.
    pub fn of_two(one: Identity, other: Identity) -> Result<Self, Error> {
        Self::check_two(one.algorithm, other.algorithm)?;
        let (first, second) = if matches!(one.algorithm.family(), Family::Rsa(_)) {
            (one, other)
        } else {
            (other, one)
        };
        Ok(Self {
            first,
            second: Some(second),
        })
    }

    /// Checks whether two such keys are a pair.
    pub(crate) fn check_two(one: Algorithm, other: Algorithm) -> Result<(), Error> {
        let is_rsa = |of: Algorithm| matches!(of.family(), Family::Rsa(_));
        let is_ecdsa = |of: Algorithm| {
            let curve = Family::Weierstrass(Curve::NistP256);
            of.family() == curve || of.family() == Family::Weierstrass(Curve::NistP384)
        };
        let pair = is_rsa(one) && is_ecdsa(other) || is_ecdsa(one) && is_rsa(other);
        pair.then_some(()).ok_or_else(|| {
            impossible(format!(
                "two certificates on one host must be an RSA and an ECDSA one, not {one} and {other}"
            ))
        })
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Identity> {
        std::iter::once(&self.first).chain(&self.second)
    }
}
