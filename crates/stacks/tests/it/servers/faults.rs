//! Faults, and their messages.

use super::client::{BOTH, refused, spec};

#[test]
fn a_cipher_that_the_servers_openssl_lacks_is_told() {
    for software in BOTH {
        let mut spec = spec("rsa2048", "1.2 ecdhe-p256");
        spec.handshakes.ciphers = "NO-SUCH-CIPHER";
        let error = refused(software, &spec).to_string();
        assert!(
            error.contains("has none of the ciphers"),
            "{software}: {error}"
        );
    }
}
