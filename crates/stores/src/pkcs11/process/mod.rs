//! Modules in a process of their own: keymark, started once more for each token that a run uses. A module that crashes, hangs
//! or prints does so there. What is timed is timed there as well, by the code and the clock that keymark's own
//! threads have.
//!
//! keymark asks ([`Request`]) and waits for the answer ([`Reply`]), during which the process may ask for a PIN or have the user told
//! something. A process that has died is started again for the next case.

#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "each question has one answer, and all others are none"
)]

mod client;
mod pin;
mod serve;
mod store;

use std::path::PathBuf;

use derive_more::TryInto;
use keymark_bench::store::Capability;
use keymark_bench::worker::{Order, Word};
use keymark_bench::{DeviceName, Error};
use serde::{Deserialize, Serialize};

pub(super) use self::client::{Readers, TokenProcess, initialize_token, look, public_parts};
pub(super) use self::pin::PipedPin;
pub use self::serve::serve;
pub(super) use self::store::{ProcessStore, Wanted};
use super::keys::KeyInfo;
use super::module::ModuleFile;
use super::new_token::NewToken;
use super::store::Origin;
use super::token::Owner;
use super::token_info::{ModuleInfo, TokenInfo};
use super::uri::ObjectPart;
use crate::access::Certificate;
use crate::access::ProgramKey;
use crate::device::PublicPart;
use crate::scheme::Scheme;
use crate::test_key::SealedKey;
use crate::user::{TokenId, TokenName};

/// keymark's subcommand that is the process. Nobody but keymark calls it.
pub const SUBCOMMAND: &str = "pkcs11-module";

/// What keymark asks for.
#[derive(Serialize, Deserialize)]
pub(super) enum Request<O = Order> {
    /// Load the module, and say what it has.
    Look(ModuleFile),
    /// Load it, initialise its first blank token, and say what it has then.
    Initialize(ModuleFile, NewToken),
    /// Load it, and log in to a token.
    Open(Box<TokenErrand>),
    /// What the run wants of it.
    Run(RunErrand),
    /// What the token shows of its keys without a PIN.
    PublicParts(ModuleFile, TokenId),
    /// The private keys that are meant by that.
    Keys(ObjectPart),
    /// Have the key for that, by the test key where the token has none.
    Key(Capability, Option<SealedKey>),
    Workers(WorkersErrand),
    /// To those workers.
    Order(u32, O),
    /// Whether several threads may use it.
    CheckThreads,
    /// What another program needs for the key.
    Program(Capability, Certificate),
    /// Other tokens of the module that want a PIN.
    OtherTokens,
    /// Undo what that journal says.
    Undo(PathBuf),
    /// Undo what this run has written, and log out.
    Restore,
    /// The PIN that was asked for.
    Pin(Result<PipedPin, Error>),
}

/// Workers of that number: so many handles on the key.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct WorkersErrand {
    number: u32,
    capability: Capability,
    scheme: Option<Scheme>,
    workers: usize,
}

/// The token that is meant, and what may be done with it. Its identity is not sent: it is written without what is empty, and
/// a form without names (postcard) cannot be read then.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct TokenErrand {
    file: ModuleFile,
    info: TokenInfo,
    device: DeviceName,
    owner: Owner,
    /// What its user calls it who lets test keys be written to it.
    write: Option<TokenName>,
    /// The key that is meant, if one is.
    wanted: ObjectPart,
}

/// What a run wants of the token.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct RunErrand {
    capabilities: Vec<Capability>,
    /// Where journals are, and the run's name there.
    journals: Option<(PathBuf, String)>,
}

/// What the process says.
#[derive(Serialize, Deserialize, TryInto)]
pub(super) enum Reply {
    Done,
    Looked(ModuleInfo),
    PublicParts(Vec<PublicPart>),
    Keys(Vec<KeyInfo>),
    /// The key's name, its public half as SubjectPublicKeyInfo, and where it is from, which says who else finds it.
    Key(String, Vec<u8>, Origin),
    Word(Word),
    /// And what it has accepted.
    Program(ProgramKey, Option<PipedPin>),
    Tokens(Vec<String>),
    Failed(Error),
    /// It wants a PIN, which messages call that. No answer yet.
    WantsPin(String),
    /// Something for the user to know. No answer yet.
    Tell(String),
}

impl Reply {
    /// The answer to the question that was asked, unless that was refused. Another one is a mistake of keymark's.
    fn answer<A: TryFrom<Self>>(self) -> Result<A, Error> {
        match self {
            Self::Failed(error) => Err(error),
            answer => A::try_from(answer).map_err(|_| out_of_turn()),
        }
    }
}

/// That an answer is to another question, which is a mistake of keymark's.
fn out_of_turn() -> Error {
    let reason = "it answered another question";
    Error::call("asking a PKCS#11 module's process", reason, "")
}
