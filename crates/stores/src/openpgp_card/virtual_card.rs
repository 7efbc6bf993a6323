//! Cards in this process: real firmware without hardware, and twins of devices.

use std::path::PathBuf;
use std::sync::Arc;

use crate::tokens::card::{Card, CardFault};
use crate::tokens::firmware::{AllowedAlgorithms, Firmware, FirmwareOptions};
use crate::tokens::reader::{Connection, Reader};
use crate::tokens::twin::{self, Twin};
use keymark_bench::algorithm::Algorithm;
use keymark_bench::case::{DeviceName, StoreKind};
use keymark_bench::error::Error;
use keymark_bench::profile::{Profile, ProfileError, ProfileStore};
use keymark_bench::store::{Capability, StoreIdentity};

use super::channel::{Channel, Port, Reset};
use crate::card::Slot;
use crate::device::made_identity;
use crate::user::{Notice, Unattended};

const VIRTUAL: &str = "virtual";
const TWIN: &str = "twin:";

/// A reader in this process.
#[derive(Debug, Clone)]
pub struct VirtualPort(pub Reader);

impl Port for VirtualPort {
    fn connect(&self) -> Result<Box<dyn Channel>, Error> {
        Ok(Box::new(InProcess(self.0.connect())))
    }

    fn reader(&self) -> String {
        "in this process".to_owned()
    }

    fn atr(&self) -> Result<Vec<u8>, Error> {
        self.0.connect().atr().map_err(fault)
    }

    fn reset(&self) -> Result<Reset, Error> {
        let reset = self.0.connect().power_on().map_err(fault);
        reset.map(|_| Reset::Done)
    }
}

struct InProcess(Connection);

impl Channel for InProcess {
    fn transmit(&mut self, command: &[u8], response: &mut Vec<u8>) -> Result<(), Error> {
        *response = self.0.transmit(command).map_err(fault)?.response;
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
    profile: Option<Arc<Profile>>,
    seed: u64,
    notice: Arc<dyn Notice>,
}

impl CardMaker {
    /// The virtual card: the firmware with this CPU's times.
    pub fn virtual_card() -> Self {
        Self {
            profile: None,
            seed: 0,
            notice: Arc::new(Unattended),
        }
    }

    /// Twins of the profile's device.
    pub fn twin(profile: Profile) -> Self {
        Self {
            profile: Some(Arc::new(profile)),
            ..Self::virtual_card()
        }
    }

    /// By the name of the device: `virtual`, or `twin:` and a profile. None for any other name.
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

    /// The same, drawing service times with that seed.
    pub fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// The same, warning the user of what a twin refuses.
    pub fn telling(self, notice: Arc<dyn Notice>) -> Self {
        Self { notice, ..self }
    }

    /// The device's times, if it is a twin.
    pub fn profile(&self) -> Option<&Profile> {
        self.profile.as_deref()
    }

    /// The name it is selected by.
    pub fn device(&self) -> DeviceName {
        match &self.profile {
            None => DeviceName::new(VIRTUAL),
            Some(profile) => DeviceName::new(format!("{TWIN}{}", profile.name)),
        }
    }

    /// What it is.
    pub fn identity(&self) -> StoreIdentity {
        let software = "virtual OpenPGP card: the Nitrokey 3's application on this CPU";
        let about = (software, ("firmware", Firmware::version().to_owned()));
        made_identity(
            self.device().as_str(),
            StoreKind::OPENPGP_CARD,
            about,
            self.profile(),
        )
    }

    /// What it does.
    pub fn capabilities(&self) -> Vec<Capability> {
        match &self.profile {
            Some(profile) => profile.capabilities().collect(),
            None => Algorithm::all()
                .filter(|algorithm| twin::flag(*algorithm).is_some())
                .flat_map(|algorithm| {
                    let asked = Slot::ALL.map(Slot::operation).into_iter();
                    asked.map(move |operation| Capability::new(algorithm, operation))
                })
                .filter(|capability| capability.algorithm.has(capability.operation))
                .collect(),
        }
    }

    /// A fresh card, one of several: its serial number is random.
    pub fn make(&self) -> Result<Reader, Error> {
        self.card(None, None)
    }

    /// A card to be served, whose state is kept in a folder, with its serial number. Without a folder the
    /// device always has the same: who has seen it before is not to ask for another.
    pub fn make_served(&self, state: Option<PathBuf>) -> Result<Reader, Error> {
        let serial = match state {
            None => Some(serial_of(self.device().as_str())),
            Some(_) => None,
        };
        self.card(state, serial)
    }

    fn card(&self, state: Option<PathBuf>, serial: Option<[u8; 4]>) -> Result<Reader, Error> {
        let algorithms = match &self.profile {
            None => AllowedAlgorithms::all(),
            Some(profile) => twin::allowed(profile),
        };
        let options = FirmwareOptions {
            serial,
            algorithms,
            state,
            ..FirmwareOptions::default()
        };
        let firmware = Firmware::new(options)
            .map_err(|error| Error::call("making a virtual card", error, ""))?;
        let card: Box<dyn Card> = match &self.profile {
            None => Box::new(firmware),
            Some(profile) => {
                let twin = Twin::new(Box::new(firmware), Profile::clone(profile), self.seed);
                let notice = Arc::clone(&self.notice);
                Box::new(twin.telling(move |text| notice.warn(text)))
            }
        };
        Ok(Reader::new(card))
    }
}

/// The serial number of a device without a state: the hash FNV-1a of its name.
fn serial_of(name: &str) -> [u8; 4] {
    const OFFSET: u32 = 0x811C_9DC5;
    const PRIME: u32 = 0x0100_0193;
    let hash = |hash: u32, byte| (hash ^ u32::from(byte)).wrapping_mul(PRIME);
    name.bytes().fold(OFFSET, hash).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SELECT: [u8; 12] = [0, 0xA4, 4, 0, 6, 0xD2, 0x76, 0, 1, 0x24, 1, 0];

    fn aid(card: &Reader) -> Vec<u8> {
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
