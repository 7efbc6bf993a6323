//! The key store `sealed`: a key at rest as PKCS#8, which each operation unwraps again.

use std::collections::BTreeMap;
use std::sync::Arc;

use keymark_bench::case::{DeviceName, Provenance, StoreKind};
use keymark_bench::error::Error;
use keymark_bench::operation::Operation;
use keymark_bench::store::{Capability, KeyRef, StoreIdentity};
use keymark_bench::workload::{Input, KeyHandle, Performed};

use crate::access::{Access, AccessKind};
use crate::answer::{AnswerForm, Answers};
use crate::device::{Device, Fact, Looked, Run, StoreFamily, Wish};
use crate::public_key::PublicKey;
use crate::software::{self, SoftwareStore};
use crate::store::KeyStore;
use crate::test_key::{SealedKey, TestKey};
use crate::user::User;

const SEALED: &str = "sealed";

/// The family, which has one device.
#[derive(Debug)]
pub(crate) struct SealedFamily;

impl StoreFamily for SealedFamily {
    fn store(&self) -> StoreKind {
        StoreKind::of(SEALED)
    }

    fn look(&self, wish: &Wish, _: &User) -> Result<Looked, Error> {
        let wanted = match wish {
            Wish::Software | Wish::Default | Wish::Inserted => false,
            Wish::Named(names) => names.iter().any(|name| name == SEALED),
            Wish::All => true,
        };
        if !wanted {
            return Ok(Looked::default());
        }
        let device = SealedDevice {
            identity: StoreIdentity {
                device: DeviceName::new(SEALED),
                kind: self.store(),
                provenance: Provenance::Measured,
                product: "PKCS#8, parsed for each operation".to_owned(),
                serial: None,
                versions: BTreeMap::new(),
                assumed: Vec::new(),
            },
            capabilities: SoftwareStore::default().capabilities()?,
        };
        Ok(Looked {
            devices: vec![Box::new(device)],
            known: vec![SEALED.to_owned()],
            ..Looked::default()
        })
    }
}

#[derive(Debug)]
struct SealedDevice {
    identity: StoreIdentity,
    capabilities: Vec<Capability>,
}

impl Device for SealedDevice {
    fn identity(&self) -> &StoreIdentity {
        &self.identity
    }

    fn capabilities(&self) -> &[Capability] {
        &self.capabilities
    }

    fn access(&self) -> &'static [AccessKind] {
        &[]
    }

    fn facts(&self) -> Vec<Fact> {
        vec![Fact::new("keys", "made for the run")]
    }

    fn open(&self, run: &Run) -> Result<Arc<dyn KeyStore>, Error> {
        Ok(Arc::new(SealedStore(Arc::clone(&run.test_keys))))
    }
}

#[derive(Debug)]
struct SealedStore(Arc<SoftwareStore>);

impl KeyStore for SealedStore {
    fn capabilities(&self) -> Result<Vec<Capability>, Error> {
        self.0.capabilities()
    }

    fn key(&self, capability: Capability) -> Result<KeyRef, Error> {
        self.0.key(capability)
    }

    fn public_key(&self, key: &KeyRef) -> Result<PublicKey, Error> {
        self.0.public_key(key)
    }

    fn answers(&self, key: &KeyRef) -> Result<Answers, Error> {
        Ok(Answers {
            form: AnswerForm::Der,
            ..self.0.answers(key)?
        })
    }

    fn access(&self, _: &KeyRef) -> Result<Access, Error> {
        Ok(Access::default())
    }

    fn open(&self, key: &KeyRef) -> Result<Box<dyn KeyHandle>, Error> {
        Ok(Box::new(SealedHandle {
            sealed: self.0.test_key(key)?.sealed()?,
            operation: key.operation,
        }))
    }
}

struct SealedHandle {
    sealed: SealedKey,
    operation: Operation,
}

impl KeyHandle for SealedHandle {
    fn perform(&mut self, input: &Input, output: &mut [u8]) -> Result<Performed, Error> {
        let key = TestKey::unsealed(&self.sealed)?;
        let mut opened = software::open(&key, self.operation, None)?;
        opened.arm(input)?;
        opened.perform(input, output)
    }
}
