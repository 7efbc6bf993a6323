//! A card in a reader, as programs that speak PC/SC reach it: what a stack may ask, whichever store keeps it.

use std::fmt::Debug;
use std::sync::Arc;

use derive_more::Display;
use keymark_bench::{Algorithm, Error, Operation};

use crate::public_key::PublicKey;
use crate::store::KeyStore;
use crate::tokens::reader::CardReader;
use crate::user::Pin;

/// A card with keys in slots.
pub trait CardAccess: Debug + Send + Sync {
    fn place(&self) -> &CardPlace;

    /// Returns the card's identifier.
    fn aid(&self) -> Result<Aid, Error>;

    /// The user PIN, for gpg-agent to enter, once the card has accepted it here: so it is tried
    /// under the rules, and once.
    fn user_pin(&self) -> Result<Pin, Error>;

    /// Returns whether the slot's key may be used, which for some takes the user's finger.
    fn check_touch(&self, slot: Slot) -> Result<TouchPolicy, Error>;

    /// Tells the user to touch the button.
    fn ask_for_touch(&self);

    /// The public half of a slot's key.
    fn slot_public_key(&self, slot: Slot, algorithm: Algorithm) -> Result<PublicKey, Error>;

    /// Fingerprint of the key in the slot, in hexadecimal, upper case.
    fn fingerprint(&self, slot: Slot) -> Result<Option<String>, Error>;

    /// Returns the lifetime of the PIN for signing.
    fn signing_pin(&self) -> Result<SigningPin, Error>;

    /// Notes the fingerprint that a slot's key has in OpenPGP.
    fn write_fingerprint(&self, slot: Slot, fingerprint: [u8; 20]) -> Result<(), Error>;
}

/// Place of a card.
#[derive(Debug, Clone)]
pub enum CardPlace {
    /// Reader of this process, made for the run: it can be served at a socket.
    Virtual {
        reader: CardReader,
        /// Store of the keys in its slots, in the clear.
        test_keys: Arc<dyn KeyStore>,
    },
    /// Name of a reader of pcscd's.
    Pcscd(String),
}

/// A slot for one key (OpenPGP card 3.4.1 §4.4.3.9: attributes in C1, C2, C3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Display)]
#[display("{}", self.name())]
pub enum Slot {
    /// SIG: PSO:COMPUTE DIGITAL SIGNATURE.
    Signature,
    /// DEC: PSO:DECIPHER.
    Decryption,
    /// AUT: INTERNAL AUTHENTICATE.
    Authentication,
}

impl Slot {
    /// All of them in the specification's order.
    pub const ALL: [Self; 3] = [Self::Signature, Self::Decryption, Self::Authentication];

    /// The slot that does the operation.
    pub fn of(operation: Operation) -> Option<Self> {
        let mut slots = Self::ALL.into_iter();
        slots.find(|slot| slot.operation() == operation)
    }

    /// Picks this slot's of three things in the specification's order.
    pub const fn pick<T: Copy>(self, of_slots: [T; 3]) -> T {
        of_slots[self as usize]
    }

    /// Returns the operation of the slot's key.
    pub const fn operation(self) -> Operation {
        self.pick([Operation::Sign, Operation::Decrypt, Operation::Authenticate])
    }

    /// Number of the key (§7.2.18): GnuPG calls it `OPENPGP.1` to `OPENPGP.3`.
    pub const fn number(self) -> u8 {
        self.pick([1, 2, 3])
    }

    /// The specification's abbreviation.
    pub const fn name(self) -> &'static str {
        self.pick(["SIG", "DEC", "AUT"])
    }
}

/// RID and application of every OpenPGP card.
const OPENPGP: [u8; 6] = [0xD2, 0x76, 0x00, 0x01, 0x24, 0x01];

/// All of it that is not alike on every card; shown as GnuPG prints it, manufacturer and serial number: `0006:12345678`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display)]
#[display("{manufacturer:04x}:{serial:08x}")]
pub struct Aid {
    pub(crate) version: u16,
    pub(crate) manufacturer: u16,
    pub serial: u32,
}

impl Aid {
    /// Takes what a card has answered, without the status word.
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let rest = bytes.strip_prefix(&OPENPGP)?;
        let (&[v0, v1, m0, m1, ref serial @ ..], &[_, _]) = rest.split_first_chunk::<8>()? else {
            return None;
        };
        Some(Self {
            version: u16::from_be_bytes([v0, v1]),
            manufacturer: u16::from_be_bytes([m0, m1]),
            serial: u32::from_be_bytes(*serial.first_chunk()?),
        })
    }

    /// Major and minor number of the specification.
    #[cfg(feature = "cards")]
    pub(crate) const fn card_version(&self) -> (u8, u8) {
        let [major, minor] = self.version.to_be_bytes();
        (major, minor)
    }
}

/// Touch of its owner's finger that a key wants (DO D6 to D8, §4.4.3.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TouchPolicy {
    /// No.
    Off,
    /// A touch for each operation.
    Each,
    /// Once, for some time after.
    Cached,
}

/// Lifetime of a verified PIN 81 (first byte of DO C4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SigningPin {
    /// Good for a signature: "forced signature PIN".
    Once,
    /// All signatures until the card is reset.
    Several,
}
