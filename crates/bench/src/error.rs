//! Why an operation, a preparation or a device failed, with the failing call and what to do.

use std::borrow::Cow;
use std::fmt::Display;

use serde::{Deserialize, Serialize};

use crate::{Algorithm, Operation};

/// Error of a key store or a stack.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum Error {
    /// A call into a library, program or device failed.
    #[error("{call} failed: {reason}{}", and_then(.advice))]
    Call {
        /// The call as its documentation spells it: `PKSIGN`, `EVP_PKEY_sign`, `gpg --decrypt`.
        call: String,
        /// The code and its meaning, as reported.
        reason: String,
        /// Advice; may be empty.
        advice: String,
    },
    /// A device refused a call with a code of its specification.
    #[error("{call} failed: {code} ({reason}){}", and_then(.advice))]
    Refused {
        /// The call as the specification spells it: `PSO:DECIPHER`, `C_Sign`.
        call: String,
        /// Return code of the device.
        code: ReturnCode,
        /// Meaning of the code.
        reason: String,
        /// Advice; may be empty.
        advice: String,
    },
    /// The key store lacks what was asked for.
    #[error("{by} has no {operation} with {algorithm}")]
    Unsupported {
        /// Store or stack that was asked.
        by: String,
        /// Operation that was asked for.
        operation: Operation,
        /// Algorithm of the key.
        algorithm: Algorithm,
    },
    /// A combination that cannot be, with the reason; nothing was called.
    #[error("{0}")]
    Impossible(String),
    /// A program or library is not there, or too old.
    #[error("{what} is missing here: {reason}{}", and_then(.advice))]
    Missing {
        /// Missing thing.
        what: String,
        /// Evidence that it is missing.
        reason: String,
        /// The command that brings it.
        advice: String,
    },
}

/// A device's return code: its number, and the name that the specification gives it, if it does.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, derive_more::Display)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[display("{name}")]
#[serde(deny_unknown_fields)]
pub struct ReturnCode {
    /// `CKR_PIN_LOCKED`, `TPM_RC_LOCKOUT`, `SharingViolation`; of a status word the number is the name.
    pub name: Cow<'static, str>,
    /// `0xa4`, `0x6983`
    pub number: u32,
}

impl ReturnCode {
    /// A status word of ISO 7816-4 §5.6.
    pub fn status_word(word: u16) -> Self {
        Self {
            name: Cow::Owned(format!("{word:04X}")),
            number: word.into(),
        }
    }

    /// Memory of gpg-agent that has run out (gpg-error.h: a system error is in the lower 16 bits, ENOMEM is 86).
    pub const AGENT_MEMORY: Self = Self {
        name: Cow::Borrowed("GPG_ERR_ENOMEM"),
        number: 1 << 15 | 86,
    };

    /// Returns what another worker is refused for want of, whatever it would ask (PKCS#11 3.1 §5.1.6).
    pub fn shortage(&self) -> Option<Shortage> {
        match self.name.as_ref() {
            "CKR_SESSION_COUNT" | "CKR_TOKEN_RESOURCE_EXCEEDED" | "CKR_DEVICE_MEMORY" => {
                Some(Shortage::Sessions)
            }
            _ => (*self == Self::AGENT_MEMORY).then_some(Shortage::Memory),
        }
    }

    /// A code that has a name.
    pub fn named(name: impl Into<Cow<'static, str>>, number: u32) -> Self {
        Self {
            name: name.into(),
            number,
        }
    }
}

/// Resource that each worker needs some of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shortage {
    /// Sessions of a device.
    Sessions,
    /// Secure memory of gpg-agent.
    Memory,
}

/// Adds the failed action to an error.
pub trait During<T> {
    /// The failure of that call, which is put into words only then; there is nothing to advise.
    fn during(self, call: impl Display) -> Result<T, Error>;
}

impl<T, E: ToString> During<T> for Result<T, E> {
    fn during(self, call: impl Display) -> Result<T, Error> {
        self.map_err(|error| Error::call(call.to_string(), error, ""))
    }
}

fn and_then(text: &str) -> String {
    if text.is_empty() {
        String::new()
    } else {
        format!("; {text}")
    }
}

impl Error {
    /// A failed call.
    pub fn call(call: impl Into<String>, reason: impl ToString, advice: impl Into<String>) -> Self {
        Self::Call {
            call: call.into(),
            reason: reason.to_string(),
            advice: advice.into(),
        }
    }

    /// A call that the device refused.
    pub fn refused(
        call: impl Into<String>,
        code: ReturnCode,
        reason: impl ToString,
        advice: impl Into<String>,
    ) -> Self {
        Self::Refused {
            call: call.into(),
            code,
            reason: reason.to_string(),
            advice: advice.into(),
        }
    }

    /// The device's return code, if one refused.
    pub const fn code(&self) -> Option<&ReturnCode> {
        match self {
            Self::Refused { code, .. } => Some(code),
            Self::Call { .. }
            | Self::Unsupported { .. }
            | Self::Impossible(_)
            | Self::Missing { .. } => None,
        }
    }
}
