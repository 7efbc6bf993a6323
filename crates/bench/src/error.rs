//! Why an operation, a preparation or a device failed, with the failing call and what to do.

use crate::algorithm::Algorithm;
use crate::operation::Operation;

/// What a key store or a stack reports.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A call into a library, program or device failed.
    #[error("{call} failed: {reason}{}", and_then(.advice))]
    Call {
        /// The call as its documentation spells it: `PKSIGN`, `EVP_PKEY_sign`, `gpg --decrypt`.
        call: String,
        /// The code and its meaning, as reported.
        reason: String,
        /// What to do about it; may be empty.
        advice: String,
    },
    /// The key store lacks what was asked for.
    #[error("{by} has no {operation} with {algorithm}")]
    Unsupported {
        /// Who was asked.
        by: String,
        /// For what.
        operation: Operation,
        /// With which key.
        algorithm: Algorithm,
    },
    /// A program or library is not there, or too old.
    #[error("{what} is missing here: {reason}{}", and_then(.advice))]
    Missing {
        /// What is missing.
        what: String,
        /// How that was seen.
        reason: String,
        /// The command that brings it.
        advice: String,
    },
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
}
