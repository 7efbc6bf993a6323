//! How another process of keymark reaches a TPM's key.

use std::fmt;

use keymark_bench::algorithm::Algorithm;
use keymark_bench::error::Error;
use keymark_bench::operation::Operation;
use keymark_bench::store::Capability;
use keymark_bench::workload::KeyHandle;
use serde::{Deserialize, Serialize};
use tss_esapi::utils::TpmsContext;

use super::connection::Way;
use super::handle::TpmHandle;

/// The way to a key of a TPM.
#[derive(Debug, Clone)]
pub struct TpmAccess {
    pub(super) way: Way,
    pub(super) saved: TpmsContext,
}

/// What a process is told that opens the key: the TPM, and the key, which only this TPM can read.
#[derive(Serialize, Deserialize)]
pub struct TpmErrand {
    way: Way,
    saved: TpmsContext,
    algorithm: Algorithm,
    operation: Operation,
}

impl fmt::Debug for TpmErrand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TpmErrand")
            .field("way", &self.way)
            .finish_non_exhaustive()
    }
}

impl TpmAccess {
    /// What another process of keymark is told, to do that with the key.
    #[must_use]
    pub fn errand(&self, capability: Capability) -> TpmErrand {
        TpmErrand {
            way: self.way,
            saved: self.saved.clone(),
            algorithm: capability.algorithm,
            operation: capability.operation,
        }
    }
}

impl TpmErrand {
    /// Opens the key in this process.
    ///
    /// # Errors
    /// When the TPM is not to be had.
    pub fn open(self) -> Result<Box<dyn KeyHandle>, Error> {
        let capability = Capability {
            algorithm: self.algorithm,
            operation: self.operation,
        };
        let handle = TpmHandle::open(self.way, capability, self.saved)?;
        Ok(Box::new(handle))
    }
}
