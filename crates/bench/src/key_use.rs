//! Use of a server's private key under load, and the time of the operation alone.

use std::collections::BTreeMap;

use keymark_stats::Seconds;
use serde::{Deserialize, Serialize};

use crate::{Durations, Operation};

/// The calls to a PKCS#11 module from the start of a load to the end of its drain, all processes of the server together.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TokenCalls {
    /// Handshakes that the server began: transactions, those that failed in or after the handshake, those that the cut-off
    /// found under way, and the one that ends the drain.
    pub handshakes: u64,
    /// Processes that called.
    pub processes: u64,
    /// Calls by function; a call that asks only for the length of its result counts as a function of its own.
    pub functions: BTreeMap<String, FunctionCalls>,
}

/// The calls of one function.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FunctionCalls {
    /// Number of calls.
    pub calls: u64,
    /// Number of calls that did not return `CKR_OK`.
    pub failed: u64,
    /// All together, in nanoseconds.
    pub total_ns: u64,
    /// Time in which a twin worked for others, in nanoseconds.
    pub waited_ns: u64,
    /// Each, within 1.6 %.
    pub durations: Durations,
    /// True if it is part of an operation with the private key: the operation is begun, done, or ended by it.
    pub of_operation: bool,
}

impl FunctionCalls {
    /// Returns the mean time of a call.
    pub fn mean(&self) -> Option<Seconds> {
        (self.calls > 0).then(|| Seconds(self.total_ns as f64 / self.calls as f64 / 1e9))
    }

    /// Returns the mean time that a call waited for a twin that worked for others.
    pub fn waited(&self) -> Option<Seconds> {
        (self.calls > 0).then(|| Seconds(self.waited_ns as f64 / self.calls as f64 / 1e9))
    }
}

impl TokenCalls {
    /// Time of the operations with the private key over the handshakes; none of nothing.
    pub fn of_operation(&self) -> Option<Seconds> {
        self.a_handshake(|function| function.total_ns)
    }

    /// Returns the time that a twin worked for others, per handshake.
    pub fn waited(&self) -> Option<Seconds> {
        self.a_handshake(|function| function.waited_ns)
    }

    fn a_handshake(&self, time: impl Fn(&FunctionCalls) -> u64) -> Option<Seconds> {
        let functions = self.functions.values();
        let working = functions.filter(|function| function.of_operation);
        let sum: u64 = working.map(time).sum();
        (self.handshakes > 0).then(|| Seconds(sum as f64 / self.handshakes as f64 / 1e9))
    }
}

/// The private-key operation of a handshake by itself, one after the other in keymark's own process, before the load and
/// after it: nobody else asks for the key then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct OperationAlone {
    /// `sign`, or `decrypt` where the key exchange is RSA's.
    pub operation: Operation,
    /// Calculator of the operation.
    pub by: Calculator,
    /// Each.
    pub durations: Durations,
}

/// Calculator with the private key of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(try_from = "String", into = "String")]
pub enum Calculator {
    /// The processor, by the libcrypto that the server uses: its version.
    Libcrypto(String),
    /// The token that has the key.
    Token,
}

const LIBCRYPTO: &str = "libcrypto ";
const TOKEN: &str = "the token";

impl From<Calculator> for String {
    fn from(calculator: Calculator) -> Self {
        match calculator {
            Calculator::Libcrypto(version) => format!("{LIBCRYPTO}{version}"),
            Calculator::Token => TOKEN.to_owned(),
        }
    }
}

impl TryFrom<String> for Calculator {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text == TOKEN {
            return Ok(Self::Token);
        }
        let version = text.strip_prefix(LIBCRYPTO);
        let version = version.ok_or_else(|| format!("'{text}' must be libcrypto or a token"))?;
        Ok(Self::Libcrypto(version.to_owned()))
    }
}

impl OperationAlone {
    /// Returns the mean time of an operation.
    pub fn mean(&self) -> Option<Seconds> {
        self.durations.mean()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_calculates_is_read_as_it_is_written() {
        for (calculator, text) in [
            (
                Calculator::Libcrypto("3.0.19".to_owned()),
                "libcrypto 3.0.19",
            ),
            (Calculator::Token, "the token"),
        ] {
            assert_eq!(String::from(calculator.clone()), text);
            assert_eq!(Calculator::try_from(text.to_owned()), Ok(calculator));
        }
        assert!(Calculator::try_from("nobody".to_owned()).is_err());
    }

    #[test]
    fn only_calls_with_the_private_key_are_its_time() {
        let function = |calls, total_ns, waited_ns, of_operation| FunctionCalls {
            calls,
            total_ns,
            waited_ns,
            of_operation,
            ..FunctionCalls::default()
        };
        let calls = TokenCalls {
            handshakes: 4,
            processes: 1,
            functions: BTreeMap::from([
                ("C_Sign".to_owned(), function(8, 4_000, 1_000, true)),
                ("C_SignInit".to_owned(), function(8, 80_000, 0, false)),
            ]),
        };
        assert_eq!(calls.of_operation(), Some(Seconds(1e-6)));
        assert_eq!(calls.waited(), Some(Seconds(0.25e-6)));
        assert_eq!(calls.functions["C_SignInit"].mean(), Some(Seconds(1e-5)));
        assert_eq!(TokenCalls::default().of_operation(), None);
        assert_eq!(FunctionCalls::default().waited(), None);
    }
}
