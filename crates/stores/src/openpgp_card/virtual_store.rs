//! Virtual cards or the twins of one device as a key store: a card an algorithm, made when a key is first
//! asked for, so that each key has a slot to itself and cases can be interleaved.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};

use keymark_bench::algorithm::Algorithm;
use keymark_bench::error::Error;
use keymark_bench::store::{Capability, KeyRef};
use keymark_bench::workload::KeyHandle;
use parking_lot::Mutex;

use super::device::CardDevice;
use super::virtual_card::CardMaker;
use crate::access::Access;
use crate::answer::Answers;
use crate::card::Slot;
use crate::device::Run;
use crate::public_key::PublicKey;
use crate::store::{KeyStore, unsupported};

/// The store.
#[derive(Debug)]
pub struct VirtualCards {
    maker: CardMaker,
    run: Run,
    cards: Mutex<HashMap<Algorithm, MadeCard>>,
}

#[derive(Debug)]
struct MadeCard {
    device: CardDevice,
    loaded: BTreeSet<Slot>,
}

impl VirtualCards {
    /// Cards of that maker, with test keys of the run.
    pub fn new(maker: CardMaker, run: Run) -> Self {
        Self {
            maker: maker.with_seed(run.seed),
            run,
            cards: Mutex::default(),
        }
    }

    fn make(&self) -> Result<MadeCard, Error> {
        let test_keys = self.run.test_keys.clone();
        let device = CardDevice::of_virtual(&self.maker, self.maker.make()?, test_keys);
        device.allow_many_signatures()?;
        Ok(MadeCard {
            device,
            loaded: BTreeSet::new(),
        })
    }

    /// The card that holds a key which was provisioned before.
    fn card(&self, key: &KeyRef) -> Result<CardDevice, Error> {
        let cards = self.cards.lock();
        let card = cards.get(&key.algorithm).map(|card| card.device.clone());
        card.ok_or_else(|| unsupported(self.maker.device().to_string(), key.capability()))
    }
}

impl KeyStore for VirtualCards {
    fn capabilities(&self) -> Result<Vec<Capability>, Error> {
        Ok(self.maker.capabilities())
    }

    fn key(&self, capability: Capability) -> Result<KeyRef, Error> {
        let lacking = || unsupported(self.maker.device().to_string(), capability);
        let slot = Slot::of(capability.operation).ok_or_else(lacking)?;
        if !self.maker.capabilities().contains(&capability) {
            return Err(lacking());
        }
        let mut cards = self.cards.lock();
        let card = match cards.entry(capability.algorithm) {
            Entry::Occupied(card) => card.into_mut(),
            Entry::Vacant(place) => place.insert(self.make()?),
        };
        if !card.loaded.contains(&slot) {
            let key = self.run.test_keys.made_for(capability)?;
            card.device.import(&key, slot)?;
            card.loaded.insert(slot);
        }
        card.device.key(capability)
    }

    fn public_key(&self, key: &KeyRef) -> Result<PublicKey, Error> {
        self.card(key)?.public_key(key)
    }

    fn answers(&self, key: &KeyRef) -> Result<Answers, Error> {
        self.card(key)?.answers(key)
    }

    fn access(&self, key: &KeyRef) -> Result<Access, Error> {
        self.card(key)?.access(key)
    }

    fn open(&self, key: &KeyRef) -> Result<Box<dyn KeyHandle>, Error> {
        self.card(key)?.open(key)
    }
}
