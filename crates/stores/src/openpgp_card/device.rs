//! An OpenPGP card as a key store.

use std::sync::{Arc, OnceLock};

use crate::tokens::firmware::MANUFACTURER;
use crate::tokens::identity_tag::{GET_TAG, IdentityTag};
use crate::tokens::reader::CardReader;
use keymark_bench::store::Capability;
use keymark_bench::workload::KeyHandle;
use keymark_bench::{Algorithm, DeviceName, Error, KeyRef};
use openpgp_card::ocard::crypto::PublicKeyMaterial;
use openpgp_card::ocard::data::Fingerprint;

use super::channel::Port;
use super::facts::CardFacts;
use super::handle::{CardHandle, Verified};
use super::import::{stand_in_fingerprint, upload};
use super::session::{Password, Session, failed, verify};
use super::virtual_card::CardMaker;
use crate::access::Access;
use crate::card::{Aid, CardAccess, CardPlace, SigningPin, Slot, TouchPolicy};
use crate::journal::{Journals, RunJournal};
use crate::public_key::PublicKey;
use crate::scheme::Scheme;
use crate::software::SoftwareStore;
use crate::store::{KeyStore, as_usual, once_each, unsupported};
use crate::test_key::TestKey;
use crate::user::{Agreements, Pin, PinRules, TokenId, Touch, User};

/// An OpenPGP card; clones are the same one.
#[derive(Clone, derive_more::Debug)]
#[debug("CardDevice({name}, {:?})", session.port)]
pub struct CardDevice {
    pub(super) name: DeviceName,
    pub(super) place: CardPlace,
    pub(super) session: Arc<Session>,
    pub(super) rules: Arc<PinRules>,
    pub(super) verified: Arc<Verified>,
    facts: Arc<OnceLock<CardFacts>>,
    pub(super) agreements: Agreements,
    pub(super) journal: Arc<RunJournal>,
    pub(super) user: User,
}

impl CardDevice {
    /// The card behind a port, which other programs find at that place.
    pub fn new(port: Arc<dyn Port>, place: CardPlace, name: DeviceName, user: User) -> Self {
        let rules = PinRules::new(user.pins.clone(), name.to_string());
        Self {
            name,
            place,
            session: Arc::new(Session::new(port)),
            rules: Arc::new(rules),
            verified: Arc::default(),
            facts: Arc::default(),
            agreements: Agreements::default(),
            journal: Arc::default(),
            user,
        }
    }

    /// A card that was made here, for keys of that store: it may be written to, and its PINs are those
    /// of the factory.
    pub fn of_virtual(
        maker: &CardMaker,
        reader: CardReader,
        test_keys: Arc<SoftwareStore>,
    ) -> Self {
        let port = Arc::new(reader.clone());
        let place = CardPlace::Virtual { reader, test_keys };
        Self::new(port, place, maker.device(), User::of_made_device())
    }

    /// The card's mark, if it is one of keymark's own: behind a reader it looks like any other.
    pub(super) fn tag(&self) -> Result<Option<IdentityTag>, Error> {
        let mut response = Vec::new();
        self.session.connect()?.transmit(&GET_TAG, &mut response)?;
        let own = self.facts()?.aid.manufacturer == u16::from_be_bytes(MANUFACTURER);
        // Those of earlier versions have no mark.
        let unmarked = own.then_some(IdentityTag::Virtual);
        Ok(IdentityTag::of_response(&response).or(unmarked))
    }

    pub(super) fn identified(self, token: &TokenId) -> Self {
        let name = DeviceName::new(token.as_str());
        let rules = PinRules::new(self.user.pins.of(token), name.to_string());
        Self {
            name,
            rules: Arc::new(rules),
            ..self
        }
    }

    /// Returns the card's own description, read once.
    pub fn facts(&self) -> Result<&CardFacts, Error> {
        match self.facts.get() {
            Some(facts) => Ok(facts),
            None => {
                let facts = self.session.with(CardFacts::read)?;
                Ok(self.facts.get_or_init(|| facts))
            }
        }
    }

