//! One card as a key store.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use keymark_bench::algorithm::Algorithm;
use keymark_bench::case::{DeviceName, Provenance, StoreKind};
use keymark_bench::error::Error;
use keymark_bench::operation::Operation;
use keymark_bench::store::{Capability, KeyHandle, KeyRef, KeyStore, StoreIdentity};
use keymark_tokens::reader::Reader;
use openpgp_card::ocard::algorithm::AlgorithmAttributes;
use openpgp_card::ocard::crypto::PublicKeyMaterial;

use super::channel::Port;
use super::facts::{CardFacts, TouchPolicy};
use super::handle::{CardHandle, ask_for_touch};
use super::import::{Upload, stand_in_fingerprint};
use super::pin::{Pin, Pins};
use super::session::{PinKind, Session, Verification, failed};
use super::slot::Slot;
use super::virtual_card::{CardMaker, VirtualPort};
use crate::challenge::PublicKey;
use crate::test_key::TestKey;

/// What the user has allowed on a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Consent {
    /// Slots that want a touch may be used: the user sits there.
    pub touch: bool,
    /// Test keys may be written to this card, of this serial number.
    pub write: Option<u32>,
}

/// Told to the user while a case is made ready or measured.
pub trait Notice: Send + Sync {
    /// Something to do or to know.
    fn tell(&self, text: &str);

    /// Whether the user agrees to what cannot be undone.
    fn agrees(&self, to: &str) -> bool;
}

/// Nobody is there: nothing is agreed to.
struct Unattended;

impl Notice for Unattended {
    fn tell(&self, _: &str) {}

    fn agrees(&self, _: &str) -> bool {
        false
    }
}

/// A slot that was written to.
struct Written {
    slot: Slot,
    algorithm: Algorithm,
    /// As they were before.
    attributes: AlgorithmAttributes,
}

/// One card.
pub struct CardDevice {
    name: DeviceName,
    product: String,
    provenance: Provenance,
    session: Arc<Session>,
    verification: Arc<Verification>,
    /// PIN 82 and PIN 81, by [`PinKind`].
    verified: Arc<[AtomicBool; 2]>,
    facts: OnceLock<CardFacts>,
    written: Mutex<Vec<Written>>,
    consent: Consent,
    pub(super) notice: Arc<dyn Notice>,
}

impl fmt::Debug for CardDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CardDevice")
            .field("name", &self.name)
            .field("port", &self.session.port())
            .finish_non_exhaustive()
    }
}

impl CardDevice {
    /// The card behind a port.
    #[must_use]
    pub fn new(
        port: Arc<dyn Port>,
        identity: &StoreIdentity,
        pins: Pins,
        consent: Consent,
        notice: Arc<dyn Notice>,
    ) -> Self {
        Self {
            name: identity.device.clone(),
            product: identity.product.clone(),
            provenance: identity.provenance,
            session: Arc::new(Session::new(port)),
            verification: Arc::new(Verification::new(pins, identity.device.to_string())),
            verified: Arc::default(),
            facts: OnceLock::new(),
            written: Mutex::default(),
            consent,
            notice,
        }
    }

    /// A card that was made here: it may be written to, and its PINs are those of the factory.
    #[must_use]
    pub fn of_made(maker: &CardMaker, reader: Reader) -> Self {
        Self::new(
            Arc::new(VirtualPort(reader)),
            &maker.identity(),
            Pins::factory(),
            Consent::default(),
            Arc::new(Unattended),
        )
    }

    /// What the card says of itself, asked once.
    ///
    /// # Errors
    /// When it is no OpenPGP card, or gone.
    pub fn facts(&self) -> Result<&CardFacts, Error> {
        if self.facts.get().is_none() {
            let facts = self.session.with(CardFacts::read)?;
            let _ = self.facts.set(facts);
        }
        self.facts
            .get()
            .ok_or_else(|| Error::call("GET DATA", "the card said nothing", ""))
    }

    /// The user PIN, for gpg-agent to enter, once the card has accepted it here: so it is tried
    /// under the rules, and once.
    ///
    /// # Errors
    /// When the card or the rules of PINs refuse.
    pub fn user_pin(&self) -> Result<Pin, Error> {
        self.session
            .with(|card| self.verification.verify(card, PinKind::User))?;
        self.verification.accepted_user_pin()
    }

