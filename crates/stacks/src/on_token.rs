//! What programs need to be true of a token behind a PKCS#11 module.

use keymark_bench::error::Error;
use keymark_stores::device::Device;

/// Whether the device has keys that other programs see.
///
/// # Errors
/// When it has none, with what to do.
pub(crate) fn has_a_key(device: &dyn Device) -> Result<(), Error> {
    if !device.present().is_empty() {
        return Ok(());
    }
    Err(Error::call(
        "reaching a key on the token",
        "test keys are in keymark's own session, which no other program sees",
        "name a key that is on it: --device 'pkcs11:token=LABEL;object=KEY'",
    ))
}