    /// Writes a test key to a slot of a card that was made here; to any other goes
    /// [`Self::write_test_key`].
    pub fn import(&self, key: &TestKey, slot: Slot) -> Result<(), Error> {
        self.made_here()?;
        let fingerprint = stand_in_fingerprint(key)?;
        self.session.with(|card| {
            verify(&self.rules, card, Password::Admin)?;
            upload(card, key, slot, fingerprint)
        })
    }

    /// Lets one verified signing PIN do for many signatures.
    pub fn allow_many_signatures(&self) -> Result<(), Error> {
        self.made_here()?;
        self.session.with(|card| {
            let mut status = card
                .pw_status_bytes()
                .map_err(|error| failed("GET DATA (C4)", &error))?;
            status.set_pw1_cds_valid_once(false);
            verify(&self.rules, card, Password::Admin)?;
            card.card()
                .set_pw_status_bytes(&status, false)
                .map_err(|error| failed("PUT DATA (C4)", &error))
        })
    }

    /// Lets test keys be written, by that run and under a journal. The first call counts.
    pub fn journal_to(&self, journals: Journals, run: &str) {
        self.journal.keep_in(journals, run);
    }

    /// Nothing but a card of our own is changed without a journal.
    fn made_here(&self) -> Result<(), Error> {
        match self.place {
            CardPlace::Virtual { .. } => Ok(()),
            CardPlace::Pcscd(_) => Err(Error::call(
                format!("writing to {}", self.name),
                "keymark never writes to a token unasked",
                "--write-to lets keymark write test keys to it and remove them again",
            )),
        }
    }

    fn asked(&self, with_test_keys: bool) -> Result<Vec<Capability>, Error> {
        let facts = self.facts()?;
        let may_write = with_test_keys && self.user.consent.may_write(&facts.token());
        let mut capabilities = Vec::new();
        for slot in &facts.slots {
            let there = slot.algorithm.filter(|_| slot.has_key());
            let writable = slot.offered.iter().copied().filter(|_| may_write);
            let capability = |algorithm| Capability::new(algorithm, slot.slot.operation());
            // An attribute that makes no sense for its slot is none.
            let can = |capability: &Capability| capability.algorithm.has(capability.operation);
            let all = there.into_iter().chain(writable).map(capability);
            capabilities.extend(all.filter(can));
        }
        Ok(once_each(capabilities))
    }

    /// Capabilities of the keys that are on the card, without those that may be written.
    pub(super) fn present(&self) -> Result<Vec<Capability>, Error> {
        self.asked(false)
    }

    fn slot_for(&self, capability: Capability) -> Result<Slot, Error> {
        Slot::of(capability.operation).ok_or_else(|| unsupported(self.name.to_string(), capability))
    }
}

impl CardAccess for CardDevice {
    fn place(&self) -> &CardPlace {
        &self.place
    }

    fn fingerprint(&self, slot: Slot) -> Result<Option<String>, Error> {
        Ok(self.facts()?.slot(slot).fingerprint.clone())
    }

    fn signing_pin(&self) -> Result<SigningPin, Error> {
        Ok(self.facts()?.signing_pin)
    }

    fn aid(&self) -> Result<Aid, Error> {
        self.session.aid()
    }

    fn user_pin(&self) -> Result<Pin, Error> {
        self.session
            .with(|card| verify(&self.rules, card, Password::User))?;
        self.rules.accepted_user_pin()
    }

    fn write_fingerprint(&self, slot: Slot, fingerprint: [u8; 20]) -> Result<(), Error> {
        self.made_here()?;
        self.session.with(|card| {
            verify(&self.rules, card, Password::Admin)?;
            card.card()
                .set_fingerprint(Fingerprint::from(fingerprint), slot.key_type())
                .map_err(|error| failed("PUT DATA (C7-C9)", &error))
        })
    }

