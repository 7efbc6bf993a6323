//! Keys in files: each software, each kind of key and of key exchange.

use std::num::NonZeroU16;

use keymark_stacks::tls::TlsVersion;
use keymark_stacks::tls::servers::{Capacity, Certificates, Handshakes, RunningServer, Weak};
use keymark_testkit::{assert_says, assert_silent};

use super::client::{
    BOTH, EACH, all, has_document, identity, installed, refused, s_client, second_connection, spec,
    started, verified,
};

fn negotiated(server: &RunningServer, words: &[&str]) {
    let said = verified(server, &[]);
    for word in words {
        assert!(said.contains(word), "{word} in {said}\n{}", server.log());
    }
    assert_says(&said, ["Verification: OK"]);
    assert!(has_document(&said), "{said}");
}

#[test]
fn each_software_and_key_has_the_handshake_that_was_asked_for() {
    for software in all() {
        let wanted: [(&str, &str, &[&str]); 4] = [
            (
                "rsa2048",
                "1.2 ecdhe-p256",
                &[
                    "New, TLSv1.2, Cipher is ECDHE-RSA",
                    "Server Temp Key: ECDH, prime256v1",
                ],
            ),
            (
                "nistp256",
                "x25519",
                &[
                    "New, TLSv1.3",
                    "Server Temp Key: X25519",
                    "Peer signature type: ECDSA",
                ],
            ),
            (
                "nistp384",
                "1.2 ecdhe-p384",
                &[
                    "New, TLSv1.2, Cipher is ECDHE-ECDSA",
                    "Server Temp Key: ECDH, secp384r1",
                ],
            ),
            (
                "ed25519",
                "ecdhe-p256",
                &["New, TLSv1.3", "prime256v1", "Peer signature type: ed25519"],
            ),
        ];
        for (word, kex, expected) in wanted {
            let server = started(software, &spec(word, kex));
            negotiated(&server, expected);
            let described = server.describe();
            assert_eq!(described["certificates"], format!("{word} in a file"));
            assert_eq!(
                described.contains_key("mpm"),
                software.starts_with("apache")
            );
        }
    }
}

#[test]
fn what_was_not_asked_for_is_not_to_be_had() {
    for software in EACH {
        let server = started(software, &spec("rsa2048", "1.2 ecdhe-p256"));
        for arguments in [
            &["-tls1_3"][..],
            &["-tls1_2", "-cipher", "kRSA"],
            &["-tls1_2", "-groups", "X25519"],
        ] {
            let said = s_client(server.address, arguments);
            assert!(said.contains("Cipher is (NONE)"), "{arguments:?}: {said}");
        }
        let server = started(software, &spec("nistp256", "x25519"));
        for arguments in [&["-tls1_2"][..], &["-groups", "P-384"]] {
            let said = s_client(server.address, arguments);
            assert!(said.contains("Cipher is (NONE)"), "{arguments:?}: {said}");
        }
    }
}

#[test]
fn no_session_is_taken_up_again() {
    for software in all() {
        let has_rsa = installed(software).openssl().is_ok();
        let rsa = has_rsa.then_some("rsa").into_iter();
        for kex in ["1.2 ecdhe-p256", "x25519"].into_iter().chain(rsa) {
            let server = started(software, &spec("rsa2048", kex));
            let said = second_connection(server.address, &[]);
            assert_says(&said, ["\nNew, TLS"]);
            assert_silent(&said, ["Reused, "]);
            if kex != "x25519" {
                let said = s_client(server.address, &["-reconnect"]);
                let new = said.matches("\nNew, TLSv1.2").count();
                assert!(new >= 6 && !said.contains("Reused, "), "{new}: {said}");
            }
        }
    }
}

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
            let said = s_client(server.address, &[]);
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
fn an_old_client_gets_rsa_and_a_new_one_ecdsa() {
    for software in EACH {
        let pair = Certificates::rsa_and_ecdsa(identity("rsa2048"), identity("nistp256")).unwrap();
        let mut spec = spec("rsa2048", "1.2 ecdhe-p256");
        spec.certificates = pair;
        spec.handshakes = Handshakes {
            versions: &[TlsVersion::V1_2, TlsVersion::V1_3],
            ..spec.handshakes
        };
        let server = started(software, &spec);
        let new12 = verified(&server, &["-tls1_2"]);
        assert_says(&new12, ["ECDHE-ECDSA"]);
        let new13 = verified(&server, &["-tls1_3"]);
        assert_says(&new13, ["Peer signature type: ECDSA"]);
        let old12 = verified(&server, &["-tls1_2", "-cipher", "aRSA"]);
        assert_says(&old12, ["ECDHE-RSA"]);
        let old13 = verified(&server, &["-tls1_3", "-sigalgs", "rsa_pss_rsae_sha256"]);
        assert_says(&old13, ["Peer signature type: RSA-PSS"]);
        for said in [new12, new13, old12, old13] {
            assert!(
                said.contains("Verification: OK") && has_document(&said),
                "{said}"
            );
        }
    }
}

#[test]
fn several_processes_share_the_work_and_their_time_is_counted() {
    for software in all() {
        let mut spec = spec("rsa4096", "1.2 ecdhe-p256");
        spec.capacity = Capacity {
            processes: NonZeroU16::new(2).unwrap(),
            connections: NonZeroU16::new(4).unwrap(),
        };
        let server = started(software, &spec);
        let processes = server.processes().unwrap();
        let workers = match software {
            "apache-prefork" => 4,
            // One process, on two processors.
            "caddy" => 0,
            _ => 2,
        };
        assert_eq!(processes.len(), 1 + workers, "{software}: {processes:?}");
        let before = server.cpu_time().unwrap();
        for _ in 0..12 {
            s_client(server.address, &[]);
        }
        let spent = server.cpu_time().unwrap().since(before);
        assert!(!spent.total().is_zero(), "{software}");
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
    let mut without = spec("rsa2048", "dhe-2048");
    without.handshakes.dh = None;
    let error = refused("nginx", &without).to_string();
    assert_says(&error, ["nginx needs parameters"]);
    started("apache", &without);
    let wrong = Certificates::rsa_and_ecdsa(identity("nistp256"), identity("rsa2048"));
    let error = wrong.unwrap_err().to_string();
    assert_says(&error, ["not nistp256 and rsa2048"]);
}
