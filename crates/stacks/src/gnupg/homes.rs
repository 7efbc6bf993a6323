//! The homes of a run: one for each algorithm and protection, and for each card, made when first needed.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use keymark_bench::algorithm::{Algorithm, Family};
use keymark_bench::case::{Case, DeviceName, Protection};
use keymark_bench::error::Error;
use keymark_stores::card::{CardAccess, CardPlace};
use keymark_stores::pkcs11::ModuleAccess;
use keymark_stores::store::{KeyStore, unsupported};
use keymark_stores::tokens::reader::Reader;
use keymark_stores::user::Pin;

use super::Gnupg;
use super::card_link::CardLink;
use super::certificate::{self, Parts};
use super::home::{Home, Passphrase};
use super::key_home::KeyHome;
use super::token_home::TokenHomes;
use super::{inserted_card, made_card};
use crate::private_dir::PrivateDir;

/// Homes by algorithm and protection.
type FileHomes = HashMap<(Algorithm, Protection), Arc<KeyHome>>;
/// Homes with cards: of a card in a reader one, of others one an algorithm.
type CardHomes = HashMap<(DeviceName, Option<Algorithm>), Arc<KeyHome>>;

/// A card with keys, in a reader of this process.
#[allow(missing_debug_implementations, reason = "it holds a PIN")]
pub struct LoadedCard {
    pub reader: Reader,
    /// The card's user PIN.
    pub pin: Pin,
    /// The home with the same keys in files.
    pub plain: Arc<KeyHome>,
}

/// The homes.
pub struct GnupgHomes {
    gnupg: Gnupg,
    passphrase: Passphrase,
    file_homes: Mutex<FileHomes>,
    card_homes: Mutex<CardHomes>,
    token_homes: Mutex<TokenHomes>,
    directories: AtomicUsize,
    /// Removed last: agents and cards are used through sockets in it.
    dir: PrivateDir,
}

impl std::fmt::Debug for GnupgHomes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GnupgHomes")
            .field("gnupg", &self.gnupg)
            .field("dir", &self.dir)
            .finish_non_exhaustive()
    }
}

impl GnupgHomes {
    /// Homes will be made in a private directory.
    ///
    /// # Errors
    /// When there can be none.
    pub fn new(gnupg: Gnupg) -> Result<Self, Error> {
        let (dir, passphrase) = (PrivateDir::new()?, Passphrase::random()?);
        Ok(Self {
            gnupg,
            dir,
            passphrase,
            file_homes: Mutex::default(),
            card_homes: Mutex::default(),
            token_homes: Mutex::default(),
            directories: AtomicUsize::new(0),
        })
    }

    /// The home in which a case is measured: the store says where the key is.
    ///
    /// # Errors
    /// When gpg, its agent or a card refuses.
    pub fn home_of(&self, case: &Case, store: &dyn KeyStore) -> Result<Arc<KeyHome>, Error> {
        if let Family::KyberComposite(_) = case.algorithm.family() {
            // Nothing but gpg has keys of these, so that no store is asked for one.
            return self.file_home(store, case.algorithm, case.parameters.protection());
        }
        let capability = case.capability();
        let access = store.access(&store.key(capability)?)?;
        if access.file.is_some() {
            return self.file_home(store, case.algorithm, case.parameters.protection());
        }
        if let Some((card, slot)) = access.card {
            card.check_touch(slot)?;
            return self.card_home(&case.device, case.algorithm, store, card);
        }
        match access.module {
            Some(module) => self.token_home(case, store, &module),
            None => Err(unsupported("GnuPG", capability)),
        }
    }

    /// The home of an algorithm's key, made at the first call. The protected home holds a copy of
    /// the key of the unprotected one, so that the two differ in nothing else.
    ///
    /// # Errors
    /// When the store does not hand out its keys, or gpg or its agent refuses.
    pub fn file_home(
        &self,
        store: &dyn KeyStore,
        algorithm: Algorithm,
        protection: Protection,
    ) -> Result<Arc<KeyHome>, Error> {
        let shared = shared_home(algorithm);
        let homes = &mut *self
            .file_homes
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let plain = self.plain_home(homes, store, shared)?;
        match protection {
            Protection::None => Ok(plain),
            Protection::Cached => self.protected_home(homes, &plain, shared),
        }
    }

    fn plain_home(
        &self,
        homes: &mut FileHomes,
        store: &dyn KeyStore,
        algorithm: Algorithm,
    ) -> Result<Arc<KeyHome>, Error> {
        let named = (algorithm, Protection::None);
        if let Some(home) = homes.get(&named) {
            return Ok(Arc::clone(home));
        }
        let parts = Parts::of(store, algorithm)?;
        let home = Home::new(&self.gnupg, self.directory()?)?;
        certificate::make(&home, &parts)?;
        let keys = home.keys()?;
        let made = Arc::new(KeyHome::of_files(home, keys));
        homes.insert(named, Arc::clone(&made));
        Ok(made)
    }

