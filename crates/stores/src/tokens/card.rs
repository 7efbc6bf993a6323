//! What a smart card is to everything that talks to one: commands in, responses out.

use std::time::Duration;

use derive_more::Display;

/// A status word of ISO 7816-4 §5.6 (OpenPGP card 3.4.1 §7.9).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display)]
#[display("{_0:04X}")]
pub struct StatusWord(pub u16);

impl StatusWord {
    /// Done.
    pub const OK: Self = Self(0x9000);
    /// Wrong length.
    pub const WRONG_LENGTH: Self = Self(0x6700);
    /// The last command of a chain was expected.
    pub const CHAIN_EXPECTED: Self = Self(0x6883);
    /// Conditions of use not satisfied.
    pub const CONDITIONS: Self = Self(0x6985);
    /// Data object not found.
    pub const NOT_FOUND: Self = Self(0x6A88);
    /// The class is not supported.
    pub const CLASS_NOT_SUPPORTED: Self = Self(0x6E00);

    /// The response that consists of this status word alone.
    pub fn response(self) -> Vec<u8> {
        self.0.to_be_bytes().to_vec()
    }

    /// The last two bytes of a response.
    pub fn of(response: &[u8]) -> Option<Self> {
        Some(Self(u16::from_be_bytes(*response.last_chunk()?)))
    }
}

/// A response with the time it took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Response APDU, status word last.
    pub response: Vec<u8>,
    /// The card's own time: nothing of the way there and back.
    pub work: Duration,
}

/// Why there is no response.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CardFault {
    /// No card in the reader.
    #[error("there is no card in the reader")]
    Removed,
    /// The card lost power since it was last spoken to; PINs have to be verified anew.
    #[error("the card was reset")]
    Reset,
    /// A card that says nothing.
    #[error("the card does not answer")]
    Mute,
    /// A twin needs longer than the device it stands for.
    #[error(
        "this CPU needed {needed:?} for what the profile does in {profile:?}: the device is too fast to be \
         imitated here"
    )]
    TooSlow {
        /// What the firmware took on this CPU.
        needed: Duration,
        /// What the device takes.
        profile: Duration,
    },
}

/// A smart card with one application.
pub trait Card: Send {
    /// Answer to reset (ISO 7816-3 §8).
    fn atr(&self) -> &[u8];

    /// Switches it on, or off and on: PINs are no longer verified.
    fn power_on(&mut self);

    /// Processes one command APDU.
    fn transmit(&mut self, command: &[u8]) -> Result<Answer, CardFault>;
}
