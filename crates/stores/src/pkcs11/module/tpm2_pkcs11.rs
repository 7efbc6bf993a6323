//! tpm2-pkcs11, which takes `CKF_OS_LOCKING_OK` (PKCS#11 3.1 §5.4) and is neither safe in threads nor after a fork.

use std::path::Path;

use cryptoki::context::Pkcs11;
use keymark_bench::Error;

use super::codes::failed;

const DESCRIPTION: &str = "TPM2.0 Cryptoki";
const FILE: &str = "libtpm2_pkcs11";

/// Checks whether several threads may use the module at once. Of twelve runs of a C program whose two threads signed
/// in sessions of their own, 1.9 failed in nine, and in none with one thread (docs/soft-tokens.md); a crash would end
/// the whole run.
pub(crate) fn check_threads(module: &Pkcs11) -> Result<(), Error> {
    let info = module.get_library_info().map_err(failed)?;
    if info.library_description().trim_end() != DESCRIPTION {
        return Ok(());
    }
    Err(Error::call(
        format!("several threads on tpm2-pkcs11 {}", info.library_version()),
        "it confuses their sessions, and crashes",
        "use --processes for several workers",
    ))
}

/// Checks whether a server may load the module and fork workers that use it.
pub fn check_server(module: &Path) -> Result<(), Error> {
    let name = module.file_name().and_then(|name| name.to_str());
    if !name.is_some_and(|name| name.starts_with(FILE)) {
        return Ok(());
    }
    Err(Error::call(
        "starting a server",
        "tpm2-pkcs11 does not work in workers that a server forks",
        "by hand it works with pkcs11-provider and a single process: apache2 -X",
    ))
}
