//! A card that tests and benchmarks put into a reader of their own, and homes for it.

use std::sync::Arc;

use keymark_bench::algorithm::Algorithm;
use keymark_bench::error::Error;
use keymark_stores::access::Access;
use keymark_stores::card::CardPlace;
use keymark_stores::store::KeyStore;
use keymark_stores::tokens::reader::CardReader;
use keymark_stores::user::Pin;

use super::homes::GnupgHomes;
use super::key_home::KeyHome;
use super::scdaemon::CardLink;
use super::{Protection, card_home};

/// A card with keys, in a reader of this process.
#[allow(missing_debug_implementations, reason = "it holds a PIN")]
pub struct LoadedCard {
    pub reader: CardReader,
    /// The card's user PIN.
    pub pin: Pin,
    /// The home with the same keys in files.
    pub plain: Arc<KeyHome>,
}

impl GnupgHomes {
    /// Makes a card with the keys of an algorithm, and the fingerprints that they have in the home
    /// without a card; for who puts it into a reader of their own.
    pub fn loaded_card(
        &self,
        cards: &dyn KeyStore,
        algorithm: Algorithm,
    ) -> Result<LoadedCard, Error> {
        let lacking = || {
            let reason = format!("such a card cannot hold a {algorithm} key");
            Error::call("making a card", reason, "")
        };
        let capabilities = cards.capabilities()?;
        let capability = capabilities
            .into_iter()
            .find(|capability| capability.algorithm == algorithm)
            .ok_or_else(lacking)?;
        let Access::Card(card, _) = cards.access(&cards.key(capability)?)? else {
            return Err(lacking());
        };
        let CardPlace::Virtual { reader, test_keys } = card.place() else {
            return Err(lacking());
        };
        let plain = self.file_home(test_keys.as_ref(), algorithm, Protection::None)?;
        card_home::load(cards, algorithm, &plain, card.as_ref())?;
        Ok(LoadedCard {
            reader: reader.clone(),
            pin: card.user_pin()?,
            plain,
        })
    }

    /// A home for such a card, which is reached in that way.
    pub fn home_with(&self, card: &LoadedCard, link: CardLink) -> Result<KeyHome, Error> {
        let path = self.directory()?;
        card_home::linked_home(&self.gnupg, path, &card.plain, link, &card.pin, None)
    }
}
