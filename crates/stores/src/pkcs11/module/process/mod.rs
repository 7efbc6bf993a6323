//! Modules in a process of their own: keymark, started once more for each token that a run uses. A module that
//! crashes, hangs or prints does so there. What is timed is also timed there, by the code and the clock that
//! keymark's own threads have.
//!
//! keymark sends a [`ModuleRequest`] and waits for its answer, during which the process may ask for a PIN or have the
//! user told something. A process that has died is started again for the next case.

mod client;
mod serve;
mod store;

use std::path::PathBuf;

use keymark_bench::store::Capability;
use keymark_bench::{DeviceName, Error, worker};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize, Serializer};
use zeroize::Zeroizing;

pub(crate) use self::client::{Readers, TokenProcess, initialize_token, look_at, public_parts};
pub use self::serve::serve;
pub use self::store::ModuleAccess;
pub(crate) use self::store::{DeviceChoice, ProcessStore};
use crate::access::Certificate;
use crate::pkcs11::module::ModuleFile;
use crate::pkcs11::temporary::new_token::NewToken;
use crate::pkcs11::token::Owner;
use crate::pkcs11::token::token_info::TokenInfo;
use crate::pkcs11_uri::ObjectPart;
use crate::scheme::Scheme;
use crate::test_key::SealedKey;
use crate::user::{Pin, TokenId, TokenName};

/// keymark's subcommand that is the process. Nobody but keymark calls it.
pub const SUBCOMMAND: &str = "pkcs11-module";

/// A request to the process.
#[derive(Serialize, Deserialize)]
pub(crate) enum ModuleRequest<R = worker::Request> {
    /// Load the module, initialize its first blank token if one is given, and say what it has.
    Look(ModuleFile, Option<NewToken>),
    /// Load it, and log in to a token.
    Open(Box<OpenRequest>),
    /// The public keys and certificates that the token shows without a PIN.
    PublicParts(ModuleFile, TokenId),
    /// The private keys that match.
    Keys(ObjectPart),
    /// Have the key for that, by the test key where the token has none.
    Key(Capability, Option<SealedKey>),
    Workers(WorkersRequest),
    /// To the workers of that number. They have no answer to some requests.
    Work(u32, R),
    /// Say what another program needs for the key.
    Program(Capability, Certificate),
    /// Undo what a journal says, or else what this run has written, and log out.
    Restore(Option<PathBuf>),
    /// The PIN that was asked for.
    Pin(Result<PipedPin, Error>),
}

/// Workers on one key, with a handle each.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct WorkersRequest {
    number: u32,
    capability: Capability,
    scheme: Option<Scheme>,
    workers: usize,
}

/// The token that is meant, and what may be done with it. Its identity is not sent: it is written without what is
/// empty, and a form without names (postcard) cannot be read then.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct OpenRequest {
    file: ModuleFile,
    pub(crate) info: TokenInfo,
    device: DeviceName,
    owner: Owner,
    /// Its user's name for it, if test keys may be written to it.
    pub(crate) write: Option<TokenName>,
    /// The key that is meant, if one is.
    pub(crate) wanted: ObjectPart,
    /// The directory of journals, and the run's name there.
    journals: Option<(PathBuf, String)>,
}

/// A message of the process.
#[derive(Serialize, Deserialize)]
pub(crate) enum ModuleReply {
    /// The answer to the request, encoded, or why there is none.
    Answer(Result<Vec<u8>, Error>),
    /// The process wants a PIN, which messages call that. No answer yet.
    WantsPin(String),
    /// Something for the user to know. No answer yet.
    Tell(String),
}

impl ModuleReply {
    fn of(answer: Result<impl Serialize, Error>) -> Self {
        let encoded = |answer| {
            let mut octets = Vec::new();
            worker::write(&mut octets, &answer).map(|()| octets)
        };
        Self::Answer(answer.and_then(encoded))
    }

    /// The answer in its type, which follows from the request.
    fn answer<A: DeserializeOwned>(self) -> Result<A, Error> {
        match self {
            Self::Answer(answer) => worker::read(&mut answer?.as_slice()),
            Self::WantsPin(_) | Self::Tell(_) => Err(out_of_turn()),
        }
    }
}

/// The error of a message that has no place here, which is a mistake of keymark's.
fn out_of_turn() -> Error {
    let reason = "it answered another question";
    Error::call("asking a PKCS#11 module's process", reason, "")
}

/// A PIN on its way through the pipe to another process of keymark's, the only form in which one leaves a process.
#[derive(Deserialize)]
#[serde(from = "Zeroizing<String>")]
pub(crate) struct PipedPin(pub(crate) Pin);

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
