//! The rules under which a PIN is tried, whatever the device: fetched once, never when fewer than two
//! tries are left, never again once it was refused or its fate is not known.

use keymark_bench::Error;
use parking_lot::Mutex;

use super::pin::{Pin, Pins};

/// Fewer tries are never touched: who mistypes next would lock the device.
const TRIES_NEEDED: u8 = 2;

/// Owner of a PIN.
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
    /// The PIN was sent and no answer came: it may have cost a try.
    Unanswered(Error),
    /// The PIN was not sent.
    Unasked(Error),
}

impl Refusal {
    /// Why, whatever it has cost.
    pub fn into_error(self) -> Error {
        match self {
            Self::Judged(error) | Self::Unanswered(error) | Self::Unasked(error) => error,
        }
    }
}

/// Words of a kind of device about its PINs.
#[derive(Debug, Clone, Copy)]
pub struct PinWords {
    /// The call that verifies one.
    pub call: &'static str,
    /// The code of one that is blocked.
    pub blocked: &'static str,
    /// Advice about tries that are used up.
    pub advice: &'static str,
}

impl PinWords {
    /// Words of an OpenPGP card.
    pub const CARD: Self = Self {
        call: "VERIFY",
        blocked: "6983",
        advice: "check the PIN with gpg --card-edit; a right PIN entered there resets the tries",
    };
}

/// The PINs of one device.
#[allow(missing_debug_implementations, reason = "it holds secrets")]
pub struct PinRules {
    pins: Pins,
    device: String,
    words: PinWords,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    user: Kept,
    admin: Kept,
    /// The device has accepted one.
    accepted: bool,
}

/// A PIN. The two have tries of their own: a wrong user PIN keeps nobody from restoring with the admin PIN.
#[derive(Default)]
struct Kept {
    pin: Option<Pin>,
    /// Why it is not tried any more.
    ended: Option<Error>,
}

impl Known {
    const fn of(&mut self, kind: PinKind) -> &mut Kept {
        match kind {
            PinKind::User => &mut self.user,
            PinKind::Admin => &mut self.admin,
        }
    }
}

impl PinRules {
    /// Makes the rules for the device that the user knows by that name.
    pub fn new(pins: Pins, device: String) -> Self {
        Self::in_words(pins, device, PinWords::CARD)
    }

    /// Makes the rules for another kind of device than a card.
    pub fn in_words(pins: Pins, device: String, words: PinWords) -> Self {
        Self {
            pins,
            device,
            words,
            known: Mutex::default(),
        }
    }

    /// Has the device verify a PIN, if the rules allow it; `tries` is how many are left. After one that
    /// was refused, went without an answer or could not be had, it is not tried: the error stays the same.
    pub fn verify(
        &self,
        kind: PinKind,
        tries: u8,
        ask: impl FnOnce(&Pin) -> Result<(), Refusal>,
    ) -> Result<(), Error> {
        let mut known = self.known.lock();
        let kept = known.of(kind);
        if let Some(error) = &kept.ended {
            return Err(error.clone());
        }
        self.allowed(kind, tries)?;
        let ended = match self.pin(kept, kind).map(|pin| ask(&pin)) {
            Ok(Ok(())) => {
                known.accepted = true;
                return Ok(());
            }
            Ok(Err(Refusal::Unasked(error))) => return Err(error),
            Ok(Err(Refusal::Judged(error))) => error,
            Ok(Err(Refusal::Unanswered(error))) => self.refusal(format!(
                "the {} was sent, but no answer came ({error}): it may have cost a try, so keymark does not send \
                 it again",
                kind.name()
            )),
            Err(missing) => missing,
        };
        kept.ended = Some(ended.clone());
        Err(ended)
    }

    /// Checks whether a PIN that the device has accepted may be sent again, to a key that wants it at each use, with
    /// that number of tries left.
    pub fn again(&self, kind: PinKind, tries: u8) -> Result<(), Error> {
        let mut known = self.known.lock();
        match &known.of(kind).ended {
            Some(error) => Err(error.clone()),
            None => self.allowed(kind, tries),
        }
    }

    /// Notes that a key has refused a PIN which the device had accepted: nobody sends it any more.
    pub fn refused_later(&self, kind: PinKind, error: &Error) {
        let mut known = self.known.lock();
        known.of(kind).ended.get_or_insert_with(|| error.clone());
    }

