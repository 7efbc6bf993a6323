//! A card in a reader as a device: from the reader to the statements about it.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::tokens::identity_tag::IdentityTag;
use keymark_bench::store::Capability;
use keymark_bench::{DeviceName, During as _, Error, Provenance, StoreIdentity, StoreKind};

use super::catalogue::{Catalogue, Evidence, usb_id_of};
use super::channel::Port;
use super::device::CardDevice;
use super::facts::{CardFacts, KeyPresence, SlotFacts, Transfer};
use crate::access::AccessKind;
use crate::card::{CardAccess as _, CardPlace, SigningPin, TouchPolicy};
use crate::device::{Device, Fact, PublicDer, PublicPart, Run};
use crate::journal::Journal;
use crate::store::KeyStore;
use crate::user::{TokenId, User};

/// The device.
#[derive(Debug)]
pub(super) struct InsertedCard {
    card: CardDevice,
    facts: CardFacts,
    identity: StoreIdentity,
    capabilities: Vec<Capability>,
    present: Vec<Capability>,
    reader: String,
}

impl InsertedCard {
    /// The card in the reader, identified by what it says.
    pub(super) fn look(port: Arc<dyn Port>, user: &User) -> Result<Self, Error> {
        let reader = port.reader();
        let place = CardPlace::Pcscd(reader.clone());
        let card = CardDevice::new(
            Arc::clone(&port),
            place,
            DeviceName::new(&reader),
            user.clone(),
        );
        let facts = card.facts()?.clone();
        let (product, provenance) = match card.tag()? {
            None => (product(port.as_ref(), &facts), Provenance::Measured),
            Some(IdentityTag::Virtual) => ("virtual OpenPGP card".to_owned(), Provenance::Virtual),
            Some(IdentityTag::Twin(profile)) => (format!("twin:{profile}"), Provenance::Twin),
        };
        let card = card.identified(&facts.token());
        Ok(Self {
            identity: StoreIdentity {
                serial: Some(format!("{:08x}", facts.aid.serial)),
                versions: versions(&facts),
                ..StoreIdentity::new(
                    card.name.clone(),
                    StoreKind::OPENPGP_CARD,
                    provenance,
                    product,
                )
            },
            capabilities: card.capabilities()?,
            present: card.present()?,
            card,
            facts,
            reader,
        })
    }
}

fn versions(facts: &CardFacts) -> BTreeMap<String, String> {
    let (major, minor) = facts.aid.card_version();
    let card = ("openpgp-card".to_owned(), format!("{major}.{minor}"));
    let firmware = facts.firmware.map(|[major, minor, patch]| {
        let firmware = format!("{major:x}.{minor:x}.{patch:x}");
        ("firmware".to_owned(), firmware)
    });
    [card].into_iter().chain(firmware).collect()
}

fn product(port: &dyn Port, facts: &CardFacts) -> String {
    let evidence = Evidence {
        manufacturer: facts.aid.manufacturer,
        card_version: facts.aid.card_version(),
        usb: port.channel_id().and_then(usb_id_of),
        yubikey_version: facts.firmware,
    };
    Catalogue::shipped().identify(&evidence)
}

impl Device for InsertedCard {
    fn identity(&self) -> &StoreIdentity {
        &self.identity
    }

    fn capabilities(&self) -> &[Capability] {
        &self.capabilities
    }

    fn present(&self) -> &[Capability] {
        &self.present
    }

    fn access(&self) -> AccessKind {
        AccessKind::Card
    }

    fn facts(&self) -> Vec<Fact> {
        let facts = &self.facts;
        let tries = facts.tries;
        let signing = match facts.signing_pin {
            SigningPin::Once => "needed for every signature",
            SigningPin::Several => "good for several signatures",
        };
        let sent = match (facts.derives_pins, facts.kdf_octets) {
            (true, Some(octets)) => format!("derived by S2K over {octets} octets (KDF-DO)"),
            (true, None) => "derived by S2K (KDF-DO)".to_owned(),
            (false, _) => "sent as they are".to_owned(),
        };
        let commands = match facts.transfer {
            Transfer::Extended => "extended length",
            Transfer::Chained => "chained",
        };
        let left = format!(
            "user {}, reset {}, admin {}",
            tries.user, tries.reset, tries.admin
        );
        let mut lines = vec![
            Fact::new("reader", &self.reader),
            Fact::new("serial", facts.aid.to_string()),
            Fact::new("PIN tries", left),
            Fact::new("signing PIN", signing),
            Fact::new("PINs", sent),
            Fact::new("commands", commands),
        ];
        lines.extend(
            facts
                .slots
                .iter()
                .map(|slot| Fact::new(slot.slot.name(), slot_line(slot))),
        );
        lines
    }

    fn public_parts(&self) -> Result<Vec<PublicPart>, Error> {
        let slots = self.facts.slots.iter().filter(|slot| slot.has_key());
        let known = slots.filter_map(|slot| Some((slot.slot, slot.algorithm?)));
        let parts = known.map(|(slot, algorithm)| {
            let key = self.card.slot_public_key(slot, algorithm)?;
            let der = key.spki_der().during("i2d_PUBKEY")?;
            Ok(PublicPart {
                name: slot.name().to_owned(),
                der: PublicDer::Key(der),
            })
        });
        parts.collect()
    }

    fn token(&self) -> Option<TokenId> {
        Some(self.facts.token())
    }

    fn check(&self, wanted: &[Capability]) -> Result<(), Error> {
        self.card.check(wanted)
    }

    fn agree(&self, wanted: &[Capability]) -> Result<(), Error> {
        self.card.agree(wanted)
    }

    fn undo(&self, left: Journal) -> Result<(), Error> {
        let undone = self.card.undo(left);
        self.card.forget_pins();
        undone
    }

    fn open(&self, run: &Run) -> Result<Arc<dyn KeyStore>, Error> {
        if let Some((journals, name)) = &run.journals {
            self.card.journal_to(journals.clone(), name);
        }
        Ok(Arc::new(self.card.clone()))
    }
}

fn slot_line(slot: &SlotFacts) -> String {
    let key = match slot.key {
        KeyPresence::Empty => "no key",
        KeyPresence::Generated => "key made on the card",
        KeyPresence::Imported => "key imported",
        KeyPresence::Present => "key",
        KeyPresence::Unknown => "unknown (the card does not say whether there is a key)",
    };
    let touch = match slot.touch {
        TouchPolicy::Off => "no touch",
        TouchPolicy::Each => "touch for each use",
        TouchPolicy::Cached => "touch, then cached",
    };
    let fingerprint = slot.fingerprint.as_deref().filter(|_| slot.has_key());
    let offered: Vec<_> = slot.offered.iter().map(ToString::to_string).collect();
    let mut line = format!("{}, {key}, {touch}", slot.attributes);
    if let Some(fingerprint) = fingerprint {
        line.push_str(&format!(", {fingerprint}"));
    }
    if !offered.is_empty() {
        line.push_str(&format!("; takes {}", offered.join(" ")));
    }
    line
}
