//! One token as a key store.

use std::collections::HashMap;
use std::sync::Arc;

use cryptoki::session::Session;
use keymark_bench::case::DeviceName;
use keymark_bench::error::{During as _, Error, ReturnCode};
use keymark_bench::store::{Capability, KeyRef};
use keymark_bench::workload::KeyHandle;
use parking_lot::Mutex;

use serde::{Deserialize, Serialize};

use super::capabilities::asked_for;
use super::external_access::NAME_A_KEY;
use super::handle::SessionHandle;
use super::keys::{self, KeyInfo, KeyPin};
use super::persistent_keys::{Maker, WrittenKey};
use super::session_keys::{self, Lifetime, TestObject};
use super::token::Token;
use super::tpm2_pkcs11;
use super::uri::ObjectPart;
use crate::access::Access;
use crate::public_key::PublicKey;
use crate::scheme::Scheme;
use crate::software::SoftwareStore;
use crate::store::{KeyStore, unsupported};
use crate::test_key::TestKey;

/// The store.
#[derive(Debug)]
pub(super) struct TokenStore {
    pub(super) device: DeviceName,
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
    pub(super) label: String,
    pub(super) public: PublicKey,
    pub(super) origin: Origin,
}

/// Where a key is from, and what finds it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Origin {
    /// It is on the token, where every process finds it: it was there, or was put there.
    Found(ObjectPart),
    /// A test key in the session that is kept, by its `CKA_ID`: each process that is given the test key has it.
    Written(Vec<u8>),
    /// One that the token has made for that session, because it takes none from outside: it is in this process only.
    Generated(Vec<u8>),
}

impl TokenStore {
    pub(super) fn placed(&self, key: &KeyRef) -> Result<Placed, Error> {
        let placed = self.placed.lock();
        let found = placed.get(&asked_for(key.capability())).cloned();
        found.ok_or_else(|| unsupported(self.device.to_string(), key.capability()))
    }

    fn place(&self, capability: Capability) -> Result<Placed, Error> {
        if self.wanted.names_one() {
            return self.find(capability);
        }
        if self.lifetime == Lifetime::Token {
            return self.make_on_token(capability);
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
                origin: Origin::Written(id),
            });
        };
        // Many tokens take no private key from outside, and make one that never leaves.
        self.token.with_keeper(|session, visible| {
            session_keys::generate(session, capability, object(visible))
                .map_err(|_| no_test_key(refused))?;
            Ok(Placed {
                label: generated_label(capability),
                public: made_public(session, capability, &id)?,
                origin: Origin::Generated(id.clone()),
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
            session_keys::generate(session, capability, made)?;
            made_public(session, capability, &id)
        })?;
        Ok(Placed {
            label: generated_label(capability),
            public,
            origin: Origin::Found(ObjectPart::with_id(id)),
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
                format!("test key of {algorithm}, generated and kept by the token"),
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
            let can = |info: &KeyInfo| info.capabilities().any(|can| can == capability);
            let mut able = meant.into_iter().filter(|(_, info)| can(info));
            let lacking = || unsupported(self.device.to_string(), capability);
            let (key, info) = able.next().ok_or_else(lacking)?;
            let call = || format!("using the key {} of token {}", info.name(), self.token.id);
            if let Some((_, other)) = able.next() {
                let advice = "add its id to the URI, such as ';id=%01'";
                let reason = format!("{} also match", other.name());
                return Err(Error::call(call(), reason, advice));
            }
            if info.pin == KeyPin::EachUse {
                self.token.user.notice.tell(&format!(
                    "{} needs the PIN at each use, so C_Login is timed as well",
                    info.name()
                ));
            }
            Ok(Placed {
                public: keys::public_half(session, key, &info)?,
                label: info.name(),
                origin: Origin::Found(ObjectPart {
                    label: (!info.label.is_empty()).then_some(info.label),
                    id: (!info.id.is_empty()).then_some(info.id),
                    kind: None,
                }),
            })
        })
    }
}

fn generated_label(Capability { algorithm, .. }: Capability) -> String {
    format!("test key of {algorithm}, generated by the token")
}

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
            let reason = "the token accepts no test key, and generates none for a session";
            Error::refused(call, code, reason, NAME_A_KEY)
        }
        Error::Refused { .. }
        | Error::Call { .. }
        | Error::Unsupported { .. }
        | Error::Missing { .. } => refused,
    }
}

/// The public half of a test key that the token has made.
fn made_public(session: &Session, capability: Capability, id: &[u8]) -> Result<PublicKey, Error> {
    let info = KeyInfo {
        id: id.to_vec(),
        algorithm: Some(capability.algorithm),
        ..KeyInfo::default()
    };
    let (key, _) = keys::one(session, &ObjectPart::with_id(id.to_vec()))?;
    keys::public_half(session, key, &info)
}

/// An identifier that no other key has.
pub(super) fn fresh_id() -> Result<Vec<u8>, Error> {
    let mut id = vec![0; 16];
    openssl::rand::rand_bytes(&mut id).during("RAND_bytes")?;
    Ok(id)
}

impl KeyStore for TokenStore {
    fn capabilities(&self) -> Result<Vec<Capability>, Error> {
        Ok(self.capabilities.clone())
    }

    fn key(&self, capability: Capability) -> Result<KeyRef, Error> {
        let asked = asked_for(capability);
        if !self.capabilities.contains(&asked) {
            return Err(unsupported(self.device.to_string(), capability));
        }
        let mut all = self.placed.lock();
        let placed = match all.get(&asked) {
            Some(placed) => placed,
            None => {
                let placed = self.place(asked)?;
                all.entry(asked).or_insert(placed)
            }
        };
        Ok(KeyRef::new(capability, placed.label.clone()))
    }

    fn public_key(&self, key: &KeyRef) -> Result<PublicKey, Error> {
        Ok(self.placed(key)?.public)
    }

    fn access(&self, _: &KeyRef) -> Result<Access, Error> {
        // The module's process is asked by keymark alone, which gives access to it.
        Ok(Access::default())
    }

    /// A handle in a session of its own.
    fn open(&self, key: &KeyRef, scheme: Option<Scheme>) -> Result<Box<dyn KeyHandle>, Error> {
        let object = match self.placed(key)?.origin {
            Origin::Found(object) => object,
            Origin::Written(id) | Origin::Generated(id) => ObjectPart::with_id(id),
        };
        let token = Arc::clone(&self.token);
        let handle = SessionHandle::of(token, &object, key.capability(), scheme)?;
        Ok(Box::new(handle))
    }

    fn check_threads(&self) -> Result<(), Error> {
        tpm2_pkcs11::check_threads(&self.token.module.client)
    }

    fn restore(&self) -> Result<(), Error> {
        self.placed.lock().clear();
        let restored = self.token.restore_written();
        restored.and(self.token.leave())
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
            "accepts no test key",
            "object=KEY",
        ] {
            assert!(opensc.contains(part), "{opensc}");
        }
        // What means something else keeps it.
        assert!(said(0xb1).contains("no more sessions"));
    }
}
