//! Content of a slot in a journal, and the way back to it.

use openpgp_card::ocard::algorithm::{AlgorithmAttributes, Curve, EccAttributes, RsaAttributes};
use openpgp_card::ocard::crypto::EccType;
use openpgp_card::ocard::data::{Fingerprint, KeyGenerationTime, KeyStatus};
use openpgp_card::state::Transaction;
use openpgp_card::{Card, Error as CardError};

use keymark_bench::{Algorithm, Error};
use serde::{Deserialize, Serialize};

use super::facts::{algorithm, fingerprint, key_status};
use super::session::failed;
use crate::card::Slot;
use crate::journal::{TestKeyWrite, WriteProgress};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SlotState {
    /// DO C1 to C3, as the card has it.
    #[serde(with = "hex::serde")]
    attributes: Vec<u8>,
    fingerprint: Option<String>,
    /// True if there is a key (DO DE), where the card says.
    key: Option<bool>,
}

/// A test key that a slot gets.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SlotTestKey {
    pub(super) algorithm: Algorithm,
    fingerprint: String,
}

impl SlotTestKey {
    pub(super) fn new(algorithm: Algorithm, fingerprint: [u8; 20]) -> Self {
        let fingerprint = Fingerprint::from(fingerprint).to_hex();
        Self {
            algorithm,
            fingerprint,
        }
    }
}

impl SlotState {
    pub(super) fn read(card: &mut Card<Transaction<'_>>, slot: Slot) -> Result<Self, Error> {
        let said = |error: CardError| failed("GET DATA (6E)", &error);
        let data = card.card().application_related_data().map_err(said)?;
        let attributes = data.algorithm_attributes(slot.key_type()).map_err(said)?;
        let fingerprint = fingerprint(&data, slot).map_err(said)?;
        let status = key_status(&data, slot).map_err(said)?;
        Ok(Self {
            attributes: octets(&attributes),
            fingerprint: fingerprint.as_ref().map(Fingerprint::to_hex),
            key: status.and_then(|status| match status {
                KeyStatus::NotPresent => Some(false),
                KeyStatus::Generated | KeyStatus::Imported => Some(true),
                KeyStatus::Unknown(_) => None,
            }),
        })
    }

    /// Returns whether the slot can be given these attributes again.
    pub(super) fn is_restorable(&self) -> bool {
        attributes(&self.attributes).is_some()
    }
}

/// A write to a slot that is to be undone.
pub(super) struct Undo {
    pub(super) slot: Slot,
    before: SlotState,
    test_key: SlotTestKey,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Needed {
    /// Nothing: it was not written to, or is restored.
    Nothing,
    /// Another key was put there since. It is left alone.
    Foreign,
    /// The test key, or what there is of it, has to go.
    Removal,
}

impl Undo {
    pub(super) fn of(write: &TestKeyWrite) -> Option<Self> {
        let mut slots = Slot::ALL.into_iter();
        Some(Self {
            slot: slots.find(|slot| slot.name() == write.place)?,
            before: write.before().filter(SlotState::is_restorable)?,
            test_key: write.test_key()?,
        })
    }

    pub(super) fn needed(&self, now: &SlotState, progress: WriteProgress) -> Needed {
        let before = &self.before;
        if now == before && now.key.is_some() {
            return Needed::Nothing;
        }
        // Once the test key was there with its own fingerprint, only the owner puts the former one back.
        let former = now.fingerprint.is_some() && now.fingerprint == before.fingerprint;
        if former && progress == WriteProgress::Written {
            return Needed::Nothing;
        }
        match &now.fingerprint {
            Some(fingerprint) if *fingerprint == self.test_key.fingerprint => {
                return Needed::Removal;
            }
            Some(fingerprint) if before.fingerprint.as_ref() != Some(fingerprint) => {
                return Needed::Foreign;
            }
            Some(_) | None => {}
        }
        // A key without a fingerprint: keymark's, if it died before it wrote one.
        let attributes = AlgorithmAttributes::try_from(now.attributes.as_slice());
        let of_test_key =
            attributes.is_ok_and(|now| algorithm(&now) == Some(self.test_key.algorithm));
        // Under its former attributes the slot may have its former key, unless it had none.
        let not_former = now.attributes != before.attributes || before.key == Some(false);
        if now.key == Some(true) && !of_test_key && not_former {
            return Needed::Foreign;
        }
        Needed::Removal
    }

