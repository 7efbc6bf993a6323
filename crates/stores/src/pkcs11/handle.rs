//! One worker's way to a key: a session of its own, and what is timed in it.
//!
//! `C_SignInit` belongs to the operation, as there is no signature without it. What a key agreement yields is read
//! afterwards (`collect`); hashing and DigestInfo come before (`arm`). Sessions of a token that limits them are
//! opened when a block begins and closed when it ends, so that the cases of a run are not in each other's way.

use std::sync::Arc;

use cryptoki::object::ObjectHandle;
use cryptoki::session::Session;
use keymark_bench::error::Error;
use keymark_bench::store::Capability;
use keymark_bench::workload::{Input, KeyHandle, Performed};
use keymark_native::cryptoki::{Derived, Fault, Mechanism, Operator};

use super::capabilities::{Work, asked_for};
use super::codes::{refused, refused_oaep};
use super::keys::{self, KeyPin};
use super::token::Token;
use super::uri::ObjectPart;
use crate::scheme::Scheme;
use crate::store::unsupported;

/// Before a SHA-256 digest that RSA signs: its DigestInfo (RFC 8017 §9.2).
const SHA256_INFO: [u8; 19] = [
    0x30, 0x31, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05,
    0x00, 0x04, 0x20,
];

/// What finds a key.
#[derive(Debug)]
pub(super) enum FoundBy {
    /// It is on the token.
    Object(ObjectPart),
    /// `CKA_ID` of a test key in a session of this process.
    TestKey(Vec<u8>),
}

impl FoundBy {
    fn in_session(&self, session: &Session) -> Result<(ObjectHandle, KeyPin), Error> {
        match self {
            Self::Object(object) => keys::one(session, object),
            Self::TestKey(id) => Ok((keys::of_id(session, id)?, KeyPin::Once)),
        }
    }
}

/// The handle.
#[derive(Debug)]
pub(super) struct SessionHandle {
    /// Whose other session has logged in, and may have the test key.
    token: Arc<Token>,
    /// Good in all sessions of this process (PKCS#11 3.1 §5.6).
    key: ObjectHandle,
    pin: KeyPin,
    held: Held,
    operator: Option<Operator>,
    work: Work,
    data: Vec<u8>,
    derived: Option<Derived>,
}

/// How long the handle has a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Held {
    Always,
    /// Of a token with few sessions: for each block anew, so that the cases of a run are not in each other's way.
    InBlocks,
}

impl SessionHandle {
    /// The key that is found in a session of its own, and what is asked of it.
    pub(super) fn of(
        token: Arc<Token>,
        found_by: &FoundBy,
        capability: Capability,
        scheme: Option<Scheme>,
    ) -> Result<Self, Error> {
        let work = Work::of(capability, scheme).ok_or_else(|| {
            let by = scheme.map_or_else(|| "PKCS#11".to_owned(), |by| format!("PKCS#11 by {by}"));
            unsupported(by, asked_for(capability))
        })?;
        let session = token.session()?;
        let (key, pin) = found_by.in_session(&session)?;
        let held = if token.counts_sessions()? {
            Held::InBlocks
        } else {
            Held::Always
        };
        let mut handle = Self {
            token,
            key,
            pin,
            held,
            operator: None,
            work,
            data: Vec::new(),
            derived: None,
        };
        match held {
            Held::Always => handle.operator = Some(handle.operator_in(session)?),
            Held::InBlocks => {}
        }
        Ok(handle)
    }

    /// The key in that session, with the PIN where it wants that at each use.
    fn operator_in(&self, session: Session) -> Result<Operator, Error> {
        let operator = Operator::new(self.token.module().calls, session, self.key);
        match self.pin {
            KeyPin::Once => Ok(operator),
            KeyPin::EachUse => Ok(operator.with_pin(self.token.pin_each_use()?)),
        }
    }

    fn performed(&self, result: Result<usize, Fault>) -> Result<Performed, Error> {
        match result {
            Ok(length) => Ok(Performed { length, cpu: None }),
            Err(fault) => {
                let error = if let Work::Decrypt(Mechanism::RsaOaepSha256) = self.work {
                    refused_oaep(fault)
                } else {
                    refused(fault)
                };
                if let (KeyPin::EachUse, "C_Login") = (self.pin, fault.call) {
                    self.token.refused_later(&error);
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
        match self.pin {
            KeyPin::Once => {}
            // It is sent many times in a block, if another program has not used up its tries by then.
            KeyPin::EachUse => self.token.may_send_again()?,
        }
        match self.held {
            Held::Always => {}
            Held::InBlocks => self.operator = Some(self.operator_in(self.token.session()?)?),
        }
        Ok(())
    }

    fn leave(&mut self) -> Result<(), Error> {
        match self.held {
            Held::Always => {}
            Held::InBlocks => self.operator = None,
        }
        Ok(())
    }

    fn arm(&mut self, input: &Input) -> Result<(), Error> {
        match self.pin {
            KeyPin::Once => {}
            KeyPin::EachUse => self.token.was_not_refused()?,
        }
        self.data.clear();
        if let Work::Sign(Mechanism::RsaPkcs) = self.work {
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
