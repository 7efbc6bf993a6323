//! A card's own description, read once and outside every timed region.

use keymark_bench::{Algorithm, Error, Family};
use openpgp_card::ocard::KeyType;
use openpgp_card::ocard::algorithm::AlgorithmAttributes;
use openpgp_card::ocard::data::{
    ApplicationRelatedData, Fingerprint, KeyStatus, UserInteractionFlag,
};
use openpgp_card::state::Transaction;
use openpgp_card::{Card, Error as CardError};

use super::session::failed;
use crate::card::{Aid, SigningPin, Slot, TouchPolicy};
use crate::user::{Loss, TokenId};

impl Slot {
    pub(super) const fn key_type(self) -> KeyType {
        self.pick([
            KeyType::Signing,
            KeyType::Decryption,
            KeyType::Authentication,
        ])
    }
}

/// Speed at which commands reach the card (§6.1, §7.7): it changes the host's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transfer {
    /// Extended Lc and Le.
    Extended,
    /// Command chaining, and GET RESPONSE.
    Chained,
}

/// Content of a slot (DO DE, §4.4.3.8).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyPresence {
    /// Nothing.
    Empty,
    /// A key made on the card.
    Generated,
    /// A key made elsewhere.
    Imported,
    /// A key, by its fingerprint or its public half; the card does not say whence.
    Present,
    /// Perhaps a key: the card says nothing of it.
    Unknown,
}

/// Description of a slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlotFacts {
    /// The slot.
    pub slot: Slot,
    /// Algorithm of its attributes; `None` when keymark does not know it.
    pub algorithm: Option<Algorithm>,
    /// Its attributes as the card has them.
    pub attributes: String,
    /// Presence of a key.
    pub key: KeyPresence,
    /// Its fingerprint in OpenPGP, hexadecimal.
    pub fingerprint: Option<String>,
    /// Policy about touch.
    pub touch: TouchPolicy,
    /// Other algorithms that it takes (DO FA, §4.4.3.11); empty when the card does not say.
    pub offered: Vec<Algorithm>,
}

impl SlotFacts {
    /// Returns whether an operation can be asked of it.
    pub const fn has_key(&self) -> bool {
        match self.key {
            KeyPresence::Generated | KeyPresence::Imported | KeyPresence::Present => true,
            KeyPresence::Empty | KeyPresence::Unknown => false,
        }
    }

    /// Returns whether that operation can be asked of a key of that algorithm.
    pub fn is_key_of(&self, algorithm: Algorithm) -> bool {
        self.has_key() && self.algorithm == Some(algorithm)
    }

    /// Returns the loss that a write would cause.
    pub fn loss(&self) -> Loss {
        match self.key {
            KeyPresence::Empty => Loss::Nothing,
            KeyPresence::Unknown => Loss::Unknown,
            KeyPresence::Generated | KeyPresence::Imported | KeyPresence::Present => {
                let fingerprint = self.fingerprint.as_deref().unwrap_or("unknown");
                Loss::Key(format!("{}, fingerprint {fingerprint}", self.attributes))
            }
        }
    }
}

/// Tries left before a PIN is blocked (DO C4, §4.4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tries {
    /// User PIN (PW1).
    pub user: u8,
    /// Resetting code.
    pub reset: u8,
    /// Admin PIN (PW3).
    pub admin: u8,
}

/// Description of a card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardFacts {
    /// Application identifier (§4.2.1).
    pub aid: Aid,
    /// Answer of Yubico's version command.
    pub firmware: Option<[u8; 3]>,
    /// The three slots.
    pub slots: [SlotFacts; 3],
    /// Tries left.
    pub tries: Tries,
    /// Validity of PIN 81.
    pub signing_pin: SigningPin,
    /// True if the host derives PINs by S2K before it sends them (KDF-DO, §4.3.2).
    pub derives_pins: bool,
    /// Hashed octets of that derivation, in the unit that its DO has.
    pub kdf_octets: Option<u32>,
    /// Speed of commands.
    pub transfer: Transfer,
}

impl CardFacts {
    /// Returns the token's identity for PINs, consent and journals.
    pub fn token(&self) -> TokenId {
        TokenId::new(self.aid.to_string())
    }

    /// The slot's facts.
    pub fn slot(&self, slot: Slot) -> &SlotFacts {
        &self.slots[usize::from(slot.number() - 1)]
    }

