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
        facts: CardFacts,
        reader: String,
    },
}

/// The cards that are wanted, and why readers could not be looked at.
pub(super) fn look(
    wish: &Wish,
    choice: &CardChoice,
) -> Result<(Vec<CardInPlace>, Option<Error>), Error> {
    let made = |maker: CardMaker| CardInPlace {
        identity: maker.identity(),
        card: Card::Made(maker),
    };
    let mut cards = Vec::new();
    match wish {
        Wish::Software => return Ok((cards, None)),
        Wish::Inserted => {}
        Wish::Default => {
            cards.push(made(CardMaker::virtual_card()));
            return Ok((cards, None));
        }
        Wish::All => {
            cards.push(made(CardMaker::virtual_card()));
            let shipped = Profile::shipped().map_err(unusable)?;
            cards.extend(
                shipped
                    .into_iter()
                    .map(|profile| made(CardMaker::twin(profile))),
            );
        }
        Wish::Named(names) => {
            for name in names {
                if name == VIRTUAL {
                    cards.push(made(CardMaker::virtual_card()));
                } else if let Some(profile) = name.strip_prefix(TWIN) {
                    let profile = Profile::find(profile).map_err(unusable)?;
                    cards.push(made(CardMaker::twin(profile)));
                }
            }
        }
    }
    let others: Option<Vec<&String>> = match wish {
        Wish::Named(names) => {
            let is_card = |name: &&String| {
                !matches!(name.as_str(), "software" | VIRTUAL) && !name.starts_with(TWIN)
            };
            Some(names.iter().filter(is_card).collect())
        }
        _ => None,
    };
    if others.as_ref().is_some_and(Vec::is_empty) {
        return Ok((cards, None));
    }
    let inserted = match in_readers(choice) {
        Ok(inserted) => inserted,
        Err(error) => return Ok((cards, Some(error))),
    };
    match others {
        None => cards.extend(inserted),
        Some(names) => cards.extend(named(inserted, &names)?),
    }
    Ok((cards, None))
}

fn unusable(error: impl std::fmt::Display) -> Error {
    Error::call("looking for a twin", error, "")
}

/// Each name is a serial number, or a part of the product name that only one card has.
fn named(cards: Vec<CardInPlace>, names: &[&String]) -> Result<Vec<CardInPlace>, Error> {
    let mut cards: Vec<Option<CardInPlace>> = cards.into_iter().map(Some).collect();
    let mut chosen = Vec::new();
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
            // The plan will say that there is no such device.
            [] => {}
            [place] => chosen.extend(cards[*place].take()),
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
    Ok(chosen)
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
                facts,
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
            kind: Kind::Card(Box::new(card)),
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
