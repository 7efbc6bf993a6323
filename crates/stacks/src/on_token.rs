//! What programs need to be true of a token behind a PKCS#11 module.

use keymark_bench::error::Error;
use keymark_stores::device::Device;
use keymark_stores::pkcs11::unseen;

/// Whether the device has keys that other programs see.
///
/// # Errors
/// When it has none, with what to do.
pub(crate) fn has_a_key(device: &dyn Device) -> Result<(), Error> {
    if !device.present().is_empty() {
        return Ok(());
    }
    let none = || Error::call("reaching a key", "the device has no key on a token", "");
    Err(device.token().map_or_else(none, |token| unseen(&token)))
}
