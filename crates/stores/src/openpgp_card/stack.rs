//! The stack `raw` over cards: the APDU of the private-key operation, nothing around it.

use std::fmt;
use std::sync::Arc;

use keymark_bench::case::{Case, StackName};
use keymark_bench::error::Error;
use keymark_bench::store::{KeyHandle, KeyRef, KeyStore, Stack, Workload};

use super::answer::checked;
use super::device::CardDevice;
use super::slot::Slot;
use super::virtual_card::CardMaker;
use crate::challenge::Challenge;
use crate::raw::KeySource;

/// Longest result: an RSA-4096 signature, with room for what a faulty card may add.
const OUTPUT: usize = 1024;

/// Where the card of a case comes from.
enum Cards {
    /// Made for it, with a key of the source.
    Made {
        maker: CardMaker,
        keys: Arc<dyn KeySource>,
    },
    /// In a reader, with the keys that are on it.
    Inserted { device: Arc<CardDevice>, seed: u64 },
}

/// The stack.
pub struct CardRawStack(Cards);

impl fmt::Debug for CardRawStack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CardRawStack").finish_non_exhaustive()
    }
}

impl CardRawStack {
    /// Virtual cards or twins that hold keys of the source.
    #[must_use]
    pub fn made(maker: CardMaker, keys: Arc<dyn KeySource>) -> Self {
        Self(Cards::Made { maker, keys })
    }

    /// A card in a reader; messages to be signed are drawn with the seed.
    #[must_use]
    pub const fn inserted(device: Arc<CardDevice>, seed: u64) -> Self {
        Self(Cards::Inserted { device, seed })
    }

    fn card(&self, case: &Case, slot: Slot) -> Result<(Arc<CardDevice>, Challenge), Error> {
        match &self.0 {
            Cards::Made { maker, keys } => {
                let (key, challenge) = keys.exercise(case)?;
                let device = CardDevice::of_made(maker, maker.make()?);
                device.import(&key, slot, None)?;
                device.allow_many_signatures()?;
                Ok((Arc::new(device), challenge))
            }
            Cards::Inserted { device, seed } => {
                let slot_facts = device.facts()?.slot(slot);
                if !slot_facts.has_key() || slot_facts.algorithm != Some(case.algorithm) {
                    device.write_test_key(slot, case.algorithm)?;
                }
                let public = device.public_key(slot, case.algorithm)?;
                let challenge =
                    Challenge::of_public(&public, case.operation, case.input_bytes, *seed)?;
                Ok((Arc::clone(device), challenge))
            }
        }
    }
}

impl Drop for CardRawStack {
    fn drop(&mut self) {
        if let Cards::Inserted { device, .. } = &self.0
            && let Err(error) = device.restore()
        {
            device
                .notice
                .tell(&format!("the card keeps a test key: {error}"));
        }
    }
}

impl Stack for CardRawStack {
    fn name(&self) -> StackName {
        StackName::Raw
    }

    fn prepare(&self, case: &Case) -> Result<Workload, Error> {
        let slot = Slot::of(case.operation).ok_or_else(|| Error::Unsupported {
            by: "an OpenPGP card".to_owned(),
            operation: case.operation,
            algorithm: case.algorithm,
        })?;
        let (device, challenge) = self.card(case, slot)?;
        let key = KeyRef {
            algorithm: case.algorithm,
            operation: case.operation,
            label: slot.to_string(),
        };
        let handles: Vec<Box<dyn KeyHandle>> = (0..case.concurrency())
            .map(|_| device.open(&key))
            .collect::<Result<_, _>>()?;
        Ok(Workload {
            handles,
            inputs: challenge.inputs,
            verifier: checked(case.algorithm, case.operation, challenge.verifier),
            output_capacity: OUTPUT,
        })
    }
}
