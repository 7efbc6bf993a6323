//! How other processes reach a token's key.

use std::sync::Arc;

use keymark_bench::error::Error;
use keymark_bench::store::Capability;
use keymark_bench::worker::WorkerProcess;

use super::process::ProcessKeys;
use super::token::Token;
use super::uri::ObjectPart;
use crate::scheme::Scheme;
use crate::store::unsupported;
use crate::test_key::TestKey;

/// The way to a key of a token.
#[derive(Debug, Clone)]
pub struct ModuleAccess(pub(super) Way);

/// Where the module is.
#[derive(Debug, Clone)]
pub(super) enum Way {
    /// In this process.
    Here(Arc<Token>, KeyWay),
    /// In one of its own.
    InProcess(Arc<ProcessKeys>, Capability),
}

/// What finds the key.
#[derive(Debug, Clone)]
pub(super) enum KeyWay {
    /// It is on the token.
    There(ObjectPart),
    /// A test key, which every process is given.
    Test(Arc<TestKey>),
    /// The token has made it for this process, and another does not see it.
    OfThisProcess,
}

impl ModuleAccess {
    /// A process of keymark's with one worker, which does that with the key.
    ///
    /// # Errors
    /// When no other process can open it.
    pub fn worker(
        &self,
        capability: Capability,
        scheme: Option<Scheme>,
    ) -> Result<WorkerProcess, Error> {
        match &self.0 {
            Way::Here(..) => Err(unsupported("a module in keymark's own process", capability)),
            Way::InProcess(keys, _) => keys.worker_apart(capability, scheme),
        }
    }
}