    /// The public half of a slot's key.
    ///
    /// # Errors
    /// When there is none, or it is of another algorithm than the card's attributes say.
    pub fn public_key(&self, slot: Slot, algorithm: Algorithm) -> Result<PublicKey, Error> {
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

    /// Writes a test key to a slot. Only for cards that are virtual, or that the user has allowed.
    ///
    /// # Errors
    /// When the card or the rules of PINs refuse.
    pub fn import(
        &self,
        key: &TestKey,
        slot: Slot,
        fingerprint: Option<[u8; 20]>,
    ) -> Result<(), Error> {
        self.may_write()?;
        let fingerprint = match fingerprint {
            Some(fingerprint) => fingerprint,
            None => stand_in_fingerprint(key)?,
        };
        self.session.with(|card| {
            self.verification.verify(card, PinKind::Admin)?;
            let upload = Upload::new(key, slot, fingerprint);
            card.card()
                .key_import(&upload, slot.key_type())
                .map_err(|error| failed("PUT DATA (key import)", &error))
        })
    }

    /// Lets one verified signing PIN do for many signatures.
    ///
    /// # Errors
    /// When the card or the rules of PINs refuse.
    pub fn allow_many_signatures(&self) -> Result<(), Error> {
        self.may_write()?;
        self.session.with(|card| {
            let mut status = card
                .pw_status_bytes()
                .map_err(|error| failed("GET DATA (C4)", &error))?;
            status.set_pw1_cds_valid_once(false);
            self.verification.verify(card, PinKind::Admin)?;
            card.card()
                .set_pw_status_bytes(&status, false)
                .map_err(|error| failed("PUT DATA (C4)", &error))
        })
    }

    /// Writes a test key of the algorithm to a slot that has none: on the card that the user has
    /// named, after saying what will be destroyed. One key a slot and run; [`Self::restore`] gives
    /// the slot its attributes back.
    ///
    /// # Errors
    /// When it is not allowed, the user does not agree, or the card refuses.
    pub fn write_test_key(&self, slot: Slot, algorithm: Algorithm) -> Result<(), Error> {
        self.may_write()?;
        let call = || {
            format!(
                "writing a test key of {algorithm} to slot {slot} of {}",
                self.name
            )
        };
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(before) = written.iter().find(|written| written.slot == slot) {
            if before.algorithm == algorithm {
                return Ok(());
            }
            let reason = format!("it has one of {} for this run already", before.algorithm);
            return Err(Error::call(
                call(),
                reason,
                "measure one algorithm a slot and run",
            ));
        }
        let facts = self.session.with(CardFacts::read)?;
        let found = facts.slot(slot);
        if found.has_key() {
            let fingerprint = found.fingerprint.as_deref().unwrap_or("unknown");
            let lost = format!(
                "The key in slot {slot} of {} ({}, fingerprint {fingerprint}) will be DESTROYED.",
                self.name, found.attributes
            );
            self.notice.tell(&lost);
            if !self.notice.agrees("A test key takes its place.") {
                return Err(Error::call(call(), "the user did not agree to it", ""));
            }
        }
        let attributes = self.session.with(|card| {
            let attributes = card.algorithm_attributes(slot.key_type());
            attributes.map_err(|error| failed("GET DATA (C1-C3)", &error))
        })?;
        self.import(&TestKey::generate(algorithm)?, slot, None)?;
        written.push(Written {
            slot,
            algorithm,
            attributes,
        });
        Ok(())
    }

    /// Gives the slots that were written to their former attributes, which removes the test keys.
    ///
    /// # Errors
    /// When the card refuses.
    pub fn restore(&self) -> Result<(), Error> {
        let written = {
            let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *written)
        };
        for Written {
            slot, attributes, ..
        } in written
        {
            self.session.with(|card| {
                self.verification.verify(card, PinKind::Admin)?;
                card.card()
                    .set_algorithm_attributes(slot.key_type(), &attributes)
                    .map_err(|error| failed("PUT DATA (C1-C3)", &error))
            })?;
        }
        Ok(())
    }

    /// The one gate for everything that changes a card.
    fn may_write(&self) -> Result<(), Error> {
        if self.provenance != Provenance::Measured {
            return Ok(());
        }
        let serial = self.facts()?.serial;
        if self.consent.write == Some(serial) {
            return Ok(());
        }
        Err(Error::call(
            format!("writing to {}", self.name),
            "a real card is never written to unasked",
            format!("--write-to {serial:08x} allows it"),
        ))
    }

