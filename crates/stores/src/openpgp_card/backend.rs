//! A [`Channel`] for the crate `openpgp-card`, noting what PIN verification takes.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use card_backend::{CardBackend, CardCaps, CardTransaction, PinType, SmartcardError};
use keymark_bench::clock::{Clock, MonotonicClock};

use super::channel::Channel;

const VERIFY: u8 = 0x20;

/// What the last VERIFY took at the APDU.
#[derive(Debug, Clone, Default)]
pub(super) struct VerifyTime(Arc<Mutex<Option<Duration>>>);

impl VerifyTime {
    pub(super) fn last(&self) -> Option<Duration> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, time: Duration) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(time);
    }
}

pub(super) struct Backend {
    channel: Box<dyn Channel>,
    clock: MonotonicClock,
    verify: VerifyTime,
}

impl Backend {
    pub(super) fn new(channel: Box<dyn Channel>, verify: VerifyTime) -> Self {
        Self {
            channel,
            clock: MonotonicClock::new(),
            verify,
        }
    }
}

impl From<Backend> for Box<dyn CardBackend + Send + Sync> {
    fn from(backend: Backend) -> Self {
        Box::new(backend)
    }
}

impl CardBackend for Backend {
    fn limit_card_caps(&self, caps: CardCaps) -> CardCaps {
        caps
    }

    fn transaction(
        &mut self,
        _reselect: Option<&[u8]>,
    ) -> Result<Box<dyn CardTransaction + Send + Sync + '_>, SmartcardError> {
        Ok(Box::new(Plain(self)))
    }
}

struct Plain<'a>(&'a mut Backend);

impl CardTransaction for Plain<'_> {
    fn transmit(&mut self, command: &[u8], _: usize) -> Result<Vec<u8>, SmartcardError> {
        let Backend {
            channel,
            clock,
            verify,
        } = &mut *self.0;
        let mut response = Vec::new();
        let begin = clock.now();
        channel
            .transmit(command, &mut response)
            .map_err(|error| SmartcardError::Error(error.to_string()))?;
        // Without data VERIFY asks how many tries are left (OpenPGP card 3.4.1 §7.2.2).
        if command.get(1) == Some(&VERIFY) && command.len() > 5 {
            verify.set(clock.now().since(begin));
        }
        Ok(response)
    }

    fn feature_pinpad_verify(&self) -> bool {
        false
    }

    fn feature_pinpad_modify(&self) -> bool {
        false
    }

    fn pinpad_verify(
        &mut self,
        _: PinType,
        _: &Option<CardCaps>,
    ) -> Result<Vec<u8>, SmartcardError> {
        Err(no_pinpad())
    }

    fn pinpad_modify(
        &mut self,
        _: PinType,
        _: &Option<CardCaps>,
    ) -> Result<Vec<u8>, SmartcardError> {
        Err(no_pinpad())
    }

    fn was_reset(&self) -> bool {
        false
    }
}

fn no_pinpad() -> SmartcardError {
    SmartcardError::Error("PIN pads are not used".to_owned())
}