    /// Asks the card.
    pub(super) fn read(card: &mut Card<Transaction<'_>>) -> Result<Self, Error> {
        let read = |what: &str| {
            let call = format!("GET DATA ({what})");
            move |error: CardError| failed(&call, &error)
        };
        let aid = Aid::from(card.application_identifier().map_err(read("4F"))?);
        let pw = card.pw_status_bytes().map_err(read("C4"))?;
        let data = card.card().application_related_data().map_err(read("6E"))?;
        // Cards before 3.4 have no such list; some answer nonsense (YubiKey 5 before 5.6.1).
        let offered = card.algorithm_information().ok().flatten();
        let slots = Slot::ALL.map(|slot| {
            let attributes = data
                .algorithm_attributes(slot.key_type())
                .map_err(read("C1-C3"))?;
            let offered = offered.as_ref().map(|list| {
                let listed = list.for_keytype(slot.key_type()).into_iter();
                let mut known: Vec<_> = listed.filter_map(algorithm).collect();
                known.dedup();
                known
            });
            let mut facts = slot_facts(slot, &data, &attributes, offered.unwrap_or_default())
                .map_err(read("6E"))?;
            // Cards before 3.4 do not say; a key shows by its public half.
            if facts.key == KeyPresence::Unknown
                && card.public_key_material(slot.key_type()).is_ok()
            {
                facts.key = KeyPresence::Present;
            }
            Ok(facts)
        });
        let [signature, decryption, authentication] = slots;
        let extended = card
            .historical_bytes()
            .ok()
            .and_then(|bytes| Some(bytes.card_capabilities()?.extended_lc_le()))
            .unwrap_or(false);
        let is_yubicos = aid.manufacturer == YUBICO;
        let firmware = is_yubicos.then(|| card.firmware_version().ok()).flatten();
        let kdf = card.kdf_do().ok().filter(|kdf| kdf.kdf_algo() != 0);
        Ok(Self {
            aid,
            firmware: firmware.and_then(|version| version.try_into().ok()),
            slots: [signature?, decryption?, authentication?],
            tries: Tries {
                user: pw.err_count_pw1(),
                reset: pw.err_count_rc(),
                admin: pw.err_count_pw3(),
            },
            signing_pin: if pw.pw1_cds_valid_once() {
                SigningPin::Once
            } else {
                SigningPin::Several
            },
            derives_pins: kdf.is_some(),
            kdf_octets: kdf.and_then(|kdf| kdf.iter_count()),
            transfer: if extended {
                Transfer::Extended
            } else {
                Transfer::Chained
            },
        })
    }
}

const YUBICO: u16 = 0x0006;

/// The fingerprint of a slot's key, if it has one.
pub(super) fn fingerprint(
    data: &ApplicationRelatedData,
    slot: Slot,
) -> Result<Option<Fingerprint>, CardError> {
    let all = data.fingerprints()?;
    let fingerprint = slot.pick([all.signature(), all.decryption(), all.authentication()]);
    Ok(fingerprint.cloned())
}

pub(super) fn key_status(
    data: &ApplicationRelatedData,
    slot: Slot,
) -> Result<Option<KeyStatus>, CardError> {
    let all = data.key_information()?;
    Ok(all.map(|all| slot.pick([all.sig_status(), all.dec_status(), all.aut_status()])))
}

fn slot_facts(
    slot: Slot,
    data: &ApplicationRelatedData,
    attributes: &AlgorithmAttributes,
    offered: Vec<Algorithm>,
) -> Result<SlotFacts, CardError> {
    let fingerprint = fingerprint(data, slot)?;
    let fingerprint = fingerprint.map(|fingerprint| fingerprint.to_hex().to_uppercase());
    let status = key_status(data, slot)?;
    let flag: Option<UserInteractionFlag> = match slot {
        Slot::Signature => data.uif_pso_cds()?,
        Slot::Decryption => data.uif_pso_dec()?,
        Slot::Authentication => data.uif_pso_aut()?,
    };
    Ok(SlotFacts {
        slot,
        algorithm: algorithm(attributes),
        attributes: attributes.to_string(),
        key: match status {
            Some(KeyStatus::NotPresent) => KeyPresence::Empty,
            Some(KeyStatus::Generated) => KeyPresence::Generated,
            Some(KeyStatus::Imported) => KeyPresence::Imported,
            Some(KeyStatus::Unknown(_)) | None if fingerprint.is_some() => KeyPresence::Present,
            Some(KeyStatus::Unknown(_)) | None => KeyPresence::Unknown,
        },
        fingerprint,
        // Off, on, permanently on, cached, permanently cached (§4.4.3.6; Yubico's 03 and 04).
        touch: match flag.map_or(0, |flag| u8::from(flag.touch_policy())) {
            0 => TouchPolicy::Off,
            3 | 4 => TouchPolicy::Cached,
            _ => TouchPolicy::Each,
        },
        offered,
    })
}

/// keymark's name for a card's attributes.
pub(crate) fn algorithm(attributes: &AlgorithmAttributes) -> Option<Algorithm> {
    let family = match attributes {
        AlgorithmAttributes::Rsa(rsa) => Family::Rsa(u32::from(rsa.len_n())),
        AlgorithmAttributes::Ecc(ecc) => Family::of_oid(ecc.oid())?,
        AlgorithmAttributes::Unknown(_) => return None,
    };
    Algorithm::of(family)
}
