//! One worker's way to a key: a session of its own, and what is timed in it.
//!
//! `C_SignInit` belongs to the operation, as there is no signature without it. What a key agreement yields is read
//! afterwards (`collect`); hashing and DigestInfo come before (`arm`). Sessions of a token that limits them are
//! opened when a block begins and closed when it ends, so that the cases of a run are not in each other's way.

use std::sync::Arc;

use cryptoki::object::ObjectHandle;
use cryptoki::session::Session;
use keymark_bench::Error;
use keymark_bench::store::Capability;
use keymark_bench::workload::{Input, KeyHandle, Performed};
use keymark_native::cryptoki::{Derived, Fault, Mechanism, Operator};
use zeroize::Zeroizing;

use super::capabilities::{Work, asked_for};
use super::codes::{refused, refused_oaep};
use super::keys::{self, KeyPin};
use super::token::Token;
use super::uri::ObjectPart;
use crate::scheme::{SHA256_DIGEST_INFO, Scheme};
use crate::store::unsupported;

/// The handle.
#[derive(Debug)]
pub(super) struct SessionHandle {
    /// Whose other session has logged in, and may have the test key.
    token: Arc<Token>,
    /// Good in all sessions of this process (PKCS#11 3.1 §5.6).
    key: ObjectHandle,
    pin: KeyPin,
    /// Of a token with few sessions it has one for each block anew, so that the cases of a run are not in each other's way;
    /// else for the case.
    per_block: bool,
    operator: Option<Operator>,
    work: Work,
    data: Vec<u8>,
    derived: Option<Derived>,
}

impl SessionHandle {
    /// The key that is found in a session of its own, and what is asked of it.
    pub(super) fn of(
        token: Arc<Token>,
        object: &ObjectPart,
        capability: Capability,
        scheme: Option<Scheme>,
    ) -> Result<Self, Error> {
        let work = Work::of(capability, scheme).ok_or_else(|| {
            let by = scheme.map_or_else(|| "PKCS#11".to_owned(), |by| format!("PKCS#11 by {by}"));
            unsupported(by, asked_for(capability))
        })?;
        let session = token.session()?;
        let (key, pin) = keys::one(&session, object)?;
        let per_block = token.counts_sessions()?;
        let mut handle = Self {
            token,
            key,
            pin,
            per_block,
            operator: None,
            work,
            data: Vec::new(),
            derived: None,
        };
        if !per_block {
            handle.operator = Some(handle.operator_in(session)?);
        }
        Ok(handle)
    }

    /// The key in that session, with the PIN where it wants that at each use.
    fn operator_in(&self, session: Session) -> Result<Operator, Error> {
        let pin = match self.pin {
            KeyPin::Once => None,
            KeyPin::EachUse => Some(self.token.pin_each_use()?),
        };
        Ok(Operator {
            calls: self.token.module.calls,
            session,
            key: self.key,
            pin: pin.map(|pin| Zeroizing::new(pin.expose().to_owned())),
        })
    }

    fn performed(&self, result: Result<usize, Fault>) -> Result<Performed, Error> {
        match result {
            Ok(length) => Ok(Performed { length, cpu: None }),
            Err(fault) => {
                let is_oaep = self.work == Work::Decrypt(Mechanism::RsaOaepSha256);
                let explained = if is_oaep { refused_oaep } else { refused };
                let error = explained(fault);
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
        if self.pin == KeyPin::EachUse {
            // It is sent many times in a block, if another program has not used up its tries by then.
            self.token.may_send_again()?;
        }
        if self.per_block {
            self.operator = Some(self.operator_in(self.token.session()?)?);
        }
        Ok(())
    }

    fn leave(&mut self) -> Result<(), Error> {
        if self.per_block {
            self.operator = None;
        }
        Ok(())
    }

    fn arm(&mut self, input: &Input) -> Result<(), Error> {
        if self.pin == KeyPin::EachUse {
            self.token.was_not_refused()?;
        }
        self.data.clear();
        if let Work::Sign(Mechanism::RsaPkcs) = self.work {
            self.data.extend(SHA256_DIGEST_INFO);
        }
        self.data.extend(&input.bytes);
        Ok(())
    }

    fn perform(&mut self, _: &Input, output: &mut [u8]) -> Result<Performed, Error> {
        let operator = self.operator.as_mut().ok_or_else(not_entered)?;
        let data = &self.data;
        // No octet of a secret is there yet.
        let keep = |secret| {
            self.derived = Some(secret);
            0
        };
        let done = match self.work {
            Work::Sign(by) => operator.sign(by, data, output),
            Work::Decrypt(by) => operator.decrypt(by, data, output),
            Work::Derive(length) => operator.derive(data, length).map(keep),
            Work::Decapsulate(length) => operator.decapsulate(data, length).map(keep),
        };
        self.performed(done)
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
