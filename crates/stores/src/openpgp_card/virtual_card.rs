//! Cards in this process: real firmware without hardware, and twins of devices.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use crate::tokens::card::{Card, CardFault};
use crate::tokens::firmware::{AllowedAlgorithms, Firmware, FirmwareOptions};
use crate::tokens::reader::{CardReader, ReaderConnection};
use crate::tokens::twin::{self, Twin};
use keymark_bench::store::Capability;
use keymark_bench::workload::KeyHandle;
use keymark_bench::{
    Algorithm, DeviceName, During as _, Error, KeyRef, Profile, ProfileError, ProfileStore,
    StoreIdentity, StoreKind,
};
use parking_lot::Mutex;

use super::channel::{Channel, Port, Reset};
use super::device::CardDevice;
use crate::access::{Access, AccessKind};
use crate::card::Slot;
use crate::device::{Device, Fact, Run, made_identity};
use crate::public_key::PublicKey;
use crate::scheme::Scheme;
use crate::store::{KeyStore, unsupported};
use crate::user::{Notice, Unattended};

const VIRTUAL: &str = "virtual";
const TWIN: &str = "twin:";

/// A reader in this process.
impl Port for CardReader {
    fn connect(&self) -> Result<Box<dyn Channel>, Error> {
        Ok(Box::new(Self::connect(self)))
    }

    fn reader(&self) -> String {
        "in this process".to_owned()
    }

    fn reset(&self) -> Result<Reset, Error> {
        let reset = Self::connect(self).power_on().map_err(fault);
        reset.map(|_| Reset::Done)
    }
}

impl Channel for ReaderConnection {
    fn transmit(&mut self, command: &[u8], response: &mut Vec<u8>) -> Result<(), Error> {
        *response = Self::transmit(self, command).map_err(fault)?.response;
        Ok(())
    }
}

fn fault(fault: CardFault) -> Error {
    Error::call("transmitting an APDU", fault, "")
}

/// Makes virtual cards, or the twins of one device: as many as a run needs, so that each key has a
/// card to itself and cases can be interleaved.
#[derive(Clone, derive_more::Debug)]
#[debug("CardMaker({profile:?}, {seed})")]
pub struct CardMaker {
    pub identity: StoreIdentity,
    /// Capabilities of such a card.
    pub capabilities: Vec<Capability>,
    profile: Option<Arc<Profile>>,
    seed: u64,
    notice: Arc<dyn Notice>,
}

impl CardMaker {
    /// The virtual card: the firmware with this CPU's times.
    pub fn virtual_card() -> Self {
        Self::of(None)
    }

    /// Twins of the profile's device.
    pub fn twin(profile: Profile) -> Self {
        Self::of(Some(Arc::new(profile)))
    }

    fn of(profile: Option<Arc<Profile>>) -> Self {
        let twin = |profile: &Arc<Profile>| format!("{TWIN}{}", profile.name);
        let name = profile.as_ref().map_or_else(|| VIRTUAL.to_owned(), twin);
        let software = "virtual OpenPGP card: the Nitrokey 3's application on this CPU";
        let about = (software, ("firmware", Firmware::version().to_owned()));
        let kind = StoreKind::OPENPGP_CARD;
        Self {
            identity: made_identity(name, kind, about, profile.as_deref()),
            capabilities: match &profile {
                Some(profile) => profile.capabilities().collect(),
                None => capabilities(),
            },
            profile,
            seed: 0,
            notice: Arc::new(Unattended),
        }
    }

    /// Returns the cards of a name: `virtual`, or `twin:` and a profile. None for any other name.
    pub fn named(name: &str) -> Option<Result<Self, ProfileError>> {
        if name == VIRTUAL {
            return Some(Ok(Self::virtual_card()));
        }
        match Profile::find(name.strip_prefix(TWIN)?) {
            Ok(profile) if profile.store == ProfileStore::OpenpgpCard => {
                Some(Ok(Self::twin(profile)))
            }
            // A device of another family.
            Ok(_) => None,
            Err(error) => Some(Err(error)),
        }
    }

    /// Sets the seed of service times.
    pub fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Sets the user who is warned of what a twin refuses.
    pub fn telling(self, notice: Arc<dyn Notice>) -> Self {
        Self { notice, ..self }
    }

    /// The name it is selected by.
    pub fn device(&self) -> DeviceName {
        self.identity.device.clone()
    }

    /// A fresh card, one of several: its serial number is random.
    pub fn make(&self) -> Result<CardReader, Error> {
        self.card(None, None)
    }

    /// A card to be served, whose state is kept in a folder, with its serial number. Without a folder the
    /// device always has the same: who has seen it before is not to ask for another.
    pub fn make_served(&self, state: Option<PathBuf>) -> Result<CardReader, Error> {
        let serial = state.is_none().then(|| serial_of(self.device().as_str()));
        self.card(state, serial)
    }

    fn card(&self, state: Option<PathBuf>, serial: Option<[u8; 4]>) -> Result<CardReader, Error> {
        let profile = self.profile.as_deref();
        let options = FirmwareOptions {
            serial,
            algorithms: profile.map_or_else(AllowedAlgorithms::all, twin::allowed),
            state,
        };
        let firmware = Firmware::new(options).during("making a virtual card")?;
        let card: Box<dyn Card> = match &self.profile {
            None => Box::new(firmware),
            Some(profile) => {
                let twin = Twin::new(Box::new(firmware), Profile::clone(profile), self.seed);
                let notice = Arc::clone(&self.notice);
                Box::new(twin.telling(move |text| notice.warn(text)))
            }
        };
        Ok(CardReader::new(card))
    }
}

