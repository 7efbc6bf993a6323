//! A worker's way to a key: a session of its own, and the timed call in it.
//!
//! `C_SignInit` belongs to the operation, as there is no signature without it. What a key agreement yields is read
//! afterwards (`collect`); hashing and DigestInfo come before (`arm`). Sessions of a token that limits them are
//! opened when a block begins and closed when it ends, so that the cases of a run are not in each other's way.

use std::ffi::c_ulong;
use std::sync::Arc;

use cryptoki::context::Function;
use cryptoki::error::{Error as CryptokiError, Result as Called};
use cryptoki::object::{Attribute, KeyType, ObjectClass, ObjectHandle};
use cryptoki::session::Session;
use cryptoki::types::{AuthPin, Ulong};
use keymark_bench::Error;
use keymark_bench::store::Capability;
use keymark_bench::workload::{Input, KeyHandle, Performed};
use keymark_native::cryptoki::{Mechanism, Operator};

use crate::pkcs11::module::codes::failed;
use crate::pkcs11::token::OpenToken;
use crate::pkcs11::token::capabilities::{Work, asked_for};
use crate::pkcs11::token::keys;
use crate::pkcs11_uri::ObjectPart;
use crate::scheme::{SHA256_DIGEST_INFO, Scheme};
use crate::store::unsupported;

/// The handle.
#[derive(Debug)]
pub(crate) struct SessionHandle {
    /// Token whose other session has logged in, and may have the test key.
    token: Arc<OpenToken>,
    /// Good in all sessions of this process (PKCS#11 3.1 §5.6).
    key: ObjectHandle,
    pin_each_use: bool,
    /// Set for a token with few sessions: there is a session for each block, so that the cases of a run are not in
    /// each other's way; else for the case.
    per_block: bool,
    operator: Option<Operator>,
    work: Work,
    /// Template of a shared secret.
    secret: Vec<Attribute>,
    data: Vec<u8>,
    derived: Option<ObjectHandle>,
}

impl SessionHandle {
    /// The key that is found in a session of its own, and what is asked of it.
    pub(crate) fn of(
        token: Arc<OpenToken>,
        object: &ObjectPart,
        capability: Capability,
        scheme: Option<Scheme>,
    ) -> Result<Self, Error> {
        let work = Work::of(capability, scheme).ok_or_else(|| {
            let by = scheme.map_or_else(|| "PKCS#11".to_owned(), |by| format!("PKCS#11 by {by}"));
            unsupported(by, asked_for(capability))
        })?;
        let session = token.session()?;
        let (key, info) = keys::one(&session, object)?;
        let per_block = token.counts_sessions()?;
        let mut handle = Self {
            token,
            key,
            pin_each_use: info.pin_each_use,
            per_block,
            operator: None,
            work,
            secret: secret(work),
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
        let pin = self.pin_each_use.then(|| self.token.pin_each_use());
        let pin = pin.transpose()?;
        Ok(Operator {
            calls: self.token.module.calls,
            session,
            key: self.key,
            pin: pin.map(|pin| AuthPin::from(pin.expose().to_owned())),
        })
    }

    fn performed(&self, result: Called<usize>) -> Result<Performed, Error> {
        result
            .map(|length| Performed { length, cpu: None })
            .map_err(|error| {
                let is_pin = matches!(error, CryptokiError::Pkcs11(_, Function::Login));
                let error = failed(error);
                if is_pin {
                    self.token.refused_later(&error);
                }
                error
            })
    }
}

fn secret(work: Work) -> Vec<Attribute> {
    let (Work::Derive(length) | Work::Decapsulate(length)) = work else {
        return Vec::new();
    };
    vec![
        Attribute::Class(ObjectClass::SECRET_KEY),
        Attribute::KeyType(KeyType::GENERIC_SECRET),
        Attribute::Token(false),
        Attribute::Sensitive(false),
        Attribute::Extractable(true),
        Attribute::ValueLen(Ulong::new(length as c_ulong)),
    ]
}

fn not_entered() -> Error {
    Error::call("using a session", "none was opened", "")
}

impl KeyHandle for SessionHandle {
    fn enter(&mut self) -> Result<(), Error> {
        if self.pin_each_use {
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
        if self.pin_each_use {
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
        let operator = self.operator.as_ref().ok_or_else(not_entered)?;
        let (data, secret) = (&self.data, &self.secret);
        // No octet of a secret is there yet.
        let keep = |derived| {
            self.derived = Some(derived);
            0
        };
        let done = match self.work {
            Work::Sign(by) => operator.sign(by, data, output),
            Work::Decrypt(by) => operator.decrypt(by, data, output),
            Work::Derive(_) => operator.derive(data, secret).map(keep),
            Work::Decapsulate(_) => operator.decapsulate(data, secret).map(keep),
        };
        self.performed(done)
    }

    /// The secret of a key agreement is the token's until it is asked for, which is no private-key operation.
    fn collect(&mut self, performed: Performed, output: &mut [u8]) -> Result<usize, Error> {
        match self.derived.take() {
            None => Ok(performed.length),
            Some(derived) => {
                let operator = self.operator.as_ref().ok_or_else(not_entered)?;
                operator.take_value(derived, output).map_err(failed)
            }
        }
    }
}
