//! The rules under which a PIN is tried, whatever the device: fetched once, never when fewer than two
//! tries are left, never again once it was refused.

use std::sync::{Mutex, PoisonError};

use keymark_bench::error::Error;

use super::pin::{Pin, PinSource, Pins};

/// Fewer tries are never touched: who mistypes next would lock the device.
const TRIES_NEEDED: u8 = 2;

/// Whose PIN.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PinKind {
    /// The user's: PW1 of an OpenPGP card, `CKU_USER`.
    User,
    /// The administrator's: PW3, `CKU_SO`.
    Admin,
}

impl PinKind {
    const fn name(self) -> &'static str {
        match self {
            Self::User => "user PIN",
            Self::Admin => "admin PIN",
        }
    }
}

/// Why a device did not verify a PIN.
#[derive(Debug)]
pub enum Refusal {
    /// The device has judged the PIN, and it may have cost a try.
    Judged(Error),
    /// The PIN never got as far as that.
    Unasked(Error),
}

/// The PINs of one device.
#[allow(missing_debug_implementations, reason = "it holds secrets")]
pub struct PinRules {
    pins: Pins,
    device: String,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    user: Option<Pin>,
    admin: Option<Pin>,
    refused: Option<&'static str>,
}

impl PinRules {
    /// For the device that the user knows by that name.
    #[must_use]
    pub fn new(pins: Pins, device: String) -> Self {
        Self {
            pins,
            device,
            known: Mutex::default(),
        }
    }

    /// Has the device verify a PIN, if the rules allow it; `tries` is how many are left. A PIN that was
    /// refused is refused here from then on.
    ///
    /// # Errors
    /// When the rules or the device refuse.
    pub fn verify(
        &self,
        kind: PinKind,
        tries: u8,
        ask: impl FnOnce(&Pin) -> Result<(), Refusal>,
    ) -> Result<(), Error> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(name) = known.refused {
            return Err(self.refusal(format!(
                "the card has refused the {name} before; no PIN is tried twice"
            )));
        }
        self.allowed(kind, tries)?;
        let pin = self.pin(&mut known, kind)?;
        ask(&pin).map_err(|refusal| match refusal {
            Refusal::Judged(error) => {
                known.refused = Some(kind.name());
                error
            }
            Refusal::Unasked(error) => error,
        })
    }

    fn allowed(&self, kind: PinKind, tries: u8) -> Result<(), Error> {
        let name = kind.name();
        match tries {
            0 => Err(self.refusal(format!("the {name} is blocked (6983)"))),
            tries if tries < TRIES_NEEDED => Err(self.refusal(format!(
                "the {name} has {tries} try left, and keymark tries none that has fewer than {TRIES_NEEDED}"
            ))),
            _ => Ok(()),
        }
    }

    fn refusal(&self, reason: String) -> Error {
        let advice =
            "check the PIN with gpg --card-edit; a right PIN entered there resets the tries";
        Error::call(format!("VERIFY on {}", self.device), reason, advice)
    }

    fn pin(&self, known: &mut Known, kind: PinKind) -> Result<Pin, Error> {
        let (place, source): (&mut Option<Pin>, &PinSource) = match kind {
            PinKind::Admin => (&mut known.admin, &self.pins.admin),
            PinKind::User => (&mut known.user, &self.pins.user),
        };
        if let Some(pin) = place {
            return Ok(pin.clone());
        }
        let pin = source.fetch(&format!("{} of {}", kind.name(), self.device))?;
        *place = Some(pin.clone());
        Ok(pin)
    }

    /// The user PIN, once the device has accepted it, for a program that has to enter it too.
    ///
    /// # Errors
    /// When it has accepted none.
    pub fn accepted_user_pin(&self) -> Result<Pin, Error> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let accepted = known.user.clone().filter(|_| known.refused.is_none());
        accepted.ok_or_else(|| self.refusal("the card has not accepted a user PIN".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> PinRules {
        PinRules::new(Pins::factory(), "the device".to_owned())
    }

    fn asked(
        rules: &PinRules,
        tries: u8,
        answer: Result<(), Refusal>,
    ) -> (bool, Result<(), Error>) {
        let mut asked = false;
        let verified = rules.verify(PinKind::User, tries, |_| {
            asked = true;
            answer
        });
        (asked, verified)
    }

    fn error() -> Error {
        Error::call("VERIFY", "wrong", "")
    }

    #[test]
    fn a_pin_that_was_judged_wrong_is_not_tried_again() {
        let rules = rules();
        assert!(asked(&rules, 3, Err(Refusal::Judged(error()))).1.is_err());
        let (again, refused) = asked(&rules, 3, Ok(()));
        assert!(!again, "the device is not asked");
        assert!(refused.unwrap_err().to_string().contains("tried twice"));
        assert!(rules.accepted_user_pin().is_err());
    }

    #[test]
    fn a_pin_that_never_reached_the_device_may_be_tried() {
        let rules = rules();
        assert!(asked(&rules, 3, Err(Refusal::Unasked(error()))).1.is_err());
        let (again, verified) = asked(&rules, 3, Ok(()));
        assert!(again && verified.is_ok());
        assert_eq!(rules.accepted_user_pin().unwrap().expose(), "123456");
    }

    #[test]
    fn the_last_try_is_the_users() {
        for tries in [0, 1] {
            let (asked, refused) = asked(&rules(), tries, Ok(()));
            assert!(!asked && refused.is_err(), "{tries}");
        }
    }
}