    /// Returns whether the device has accepted a PIN since this was last asked: it may keep it verified.
    pub fn have_opened(&self) -> bool {
        let mut known = self.known.lock();
        std::mem::take(&mut known.accepted)
    }

    /// Checks whether that number of tries is enough to try the PIN.
    pub fn allowed(&self, kind: PinKind, tries: u8) -> Result<(), Error> {
        let name = kind.name();
        match tries {
            0 => Err(self.refusal(format!("the {name} is blocked ({})", self.words.blocked))),
            tries if tries < TRIES_NEEDED => Err(self.refusal(format!(
                "the {name} has {tries} try left; keymark sends none with fewer than {TRIES_NEEDED}"
            ))),
            _ => Ok(()),
        }
    }

    fn refusal(&self, reason: String) -> Error {
        let PinWords { call, advice, .. } = self.words;
        Error::call(format!("{call} on {}", self.device), reason, advice)
    }

    fn pin(&self, kept: &mut Kept, kind: PinKind) -> Result<Pin, Error> {
        if let Some(pin) = &kept.pin {
            return Ok(pin.clone());
        }
        let source = match kind {
            PinKind::Admin => &self.pins.admin,
            PinKind::User => &self.pins.user,
        };
        let pin = source.fetch(&format!("{} of {}", kind.name(), self.device))?;
        kept.pin = Some(pin.clone());
        Ok(pin)
    }

    /// The user PIN, once the device has accepted it, for a program that has to enter it too.
    pub fn accepted_user_pin(&self) -> Result<Pin, Error> {
        let known = self.known.lock();
        let user = &known.user;
        let accepted = user.pin.clone().filter(|_| user.ended.is_none());
        accepted.ok_or_else(|| self.refusal("it has not accepted a user PIN".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::user::PinSource;

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
    fn a_pin_that_was_judged_wrong_or_had_no_answer_is_not_tried_again() {
        for (refusal, said) in [
            (Refusal::Judged(error()), "wrong"),
            (Refusal::Unanswered(error()), "may have cost a try"),
        ] {
            let rules = rules();
            let first = asked(&rules, 3, Err(refusal)).1.unwrap_err();
            assert!(first.to_string().contains(said), "{first}");
            let (again, refused) = asked(&rules, 3, Ok(()));
            assert!(!again && refused.unwrap_err() == first);
            assert!(rules.accepted_user_pin().is_err() && !rules.have_opened());
            // The admin PIN has tries of its own.
            assert!(rules.verify(PinKind::Admin, 3, |_| Ok(())).is_ok());
        }
    }

    #[test]
    fn a_pin_that_cannot_be_had_is_asked_for_once() {
        let missing = PinSource::Environment("KEYMARK_NO_SUCH_PIN".to_owned());
        let pins = Pins {
            user: missing.clone(),
            admin: missing,
        };
        let rules = PinRules::new(pins, "the device".to_owned());
        let first = asked(&rules, 3, Ok(())).1.unwrap_err();
        assert_eq!(first, asked(&rules, 3, Ok(())).1.unwrap_err());
        assert!(first.to_string().contains("--pin-fd"), "{first}");
    }

    #[test]
    fn a_pin_that_a_key_has_refused_is_not_sent_again() {
        let rules = rules();
        assert!(asked(&rules, 3, Ok(())).1.is_ok());
        assert_eq!(rules.again(PinKind::User, 2), Ok(()));
        assert!(rules.again(PinKind::User, 1).is_err(), "the last try");
        rules.refused_later(PinKind::User, &error());
        assert_eq!(rules.again(PinKind::User, 3), Err(error()));
        assert!(rules.accepted_user_pin().is_err());
        assert_eq!(rules.again(PinKind::Admin, 3), Ok(()));
    }

    #[test]
    fn a_pin_that_never_reached_the_device_may_be_tried() {
        let rules = rules();
        assert!(asked(&rules, 3, Err(Refusal::Unasked(error()))).1.is_err());
        let (again, verified) = asked(&rules, 3, Ok(()));
        assert!(again && verified.is_ok());
        assert_eq!(rules.accepted_user_pin().unwrap().expose(), "123456");
        assert!(rules.have_opened());
    }
}
