//! Cards in this process: real firmware without hardware, and twins of devices.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use keymark_bench::algorithm::Algorithm;
use keymark_bench::case::{DeviceName, Provenance, StoreKind};
use keymark_bench::error::Error;
use keymark_bench::store::{Capability, StoreIdentity};
use keymark_tokens::card::{Card, CardFault};
use keymark_tokens::firmware::{AllowedAlgorithms, Firmware, FirmwareOptions};
use keymark_tokens::profile::{Profile, ProfileError};
use keymark_tokens::reader::{Connection, Reader};
use keymark_tokens::twin::{self, Twin};

use super::channel::{Channel, Port};
use super::slot::Slot;

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
#[derive(Debug, Clone)]
pub struct CardMaker {
    profile: Option<Arc<Profile>>,
    seed: u64,
}

impl CardMaker {
    /// The virtual card: the firmware with this CPU's times.
    #[must_use]
    pub const fn virtual_card() -> Self {
        Self {
            profile: None,
            seed: 0,
        }
    }

    /// Twins of the profile's device.
    #[must_use]
    pub fn twin(profile: Profile) -> Self {
        Self {
            profile: Some(Arc::new(profile)),
            seed: 0,
        }
    }

    /// By the name of the device: `virtual`, or `twin:` and a profile. None for any other name.
    #[must_use]
    pub fn named(name: &str) -> Option<Result<Self, ProfileError>> {
        if name == VIRTUAL {
            return Some(Ok(Self::virtual_card()));
        }
        let profile = name.strip_prefix(TWIN)?;
        Some(Profile::find(profile).map(Self::twin))
    }

    /// The same, drawing service times with that seed.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// The device's times, if it is a twin.
    #[must_use]
    pub fn profile(&self) -> Option<&Profile> {
        self.profile.as_deref()
    }

    /// The name it is selected by.
    #[must_use]
    pub fn device(&self) -> DeviceName {
        match &self.profile {
            None => DeviceName::new(VIRTUAL),
            Some(profile) => DeviceName::new(format!("{TWIN}{}", profile.name)),
        }
    }

    /// What it is.
    #[must_use]
    pub fn identity(&self) -> StoreIdentity {
        let firmware = ("firmware".to_owned(), Firmware::version().to_owned());
        let mut versions = BTreeMap::from([firmware]);
        if let Some(profile) = &self.profile {
            versions.insert("profile".to_owned(), profile.source.clone());
        }
        StoreIdentity {
            device: self.device(),
            kind: StoreKind::OPENPGP_CARD,
            provenance: self.provenance(),
            product: match &self.profile {
                None => "virtual OpenPGP card: the Nitrokey 3's application on this CPU".to_owned(),
                Some(profile) => format!("twin of a {}", profile.product),
            },
            serial: None,
            versions,
        }
    }

    /// What kind of figure it yields.
    #[must_use]
    pub const fn provenance(&self) -> Provenance {
        match self.profile {
            None => Provenance::Virtual,
            Some(_) => Provenance::Twin,
        }
    }

    /// What it does.
    #[must_use]
    pub fn capabilities(&self) -> Vec<Capability> {
        match &self.profile {
            Some(profile) => profile.capabilities().collect(),
            None => Algorithm::all()
                .filter(|algorithm| twin::flag(*algorithm).is_some())
                .flat_map(|algorithm| {
                    let asked = Slot::ALL.map(Slot::operation).into_iter();
                    asked.map(move |operation| Capability {
                        algorithm,
                        operation,
                    })
                })
                .filter(|capability| capability.algorithm.has(capability.operation))
                .collect(),
        }
    }

    /// A fresh card.
    ///
    /// # Errors
    /// When the firmware does not start.
    pub fn make(&self) -> Result<Reader, Error> {
        self.make_in(None)
    }

    /// A card whose state is kept in a folder.
    ///
    /// # Errors
    /// When the folder cannot be used.
    pub fn make_in(&self, state: Option<PathBuf>) -> Result<Reader, Error> {
        let algorithms = match &self.profile {
            None => AllowedAlgorithms::all(),
            Some(profile) => twin::allowed(profile),
        };
        let options = FirmwareOptions {
            algorithms,
            state,
            ..FirmwareOptions::default()
        };
        let firmware = Firmware::new(options)
            .map_err(|error| Error::call("making a virtual card", error, ""))?;
        let card: Box<dyn Card> = match &self.profile {
            None => Box::new(firmware),
            Some(profile) => Box::new(Twin::new(
                Box::new(firmware),
                Profile::clone(profile),
                self.seed,
            )),
        };
        Ok(Reader::new(card))
    }
}
