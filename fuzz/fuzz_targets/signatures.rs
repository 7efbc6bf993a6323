//! Inputs in place of a certificate of gpg's, and of a message that it has signed.

#![no_main]

use keymark_stacks::gnupg::signatures::Signer;
use libfuzzer_sys::fuzz_target;

const FINGERPRINT: &str = "9A81A438C038F73F0B0F14387CA28EF1C1BCB4CF";
const TEXT: &[u8] = b"what was signed";

fuzz_target!(|data: &[u8]| {
    let certificate = include_bytes!("../seeds/signatures/certificate");
    let signer = Signer::find(certificate, FINGERPRINT).expect("gpg's own certificate");
    let _ = signer.check(TEXT, data);
    // Nothing of that kind was ever signed.
    assert!(signer.check(b"another text", data).is_err());
    if let Some(other) = Signer::find(data, FINGERPRINT) {
        // The fingerprint is one of the whole key.
        let message = include_bytes!("../seeds/signatures/message");
        assert_eq!(other.check(TEXT, message), Ok(()));
    }
});
