//! What `C_Initialize` is told.

use std::ffi::CString;
use std::ptr::NonNull;

use cryptoki::context::{CInitializeArgs, CInitializeFlags};

/// Locks of the system's are fine; a module that has none of its own is used from one thread only. What stands in
/// `pReserved` is a module's own affair (NSS wants its directory there), and stays until the process ends, as modules
/// may keep the pointer.
pub fn arguments(reserved: Option<&str>) -> Result<CInitializeArgs, String> {
    let flags = CInitializeFlags::OS_LOCKING_OK;
    let Some(text) = reserved else {
        return Ok(CInitializeArgs::new(flags));
    };
    let text = CString::new(text).map_err(|_| "x-init-reserved contains a zero byte".to_owned())?;
    let Some(text) = NonNull::new(text.into_raw()) else {
        return Ok(CInitializeArgs::new(flags));
    };
    // SAFETY: a string that ends with a zero and is never freed; modules that want anything there want that
    // (pkcs11.conf(5), x-init-reserved).
    Ok(unsafe { CInitializeArgs::new_with_reserved(flags, text.cast()) })
}