    /// Whether the slot's key may be used, which for some takes the user's finger.
    ///
    /// # Errors
    /// When it wants a touch that is not allowed.
    pub fn check_touch(&self, slot: Slot) -> Result<TouchPolicy, Error> {
        let touch = self.facts()?.slot(slot).touch;
        if touch == TouchPolicy::Off || self.consent.touch {
            return Ok(touch);
        }
        Err(Error::call(
            format!("using slot {slot} of {}", self.name),
            "its key wants a touch for every use or now and then",
            "--allow-touch measures it, with your finger on the button",
        ))
    }

    /// Tells the user to touch the button.
    pub fn ask_for_touch(&self) {
        ask_for_touch(self.notice.as_ref());
    }

    /// A way to a slot's key.
    ///
    /// # Errors
    /// When the slot wants a touch that is not allowed, or the card is gone.
    fn handle(&self, slot: Slot, algorithm: Algorithm) -> Result<CardHandle, Error> {
        let touch = self.check_touch(slot)?;
        let facts = self.facts()?;
        Ok(CardHandle {
            channel: self.session.port().connect()?,
            session: Arc::clone(&self.session),
            verification: Arc::clone(&self.verification),
            verified: Arc::clone(&self.verified),
            notice: Arc::clone(&self.notice),
            slot,
            algorithm,
            transfer: facts.transfer,
            signing_pin: facts.signing_pin,
            touch,
            touched: false,
            verify_time: None,
            commands: Vec::new(),
            response: Vec::with_capacity(1024),
        })
    }
}

impl KeyStore for CardDevice {
    fn identity(&self) -> Result<StoreIdentity, Error> {
        let facts = self.facts()?;
        let (major, minor) = facts.version;
        let mut versions =
            BTreeMap::from([("openpgp-card".to_owned(), format!("{major}.{minor}"))]);
        if let Some([major, minor, patch]) = facts.firmware {
            versions.insert(
                "firmware".to_owned(),
                format!("{major:x}.{minor:x}.{patch:x}"),
            );
        }
        Ok(StoreIdentity {
            device: self.name.clone(),
            kind: StoreKind::OpenpgpCard,
            provenance: self.provenance,
            product: self.product.clone(),
            serial: Some(format!("{:08x}", facts.serial)),
            versions,
        })
    }

    fn capabilities(&self) -> Result<Vec<Capability>, Error> {
        let facts = self.facts()?;
        let may_write = self.consent.write == Some(facts.serial);
        let mut capabilities = Vec::new();
        for slot in &facts.slots {
            let there = slot.algorithm.filter(|_| slot.has_key());
            let writable = slot.offered.iter().copied().filter(|_| may_write);
            let capability = |algorithm| Capability {
                algorithm,
                operation: slot.slot.operation(),
            };
            let can = |capability: &Capability| can(capability.algorithm, capability.operation);
            let all = there.into_iter().chain(writable).map(capability);
            capabilities.extend(all.filter(can));
        }
        capabilities.sort_unstable();
        capabilities.dedup();
        Ok(capabilities)
    }

    fn open(&self, key: &KeyRef) -> Result<Box<dyn KeyHandle>, Error> {
        let lacking = || Error::Unsupported {
            by: self.name.to_string(),
            operation: key.operation,
            algorithm: key.algorithm,
        };
        let slot = Slot::of(key.operation).ok_or_else(lacking)?;
        // Asked anew: a key may have been written since.
        let facts = self.session.with(CardFacts::read)?;
        let found = facts.slot(slot);
        if !found.has_key() {
            return Err(Error::call(
                format!("using slot {slot} of {}", self.name),
                "there is no key in it",
                "gpg --card-edit makes one; keymark does on a card that --write-to names",
            ));
        }
        if found.algorithm != Some(key.algorithm) {
            return Err(lacking());
        }
        Ok(Box::new(self.handle(slot, key.algorithm)?))
    }
}

/// A key that signs can authenticate; an attribute that makes no sense for its slot is none.
fn can(algorithm: Algorithm, operation: Operation) -> bool {
    algorithm.has(operation)
        || (operation == Operation::Authenticate && algorithm.has(Operation::Sign))
}
