//! A TPM as a key store.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use keymark_bench::case::{DeviceName, StoreKind};
use keymark_bench::error::Error;
use keymark_bench::store::{Capability, KeyRef};
use keymark_bench::workload::KeyHandle;
use parking_lot::Mutex;

use super::connection::Way;
use super::handle::TpmHandle;
use super::keys::{self, SavedKey};
use crate::access::{Access, Errand};
use crate::answer::{AnswerForm, Answers};
use crate::public_key::PublicKey;
use crate::scheme::Scheme;
use crate::store::{KeyStore, as_usual, unsupported};

/// Longest result: an RSA-3072 signature.
const CAPACITY: usize = 512;

/// The store.
#[derive(Debug)]
pub(super) struct TpmStore {
    pub(super) device: DeviceName,
    pub(super) capabilities: Vec<Capability>,
    pub(super) way: Way,
    pub(super) test_keys: Mutex<HashMap<Capability, SavedKey>>,
}

impl TpmStore {
    fn test_key(&self, key: &KeyRef) -> Result<SavedKey, Error> {
        let made = self.test_keys.lock();
        let found = made.get(&key.capability()).cloned();
        found.ok_or_else(|| unsupported(self.device.to_string(), key.capability()))
    }
}

impl KeyStore for TpmStore {
    fn capabilities(&self) -> Result<Vec<Capability>, Error> {
        Ok(self.capabilities.clone())
    }

    fn key(&self, capability: Capability) -> Result<KeyRef, Error> {
        if !self.capabilities.contains(&capability) {
            return Err(unsupported(self.device.to_string(), capability));
        }
        let mut all = self.test_keys.lock();
        if let Entry::Vacant(place) = all.entry(capability) {
            place.insert(keys::make(&mut self.way.connect()?, capability)?);
        }
        let label = format!("test key of {}, made by the TPM", capability.algorithm);
        Ok(KeyRef::new(capability, label))
    }

    fn public_key(&self, key: &KeyRef) -> Result<PublicKey, Error> {
        Ok(self.test_key(key)?.public)
    }

    fn answers(&self, key: &KeyRef) -> Result<Answers, Error> {
        self.test_key(key)?;
        Ok(Answers {
            form: AnswerForm::Concatenated,
            capacity: CAPACITY,
        })
    }

    fn access(&self, key: &KeyRef) -> Result<Access, Error> {
        let key = (self.way, self.test_key(key)?.saved);
        Ok(Access {
            errand: Some(Errand::new(StoreKind::TPM, &key)?),
            ..Access::default()
        })
    }

    fn open(&self, key: &KeyRef, scheme: Option<Scheme>) -> Result<Box<dyn KeyHandle>, Error> {
        as_usual(key, scheme)?;
        let saved = self.test_key(key)?.saved;
        let handle = TpmHandle::open(self.way, key.capability(), saved)?;
        Ok(Box::new(handle))
    }
}
