//! Modules that take `CKF_OS_LOCKING_OK` (PKCS#11 3.1 §5.4) and are not safe in threads all the same: a crash would end
//! the whole run.

use cryptoki::context::Pkcs11;
use keymark_bench::error::Error;

use super::codes::failed;

/// What tpm2-pkcs11 calls itself. Of twelve runs of a C program whose two threads signed in sessions of their own, 1.9
/// failed in nine, and in none with one thread (docs/soft-tokens.md).
const TPM2_PKCS11: &str = "TPM2.0 Cryptoki";

/// Whether several threads may use the module at once.
///
/// # Errors
/// When they may not.
pub(super) fn check(module: &Pkcs11) -> Result<(), Error> {
    let info = module.get_library_info().map_err(|error| failed(&error))?;
    if info.library_description().trim_end() != TPM2_PKCS11 {
        return Ok(());
    }
    Err(Error::call(
        format!("several threads on tpm2-pkcs11 {}", info.library_version()),
        "it takes their sessions for each other, and crashes",
        "--processes measures several workers",
    ))
}
