//! Homes whose keys are on a card that was made for the run.

use std::path::PathBuf;

use keymark_bench::algorithm::Algorithm;
use keymark_bench::error::Error;
use keymark_stores::card::{CardAccess, Slot};
use keymark_stores::store::KeyStore;
use keymark_stores::tokens::reader::Reader;
use keymark_stores::tokens::socket::CardServer;
use keymark_stores::user::Pin;

use super::Gnupg;
use super::card_link::{CardLink, ScdaemonReader};
use super::driver;
use super::home::Home;
use super::key_home::{HomeCard, KeyHome};
use super::provider::asked_by_gnupg;

/// Puts all keys of the algorithm that the device can hold on the card, with the fingerprints that they
/// have in a home.
pub(super) fn load(
    store: &dyn KeyStore,
    algorithm: Algorithm,
    plain: &KeyHome,
    card: &dyn CardAccess,
) -> Result<(), Error> {
    for capability in store.capabilities()? {
        let Some(slot) = Slot::of(capability.operation) else {
            continue;
        };
        if capability.algorithm != algorithm {
            continue;
        }
        store.key(capability)?;
        // OpenPGP has no key that authenticates here: it is ssh's.
        if !asked_by_gnupg(capability) {
            continue;
        }
        let listed = &plain.key(capability.operation)?.fingerprint;
        let mut fingerprint = [0; 20];
        // A fingerprint of version 5 is longer; cards know none.
        if hex::decode_to_slice(listed, &mut fingerprint).is_ok() {
            card.write_fingerprint(slot, fingerprint)?;
        }
    }
    Ok(())
}

/// The home with the card, which is served to scdaemon at a socket in it.
pub(super) fn home(
    gnupg: &Gnupg,
    path: PathBuf,
    plain: &KeyHome,
    reader: Reader,
    card: &dyn CardAccess,
) -> Result<KeyHome, Error> {
    let failed = |error| Error::call(format!("serving a card in {}", path.display()), error, "");
    let server = CardServer::start(reader, &path.join("card")).map_err(failed)?;
    let link = CardLink {
        driver: driver::driver()?,
        reader: ScdaemonReader::Served {
            socket: server.socket().to_owned(),
        },
        trace: Some(path.join("trace")),
    };
    linked_home(gnupg, path, plain, link, &card.user_pin()?, Some(server))
}

/// A home with the public keys of another, whose private ones are on a card.
pub(super) fn linked_home(
    gnupg: &Gnupg,
    path: PathBuf,
    plain: &KeyHome,
    link: CardLink,
    pin: &Pin,
    server: Option<CardServer>,
) -> Result<KeyHome, Error> {
    let home = Home::with_card(gnupg, path, link)?;
    home.copy_public_keys(&plain.home)?;
    home.learn_card(pin)?;
    KeyHome::of_card(home, plain.keys.clone(), HomeCard::Made { _server: server })
}
