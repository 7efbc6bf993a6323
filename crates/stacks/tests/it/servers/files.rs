//! Keys in files: what servers differ in.

use keymark_stacks::tls::servers::{Certificates, Weak};
use keymark_testkit::assert_says;

use super::client::{
    BOTH, has_document, identity, installed, refused, s_client, spec, started, verified,
};

#[test]
fn diffie_hellman_has_the_size_that_was_asked_for() {
    for software in BOTH {
        for (kex, size) in [
            ("dhe-2048", "DH, 2048 bits"),
            ("dhe-3072", "DH, 3072 bits"),
            ("dhe-4096", "DH, 4096 bits"),
        ] {
            // A key of another size: Apache would take parameters after the certificate's.
            let server = started(software, &spec("rsa2048", kex));
            let said = s_client(server.process.address, &[]);
            let expected = format!("Server Temp Key: {size}");
            assert!(said.contains(&expected), "{software} {kex}: {said}");
            assert!(server.describe()["dh_parameters"].contains("by openssl dhparam"));
        }
    }
}

#[test]
fn what_is_weak_is_served_when_it_is_allowed() {
    for software in BOTH {
        for (word, kex, expected) in [
            ("rsa1024", "rsa", "Server public key is 1024 bit"),
            ("rsa1024", "x25519", "Server public key is 1024 bit"),
            ("rsa2048", "dhe-1024", "Server Temp Key: DH, 1024 bits"),
        ] {
            let mut spec = spec(word, kex);
            spec.weak = Weak::Allowed;
            let server = started(software, &spec);
            let usual = verified(&server, &["-cipher", "ALL:@SECLEVEL=2"]);
            assert!(!has_document(&usual), "a client at level 2: {usual}");
            let said = verified(&server, &["-cipher", "ALL:@SECLEVEL=1"]);
            assert!(said.contains(expected) && has_document(&said), "{said}");
            assert!(server.describe()["security_level"].starts_with("1, for "));
        }
        // What is not weak is served as ever.
        let mut spec = spec("nistp256", "x25519");
        spec.weak = Weak::Allowed;
        assert_eq!(
            started(software, &spec).describe()["security_level"],
            "of the distribution"
        );
    }
}

#[test]
fn a_cipher_that_the_servers_openssl_lacks_is_told() {
    for software in BOTH {
        let mut spec = spec("rsa2048", "1.2 ecdhe-p256");
        spec.handshakes.ciphers = "NO-SUCH-CIPHER";
        let error = refused(software, &spec);
        assert_says(&error, ["has none of the ciphers"]);
    }
}

/// Without OpenSSL 3.5 on the machine: the client is keymark's own, below `keymark tls bench`.
#[test]
fn what_a_server_has_not_is_said_before_it_starts() {
    for (word, kex, reason) in [
        ("rsa2048", "rsa", "RSA key exchange"),
        ("rsa2048", "dhe-2048", "DHE"),
        ("nistp256", "x448", "the key exchange x448"),
    ] {
        let error = refused("caddy", &spec(word, kex)).to_string();
        assert_says(&error, [&format!("Caddy does not support {reason}")]);
    }
    started("caddy", &spec("nistp256", "x25519mlkem768"));
    for software in BOTH {
        let spec = spec("nistp256", "x25519mlkem768");
        if installed(software).library.version.is_at_least(3, 5, 0) {
            started(software, &spec);
        } else {
            let error = refused(software, &spec).to_string();
            assert_says(&error, ["needs OpenSSL 3.5"]);
        }
        let error = refused(software, &super::client::spec("nistp256", "rsa")).to_string();
        assert_says(&error, ["has no cipher for a nistp256 certificate"]);
        let error = refused(software, &super::client::spec("rsa1024", "rsa")).to_string();
        assert_says(&error, ["rsa1024 is weak"]);
        let error = refused(software, &super::client::spec("rsa2048", "dhe-1024")).to_string();
        assert_says(&error, ["DHE with 1024 bits is weak"]);
    }
    let wrong = Certificates::of_two(identity("nistp256"), identity("nistp384"));
    let error = wrong.unwrap_err().to_string();
    assert_says(&error, ["not nistp256 and nistp384"]);
}
