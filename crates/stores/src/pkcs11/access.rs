//! How another process of keymark reaches a token's key.

use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::sync::Arc;

use keymark_bench::algorithm::Algorithm;
use keymark_bench::case::Scheme;
use keymark_bench::error::Error;
use keymark_bench::operation::Operation;
use keymark_bench::store::Capability;
use keymark_bench::workload::KeyHandle;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::for_programs::NAME_A_KEY;
use super::handle::{FoundBy, SessionHandle};
use super::module::ModuleFile;
use super::offers::asked_for;
use super::session_keys::{self, Lifetime, TestObject};
use super::store::fresh_id;
use super::token::Token;
use super::uri::ObjectPart;
use crate::test_key::{SealedKey, TestKey};
use crate::user::{Consent, Pin, PinSource, Pins, TokenId, Unattended, User};

/// The way to a key of a token.
#[derive(Debug, Clone)]
pub struct ModuleAccess {
    pub(super) token: Arc<Token>,
    pub(super) way: KeyWay,
}

/// What finds the key.
#[derive(Debug, Clone)]
pub(super) enum KeyWay {
    /// It is on the token.
    There(ObjectPart),
    /// A test key, which the process takes along.
    Test(Arc<TestKey>),
    /// The token has made it for this process, and another does not see it.
    OfThisProcess,
}

/// What a process is told that opens the key: which module, token and key, and the PIN that the token has
/// accepted. It goes through a pipe.
#[derive(Serialize, Deserialize)]
pub struct ModuleErrand {
    file: ModuleFile,
    token: TokenId,
    label: String,
    pin: Option<Zeroizing<String>>,
    operation: Operation,
    scheme: Option<Scheme>,
    key: ErrandKey,
}

#[derive(Serialize, Deserialize)]
enum ErrandKey {
    There {
        object: ObjectPart,
        algorithm: Algorithm,
    },
    Test(SealedKey),
}

impl fmt::Debug for ModuleErrand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModuleErrand")
            .field("token", &self.token)
            .finish_non_exhaustive()
    }
}

impl ModuleAccess {
    /// What another process of keymark is told, to do that with the key.
    ///
    /// # Errors
    /// When no other process can open it.
    pub fn errand(
        &self,
        capability: Capability,
        scheme: Option<Scheme>,
    ) -> Result<ModuleErrand, Error> {
        let capability = asked_for(capability);
        let key = match &self.way {
            KeyWay::There(object) => ErrandKey::There {
                object: object.clone(),
                algorithm: capability.algorithm,
            },
            KeyWay::Test(key) => ErrandKey::Test(key.sealed()?),
            KeyWay::OfThisProcess => {
                return Err(Error::call(
                    format!(
                        "opening token {} in another process",
                        self.token.id().serial()
                    ),
                    "it takes no test keys from outside, and those that it makes are one process's",
                    format!(
                        "--write-to {} has them written to the token; or {NAME_A_KEY}",
                        self.token.id().serial()
                    ),
                ));
            }
        };
        let pin = self.token.accepted_pin()?;
        Ok(ModuleErrand {
            file: self.token.file().clone(),
            token: self.token.id().clone(),
            label: self.token.label().to_owned(),
            pin: pin.map(|pin| Zeroizing::new(pin.expose().to_owned())),
            operation: capability.operation,
            scheme,
            key,
        })
    }

    /// The environment of that process: modules find their configuration and services by it. PINs stay here.
    #[must_use]
    pub fn environment(&self) -> Vec<(OsString, OsString)> {
        let pins = self.token.user().pins.variables();
        let own = &self.token.file().environment;
        let is_ours = |name: &OsString| own.keys().any(|ours| *name == **ours);
        let is_pin = |name: &OsString| pins.iter().any(|pin| *name == **pin);
        let kept = std::env::vars_os().filter(|(name, _)| !is_pin(name) && !is_ours(name));
        let own = own.iter().map(|(name, value)| (name.into(), value.clone()));
        kept.chain(own).collect()
    }
}

impl ModuleErrand {
    /// Opens the key in this process.
    ///
    /// # Errors
    /// When the module, the token or the key is not to be had.
    pub fn open(self) -> Result<Box<dyn KeyHandle>, Error> {
        let pin = match self.pin {
            Some(pin) => PinSource::Known(Pin::received(pin)),
            None => PinSource::Prompt,
        };
        let user = User {
            pins: Pins {
                user: pin.clone(),
                admin: pin,
            },
            consent: Consent::default(),
            notice: Arc::new(Unattended),
        };
        // SoftHSM2 writes to its token's file at each login, and does not find a token that is being
        // written while it is initialised: of the processes of a run one at a time gets ready.
        let turn = File::open(&self.file.path).and_then(|file| file.lock().map(|()| file));
        let token = Arc::new(Token::called(self.file, (self.token, self.label), user)?);
        let (found_by, algorithm) = match self.key {
            ErrandKey::There { object, algorithm } => (FoundBy::Object(object), algorithm),
            ErrandKey::Test(sealed) => {
                let (key, id) = (TestKey::unsealed(&sealed)?, fresh_id()?);
                token.with_keeper(|kept, visible| {
                    let object = TestObject {
                        id: &id,
                        visible,
                        lifetime: Lifetime::Session,
                    };
                    session_keys::create(kept, &key, self.operation, object)
                })?;
                (FoundBy::TestKey(id), key.algorithm)
            }
        };
        let capability = Capability {
            algorithm,
            operation: self.operation,
        };
        let handle = SessionHandle::of(token, &found_by, capability, self.scheme)?;
        drop(turn);
        Ok(Box::new(handle))
    }
}
