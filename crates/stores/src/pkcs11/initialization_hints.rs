//! What modules need before they can be initialised: each is told in its own way, and says no more than a code
//! when it was not.

use std::ffi::OsString;
use std::path::Path;

use keymark_bench::error::Error;

/// A part of the file's name, and what to do.
const NEEDS: [(&str, &str); 11] = [
    (
        "softokn3",
        "NSS needs the directory of its keys in pReserved: --device \
         \"pkcs11:?module-name=nss&x-init-reserved=configdir='sql:/DIRECTORY'\", or x-init-reserved in p11-kit's \
         file for it",
    ),
    (
        "tpm2_pkcs11",
        "is there a TPM (/dev/tpmrm0), and may you open it? $TPM2_PKCS11_TCTI names another, $TPM2_PKCS11_STORE \
         the place of its keys; --device swtpm makes a temporary TPM",
    ),
    (
        "kryoptic",
        "$KRYOPTIC_CONF or ~/.config/kryoptic/token.conf names its tokens; --device kryoptic makes a temporary \
         token",
    ),
    (
        "softhsm2",
        "can you read its configuration and its directory of tokens? $SOFTHSM2_CONF names another; --device \
         softhsm makes a temporary token",
    ),
    (
        "yubihsm",
        "$YUBIHSM_PKCS11_CONF names a file with a line 'connector = http://127.0.0.1:12345', where \
         yubihsm-connector runs",
    ),
    (
        "kmsp11",
        "$KMS_PKCS11_CONFIG names a file with the key rings, which only you may write to",
    ),
    (
        "azcloudhsm",
        "azcloudhsm_client must be running, with its azcloudhsm_application.cfg in the working directory",
    ),
    (
        "cloudhsm",
        "'/opt/cloudhsm/bin/configure-pkcs11 -a ADDRESS' sets the address of the HSM",
    ),
    (
        "nethsm",
        "p11nethsm.conf in /etc/nitrokey or ~/.config/nitrokey names the NetHSM; $P11NETHSM_CONFIG_FILE another",
    ),
    ("pkcs11-spy", "$PKCS11SPY names the module behind it"),
    (
        "libcs_pkcs11",
        "$CS_PKCS11_R3_CFG names a file with a line 'Device = ADDRESS'",
    ),
];

/// A part of the file's name, and the variables by which the module finds its configuration.
const VARIABLES: [(&str, &[&str]); 9] = [
    ("tpm2_pkcs11", &["TPM2_PKCS11_STORE", "TPM2_PKCS11_TCTI"]),
    ("kryoptic", &["KRYOPTIC_CONF"]),
    ("softhsm2", &["SOFTHSM2_CONF"]),
    ("yubihsm", &["YUBIHSM_PKCS11_CONF"]),
    ("kmsp11", &["KMS_PKCS11_CONFIG"]),
    ("nethsm", &["P11NETHSM_CONFIG_FILE"]),
    ("pkcs11-spy", &["PKCS11SPY", "PKCS11SPY_OUTPUT"]),
    ("libcs_pkcs11", &["CS_PKCS11_R3_CFG"]),
    ("opensc", &["OPENSC_CONF"]),
];

/// Of this process's environment, what the module reads: a server that loads it needs the same. A module that is not known
/// by its file's name, or stands before another one, may read any of them.
pub fn variables(file: &Path) -> Vec<(OsString, OsString)> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let is_named = |part: &str| name.contains(part) && part != "pkcs11-spy";
    let known = VARIABLES.iter().any(|(part, _)| is_named(part));
    let read = VARIABLES
        .iter()
        .filter(|(part, _)| is_named(part) || !known);
    let names = read.flat_map(|(_, names)| *names);
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
    let need = NEEDS.iter().find(|(part, _)| name.contains(part));
    match (need, error) {
        (Some((_, advice)), Error::Refused { call, code, .. }) => {
            Error::refused(call, code, REASON, *advice)
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
