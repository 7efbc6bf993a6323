//! One worker's way to a key: a session of its own, and what is timed in it.

use std::sync::Arc;

use cryptoki::object::ObjectHandle;
use cryptoki::session::Session;
use keymark_bench::algorithm::{Digest, Family};
use keymark_bench::case::Scheme;
use keymark_bench::error::Error;
use keymark_bench::operation::Operation;
use keymark_bench::store::Capability;
use keymark_bench::workload::{Input, KeyHandle, Performed};
use keymark_cryptoki::{Decrypts, Derived, Fault, Operator, Signs};

use super::codes::{refused, refused_oaep};
use super::keys::{KeyPin, secret_length};
use super::offers::asked_for;
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
    /// The same by a key encapsulation.
    Decapsulate(usize),
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
            (Family::MlDsa(_), Operation::Sign) => Ok(Self::Sign(Signs::MlDsa)),
            (Family::MlKem(_), Operation::Decapsulate) => {
                Ok(Self::Decapsulate(secret_length(family)))
            }
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

/// A worker's way to a key, before it is known what the key is asked.
pub(super) struct OpenKey {
    operator: Option<Operator>,
    borrowed: Option<Borrowed>,
    each_use: Option<Arc<Token>>,
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
    /// Of a key that wants the PIN at each use: the token, which knows whether it may be sent.
    each_use: Option<Arc<Token>>,
    /// In a process of its own: the token, whose other session has logged in and holds the test key.
    _token: Option<Arc<Token>>,
}

/// What a session is opened with.
#[derive(Debug)]
struct Borrowed {
    token: Arc<Token>,
    /// Good in all sessions of this process (PKCS#11 3.1 §5.6).
    key: ObjectHandle,
    pin: KeyPin,
}

/// The key in that session, with the PIN where it wants that at each use.
fn operator(
    token: &Token,
    session: Session,
    (key, pin): (ObjectHandle, KeyPin),
) -> Result<Operator, Error> {
    let operator = Operator::new(token.module().calls, session, key);
    match pin {
        KeyPin::Once => Ok(operator),
        KeyPin::EachUse => Ok(operator.with_pin(token.pin_each_use()?)),
    }
}

fn each_use(token: &Arc<Token>, pin: KeyPin) -> Option<Arc<Token>> {
    match pin {
        KeyPin::Once => None,
        KeyPin::EachUse => Some(Arc::clone(token)),
    }
}

impl OpenKey {
    /// In a session of its own, which it keeps.
    pub(super) fn of(
        token: &Arc<Token>,
        session: Session,
        (key, pin): (ObjectHandle, KeyPin),
    ) -> Result<Self, Error> {
        Ok(Self {
            operator: Some(operator(token, session, (key, pin))?),
            borrowed: None,
            each_use: each_use(token, pin),
        })
    }

    /// Without a session, but for the time of a block.
    pub(super) fn borrowing(token: &Arc<Token>, (key, pin): (ObjectHandle, KeyPin)) -> Self {
        Self {
            operator: None,
            borrowed: Some(Borrowed {
                token: Arc::clone(token),
                key,
                pin,
            }),
            each_use: each_use(token, pin),
        }
    }

    /// What a worker does with it.
    pub(super) fn doing(
        self,
        capability: Capability,
        scheme: Option<Scheme>,
    ) -> Result<SessionHandle, Error> {
        Ok(SessionHandle {
            operator: self.operator,
            borrowed: self.borrowed,
            work: Work::of(asked_for(capability), scheme)?,
            data: Vec::new(),
            derived: None,
            each_use: self.each_use,
            _token: None,
        })
    }
}

impl SessionHandle {
    /// The same, which nobody else keeps the token for.
    pub(super) fn keeping(self, token: Arc<Token>) -> Self {
        Self {
            _token: Some(token),
            ..self
        }
    }

    fn performed(&self, result: Result<usize, Fault>) -> Result<Performed, Error> {
        match result {
            Ok(length) => Ok(Performed { length, cpu: None }),
            Err(fault) => {
                let error = match self.work {
                    Work::Decrypt(Decrypts::RsaOaepSha256) => refused_oaep(fault),
                    Work::Decrypt(Decrypts::RsaPkcs | Decrypts::RsaOaepSha1)
                    | Work::Sign(_)
                    | Work::Derive(_)
                    | Work::Decapsulate(_) => refused(fault),
                };
                if let (Some(token), "C_Login") = (&self.each_use, fault.call) {
                    token.refused_later(&error);
                }
                Err(error)
            }
        }
    }
}

fn not_entered() -> Error {
    Error::call("using a session", "none was opened", "")
}

impl KeyHandle for SessionHandle {
    fn enter(&mut self) -> Result<(), Error> {
        // A PIN is sent many times in a block, if another program has not used up its tries by then.
        if let Some(token) = &self.each_use {
            token.may_send_again()?;
        }
        if let Some(Borrowed { token, key, pin }) = &self.borrowed {
            self.operator = Some(operator(token, token.session()?, (*key, *pin))?);
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
        if let Some(token) = &self.each_use {
            token.was_not_refused()?;
        }
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
            Work::Sign(by) => {
                let signed = operator.sign(by, &self.data, output);
                self.performed(signed)
            }
            Work::Decrypt(by) => {
                let decrypted = operator.decrypt(by, &self.data, output);
                self.performed(decrypted)
            }
            Work::Derive(length) => {
                let derived = operator.derive(&self.data, length);
                self.derived = Some(derived.map_err(refused)?);
                Ok(Performed::default())
            }
            Work::Decapsulate(length) => {
                let derived = operator.decapsulate(&self.data, length);
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
