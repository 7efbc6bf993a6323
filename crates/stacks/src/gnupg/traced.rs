//! A private home with one card, for a program that is traced.

use std::path::Path;
use std::sync::Arc;

use keymark_bench::algorithm::Algorithm;
use keymark_bench::error::Error;
use keymark_stores::card::CardPlace;
use keymark_stores::device::{Device, Run};

use super::home::Home;
use super::homes::GnupgHomes;
use super::key_home::KeyHome;
use super::{Gnupg, card_home, provider};
use crate::private_dir::PrivateDir;

/// The home; everything is gone when it is dropped.
#[derive(Debug)]
pub enum TracedCard {
    /// With a card made for it, and a test key.
    Made {
        home: Arc<KeyHome>,
        /// What its directory is in.
        _homes: GnupgHomes,
    },
    /// With the owner's card and public keys.
    Inserted {
        home: Home,
        /// What its directory is in.
        _dir: PrivateDir,
    },
}

/// Who gives a card in a reader its owner's PIN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PinEntry {
    /// GnuPG's pinentry, when a program first needs it.
    Pinentry,
    /// The user of the device, before there is a program.
    Before,
}

impl TracedCard {
    /// A home with that card: with a test key of the algorithm on it if it was made for the purpose,
    /// with its owner's keys otherwise.
    pub fn new(device: &dyn Device, algorithm: Algorithm, entry: PinEntry) -> Result<Self, Error> {
        let gnupg = Gnupg::find(None);
        let gnupg = provider::reachable(&gnupg, device)?.clone();
        let store = device.open(&Run::new(0))?;
        let offered = device.capabilities().iter().copied();
        let offered = offered.filter(|capability| provider::asked_by_gnupg(*capability));
        let of_algorithm = offered
            .clone()
            .find(|capability| capability.algorithm == algorithm);
        let no_card = || {
            let reason = format!("{} is not a card with a key", device.identity().device);
            Error::call("looking for a card", reason, "name a card with --device")
        };
        let capability = of_algorithm.or_else(|| offered.clone().next());
        let capability = capability.ok_or_else(no_card)?;
        let access = store.access(&store.key(capability)?)?;
        let (card, _) = access.card.ok_or_else(no_card)?;
        match card.place() {
            CardPlace::Virtual { .. } if of_algorithm.is_none() => Err(Error::Unsupported {
                by: device.identity().device.to_string(),
                operation: keymark_bench::operation::Operation::Decrypt,
                algorithm,
            }),
            CardPlace::Virtual { .. } => {
                let homes = GnupgHomes::new(gnupg)?;
                let name = &device.identity().device;
                let home = homes.card_home(name, capability.algorithm, store.as_ref(), card)?;
                Ok(Self::Made {
                    home,
                    _homes: homes,
                })
            }
            CardPlace::Pcscd(reader) => {
                let dir = PrivateDir::new()?;
                let path = dir.subdirectory("g")?;
                let home = card_home::private_home(&gnupg, card.as_ref(), reader, path)?;
                match entry {
                    PinEntry::Pinentry => {
                        home.has_card(card.aid()?)?;
                        home.learn_keys()?;
                    }
                    PinEntry::Before => {
                        // Under the rules for PINs: scdaemon then enters one that is known to be right.
                        let pin = card.user_pin()?;
                        home.learn_inserted_card(card.aid()?, &pin)?;
                    }
                }
                Ok(Self::Inserted { home, _dir: dir })
            }
        }
    }

    /// The home.
    pub fn home(&self) -> &Home {
        match self {
            Self::Made { home, .. } => &home.home,
            Self::Inserted { home, .. } => home,
        }
    }

    /// The file with the calls.
    pub fn trace(&self) -> &Path {
        let trace = self.home().card().and_then(|card| card.trace.as_deref());
        trace.unwrap_or(self.home().path())
    }
}