    /// Gives the slot its former attributes, which removes its key; the admin PIN has been verified.
    pub(super) fn remove(&self, card: &mut Card<Transaction<'_>>) -> Result<(), Error> {
        let before = &self.before.attributes;
        // Cards remove a key when its attributes change, and keep it when they are written as they are.
        if SlotState::read(card, self.slot)?.attributes == *before {
            self.change_attributes(card)?;
        }
        let former = attributes(before).ok_or_else(|| self.kept("its attributes were unusual"))?;
        self.set(card, &former)
            .map_err(|error| failed("PUT DATA (C1-C3)", &error))?;
        let now = SlotState::read(card, self.slot)?;
        // Cards before 3.4 do not say; a key shows by its public half.
        let shows = || card.public_key_material(self.slot.key_type()).is_ok();
        let is_there = now.key.unwrap_or_else(shows);
        // A key that stays keeps its fingerprint, by which it is known the next time.
        if now.attributes != *before || is_there {
            return Err(self.kept("the card keeps keys whose attributes change"));
        }
        if now.fingerprint.as_ref() == Some(&self.test_key.fingerprint) {
            let (none, never) = (Fingerprint::from([0; 20]), KeyGenerationTime::from(0));
            let card = card.card();
            card.set_fingerprint(none, self.slot.key_type())
                .and_then(|()| card.set_creation_time(never, self.slot.key_type()))
                .map_err(|error| failed("PUT DATA (C7-C9, CE-D0)", &error))?;
        }
        Ok(())
    }

    fn set(
        &self,
        card: &mut Card<Transaction<'_>>,
        attributes: &AlgorithmAttributes,
    ) -> Result<(), CardError> {
        card.card()
            .set_algorithm_attributes(self.slot.key_type(), attributes)
    }

    /// Any others that the card takes.
    fn change_attributes(&self, card: &mut Card<Transaction<'_>>) -> Result<(), Error> {
        let listed = card.algorithm_information().ok().flatten();
        let listed = listed
            .iter()
            .flat_map(|list| list.for_keytype(self.slot.key_type()));
        // What every card of version 2 or 3 has at least one of; RSA with both lengths of its exponent.
        let usual = [(2048, 32), (2048, 17), (3072, 32), (3072, 17)]
            .map(|(modulus, e)| AlgorithmAttributes::Rsa(RsaAttributes::new(modulus, e, 0)));
        let others = listed.chain(&usual);
        let others = others.filter(|other| {
            let octets = octets(other);
            octets != self.before.attributes && attributes(&octets).is_some()
        });
        for other in others {
            match self.set(card, other) {
                Ok(()) => return Ok(()),
                Err(CardError::CardStatus(_)) => {}
                Err(error) => return Err(failed("PUT DATA (C1-C3)", &error)),
            }
        }
        Err(self.kept("the card accepts no other attributes"))
    }

