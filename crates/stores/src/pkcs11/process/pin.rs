//! The only form in which a PIN leaves a process: in the pipe to another one of keymark's.

use serde::{Deserialize, Serialize, Serializer};
use zeroize::Zeroizing;

use crate::user::Pin;

/// A PIN that is sent.
#[derive(Deserialize)]
#[serde(from = "Zeroizing<String>")]
pub(in crate::pkcs11) struct PipedPin(pub(in crate::pkcs11) Pin);

impl From<Zeroizing<String>> for PipedPin {
    fn from(pin: Zeroizing<String>) -> Self {
        Self(Pin::received(pin))
    }
}

impl Serialize for PipedPin {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.expose().serialize(to)
    }
}
