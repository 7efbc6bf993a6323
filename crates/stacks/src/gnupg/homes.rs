//! The homes of a run: one for each algorithm and protection, and for each card, made when first needed.

use std::path::PathBuf;
use std::sync::Arc;

use keymark_bench::{Algorithm, Case, DeviceName, Error, Family};
use keymark_stores::access::{Access, Certificate};
use keymark_stores::card::{CardAccess, CardPlace};
use keymark_stores::pkcs11::ModuleAccess;
use keymark_stores::store::{KeyStore, unsupported};

use super::certificate;
use super::home::{Home, Passphrase};
use super::key_home::KeyHome;
use super::{Gnupg, Protection, card_home, token_home};
use crate::private_dir::PrivateDir;
use crate::programs::{RefusedPins, SharedByName};

/// The homes.
#[derive(derive_more::Debug)]
#[debug("GnupgHomes({gnupg:?}, {dir:?})")]
pub struct GnupgHomes {
    pub(super) gnupg: Gnupg,
    passphrase: Passphrase,
    file_homes: SharedByName<(Algorithm, Protection), KeyHome>,
    /// Homes by device, and by algorithm unless the card is in a reader.
    card_homes: SharedByName<(DeviceName, Option<Algorithm>), KeyHome>,
    /// Homes by the key's module and URI: a token may have a key of its own for each operation.
    token_homes: SharedByName<(PathBuf, String), KeyHome>,
    refused: RefusedPins,
    /// Removed last: agents and cards are used through sockets in it.
    dir: PrivateDir,
}

impl GnupgHomes {
    /// Homes will be made in a private directory.
    pub fn new(gnupg: Gnupg) -> Result<Self, Error> {
        let (dir, passphrase) = (PrivateDir::new()?, Passphrase::random()?);
        Ok(Self {
            gnupg,
            dir,
            passphrase,
            file_homes: SharedByName::default(),
            card_homes: SharedByName::default(),
            token_homes: SharedByName::default(),
            refused: RefusedPins::default(),
        })
    }

    /// The home in which a case is measured: the store says where the key is.
    pub fn home_of(&self, case: &Case, store: &dyn KeyStore) -> Result<Arc<KeyHome>, Error> {
        if let Family::Composite(_) = case.algorithm.family() {
            // Nothing but gpg has keys of these, so that no store is asked for one.
            return self.file_home(store, case.algorithm, Protection::of(case)?);
        }
        let capability = case.capability();
        match store.access(&store.key(capability)?)? {
            Access::KeyFile(_) => self.file_home(store, case.algorithm, Protection::of(case)?),
            Access::Card(card, slot) => {
                card.check_touch(slot)?;
                self.card_home(&case.device, case.algorithm, store, card)
            }
            Access::Module(module) => self.token_home(case, store, &module),
            Access::Locator(_) => Err(unsupported("GnuPG", capability)),
        }
    }

    /// The home of an algorithm's key, made at the first call. The protected home holds a copy of
    /// the key of the unprotected one, so that the two differ in nothing else.
    pub fn file_home(
        &self,
        store: &dyn KeyStore,
        algorithm: Algorithm,
        protection: Protection,
    ) -> Result<Arc<KeyHome>, Error> {
        let algorithm = shared_home(algorithm);
        let plain = self.file_homes.get((algorithm, Protection::None), || {
            let home = Home::new(&self.gnupg, self.directory()?)?;
            certificate::make(&home, store, algorithm)?;
            let keys = home.keys()?;
            KeyHome::new(home, keys)
        })?;
        match protection {
            Protection::None => Ok(plain),
            Protection::Cached => self.file_homes.get((algorithm, protection), || {
                let path = self.directory()?;
                let home = plain.home.copy(path)?;
                home.protect(&self.passphrase)?;
                home.prime(&self.passphrase)?;
                KeyHome::new(home, plain.keys.clone())
            }),
        }
    }

    /// The home whose keys are on a card, made at the first call. A card that was made for the run has
    /// the same keys as the home without a card, so that the two differ in nothing else.
    pub(super) fn card_home(
        &self,
        device: &DeviceName,
        algorithm: Algorithm,
        store: &dyn KeyStore,
        card: Arc<dyn CardAccess>,
    ) -> Result<Arc<KeyHome>, Error> {
        // A real card has one home for all its keys, a made one is made for each algorithm.
        let own = match card.place() {
            CardPlace::Virtual { .. } => Some(algorithm),
            CardPlace::Pcscd(_) => None,
        };
        self.card_homes.get((device.clone(), own), || {
            let path = self.directory()?;
            match card.place() {
                CardPlace::Virtual { reader, test_keys } => {
                    let plain = self.file_home(test_keys.as_ref(), algorithm, Protection::None)?;
                    card_home::load(store, algorithm, &plain, card.as_ref())?;
                    card_home::made_home(&self.gnupg, path, &plain, reader.clone(), card.as_ref())
                }
                CardPlace::Pcscd(reader) => {
                    card_home::inserted_home(&self.gnupg, &card, reader, path)
                }
            }
        })
    }

    /// The home whose key is on a token, made at the first call.
    fn token_home(
        &self,
        case: &Case,
        store: &dyn KeyStore,
        access: &ModuleAccess,
    ) -> Result<Arc<KeyHome>, Error> {
        let public = store.public_key(&store.key(case.capability())?)?;
        let key = access.program_key(Certificate::Wanted)?;
        let named = (key.module().to_owned(), key.uri(None));
        self.token_homes.get(named, || {
            self.refused.check(&key.token_uri())?;
            token_home::home(&self.gnupg, self.directory()?, &key, &public, &self.refused)
        })
    }

    /// Makes a directory for the next home.
    pub(super) fn directory(&self) -> Result<PathBuf, Error> {
        self.dir.numbered('g')
    }
}

/// Algorithms that make one OpenPGP key together share a home.
#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "the other families are alike in this"
)]
fn shared_home(algorithm: Algorithm) -> Algorithm {
    let partner = match algorithm.family() {
        Family::Ed25519 => Algorithm::of(Family::Cv25519),
        Family::Ed448 => Algorithm::of(Family::Cv448),
        _ => None,
    };
    partner.unwrap_or(algorithm)
}
