//! The family: which cards are wanted, and where they are.

use std::sync::Arc;

use keymark_bench::{During as _, Error, Profile, ProfileStore};

use super::inserted::InsertedCard;
use super::pcsc;
use super::virtual_card::CardMaker;
use crate::device::{Device, Looked, Wish};
use crate::user::{TokenName, User};

/// Looks for cards in readers, the virtual card, and twins.
pub fn look(wish: &Wish, user: &User, looked: &mut Looked) -> Result<(), Error> {
    match wish {
        Wish::Software => {}
        Wish::Default => looked
            .devices
            .push(telling(CardMaker::virtual_card(), user)),
        Wish::Inserted => in_readers(user, looked),
        Wish::All => {
            let shipped = Profile::shipped().during("looking for a twin")?.into_iter();
            let twins = shipped.filter(|profile| profile.store == ProfileStore::OpenpgpCard);
            let makers = [CardMaker::virtual_card()].into_iter();
            let makers = makers.chain(twins.map(CardMaker::twin));
            looked
                .devices
                .extend(makers.map(|maker| telling(maker, user)));
            in_readers(user, looked);
        }
        Wish::Named(names) => named(names, user, looked)?,
    }
    Ok(())
}

fn telling(maker: CardMaker, user: &User) -> Box<dyn Device> {
    Box::new(maker.telling(Arc::clone(&user.notice)))
}

/// The cards of those names, and of names that other families may know, those in readers.
fn named(names: &[String], user: &User, looked: &mut Looked) -> Result<(), Error> {
    let mut others: Vec<&String> = Vec::new();
    for name in names {
        match CardMaker::named(name) {
            Some(maker) => {
                looked
                    .devices
                    .push(telling(maker.during("looking for a twin")?, user));
                looked.known.push(name.clone());
            }
            None => others.push(name),
        }
    }
    // Readers are looked at only for a name that may be a card's: a raw measurement starts at once.
    others.retain(|name| *name != "software");
    if others.is_empty() {
        return Ok(());
    }
    let found = looked.devices.len();
    in_readers(user, looked);
    let mut cards = looked.devices.split_off(found);
    for name in others {
        let mut called: Vec<_> = cards
            .extract_if(.., |card| is_called(&**card, name))
            .collect();
        if called.len() > 1 {
            let devices = called.iter().map(|card| card.identity().device.to_string());
            let devices: Vec<_> = devices.collect();
            return Err(Error::call(
                format!("looking for the card '{name}'"),
                format!("{} cards match: {}", devices.len(), devices.join(", ")),
                "give its full name",
            ));
        }
        if let Some(card) = called.pop() {
            looked.devices.push(card);
            looked.known.push(name.clone());
        }
    }
    Ok(())
}

/// Returns whether a user means the card: by its name, a part of its product's, or its token's.
fn is_called(card: &dyn Device, name: &str) -> bool {
    let (identity, wanted) = (card.identity(), name.to_ascii_lowercase());
    let is_token = || {
        let named = card.token().zip(TokenName::parse(name).ok());
        named.is_some_and(|(token, name)| token.is_called(&name))
    };
    identity.device.as_str() == wanted
        || identity.product.to_ascii_lowercase().contains(&wanted)
        || is_token()
}

/// Every OpenPGP card that a reader has.
fn in_readers(user: &User, looked: &mut Looked) {
    let found = match pcsc::in_readers() {
        Ok(found) => found,
        Err(error) => {
            looked.unseen = Some(error);
            return;
        }
    };
    looked.occupied.extend(found.occupied);
    for port in found.ports {
        let reader = port.reader();
        match InsertedCard::look(port, user) {
            Ok(card) => looked.devices.push(Box::new(card)),
            Err(error) if pcsc::is_occupied(&error) => looked.occupied.push(reader),
            Err(error) => {
                let left_out = format!("skipping the card in '{reader}': {error}");
                user.notice.warn(&left_out);
            }
        }
    }
}
