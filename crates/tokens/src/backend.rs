//! A card in this process for the crate `openpgp-card`.

use card_backend::{CardBackend, CardCaps, CardTransaction, PinType, SmartcardError};

use crate::reader::Connection;

impl From<Connection> for Box<dyn CardBackend + Send + Sync> {
    fn from(connection: Connection) -> Self {
        Box::new(connection)
    }
}

impl CardBackend for Connection {
    fn limit_card_caps(&self, caps: CardCaps) -> CardCaps {
        caps
    }

    fn transaction(
        &mut self,
        _reselect: Option<&[u8]>,
    ) -> Result<Box<dyn CardTransaction + Send + Sync + '_>, SmartcardError> {
        Ok(Box::new(InProcess(self)))
    }
}

struct InProcess<'a>(&'a mut Connection);

impl CardTransaction for InProcess<'_> {
    fn transmit(&mut self, command: &[u8], _: usize) -> Result<Vec<u8>, SmartcardError> {
        let answer = self.0.transmit(command);
        answer
            .map(|answer| answer.response)
            .map_err(|fault| SmartcardError::Error(fault.to_string()))
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
    SmartcardError::Error("the reader has no PIN pad".to_owned())
}
