//! A key store whose operation is to hand its input back, for the suite that every store has to pass.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use keymark_bench::algorithm::{Algorithm, Family};
use keymark_bench::error::Error;
use keymark_bench::store::{Capability, KeyRef};
use keymark_bench::workload::{Input, KeyHandle, Performed};
use keymark_stores::access::Access;
use keymark_stores::answer::{AnswerForm, Answers};
use keymark_stores::public_key::PublicKey;
use keymark_stores::scheme::Scheme;
use keymark_stores::store::{KeyStore, unsupported};
use keymark_stores::test_key::TestKey;

/// The store. It counts how many of its handles are entered at a time.
#[derive(Debug, Default)]
pub(super) struct FakeStore {
    entered: Arc<AtomicUsize>,
}

impl FakeStore {
    /// Handles that were entered and not left.
    pub(super) fn entered(&self) -> usize {
        self.entered.load(Ordering::SeqCst)
    }
}

impl KeyStore for FakeStore {
    fn capabilities(&self) -> Result<Vec<Capability>, Error> {
        let ed25519 = Algorithm::of(Family::Ed25519);
        Ok(ed25519.into_iter().flat_map(Capability::of).collect())
    }

    fn key(&self, capability: Capability) -> Result<KeyRef, Error> {
        if !self.capabilities()?.contains(&capability) {
            return Err(unsupported("the fake", capability));
        }
        Ok(KeyRef {
            algorithm: capability.algorithm,
            operation: capability.operation,
            label: "the only one".to_owned(),
        })
    }

    fn public_key(&self, key: &KeyRef) -> Result<PublicKey, Error> {
        PublicKey::of(&TestKey::generate(key.algorithm)?)
    }

    fn answers(&self, _: &KeyRef) -> Result<Answers, Error> {
        Ok(Answers {
            form: AnswerForm::Der,
            capacity: 64,
        })
    }

    fn access(&self, key: &KeyRef) -> Result<Access, Error> {
        Ok(Access {
            file: Some(Arc::new(TestKey::generate(key.algorithm)?)),
            ..Access::default()
        })
    }

    fn open(&self, key: &KeyRef, _: Option<Scheme>) -> Result<Box<dyn KeyHandle>, Error> {
        self.key(key.capability())?;
        Ok(Box::new(EchoHandle {
            entered: Arc::clone(&self.entered),
        }))
    }
}

struct EchoHandle {
    entered: Arc<AtomicUsize>,
}

impl KeyHandle for EchoHandle {
    fn enter(&mut self) -> Result<(), Error> {
        self.entered.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    fn leave(&mut self) -> Result<(), Error> {
        self.entered.fetch_sub(1, Ordering::SeqCst);
        Ok(())
    }

    fn perform(&mut self, input: &Input, output: &mut [u8]) -> Result<Performed, Error> {
        let length = input.bytes.len();
        output[..length].copy_from_slice(&input.bytes);
        Ok(Performed { length, cpu: None })
    }
}
