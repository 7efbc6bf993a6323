//! `--trace`: counting what servers ask of their token.

use itertools::Itertools;
use keymark_stacks::inventory::Inventory;
use keymark_stacks::tls::Tracing;
use keymark_stores::access::AccessKind;

use crate::exit::Failure;

/// Whether calls are counted. They can be where a PKCS#11 module has the key.
pub(super) fn tracing(wanted: bool, inventory: &Inventory) -> Result<Tracing, Failure> {
    if !wanted {
        return Ok(Tracing::Off);
    }
    let mut devices = inventory.devices.iter();
    if devices.any(|found| found.device.has(AccessKind::Module)) {
        return Ok(Tracing::Calls);
    }
    let names = inventory.devices.iter().map(|found| &found.identity.device);
    Err(Failure::usage(format!(
        "--trace counts calls to PKCS#11 tokens, but the key of '{}' is not on one",
        names.format("', '")
    )))
}
