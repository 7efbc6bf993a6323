//! OpenPGP cards: in readers, virtual, and twins.

use std::sync::Arc;

use keymark_bench::case::{DeviceName, Provenance, StackName, StoreKind};
use keymark_bench::error::Error;
use keymark_bench::store::{KeyStore, StoreIdentity};
use keymark_stacks::gnupg::Gnupg;
use keymark_stores::openpgp_card::{
    CardDevice, CardFacts, CardMaker, Consent, Notice, PinSource, Pins, pcsc,
};
use keymark_tokens::catalogue::{Catalogue, Evidence, usb_id_of};
use keymark_tokens::profile::Profile;

use super::{Found, Kind, Way, Wish, asked_by_gnupg, driver, gnupg_ways, note_versions};
use crate::output;

const VIRTUAL: &str = "virtual";
const TWIN: &str = "twin:";

/// How cards in readers are to be used.
#[derive(Clone)]
pub(crate) struct CardChoice {
    pub(crate) pins: Pins,
    pub(crate) consent: Consent,
}

impl CardChoice {
    /// Nothing is written, and PINs are left to GnuPG's own pinentry.
    pub(crate) fn of_pinentry() -> Self {
        Self {
            pins: Pins {
                user: PinSource::Prompt,
                admin: PinSource::Prompt,
            },
            consent: Consent::default(),
        }
    }
}

/// A card.
#[derive(Debug)]
pub(crate) enum Card {
    /// Made when it is needed.
    Made(CardMaker),
    /// In a reader.
    Inserted {
        device: Arc<CardDevice>,
        facts: Box<CardFacts>,
        reader: String,
    },
}

/// What looking for cards yields.
#[derive(Default)]
pub(super) struct Looked {
    pub(super) cards: Vec<CardInPlace>,
    /// Why readers could not be looked at, if they had to be.
    pub(super) no_readers: Option<Error>,
    /// Names that no card has.
    pub(super) unknown: Vec<String>,
}

/// Looks for the cards that are wanted.
pub(super) fn look(wish: &Wish, choice: &CardChoice) -> Result<Looked, Error> {
    let mut looked = Looked::default();
    let mut others = Vec::new();
    match wish {
        Wish::Software => return Ok(looked),
        Wish::Default => {
            looked
                .cards
                .push(CardInPlace::made(CardMaker::virtual_card()));
            return Ok(looked);
        }
        Wish::Inserted => {}
        Wish::All => {
            looked
                .cards
                .push(CardInPlace::made(CardMaker::virtual_card()));
            for profile in Profile::shipped().map_err(unusable)? {
                looked
                    .cards
                    .push(CardInPlace::made(CardMaker::twin(profile)));
            }
        }
        Wish::Named(names) => {
            for name in names.iter().filter(|name| *name != "software") {
                if name == VIRTUAL {
                    looked
                        .cards
                        .push(CardInPlace::made(CardMaker::virtual_card()));
                } else if let Some(profile) = name.strip_prefix(TWIN) {
                    let profile = Profile::find(profile).map_err(unusable)?;
                    looked
                        .cards
                        .push(CardInPlace::made(CardMaker::twin(profile)));
                } else {
                    others.push(name);
                }
            }
            if others.is_empty() {
                return Ok(looked);
            }
        }
    }
    match (in_readers(choice), wish) {
        (Ok(inserted), Wish::Named(_)) => named(&mut looked, inserted, &others)?,
        (Ok(inserted), _) => looked.cards.extend(inserted),
        (Err(error), _) => {
            looked.no_readers = Some(error);
            looked.unknown.extend(others.into_iter().cloned());
        }
    }
    Ok(looked)
}

fn unusable(error: impl std::fmt::Display) -> Error {
    Error::call("looking for a twin", error, "")
}

