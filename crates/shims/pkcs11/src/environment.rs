//! Variables for the module that calls go to, and for nobody else in the process.
//!
//! Modules find their configuration by variables (SoftHSM2 by `SOFTHSM2_CONF`) when they are initialised. The process's own
//! environment cannot be changed for that: other threads may be reading it, and children would inherit it. So the module
//! gets a getenv(3) that knows those variables. It calls the C library's by an address in a table that the loader has filled
//! in (System V ABI: the global offset table), and that address is replaced. Nothing else in the process is changed.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char, c_void};
use std::path::Path;
use std::sync::OnceLock;

use plthook::{ErrorKind, ObjectFile};

/// What the module is told, in place of what the process has.
static VARIABLES: OnceLock<BTreeMap<CString, CString>> = OnceLock::new();

/// By these functions modules ask (getenv(3)).
const ASKING: [&str; 2] = ["getenv", "secure_getenv"];

/// Gives the module, which is loaded from that file, its variables, for as long as the process lives.
///
/// # Errors
/// Why it would find them in the process's environment only.
pub(crate) fn give(variables: &BTreeMap<String, String>, module: &Path) -> Result<(), String> {
    let text = |text: &String| CString::new(text.as_str()).map_err(|error| error.to_string());
    let variables: Result<BTreeMap<_, _>, String> = variables
        .iter()
        .map(|(name, value)| Ok((text(name)?, text(value)?)))
        .collect();
    let _ = VARIABLES.set(variables?);
    let module = ObjectFile::open_file(module).map_err(|error| error.to_string())?;
    let own = own_getenv as unsafe extern "C" fn(*const c_char) -> *mut c_char;
    let mut asks = false;
    for function in ASKING {
        // SAFETY: it takes and gives what the functions do that it stands for. This is the one thread that replaces anything;
        // others that call through the aligned word meanwhile find the one function or the other.
        match unsafe { module.replace(function, own as *const c_void) } {
            // Dropped, it would be put back.
            Ok(replaced) => {
                std::mem::forget(replaced);
                asks = true;
            }
            Err(error) if matches!(error.kind(), ErrorKind::FunctionNotFound) => {}
            Err(error) => return Err(error.to_string()),
        }
    }
    let silent = || "it does not call getenv".to_owned();
    asks.then_some(()).ok_or_else(silent)
}

/// getenv(3) of the module.
unsafe extern "C" fn own_getenv(name: *const c_char) -> *mut c_char {
    // SAFETY: the module's name of a variable, which ends with a zero.
    let asked = (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) });
    let own = asked.and_then(|name| VARIABLES.get()?.get(name));
    match own {
        // Never changed: the caller may only read it.
        Some(value) => value.as_ptr().cast_mut(),
        // SAFETY: what the module would have called.
        None => unsafe { libc::getenv(name) },
    }
}
