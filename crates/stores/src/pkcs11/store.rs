//! One token as a key store.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use cryptoki::session::Session;
use keymark_bench::algorithm::{Algorithm, Family};
use keymark_bench::case::Scheme;
use keymark_bench::error::{Error, ReturnCode};
use keymark_bench::store::{Capability, KeyRef, StoreIdentity};
use keymark_bench::workload::KeyHandle;

use super::capabilities::asked_for;
use super::external_access::NAME_A_KEY;
use super::handle::{FoundBy, SessionHandle};
use super::keys::{self, KeyInfo, KeyPin};
use super::persistent_keys::{Maker, WrittenKey};
use super::session_keys::{self, Lifetime, TestObject};
use super::token::Token;
use super::tpm2_pkcs11;
use super::uri::ObjectPart;
use crate::access::Access;
use crate::answer::{AnswerForm, Answers};
use crate::public_key::PublicKey;
use crate::software::SoftwareStore;
use crate::store::{KeyStore, unsupported};
use crate::test_key::TestKey;

/// The form in which tokens answer, and the longest answer: an RSA-8192 signature, one of ML-DSA-87 (FIPS 204 table 2).
pub(super) const fn answers(algorithm: Algorithm) -> Answers {
    let is_long = matches!(algorithm.family(), Family::MlDsa(_));
    Answers {
        form: AnswerForm::Concatenated,
        capacity: if is_long { 4627 } else { 1024 },
    }
}

/// The store.
#[derive(Debug)]
pub(super) struct TokenStore {
    pub(super) identity: StoreIdentity,
    pub(super) capabilities: Vec<Capability>,
    pub(super) token: Arc<Token>,
    /// The keys of the token that are meant; without one that is named, test keys are.
    pub(super) wanted: ObjectPart,
    pub(super) lifetime: Lifetime,
    pub(super) test_keys: Arc<SoftwareStore>,
    pub(super) placed: Mutex<HashMap<Capability, Placed>>,
}

/// A key that is on the token.
#[derive(Debug, Clone)]
pub(super) struct Placed {
    label: String,
    pub(super) public: PublicKey,
    pub(super) origin: Origin,
}

/// Where a key is from, and what finds it.
#[derive(Debug, Clone)]
pub(super) enum Origin {
    /// It is on the token: it was there, or was put there.
    Found(ObjectPart),
    /// A test key in the session that is kept, by its `CKA_ID`.
    Written(Vec<u8>, Arc<TestKey>),
    /// One that the token has made, because it takes none from outside.
    Made(Vec<u8>),
}

impl TokenStore {
    pub(super) fn placed(&self, key: &KeyRef) -> Result<Placed, Error> {
        let placed = self.placed.lock().unwrap_or_else(PoisonError::into_inner);
        let found = placed.get(&asked_for(key.capability())).cloned();
        found.ok_or_else(|| unsupported(self.identity.device.to_string(), key.capability()))
    }

    fn place(&self, capability: Capability) -> Result<Placed, Error> {
        if self.wanted.names_one() {
            return self.find(capability);
        }
        match self.lifetime {
            Lifetime::Session => {}
            Lifetime::Token => return self.make_on_token(capability),
        }
        let test_key = self.test_keys.made_for(capability)?;
        if self.token.may_write() {
            return self.place_on_token(capability, &test_key);
        }
        let id = fresh_id()?;
        let object = |visible| TestObject {
            id: &id,
            visible,
            lifetime: Lifetime::Session,
        };
        let written = self.token.with_keeper(|session, visible| {
            session_keys::create(session, &test_key, capability.operation, object(visible))
        });
        let Err(refused) = written else {
            return Ok(Placed {
                label: format!("test key of {}", capability.algorithm),
                public: PublicKey::of(&test_key)?,
                origin: Origin::Written(id, test_key),
            });
        };
        // Many tokens take no private key from outside, and make one that never leaves.
        self.token.with_keeper(|session, visible| {
            let calls = &self.token.module().calls;
            session_keys::generate(calls, session, capability, object(visible))
                .map_err(|_| no_test_key(refused))?;
            Ok(Placed {
                label: format!("test key of {}, made by the token", capability.algorithm),
                public: made_public(session, capability, &id)?,
                origin: Origin::Made(id.clone()),
            })
        })
    }

