//! The three key slots and what each is asked.

use keymark_bench::operation::Operation;
use openpgp_card::ocard::KeyType;

/// A slot for one key (OpenPGP card 3.4.1 §4.4.3.9: attributes in C1, C2, C3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Slot {
    /// SIG: PSO:COMPUTE DIGITAL SIGNATURE.
    Signature,
    /// DEC: PSO:DECIPHER.
    Decryption,
    /// AUT: INTERNAL AUTHENTICATE.
    Authentication,
}

impl Slot {
    /// In the specification's order.
    pub const ALL: [Self; 3] = [Self::Signature, Self::Decryption, Self::Authentication];

    /// The slot that does the operation.
    #[must_use]
    pub const fn of(operation: Operation) -> Option<Self> {
        match operation {
            Operation::Sign => Some(Self::Signature),
            Operation::Decrypt => Some(Self::Decryption),
            Operation::Authenticate => Some(Self::Authentication),
            Operation::Decapsulate | Operation::Handshake => None,
        }
    }

    /// What it is asked.
    #[must_use]
    pub const fn operation(self) -> Operation {
        match self {
            Self::Signature => Operation::Sign,
            Self::Decryption => Operation::Decrypt,
            Self::Authentication => Operation::Authenticate,
        }
    }

    /// Number of the key (§7.2.18): GnuPG calls it `OPENPGP.1` to `OPENPGP.3`.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Self::Signature => 1,
            Self::Decryption => 2,
            Self::Authentication => 3,
        }
    }

    /// The specification's abbreviation.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Signature => "SIG",
            Self::Decryption => "DEC",
            Self::Authentication => "AUT",
        }
    }

    pub(super) const fn key_type(self) -> KeyType {
        match self {
            Self::Signature => KeyType::Signing,
            Self::Decryption => KeyType::Decryption,
            Self::Authentication => KeyType::Authentication,
        }
    }
}

impl std::fmt::Display for Slot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}
