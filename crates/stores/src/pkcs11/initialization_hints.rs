//! What modules need before they can be initialised: each is told in its own way, and says no more than a code
//! when it was not.

use std::ffi::OsString;
use std::path::Path;

use keymark_bench::error::Error;

use super::modules::{PRODUCTS, Product};

/// Of this process's environment, what the module reads: a server that loads it needs the same. A module that is not known
/// by its file's name, or stands before another one, may read any of them.
pub fn variables(file: &Path) -> Vec<(OsString, OsString)> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let reads = |module: &&Product| module.is(&name) && !module.hands_on;
    let readers = PRODUCTS
        .iter()
        .filter(|module| !module.variables.is_empty());
    let is_known = readers.clone().any(|module| reads(&module));
    let read = readers.filter(|module| reads(module) || !is_known);
    let names = read.flat_map(|module| &module.variables);
    names
        .filter_map(|name| Some((name.into(), std::env::var_os(name)?)))
        .collect()
}

/// Not what the code means for any module: it says that the token is gone where there is no configuration.
const REASON: &str = "the module cannot be used as configured";

/// The refusal with what this module needs.
pub(super) fn explained(file: &Path, error: Error) -> Error {
    let name = file.file_name().and_then(|name| name.to_str());
    let name = name.unwrap_or_default();
    let mut needs = PRODUCTS.iter().filter(|module| module.is(name));
    match (needs.find_map(|module| module.needs.as_deref()), error) {
        (Some(advice), Error::Refused { call, code, .. }) => {
            Error::refused(call, code, REASON, advice)
        }
        (_, error) => error,
    }
}

#[cfg(test)]
mod tests {
    use super::super::codes::refused;
    use super::*;
    use keymark_native::cryptoki::Fault;

    #[test]
    fn a_refusal_says_what_the_module_needs() {
        let said = |file: &str, code| {
            let call = "C_Initialize";
            explained(Path::new(file), refused(Fault { call, code })).to_string()
        };
        let nss = said("/usr/lib/libsoftokn3.so", 7);
        assert!(
            nss.contains("CKR_ARGUMENTS_BAD") && nss.contains("configdir"),
            "{nss}"
        );
        let azure = said("/opt/azurecloudhsm/lib64/libazcloudhsm_pkcs11.so", 5);
        assert!(azure.contains("azcloudhsm_client"), "{azure}");
        let other = said("/usr/lib/libother.so", 5);
        assert!(other.contains("see its own log"), "{other}");
    }
}