    /// A key that the token makes and keeps, where every process finds it.
    fn make_on_token(&self, capability: Capability) -> Result<Placed, Error> {
        let id = fresh_id()?;
        let public = self.token.with_writer(|session, visible| {
            let made = TestObject {
                id: &id,
                visible,
                lifetime: Lifetime::Token,
            };
            session_keys::generate(&self.token.module().calls, session, capability, made)?;
            made_public(session, capability, &id)
        })?;
        Ok(Placed {
            label: format!("test key of {}, made by the token", capability.algorithm),
            public,
            origin: Origin::Found(ObjectPart {
                id: Some(id),
                ..ObjectPart::default()
            }),
        })
    }

    /// A test key on the token, which its user lets be written to.
    fn place_on_token(&self, capability: Capability, test_key: &TestKey) -> Result<Placed, Error> {
        let WrittenKey { object, id, maker } = self.token.write_test_key(capability, test_key)?;
        let algorithm = capability.algorithm;
        let (label, public) = match maker {
            Maker::Keymark => (
                format!("test key of {algorithm}, on the token"),
                PublicKey::of(test_key)?,
            ),
            Maker::Token => (
                format!("test key of {algorithm}, made by the token on itself"),
                (self.token).with_keeper(|session, _| made_public(session, capability, &id))?,
            ),
        };
        Ok(Placed {
            label,
            public,
            origin: Origin::Found(object),
        })
    }

    /// The key of the token that is meant.
    fn find(&self, capability: Capability) -> Result<Placed, Error> {
        self.token.with_keeper(|session, _| {
            let meant = keys::meant(session, &self.wanted)?;
            let can = |says: &KeyInfo| says.capabilities().any(|can| can == capability);
            let mut able = meant.into_iter().filter(|(_, says)| can(says));
            let lacking = || unsupported(self.identity.device.to_string(), capability);
            let (key, says) = able.next().ok_or_else(lacking)?;
            let call = || format!("using the key {} of token {}", says.name(), self.token.id());
            if let Some((_, other)) = able.next() {
                let advice = "add the id of one to the URI: ';id=%01'";
                let reason = format!("{} could be meant as well", other.name());
                return Err(Error::call(call(), reason, advice));
            }
            match says.pin {
                KeyPin::Once => {}
                KeyPin::EachUse => self.token.user().notice.tell(&format!(
                    "{} wants the PIN at each use: C_Login is part of what is timed",
                    says.name()
                )),
            }
            Ok(Placed {
                public: keys::public_half(session, key, &says)?,
                label: says.name(),
                origin: Origin::Found(ObjectPart {
                    label: (!says.label.is_empty()).then_some(says.label),
                    id: (!says.id.is_empty()).then_some(says.id),
                    kind: None,
                }),
            })
        })
    }
}

/// The public half of a test key that the token has made.
/// What a token says that takes no key from outside and makes none for a session; OpenSC says of most cards no more than
/// that it wanted something else.
fn no_test_key(refused: Error) -> Error {
    const SAID: [&str; 3] = [
        "CKR_ARGUMENTS_BAD",
        "CKR_GENERAL_ERROR",
        "CKR_FUNCTION_FAILED",
    ];
    let said = |code: &ReturnCode| SAID.contains(&code.name.as_ref());
    match refused {
        Error::Refused { call, code, .. } if said(&code) => {
            let reason = "the token takes no test key, and makes none for a session";
            Error::refused(call, code, reason, NAME_A_KEY)
        }
        Error::Refused { .. }
        | Error::Call { .. }
        | Error::Unsupported { .. }
        | Error::Missing { .. } => refused,
    }
}

fn made_public(session: &Session, capability: Capability, id: &[u8]) -> Result<PublicKey, Error> {
    let says = KeyInfo {
        label: String::new(),
        id: id.to_vec(),
        algorithm: Some(capability.algorithm),
        operations: vec![capability.operation],
        pin: KeyPin::Once,
    };
    keys::public_half(session, keys::of_id(session, id)?, &says)
}

/// An identifier that no other key has.
pub(super) fn fresh_id() -> Result<Vec<u8>, Error> {
    let mut id = vec![0; 16];
    openssl::rand::rand_bytes(&mut id).map_err(|error| Error::call("RAND_bytes", error, ""))?;
    Ok(id)
}

impl KeyStore for TokenStore {
    fn identity(&self) -> Result<StoreIdentity, Error> {
        Ok(self.identity.clone())
    }