/// Each name is a serial number, or a part of the product name that only one card has.
fn named(looked: &mut Looked, cards: Vec<CardInPlace>, names: &[&String]) -> Result<(), Error> {
    let mut cards: Vec<Option<CardInPlace>> = cards.into_iter().map(Some).collect();
    for name in names {
        let wanted = name.to_ascii_lowercase();
        let places: Vec<usize> = (0..cards.len())
            .filter(|place| {
                cards[*place]
                    .as_ref()
                    .is_some_and(|card| card.is_called(&wanted))
            })
            .collect();
        match places.as_slice() {
            [] => looked.unknown.push((*name).clone()),
            [place] => looked.cards.extend(cards[*place].take()),
            several => {
                let devices = several.iter().filter_map(|place| cards[*place].as_ref());
                let devices: Vec<_> = devices
                    .map(|card| card.identity.device.to_string())
                    .collect();
                return Err(Error::call(
                    format!("looking for the card '{name}'"),
                    format!(
                        "{} cards are called so: {}",
                        devices.len(),
                        devices.join(", ")
                    ),
                    "name it by its serial number",
                ));
            }
        }
    }
    Ok(())
}

/// Every OpenPGP card that a reader has.
fn in_readers(choice: &CardChoice) -> Result<Vec<CardInPlace>, Error> {
    let mut cards = Vec::new();
    for port in pcsc::ports()? {
        let mut identity = StoreIdentity {
            device: DeviceName::new(port.reader()),
            kind: StoreKind::OpenpgpCard,
            provenance: Provenance::Measured,
            product: String::new(),
            serial: None,
            versions: std::collections::BTreeMap::new(),
        };
        let make = |identity: &StoreIdentity| {
            CardDevice::new(
                Arc::clone(&port),
                identity,
                choice.pins.clone(),
                choice.consent,
                Arc::new(OnTerminal) as Arc<dyn Notice>,
            )
        };
        let facts = match make(&identity).facts() {
            Ok(facts) => facts.clone(),
            Err(error) => {
                output::warning(&format!(
                    "the card in '{}' is left out: {error}",
                    port.reader()
                ));
                continue;
            }
        };
        identity.device = DeviceName::new(format!("{:08x}", facts.serial));
        let evidence = Evidence {
            manufacturer: facts.manufacturer,
            serial: facts.serial,
            card_version: facts.version,
            atr: port.atr().unwrap_or_default(),
            reader: port.reader(),
            usb: port.channel_id().and_then(usb_id_of),
            yubikey_version: facts.firmware,
        };
        let catalogue = Catalogue::shipped().map_err(unusable)?;
        identity.product = catalogue.identify(&evidence).name;
        let device = Arc::new(make(&identity));
        let identity = device.identity()?;
        cards.push(CardInPlace {
            identity,
            card: Card::Inserted {
                device,
                facts: Box::new(facts),
                reader: port.reader(),
            },
        });
    }
    Ok(cards)
}

/// A card with its identity, before the ways to it are known.
pub(super) struct CardInPlace {
    identity: StoreIdentity,
    card: Card,
}

impl CardInPlace {
    fn made(maker: CardMaker) -> Self {
        Self {
            identity: maker.identity(),
            card: Card::Made(maker),
        }
    }

    fn is_called(&self, wanted: &str) -> bool {
        self.identity.device.as_str() == wanted
            || self.identity.product.to_ascii_lowercase().contains(wanted)
    }

    /// The ways to it: `raw`, and GnuPG's stacks if those are wanted.
    pub(super) fn found(self, gnupg: Option<&Result<Gnupg, Error>>) -> Result<Found, Error> {
        let Self { mut identity, card } = self;
        let capabilities = match &card {
            Card::Made(maker) => maker.capabilities(),
            Card::Inserted { device, .. } => device.capabilities()?,
        };
        let mut ways = vec![Way {
            stack: StackName::Raw,
            found: Ok(capabilities.clone()),
        }];
        if let Some(gnupg) = gnupg {
            note_versions(&mut identity, gnupg);
            // Without the library scdaemon has no way to the card.
            let reachable = gnupg
                .clone()
                .and_then(|gnupg| driver::driver().map(|_| gnupg));
            ways.extend(gnupg_ways(&reachable, |algorithm, _| {
                let offered = capabilities.iter();
                offered
                    .filter(|capability| capability.algorithm == algorithm)
                    .filter(|capability| asked_by_gnupg(capability))
                    .copied()
                    .collect()
            }));
        }
        Ok(Found {
            identity,
            ways,
            kind: Kind::Card(card),
        })
    }
}

/// Speaks to the user on the terminal.
struct OnTerminal;

impl Notice for OnTerminal {
    fn tell(&self, text: &str) {
        output::note(text);
    }

    fn agrees(&self, to: &str) -> bool {
        output::agrees(to)
    }
}