    fn kept(&self, reason: &str) -> Error {
        Error::call(
            format!("removing the test key from slot {}", self.slot),
            reason,
            "overwrite it with a key of your own (gpg --card-edit, admin, generate)",
        )
    }
}

/// DO C1 to C3 (§4.4.3.9).
fn octets(attributes: &AlgorithmAttributes) -> Vec<u8> {
    match attributes {
        AlgorithmAttributes::Rsa(rsa) => {
            let [n, e] = [rsa.len_n(), rsa.len_e()].map(u16::to_be_bytes);
            [&[1], &n[..], &e[..], &[rsa.import_format()]].concat()
        }
        AlgorithmAttributes::Ecc(ecc) => {
            let kind = match ecc.ecc_type() {
                EccType::ECDH => 0x12,
                EccType::ECDSA => 0x13,
                EccType::EdDSA => 0x16,
            };
            let mut octets = [&[kind], ecc.oid()].concat();
            octets.extend(ecc.import_format());
            octets
        }
        AlgorithmAttributes::Unknown(octets) => octets.clone(),
    }
}

/// Attributes that the crate writes to a card as these very octets, if it can: it leaves out the import
/// format of curves, unless that passes for the end of an object identifier.
fn attributes(octets: &[u8]) -> Option<AlgorithmAttributes> {
    let (kind, rest) = octets.split_first()?;
    let curve = |kind| {
        let curve = Curve::Unknown(rest.to_vec());
        AlgorithmAttributes::Ecc(EccAttributes::new(kind, curve, None))
    };
    match (kind, rest) {
        (0x01, &[n1, n2, 0, e, format]) => Some(AlgorithmAttributes::Rsa(RsaAttributes::new(
            u16::from_be_bytes([n1, n2]),
            e.into(),
            format,
        ))),
        (0x12, [_, ..]) => Some(curve(EccType::ECDH)),
        (0x13, [_, ..]) => Some(curve(EccType::ECDSA)),
        (0x16, [_, ..]) => Some(curve(EccType::EdDSA)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RSA: [u8; 6] = [1, 8, 0, 0, 0x20, 0];
    const ED25519: [u8; 10] = [0x16, 0x2B, 6, 1, 4, 1, 0xDA, 0x47, 0x0F, 1];
    const NISTP256: [u8; 10] = [0x13, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 3, 1, 7, 0xFF];

    fn state(attributes: &[u8], fingerprint: Option<&str>, key: Option<bool>) -> SlotState {
        SlotState {
            attributes: attributes.to_vec(),
            fingerprint: fingerprint.map(str::to_owned),
            key,
        }
    }

    fn undo(before: SlotState) -> Undo {
        Undo {
            slot: Slot::Signature,
            before,
            test_key: SlotTestKey {
                algorithm: "ed25519".parse().unwrap(),
                fingerprint: "TEST".to_owned(),
            },
        }
    }

    #[test]
    fn attributes_are_the_same_octets_again() {
        for octets in [&RSA[..], &ED25519, &NISTP256] {
            assert_eq!(super::octets(&attributes(octets).unwrap()), octets);
        }
        for unusual in [&[][..], &[1, 8, 0, 1, 0, 0], &[0x99, 1], &[0x12]] {
            assert_eq!(attributes(unusual), None, "{unusual:x?}");
        }
    }

    #[test]
    fn only_what_keymark_wrote_is_removed() {
        use Needed::{Foreign, Nothing, Removal};
        let empty = || undo(state(&RSA, None, Some(false)));
        let owned = || undo(state(&RSA, Some("OWN"), Some(true)));
        let silent = || undo(state(&ED25519, None, None));
        for (undo, now, needed) in [
            // Nothing was written, or all is restored.
            (empty(), state(&RSA, None, Some(false)), Nothing),
            (owned(), state(&RSA, Some("OWN"), Some(true)), Nothing),
            // Attributes; and the key; and its fingerprint.
            (empty(), state(&ED25519, None, Some(false)), Removal),
            (empty(), state(&ED25519, None, Some(true)), Removal),
            (empty(), state(&ED25519, Some("TEST"), Some(true)), Removal),
            (owned(), state(&ED25519, Some("OWN"), Some(true)), Removal),
            // In a slot that had these attributes before.
            (silent(), state(&ED25519, None, Some(true)), Removal),
            (owned(), state(&RSA, None, Some(true)), Removal),
            // A restoring that was cut short.
            (empty(), state(&NISTP256, None, Some(false)), Removal),
            // The card does not say.
            (silent(), state(&ED25519, None, None), Removal),
            // The owner's new key.
            (empty(), state(&ED25519, Some("NEW"), Some(true)), Foreign),
            (owned(), state(&NISTP256, None, Some(true)), Foreign),
            (empty(), state(&RSA, None, Some(true)), Foreign),
        ] {
            for progress in [WriteProgress::Begun, WriteProgress::Written] {
                // It bears the owner's fingerprint again.
                let former =
                    undo.before.fingerprint.is_some() && now.fingerprint == undo.before.fingerprint;
                if progress == WriteProgress::Begun || !former {
                    assert_eq!(undo.needed(&now, progress), needed, "{progress:?}: {now:?}");
                }
            }
        }
    }

    #[test]
    fn the_owners_key_put_back_since_is_left() {
        let silent = || undo(state(&RSA, Some("OWN"), None));
        let owned = || undo(state(&RSA, Some("OWN"), Some(true)));
        for (undo, now) in [
            // The card does not say whether it has a key.
            (silent(), state(&RSA, Some("OWN"), None)),
            (owned(), state(&RSA, Some("OWN"), Some(true))),
            // As another program writes the same attributes.
            (silent(), state(&ED25519, Some("OWN"), None)),
        ] {
            assert_eq!(
                undo.needed(&now, WriteProgress::Written),
                Needed::Nothing,
                "{now:?}"
            );
        }
        // Written over and not yet under a fingerprint of its own.
        let cut_short = silent().needed(&state(&RSA, Some("OWN"), None), WriteProgress::Begun);
        assert_eq!(cut_short, Needed::Removal);
    }
}
