//! One worker's way to a key: a session of its own, and what is timed in it.

use std::sync::Arc;

use keymark_bench::algorithm::Family;
use keymark_bench::error::Error;
use keymark_bench::operation::Operation;
use keymark_bench::store::Capability;
use keymark_bench::workload::{Input, KeyHandle, Performed};
use keymark_cryptoki::{Derived, Fault, ObjectHandle, Operator, Signs};

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
    Decrypt,
    /// A shared secret of that length.
    Derive(usize),
}

impl Work {
    fn of(capability: Capability) -> Result<Self, Error> {
        let family = capability.algorithm.family();
        match (family, capability.operation) {
            (Family::Rsa(_), Operation::Sign) => Ok(Self::Sign(Signs::RsaPkcs)),
            (Family::Weierstrass(_), Operation::Sign) => Ok(Self::Sign(Signs::Ecdsa)),
            (Family::Ed25519 | Family::Ed448, Operation::Sign) => Ok(Self::Sign(Signs::Eddsa)),
            (Family::Rsa(_), Operation::Decrypt) => Ok(Self::Decrypt),
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
    operator: Option<Operator>,
    /// Of a token with few sessions: what is opened for each block anew, so that the cases of a run are not in
    /// each other's way.
    borrowed: Option<Borrowed>,
    work: Work,
    data: Vec<u8>,
    derived: Option<Derived>,
    /// In a process of its own: the token, whose other session has logged in and holds the test key.
    _token: Option<Arc<Token>>,
}

/// What a session is opened with.
#[derive(Debug)]
pub(super) struct Borrowed {
    pub(super) token: Arc<Token>,
    /// Good in all sessions of this process (PKCS#11 3.1 §5.6).
    pub(super) key: ObjectHandle,
}

impl SessionHandle {
    /// Without a session, but for the time of a block.
    pub(super) fn borrowing(borrowed: Borrowed, capability: Capability) -> Result<Self, Error> {
        Ok(Self {
            operator: None,
            borrowed: Some(borrowed),
            work: Work::of(capability)?,
            data: Vec::new(),
            derived: None,
            _token: None,
        })
    }

    pub(super) fn new(operator: Operator, capability: Capability) -> Result<Self, Error> {
        Ok(Self {
            operator: Some(operator),
            borrowed: None,
            work: Work::of(capability)?,
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

fn not_entered() -> Error {
    Error::call("using a session", "none was opened", "")
}

fn performed(result: Result<usize, Fault>) -> Result<Performed, Error> {
    match result {
        Ok(length) => Ok(Performed { length, cpu: None }),
        Err(fault) => Err(refused(fault)),
    }
}

impl KeyHandle for SessionHandle {
    fn enter(&mut self) -> Result<(), Error> {
        if let Some(Borrowed { token, key }) = &self.borrowed {
            let session = token.session()?;
            self.operator = Some(Operator::new(token.module().calls, session, *key));
        }
        Ok(())
    }

    fn leave(&mut self) -> Result<(), Error> {
        if self.borrowed.is_some() {
            self.operator = None;
        }
        Ok(())
    }

    fn arm(&mut self, input: &Input) -> Result<(), Error> {
        self.data.clear();
        if let Work::Sign(Signs::RsaPkcs) = self.work {
            self.data.extend(SHA256_INFO);
        }
        self.data.extend(&input.bytes);
        Ok(())
    }

    fn perform(&mut self, _: &Input, output: &mut [u8]) -> Result<Performed, Error> {
        let operator = self.operator.as_mut().ok_or_else(not_entered)?;
        match self.work {
            Work::Sign(by) => performed(operator.sign(by, &self.data, output)),
            Work::Decrypt => performed(operator.decrypt(&self.data, output)),
            Work::Derive(length) => {
                let derived = operator.derive(&self.data, length);
                self.derived = Some(derived.map_err(refused)?);
                Ok(Performed::default())
            }
        }
    }

    /// The secret of a key agreement is the token's until it is asked for, which is no private-key operation.
    fn collect(&mut self, performed: Performed, output: &mut [u8]) -> Result<usize, Error> {
        match self.derived.take() {
            None => Ok(performed.length),
            Some(derived) => {
                let operator = self.operator.as_mut().ok_or_else(not_entered)?;
                operator.take_value(derived, output).map_err(refused)
            }
        }
    }
}
