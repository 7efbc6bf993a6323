//! A token's store with its module in this process, as the module's own process has it. keymark itself never loads
//! one: this is for who tests the store alone.

use std::sync::Arc;

use keymark_bench::error::Error;
use keymark_bench::store::{Capability, KeyRef};
use keymark_bench::workload::KeyHandle;
use parking_lot::Mutex;

use crate::access::{Access, Certificate, ProgramKey};
use crate::device::Run;
use crate::pkcs11::module::{Module, ModuleFile};
use crate::pkcs11::session::TokenKeys;
use crate::pkcs11::temporary::ManagedKind;
use crate::pkcs11::temporary::new_token::NewToken;
use crate::pkcs11::token::capabilities::{asked_for, offered};
use crate::pkcs11::token::device::schemes;
use crate::pkcs11::token::family::{no_token, tokens};
use crate::pkcs11::token::keys::{self, KeyInfo};
use crate::pkcs11::token::token_info::{self, TokenInfo};
use crate::pkcs11::token::{FoundToken, OpenToken, Owner};
use crate::pkcs11_uri::Pkcs11Uri;
use crate::public_key::PublicKey;
use crate::scheme::Scheme;
use crate::store::{KeyStore, unsupported};
use crate::user::{TokenId, User};

/// A token whose module is loaded.
#[derive(Debug)]
pub struct TokenHere {
    keys: TokenKeys,
    capabilities: Vec<Capability>,
    info: TokenInfo,
}

impl TokenHere {
    /// The token that the URI names.
    pub fn known(
        file: &ModuleFile,
        uri: &Pkcs11Uri,
        user: &User,
        run: &Run,
    ) -> Result<Self, Error> {
        Self::of(file, uri, user.clone(), run, Owner::User)
    }

    /// A token that is made behind a module that is prepared for one.
    pub fn of_managed(kind: &ManagedKind, file: &ModuleFile, run: &Run) -> Result<Self, Error> {
        let new = NewToken::random()?;
        new.make(&Module::load(file)?.client)?;
        let (uri, user) = (Pkcs11Uri::default(), User::with_pin(new.user.0));
        let mut token = Self::of(file, &uri, user, run, kind.owner())?;
        token
            .capabilities
            .retain(|capability| kind.can(*capability));
        Ok(token)
    }

    fn of(
        file: &ModuleFile,
        uri: &Pkcs11Uri,
        user: User,
        run: &Run,
        owner: Owner,
    ) -> Result<Self, Error> {
        let said = token_info::ask(&*Module::load(file)?)?;
        let mut tokens = tokens(&said).filter(|(slot, token)| uri.matches(&said, slot, token));
        let (_, info) = tokens.next().ok_or_else(|| no_token(None, &[], false))?;
        let found = FoundToken::of(file, &said, info);
        let token = OpenToken::new(found.file, &found.info, owner, user)?;
        let capabilities = if uri.object.names_one() {
            let keys = token.with_keeper(|session| keys::meant(session, &uri.object))?;
            let keys: Vec<KeyInfo> = keys.into_iter().map(|(_, key)| key).collect();
            keys::capabilities(&keys)
        } else {
            offered(info)
        };
        if let Some((journals, name)) = &run.journals {
            token.journal.keep_in(journals.clone(), name);
        }
        Ok(Self {
            keys: TokenKeys {
                device: found.identity.device,
                token: Arc::new(token),
                wanted: uri.object.clone(),
                test_keys: Arc::clone(&run.test_keys),
                placed: Mutex::default(),
            },
            capabilities,
            info: found.info,
        })
    }

    pub fn id(&self) -> TokenId {
        self.info.id()
    }

    pub fn schemes(&self) -> Vec<(Scheme, Vec<Capability>)> {
        schemes(&self.info, &self.capabilities)
    }

    /// Returns the means by which another program uses the key.
    pub fn program_key(&self, key: &KeyRef) -> Result<ProgramKey, Error> {
        self.keys
            .program_key(key.capability(), Certificate::NotNeeded)
    }
}

impl KeyStore for TokenHere {
    fn capabilities(&self) -> Result<Vec<Capability>, Error> {
        Ok(self.capabilities.clone())
    }

    fn key(&self, capability: Capability) -> Result<KeyRef, Error> {
        if !self.capabilities.contains(&asked_for(capability)) {
            return Err(unsupported(self.keys.device.to_string(), capability));
        }
        let placed = self.keys.key(capability)?;
        Ok(KeyRef::new(capability, placed.label))
    }

    fn public_key(&self, key: &KeyRef) -> Result<PublicKey, Error> {
        Ok(self.keys.key(key.capability())?.public)
    }

    fn access(&self, _: &KeyRef) -> Result<Access, Error> {
        let reason = "the module is in this process";
        Err(Error::call("reaching a key from elsewhere", reason, ""))
    }

    fn open(&self, key: &KeyRef, scheme: Option<Scheme>) -> Result<Box<dyn KeyHandle>, Error> {
        let mut handles = self.keys.handles(key.capability(), scheme, 1)?;
        handles
            .pop()
            .ok_or_else(|| unsupported("no worker", key.capability()))
    }

    fn restore(&self) -> Result<(), Error> {
        self.keys.restore()
    }
}
