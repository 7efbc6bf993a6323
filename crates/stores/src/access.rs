//! How a program that is not keymark reaches a key: the capabilities of access. A store gives those that its
//! keys have, a stack asks for the one that it needs; neither names the other.

use std::sync::Arc;

use keymark_bench::case::StoreKind;
use keymark_bench::error::Error;
use keymark_bench::store::Capability;
use keymark_bench::worker::WorkerProcess;
use keymark_bench::workload::KeyHandle;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::card::{CardAccess, Slot};
use crate::pkcs11::ModuleAccess;
use crate::scheme::Scheme;
use crate::software::library::Library;
use crate::test_key::TestKey;
use crate::{registry, worker};

/// A capability of access: what the keys of a device have before any of them is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessKind {
    /// The private key can be written to a file in whatever form a program reads.
    KeyFile,
    /// It is on a card in a reader.
    Card,
    /// It is an object on a token behind a PKCS#11 module.
    Module,
    /// Another process of keymark's can be told how to open it.
    Errand,
}

/// The ways to one key.
#[derive(Debug, Clone, Default)]
pub struct Access {
    /// The private key itself: a test key.
    pub file: Option<Arc<TestKey>>,
    /// The card that it is on, and where on it.
    pub card: Option<(Arc<dyn CardAccess>, Slot)>,
    pub module: Option<ModuleAccess>,
    pub errand: Option<Errand>,
}

/// How another process of keymark's opens a key as its store does.
#[derive(Clone, Serialize, Deserialize)]
pub struct Errand {
    /// The store whose family can read it.
    store: StoreKind,
    /// In JSON, which only the family reads; keys in memory stand in it in the clear.
    key: Zeroizing<String>,
}

impl std::fmt::Debug for Errand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Errand")
            .field("store", &self.store)
            .finish_non_exhaustive()
    }
}

/// What a worker does with a key.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct KeyUse {
    pub capability: Capability,
    pub scheme: Option<Scheme>,
    /// Another library than the one that is built in, for a key in memory.
    pub library: Option<Library>,
}

impl Errand {
    pub(crate) fn new(store: StoreKind, key: &impl Serialize) -> Result<Self, Error> {
        let key = serde_json::to_string(key).map(Zeroizing::new);
        let key = key.map_err(|error| Error::call("writing a worker's errand", error, ""))?;
        Ok(Self { store, key })
    }

    /// Opens the key in this process.
    pub fn open(&self, used: KeyUse) -> Result<Box<dyn KeyHandle>, Error> {
        let mut families = registry::FAMILIES.iter();
        let family = families.find(|family| family.store() == self.store);
        let none = || Error::call("reading a worker's errand", "its store is not known", "");
        family.ok_or_else(none)?.open_errand(&self.key, used)
    }
}

pub(crate) fn read_errand<'k, T: Deserialize<'k>>(key: &'k str) -> Result<T, Error> {
    serde_json::from_str(key).map_err(|error| Error::call("reading a worker's errand", error, ""))
}

impl Access {
    /// The private key, for what needs it in memory or in a file.
    pub fn into_file(self) -> Result<Arc<TestKey>, Error> {
        let advice = "--library and key files are about keys in memory";
        let kept = || Error::call("opening a key", "its device keeps it to itself", advice);
        self.file.ok_or_else(kept)
    }

    /// The token's way.
    pub fn into_module(self) -> Result<ModuleAccess, Error> {
        let elsewhere = || Error::call("opening a key", "it is on no PKCS#11 token", "");
        self.module.ok_or_else(elsewhere)
    }

    /// Starts a process that opens the key for itself and does operations with it.
    pub fn worker(&self, used: KeyUse) -> Result<WorkerProcess, Error> {
        match (&self.errand, &self.module) {
            (Some(errand), _) => worker::start(errand, used),
            (None, Some(module)) => module.worker(used.capability, used.scheme),
            (None, None) => {
                let reason = "its device talks to one program at a time";
                Err(Error::call("opening a key in another process", reason, ""))
            }
        }
    }
}