    fn capabilities(&self) -> Result<Vec<Capability>, Error> {
        Ok(self.capabilities.clone())
    }

    fn key(&self, capability: Capability) -> Result<KeyRef, Error> {
        let asked = asked_for(capability);
        if !self.capabilities.contains(&asked) {
            return Err(unsupported(self.identity.device.to_string(), capability));
        }
        let mut all = self.placed.lock().unwrap_or_else(PoisonError::into_inner);
        let placed = match all.get(&asked) {
            Some(placed) => placed,
            None => {
                let placed = self.place(asked)?;
                all.entry(asked).or_insert(placed)
            }
        };
        Ok(KeyRef {
            algorithm: capability.algorithm,
            operation: capability.operation,
            label: placed.label.clone(),
        })
    }

    fn public_key(&self, key: &KeyRef) -> Result<PublicKey, Error> {
        Ok(self.placed(key)?.public)
    }

    fn answers(&self, key: &KeyRef) -> Result<Answers, Error> {
        self.placed(key)?;
        Ok(answers(key.algorithm))
    }

    fn access(&self, _: &KeyRef) -> Result<Access, Error> {
        // The module's process is asked by keymark alone, which gives access to it.
        Ok(Access::default())
    }

    fn open(&self, key: &KeyRef) -> Result<Box<dyn KeyHandle>, Error> {
        self.opened(key, None)
    }

    fn open_by(&self, key: &KeyRef, scheme: Scheme) -> Result<Box<dyn KeyHandle>, Error> {
        self.opened(key, Some(scheme))
    }

    fn check_threads(&self) -> Result<(), Error> {
        tpm2_pkcs11::check_threads(&self.token.module().client)
    }

    fn restore(&self) -> Result<(), Error> {
        self.placed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
        let restored = self.token.restore_written();
        restored.and(self.token.leave())
    }
}

impl TokenStore {
    /// A handle in a session of its own.
    fn opened(&self, key: &KeyRef, scheme: Option<Scheme>) -> Result<Box<dyn KeyHandle>, Error> {
        let found_by = match self.placed(key)?.origin {
            Origin::Found(object) => FoundBy::Object(object),
            Origin::Written(id, _) | Origin::Made(id) => FoundBy::TestKey(id),
        };
        let token = Arc::clone(&self.token);
        let handle = SessionHandle::of(token, &found_by, key.capability(), scheme)?;
        Ok(Box::new(handle))
    }
}

/// A token of which a run learns only when it asks for a key that it cannot be had: of many devices that
/// were looked for, one that fails is in nobody's way.
#[derive(Debug)]
pub(super) struct OutOfReach {
    pub(super) identity: StoreIdentity,
    pub(super) capabilities: Vec<Capability>,
    pub(super) error: Error,
}

impl KeyStore for OutOfReach {
    fn identity(&self) -> Result<StoreIdentity, Error> {
        Ok(self.identity.clone())
    }

    fn capabilities(&self) -> Result<Vec<Capability>, Error> {
        Ok(self.capabilities.clone())
    }

    fn key(&self, _: Capability) -> Result<KeyRef, Error> {
        Err(self.error.clone())
    }

    fn public_key(&self, _: &KeyRef) -> Result<PublicKey, Error> {
        Err(self.error.clone())
    }

    fn answers(&self, _: &KeyRef) -> Result<Answers, Error> {
        Err(self.error.clone())
    }

    fn access(&self, _: &KeyRef) -> Result<Access, Error> {
        Err(self.error.clone())
    }

    fn open(&self, _: &KeyRef) -> Result<Box<dyn KeyHandle>, Error> {
        Err(self.error.clone())
    }
}

#[cfg(test)]
mod tests {
    use keymark_native::cryptoki::Fault;

    use super::super::codes;
    use super::*;

    #[test]
    fn a_token_that_takes_no_test_key_is_said_to_want_one_of_its_own_named() {
        let said = |code| {
            let call = "C_CreateObject";
            no_test_key(codes::refused(Fault { call, code })).to_string()
        };
        let opensc = said(0x07);
        for part in [
            "C_CreateObject failed: CKR_ARGUMENTS_BAD",
            "takes no test key",
            "object=KEY",
        ] {
            assert!(opensc.contains(part), "{opensc}");
        }
        // What means something else keeps it.
        assert!(said(0xb1).contains("no more sessions"));
    }
}