fn capabilities() -> Vec<Capability> {
    let can = |capability: &Capability| capability.algorithm.has(capability.operation);
    let algorithms = Algorithm::all().filter(|algorithm| twin::flag(*algorithm).is_some());
    let asked = algorithms
        .flat_map(|algorithm| Slot::ALL.map(|slot| Capability::new(algorithm, slot.operation())));
    asked.filter(can).collect()
}

/// Cards that are made when they are needed.
impl Device for CardMaker {
    fn identity(&self) -> &StoreIdentity {
        &self.identity
    }

    fn capabilities(&self) -> &[Capability] {
        &self.capabilities
    }

    fn access(&self) -> AccessKind {
        AccessKind::Card
    }

    fn facts(&self) -> Vec<Fact> {
        let Some(profile) = &self.profile else {
            return Vec::new();
        };
        let mut facts: Vec<_> = profile
            .services
            .iter()
            .map(|(capability, service)| {
                let mut what = format!("{} {}", capability.algorithm, capability.operation);
                if let Some(assumed) = service.assumed {
                    what.push_str(&format!(" (assumed {assumed})"));
                }
                Fact::timed("card time", what, service.time.mean())
            })
            .collect();
        facts.push(Fact::new("note", &profile.note));
        facts
    }

    fn open(&self, run: &Run) -> Result<Arc<dyn KeyStore>, Error> {
        Ok(Arc::new(VirtualCards::new(self.clone(), run.clone())))
    }
}

/// The serial number of a device without a state: the hash FNV-1a of its name.
fn serial_of(name: &str) -> [u8; 4] {
    const OFFSET: u32 = 0x811C_9DC5;
    const PRIME: u32 = 0x0100_0193;
    let hash = |hash: u32, byte| (hash ^ u32::from(byte)).wrapping_mul(PRIME);
    name.bytes().fold(OFFSET, hash).to_be_bytes()
}

/// Virtual cards or the twins of one device as a key store: a card an algorithm, made when a key is first
/// asked for, so that each key has a slot to itself and cases can be interleaved.
#[derive(Debug)]
pub struct VirtualCards {
    maker: CardMaker,
    run: Run,
    /// Cards that were made, each with the slots that have their key.
    cards: Mutex<HashMap<Algorithm, (CardDevice, BTreeSet<Slot>)>>,
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

    fn make(&self) -> Result<CardDevice, Error> {
        let test_keys = self.run.test_keys.clone();
        let device = CardDevice::of_virtual(&self.maker, self.maker.make()?, test_keys);
        device.allow_many_signatures()?;
        Ok(device)
    }

    /// The card that holds a key which was provisioned before.
    fn card(&self, key: &KeyRef) -> Result<CardDevice, Error> {
        let cards = self.cards.lock();
        let card = cards.get(&key.algorithm).map(|(card, _)| card.clone());
        card.ok_or_else(|| unsupported(self.maker.device().to_string(), key.capability()))
    }
}

impl KeyStore for VirtualCards {
    fn capabilities(&self) -> Result<Vec<Capability>, Error> {
        Ok(self.maker.capabilities.clone())
    }

    fn key(&self, capability: Capability) -> Result<KeyRef, Error> {
        let lacking = || unsupported(self.maker.device().to_string(), capability);
        let slot = Slot::of(capability.operation).ok_or_else(lacking)?;
        if !self.maker.capabilities.contains(&capability) {
            return Err(lacking());
        }
        let mut cards = self.cards.lock();
        let (card, loaded) = match cards.entry(capability.algorithm) {
            Entry::Occupied(card) => card.into_mut(),
            Entry::Vacant(place) => place.insert((self.make()?, BTreeSet::new())),
        };
        if !loaded.contains(&slot) {
            let key = self.run.test_keys.made_for(capability)?;
            card.import(&key, slot)?;
            loaded.insert(slot);
        }
        card.key(capability)
    }

    fn public_key(&self, key: &KeyRef) -> Result<PublicKey, Error> {
        self.card(key)?.public_key(key)
    }

    fn access(&self, key: &KeyRef) -> Result<Access, Error> {
        self.card(key)?.access(key)
    }

    fn open(&self, key: &KeyRef, scheme: Option<Scheme>) -> Result<Box<dyn KeyHandle>, Error> {
        self.card(key)?.open(key, scheme)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SELECT: [u8; 12] = [0, 0xA4, 4, 0, 6, 0xD2, 0x76, 0, 1, 0x24, 1, 0];

    fn aid(card: &CardReader) -> Vec<u8> {
        let mut card = card.connect();
        card.transmit(&SELECT).unwrap();
        card.transmit(&[0, 0xCA, 0, 0x4F, 0]).unwrap().response
    }

    #[test]
    fn a_served_device_is_always_the_same_card_and_another_is_not() {
        let served = |name| {
            let maker = CardMaker::named(name).unwrap().unwrap();
            aid(&maker.make_served(None).unwrap())
        };
        assert_eq!(served("twin:fst-01"), served("twin:fst-01"));
        assert_ne!(served("twin:fst-01"), served("twin:yubikey-4"));
        assert_ne!(served("twin:fst-01"), served("virtual"));
        let maker = CardMaker::virtual_card();
        assert_ne!(aid(&maker.make().unwrap()), aid(&maker.make().unwrap()));
    }
}
