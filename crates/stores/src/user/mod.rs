//! The user of a device, above all key stores: what they have allowed, the PINs they give, what they are
//! told and asked.

mod changes;
mod pin;
mod rules;
pub mod terminal;
mod token;

use std::sync::Arc;

use keymark_bench::Error;

pub use changes::{Agreements, Change, Loss};
pub use pin::{AskForPin, Pin, PinSource, Pins};
pub use rules::{PinKind, PinRules, PinWords, Refusal};
pub use token::{TokenId, TokenName};

/// Permissions of the user.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Consent {
    /// Keys that want a touch may be used: the user sits there.
    pub touch: Touch,
    /// Test keys may be written to the token that is called so.
    pub write: Option<TokenName>,
}

impl Consent {
    /// Returns whether test keys may be written to this token.
    pub fn may_write(&self, token: &TokenId) -> bool {
        self.write
            .as_ref()
            .is_some_and(|name| token.is_called(name))
    }

    /// An error if they may not.
    pub fn check_write(&self, token: &TokenId) -> Result<(), Error> {
        if self.may_write(token) {
            return Ok(());
        }
        Err(Error::call(
            format!("writing to {token}"),
            "keymark never writes to a token unasked",
            format!("--write-to {} allows it", token.serial()),
        ))
    }
}

/// Permission to use keys that want a touch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Touch {
    /// The user sits there and is told when to touch.
    Allowed,
    /// Nobody would touch.
    #[default]
    Refused,
}

/// Told to the user while a case is made ready or measured.
pub trait Notice: Send + Sync {
    /// Something to do or to know.
    fn tell(&self, text: &str);

    /// Something that went otherwise than it should, though the run goes on.
    fn warn(&self, text: &str) {
        self.tell(text);
    }

    /// Returns whether the user agrees to what cannot be undone.
    fn agrees(&self, to: &str) -> bool;

    /// Returns whether the user has ended the run: nothing is waited for any more that need not be.
    fn has_ended(&self) -> bool {
        false
    }

    /// Tells the user to touch a token's button.
    fn ask_for_touch(&self) {
        self.tell("touch the button of the card now");
    }
}

/// Nobody is there: nothing is agreed to.
#[derive(Debug, Clone, Copy)]
pub struct Unattended;

impl Notice for Unattended {
    fn tell(&self, _: &str) {}

    fn agrees(&self, _: &str) -> bool {
        false
    }
}

/// The user of a run.
#[derive(Clone, derive_more::Debug)]
#[debug("User({consent:?})")]
pub struct User {
    /// Sources of the PINs.
    pub pins: Pins,
    /// Permissions.
    pub consent: Consent,
    /// The way to speak to them.
    pub notice: Arc<dyn Notice>,
}

impl User {
    /// Nobody, with a device that was made here and has its PINs from the factory.
    pub fn of_made_device() -> Self {
        Self {
            pins: Pins::factory(),
            consent: Consent::default(),
            notice: Arc::new(Unattended),
        }
    }

    /// Makes the user of a token that was made here and has this PIN.
    pub fn with_pin(pin: Pin) -> Self {
        let known = PinSource::Known(pin);
        Self {
            pins: Pins {
                user: known.clone(),
                admin: known,
            },
            ..Self::of_made_device()
        }
    }
}
