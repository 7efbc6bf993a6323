//! A smart card, as everything that talks to one sees it: commands in, responses out.

use std::time::Duration;

/// A response with the time it took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Response APDU, status word last.
    pub response: Vec<u8>,
    /// The card's own time: nothing of the way there and back.
    pub work: Duration,
}

impl Answer {
    /// A response that takes the card no time.
    pub const fn immediate(response: Vec<u8>) -> Self {
        let work = Duration::ZERO;
        Self { response, work }
    }
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
    /// A twin needs longer than the device it imitates.
    #[error(
        "this CPU needed {needed:?} for what the profile does in {profile:?}: the device is too fast to be \
         imitated here"
    )]
    TooSlow {
        /// Time of the firmware on this CPU.
        needed: Duration,
        /// Time of the device.
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