    fn protected_home(
        &self,
        homes: &mut FileHomes,
        plain: &KeyHome,
        algorithm: Algorithm,
    ) -> Result<Arc<KeyHome>, Error> {
        let named = (algorithm, Protection::Cached);
        if let Some(home) = homes.get(&named) {
            return Ok(Arc::clone(home));
        }
        let path = self.directory()?;
        copy_keys(&plain.home, &path)?;
        let home = Home::new(&self.gnupg, path)?;
        home.protect(&self.passphrase)?;
        home.prime(&self.passphrase)?;
        let made = Arc::new(KeyHome::of_files(home, plain.keys.clone()));
        homes.insert(named, Arc::clone(&made));
        Ok(made)
    }

    /// The home whose keys are on a card, made at the first call. A card that was made for the run has
    /// the same keys as the home without a card, so that the two differ in nothing else.
    fn card_home(
        &self,
        device: &DeviceName,
        algorithm: Algorithm,
        store: &dyn KeyStore,
        card: Arc<dyn CardAccess>,
    ) -> Result<Arc<KeyHome>, Error> {
        // A real card has one home for all its keys, a made one is made for each algorithm.
        let own = match card.place() {
            CardPlace::Made { .. } => Some(algorithm),
            CardPlace::Pcscd(_) => None,
        };
        let named = (device.clone(), own);
        let mut homes = self
            .card_homes
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(home) = homes.get(&named) {
            return Ok(Arc::clone(home));
        }
        let path = self.directory()?;
        let made = Arc::new(match card.place() {
            CardPlace::Made { reader, test_keys } => {
                let plain = self.file_home(test_keys.as_ref(), algorithm, Protection::None)?;
                made_card::load(store, algorithm, &plain, card.as_ref())?;
                made_card::home(&self.gnupg, path, &plain, reader.clone(), card.as_ref())?
            }
            CardPlace::Pcscd(reader) => inserted_card::home(&self.gnupg, &card, reader, path)?,
        });
        homes.insert(named, Arc::clone(&made));
        Ok(made)
    }

    /// The home whose key is on a token, made at the first call.
    fn token_home(
        &self,
        case: &Case,
        store: &dyn KeyStore,
        access: &ModuleAccess,
    ) -> Result<Arc<KeyHome>, Error> {
        let public = store.public_key(&store.key(case.capability())?)?;
        let key = access.with_certificate()?;
        let mut homes = self
            .token_homes
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        homes.home(&self.gnupg, || self.directory(), &key, &public)
    }

    /// Makes a card with the keys of an algorithm, and the fingerprints that they have in the home
    /// without a card; for who puts it into a reader of their own.
    ///
    /// # Errors
    /// When the firmware or GnuPG refuses.
    pub fn loaded_card(
        &self,
        cards: &dyn KeyStore,
        algorithm: Algorithm,
    ) -> Result<LoadedCard, Error> {
        let lacking = || {
            let reason = format!("no key of {algorithm} can be on such a card");
            Error::call("making a card", reason, "")
        };
        let capabilities = cards.capabilities()?;
        let mut offered = capabilities.into_iter();
        let capability = offered
            .find(|capability| capability.algorithm == algorithm)
            .ok_or_else(lacking)?;
        let access = cards.access(&cards.key(capability)?)?;
        let (card, _) = access.card.ok_or_else(lacking)?;
        let CardPlace::Made { reader, test_keys } = card.place() else {
            return Err(lacking());
        };
        let plain = self.file_home(test_keys.as_ref(), algorithm, Protection::None)?;
        made_card::load(cards, algorithm, &plain, card.as_ref())?;
        Ok(LoadedCard {
            reader: reader.clone(),
            pin: card.user_pin()?,
            plain,
        })
    }

    /// A home for such a card, which is reached in that way.
    ///
    /// # Errors
    /// When GnuPG or the card refuses.
    pub fn home_with(&self, card: &LoadedCard, link: CardLink) -> Result<KeyHome, Error> {
        let path = self.directory()?;
        made_card::linked_home(&self.gnupg, path, &card.plain, link, &card.pin, None)
    }

    /// One for the next home; that of a home which came to nothing is not taken again.
    fn directory(&self) -> Result<PathBuf, Error> {
        let number = self.directories.fetch_add(1, Ordering::Relaxed);
        self.dir.subdirectory(&format!("g{number}"))
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

fn copy_keys(from: &Home, to: &Path) -> Result<(), Error> {
    let failed =
        |error: std::io::Error| Error::call(format!("copying keys to {}", to.display()), error, "");
    let secret = to.join("private-keys-v1.d");
    fs::create_dir(&secret).map_err(failed)?;
    let entries = fs::read_dir(from.path().join("private-keys-v1.d")).map_err(failed)?;
    let files = entries
        .flatten()
        .map(|entry| (entry.path(), secret.join(entry.file_name())));
    let public = ["pubring.kbx", "trustdb.gpg"].map(|name| (from.path().join(name), to.join(name)));
    for (source, target) in files.chain(public) {
        fs::copy(source, target).map_err(failed)?;
    }
    Ok(())
}