    fn check_touch(&self, slot: Slot) -> Result<TouchPolicy, Error> {
        let touch = self.facts()?.slot(slot).touch;
        match (touch, self.user.consent.touch) {
            (TouchPolicy::Off, _) | (_, Touch::Allowed) => return Ok(touch),
            (TouchPolicy::Each | TouchPolicy::Cached, Touch::Refused) => {}
        }
        Err(Error::call(
            format!("using slot {slot} of {}", self.name),
            "its key needs a touch for every use or from time to time",
            "--allow-touch measures it while you touch the button",
        ))
    }

    fn ask_for_touch(&self) {
        self.user.notice.ask_for_touch();
    }

    fn slot_public_key(&self, slot: Slot, algorithm: Algorithm) -> Result<PublicKey, Error> {
        let call = "GENERATE ASYMMETRIC KEY PAIR (read)";
        let material = self.session.with(|card| {
            card.public_key_material(slot.key_type())
                .map_err(|error| failed(call, &error))
        })?;
        let key = match &material {
            PublicKeyMaterial::R(rsa) => PublicKey::rsa(algorithm, rsa.n(), rsa.v()),
            PublicKeyMaterial::E(ecc) => PublicKey::point(algorithm, ecc.data()),
        };
        key.map_err(|error| Error::call(call, format!("no key of {algorithm}: {error}"), ""))
    }
}

impl KeyStore for CardDevice {
    fn capabilities(&self) -> Result<Vec<Capability>, Error> {
        self.asked(true)
    }

    /// The key that is in the slot of the operation, or else a test key, where the user allows one.
    fn key(&self, capability: Capability) -> Result<KeyRef, Error> {
        let algorithm = capability.algorithm;
        let slot = self.slot_for(capability)?;
        let found = self.facts()?.slot(slot);
        if !found.is_key_of(algorithm) {
            match self.place {
                // Its keys were put there before; the facts may be older.
                CardPlace::Virtual { .. } => {}
                CardPlace::Pcscd(_) => self.write_test_key(slot, algorithm)?,
            }
        }
        Ok(KeyRef::new(capability, slot.to_string()))
    }

    fn public_key(&self, key: &KeyRef) -> Result<PublicKey, Error> {
        self.slot_public_key(self.slot_for(key.capability())?, key.algorithm)
    }

    fn access(&self, key: &KeyRef) -> Result<Access, Error> {
        let slot = self.slot_for(key.capability())?;
        Ok(Access::Card(Arc::new(self.clone()), slot))
    }

    fn open(&self, key: &KeyRef, scheme: Option<Scheme>) -> Result<Box<dyn KeyHandle>, Error> {
        as_usual(key, scheme)?;
        let slot = self.slot_for(key.capability())?;
        // Asked anew: a key may have been written since.
        let facts = self.session.with(CardFacts::read)?;
        let found = facts.slot(slot);
        if !found.has_key() {
            return Err(Error::call(
                format!("using slot {slot} of {}", self.name),
                "there is no key in it",
                "make one with gpg --card-edit, or let keymark make one with --write-to",
            ));
        }
        if found.algorithm != Some(key.algorithm) {
            return Err(unsupported(self.name.to_string(), key.capability()));
        }
        Ok(Box::new(CardHandle {
            touch: self.check_touch(slot)?,
            channel: self.session.connect()?,
            card: self.clone(),
            slot,
            algorithm: key.algorithm,
            transfer: facts.transfer,
            password: slot.pick([Password::Signing, Password::User, Password::User]),
            each: slot == Slot::Signature && facts.signing_pin == SigningPin::Once,
            touched: false,
            verify_time: None,
            commands: Vec::new(),
            response: Vec::with_capacity(1024),
        }))
    }

    fn restore(&self) -> Result<(), Error> {
        let restored = self.restore_written();
        self.forget_pins();
        restored
    }
}
