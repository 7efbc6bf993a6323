//! One worker's way to a key: a session of its own, and what is timed in it.

use std::sync::Arc;

use keymark_bench::algorithm::{Digest, Family};
use keymark_bench::case::Scheme;
use keymark_bench::error::Error;
use keymark_bench::operation::Operation;
use keymark_bench::store::Capability;
use keymark_bench::workload::{Input, KeyHandle, Performed};
use keymark_cryptoki::{Decrypts, Derived, Fault, Operator, Signs};

use super::codes::refused;
use super::keys::secret_length;
use super::token::Token;
use crate::store::unsupported;

/// Before a SHA-256 digest that RSA signs: its DigestInfo (RFC 8017 §9.2).
const SHA256_INFO: [u8; 19] = [
    0x30, 0x31, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05,
    0x00, 0x04, 0x20,
];

/// What is asked of the key.
#[derive(Debug, Clone, Copy)]
enum Work {
    Sign(Signs),
    Decrypt(Decrypts),
    /// A shared secret of that length.
    Derive(usize),
}

impl Work {
    fn of(capability: Capability, scheme: Option<Scheme>) -> Result<Self, Error> {
        match scheme {
            None => Self::usual(capability),
            Some(scheme) => Self::by(capability, scheme)
                .filter(|_| scheme.is_of(capability))
                .ok_or_else(|| unsupported(format!("PKCS#11 by {scheme}"), capability)),
        }
    }

    fn by(capability: Capability, scheme: Scheme) -> Option<Self> {
        let of_rsa = matches!(capability.algorithm.family(), Family::Rsa(_));
        match (scheme, capability.algorithm.digest()) {
            (Scheme::Pss, _) => Some(Self::Sign(Signs::RsaPss)),
            (Scheme::Oaep, _) => Some(Self::Decrypt(Decrypts::RsaOaepSha256)),
            (Scheme::OaepSha1, _) => Some(Self::Decrypt(Decrypts::RsaOaepSha1)),
            (Scheme::PssHashed, _) => Some(Self::Sign(Signs::Sha256RsaPss)),
            (Scheme::Hashed, _) if of_rsa => Some(Self::Sign(Signs::Sha256RsaPkcs)),
            (Scheme::Hashed, Some(Digest::Sha256)) => Some(Self::Sign(Signs::EcdsaSha256)),
            (Scheme::Hashed, Some(Digest::Sha384)) => Some(Self::Sign(Signs::EcdsaSha384)),
            (Scheme::Hashed, Some(Digest::Sha512)) => Some(Self::Sign(Signs::EcdsaSha512)),
            (Scheme::Hashed, None) => None,
        }
    }

    fn usual(capability: Capability) -> Result<Self, Error> {
        let family = capability.algorithm.family();
        match (family, capability.operation) {
            (Family::Rsa(_), Operation::Sign) => Ok(Self::Sign(Signs::RsaPkcs)),
            (Family::Weierstrass(_), Operation::Sign) => Ok(Self::Sign(Signs::Ecdsa)),
            (Family::Ed25519 | Family::Ed448, Operation::Sign) => Ok(Self::Sign(Signs::Eddsa)),
            (Family::Rsa(_), Operation::Decrypt) => Ok(Self::Decrypt(Decrypts::RsaPkcs)),
            (Family::Weierstrass(_) | Family::Cv25519 | Family::Cv448, Operation::Decrypt) => {
                Ok(Self::Derive(secret_length(family)))
            }
            (_, Operation::Sign | Operation::Decrypt)
            | (_, Operation::Authenticate | Operation::Decapsulate | Operation::Handshake) => {
                Err(unsupported("PKCS#11", capability))
            }
        }
    }
}

/// The handle.
#[derive(Debug)]
pub(super) struct SessionHandle {
    operator: Operator,
    work: Work,
    data: Vec<u8>,
    derived: Option<Derived>,
    /// In a process of its own: the token, whose other session has logged in and holds the test key.
    _token: Option<Arc<Token>>,
}

impl SessionHandle {
    pub(super) fn new(
        operator: Operator,
        capability: Capability,
        scheme: Option<Scheme>,
    ) -> Result<Self, Error> {
        Ok(Self {
            operator,
            work: Work::of(capability, scheme)?,
            data: Vec::new(),
            derived: None,
            _token: None,
        })
    }

    /// The same, which nobody else keeps the token for.
    pub(super) fn keeping(self, token: Arc<Token>) -> Self {
        Self {
            _token: Some(token),
            ..self
        }
    }
}

fn performed(result: Result<usize, Fault>) -> Result<Performed, Error> {
    match result {
        Ok(length) => Ok(Performed { length, cpu: None }),
        Err(fault) => Err(refused(fault)),
    }
}

impl KeyHandle for SessionHandle {
    fn arm(&mut self, input: &Input) -> Result<(), Error> {
        self.data.clear();
        if let Work::Sign(Signs::RsaPkcs) = self.work {
            self.data.extend(SHA256_INFO);
        }
        self.data.extend(&input.bytes);
        Ok(())
    }

    fn perform(&mut self, _: &Input, output: &mut [u8]) -> Result<Performed, Error> {
        match self.work {
            Work::Sign(by) => performed(self.operator.sign(by, &self.data, output)),
            Work::Decrypt(by) => performed(self.operator.decrypt(by, &self.data, output)),
            Work::Derive(length) => {
                let derived = self.operator.derive(&self.data, length);
                self.derived = Some(derived.map_err(refused)?);
                Ok(Performed::default())
            }
        }
    }

    /// The secret of a key agreement is the token's until it is asked for, which is no private-key operation.
    fn collect(&mut self, performed: Performed, output: &mut [u8]) -> Result<usize, Error> {
        match self.derived.take() {
            None => Ok(performed.length),
            Some(derived) => self.operator.take_value(derived, output).map_err(refused),
        }
    }
}
