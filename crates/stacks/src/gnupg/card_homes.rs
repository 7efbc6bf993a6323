//! Homes whose keys are on cards: made ones, with the keys of a home without a card, and cards in
//! readers.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use keymark_bench::algorithm::Algorithm;
use keymark_bench::case::{Case, DeviceName, Protection};
use keymark_bench::error::Error;
use keymark_stores::challenge::PublicKey;
use keymark_stores::openpgp_card::{CardDevice, CardMaker, Pin, Slot};
use keymark_tokens::reader::Reader;
use keymark_tokens::socket::CardServer;

use super::card::{self, CardAccess};
use super::home::Home;
use super::inserted::{self, InsertedCard};
use super::keys::{GnupgKeys, KeyHome, MESSAGES, SessionKeys, octets};
use super::meter::Meter;

/// Cards that GnuPG is to use.
#[derive(Debug)]
pub struct Cards {
    /// libkeymark_pcsc.so.
    pub driver: PathBuf,
    /// What makes the cards of a device.
    pub makers: HashMap<DeviceName, CardMaker>,
    /// Cards in readers.
    pub inserted: HashMap<DeviceName, InsertedCard>,
}

/// Homes with cards: of a card in a reader one, of others one an algorithm.
pub(super) type CardHomes = HashMap<(DeviceName, Option<Algorithm>), Arc<KeyHome>>;

impl GnupgKeys {
    /// The public half of a case's key.
    ///
    /// # Errors
    /// When gpg, its agent or the card refuses.
    pub fn public_key(&self, case: &Case) -> Result<PublicKey, Error> {
        if let Some(card) = self.inserted(&case.device) {
            return card.public_key(case);
        }
        let key = self.test_key(case.algorithm, case.operation)?;
        PublicKey::of(&key).map_err(|error| Error::call("i2d_PUBKEY", error, ""))
    }

    /// Encrypted session keys for a case's key, with what has to come out of each. The private half
    /// of a key on a real card is not to be had: what it is asked was encrypted here.
    ///
    /// # Errors
    /// When gpg refuses, or the two libraries disagree.
    pub fn session_keys_of(&self, case: &Case) -> Result<Arc<SessionKeys>, Error> {
        let Some(card) = self.inserted(&case.device) else {
            let key = self.test_key(case.algorithm, case.operation)?;
            return self.session_keys(case, &key);
        };
        let public = card.public_key(case)?;
        let made = (0..MESSAGES).map(|_| inserted::session_key(case.algorithm, &public));
        Ok(Arc::new(made.collect::<Result<_, Error>>()?))
    }

    pub(super) fn inserted(&self, device: &DeviceName) -> Option<&InsertedCard> {
        self.cards.as_ref()?.inserted.get(device)
    }

    /// The home whose keys are on a card, made at the first call: the same keys as in the home
    /// without a card, so that the two differ in nothing else.
    pub(super) fn card_home(
        &self,
        device: &DeviceName,
        algorithm: Algorithm,
    ) -> Result<Arc<KeyHome>, Error> {
        // A real card has one home for all its keys, a made one is made for each algorithm.
        let own = self.inserted(device).is_none().then_some(algorithm);
        let named = (device.clone(), own);
        let mut homes = self
            .card_homes
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(home) = homes.get(&named) {
            return Ok(Arc::clone(home));
        }
        let unknown = || {
            let reason = format!("nothing is known of a card called {device}");
            Error::call("making a home for a card", reason, "")
        };
        let path = self.directory()?;
        let cards = self.cards.as_ref().ok_or_else(unknown)?;
        let made = Arc::new(match self.inserted(device) {
            Some(card) => inserted::home(&self.gnupg, &cards.driver, card, path)?,
            None => {
                let maker = cards.makers.get(device).ok_or_else(unknown)?;
                self.made_home(&cards.driver, maker, algorithm, path)?
            }
        });
        homes.insert(named, Arc::clone(&made));
        Ok(made)
    }

    /// A home with a card that is made for it.
    fn made_home(
        &self,
        driver: &Path,
        maker: &CardMaker,
        algorithm: Algorithm,
        path: PathBuf,
    ) -> Result<KeyHome, Error> {
        let plain = self.home(algorithm, Protection::None)?;
        let (reader, pin) = self.loaded_card(maker, algorithm, &plain)?;
        let failed =
            |error| Error::call(format!("serving a card in {}", path.display()), error, "");
        let server = CardServer::start(reader, &path.join("card")).map_err(failed)?;
        let access = CardAccess {
            driver: driver.to_owned(),
            reader: card::Reader::Served {
                socket: server.socket().to_owned(),
            },
            trace: Some(path.join("trace")),
        };
        let home = Home::with_card(&self.gnupg, path, access)?;
        home.copy_public_keys(&plain.home)?;
        home.learn_card(&pin)?;
        Ok(KeyHome {
            meter: Meter::of(&home)?.map(Arc::new),
            inserted: None,
            home,
            keys: plain.keys.clone(),
            _card: Some(server),
        })
    }

    /// A further home with the keys of an algorithm on a card that is reached in that way; the card
    /// must hold the keys already.
    ///
    /// # Errors
    /// When GnuPG or the card refuses.
    pub fn home_with(
        &self,
        algorithm: Algorithm,
        access: CardAccess,
        pin: &Pin,
    ) -> Result<KeyHome, Error> {
        let plain = self.home(algorithm, Protection::None)?;
        let path = self.directory()?;
        let home = Home::with_card(&self.gnupg, path, access)?;
        home.copy_public_keys(&plain.home)?;
        home.learn_card(pin)?;
        Ok(KeyHome {
            meter: Meter::of(&home)?.map(Arc::new),
            inserted: None,
            home,
            keys: plain.keys.clone(),
            _card: None,
        })
    }

    /// A card that holds the keys of a home.
    ///
    /// # Errors
    /// When the firmware or GnuPG refuses.
    pub fn loaded_card(
        &self,
        maker: &CardMaker,
        algorithm: Algorithm,
        home: &KeyHome,
    ) -> Result<(Reader, Pin), Error> {
        let reader = maker.make()?;
        let card = CardDevice::of_made(maker, reader.clone());
        for capability in maker.capabilities() {
            let Some(slot) = Slot::of(capability.operation) else {
                continue;
            };
            if capability.algorithm != algorithm {
                continue;
            }
            let key = self.test_key(algorithm, capability.operation)?;
            let fingerprint = octets(&home.key(capability.operation)?.fingerprint);
            let fingerprint = fingerprint.and_then(|octets| octets.try_into().ok());
            card.import(&key, slot, fingerprint)?;
        }
        card.allow_many_signatures()?;
        let pin = card.user_pin()?;
        Ok((reader, pin))
    }
}
