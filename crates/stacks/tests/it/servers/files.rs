//! Keys in files: each software, each kind of key and of key exchange.

use std::num::NonZeroU16;

use keymark_stacks::servers::{
    Capacity, Certificates, Handshakes, Mpm, Protocol, RunningServer, Software, Weak,
};

use super::client::{has_document, identity, s_client, second_connection, spec, started, verified};

const ALL: [Software; 4] = [
    Software::Apache(Mpm::Event),
    Software::Apache(Mpm::Prefork),
    Software::Apache(Mpm::Worker),
    Software::Nginx,
];

fn negotiated(server: &RunningServer, words: &[&str]) {
    let said = verified(server, &[]);
    for word in words {
        assert!(said.contains(word), "{word} in {said}\n{}", server.log());
    }
    assert!(said.contains("Verification: OK"), "{said}");
    assert!(has_document(&said), "{said}");
}

#[test]
fn each_software_and_key_has_the_handshake_that_was_asked_for() {
    for software in ALL {
        let wanted: [(&str, &str, &[&str]); 4] = [
            (
                "rsa2048",
                "ecdhe-p256",
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
                "ecdhe-p384",
                &[
                    "New, TLSv1.2, Cipher is ECDHE-ECDSA",
                    "Server Temp Key: ECDH, secp384r1",
                ],
            ),
            (
                "ed25519",
                "p256",
                &["New, TLSv1.3", "prime256v1", "Peer signature type: ed25519"],
            ),
        ];
        for (word, kex, expected) in wanted {
            let server = started(software, &spec(word, kex));
            negotiated(&server, expected);
            let described = server.describe();
            assert_eq!(described["certificates"], format!("{word} in a file"));
            assert_eq!(described.contains_key("mpm"), software != Software::Nginx);
        }
    }
}

#[test]
fn what_was_not_asked_for_is_not_to_be_had() {
    for software in [Software::Apache(Mpm::Event), Software::Nginx] {
        let server = started(software, &spec("rsa2048", "ecdhe-p256"));
        for arguments in [
            &["-tls1_3"][..],
            &["-tls1_2", "-cipher", "kRSA"],
            &["-tls1_2", "-groups", "X25519"],
        ] {
            let said = s_client(server.address(), arguments);
            assert!(said.contains("Cipher is (NONE)"), "{arguments:?}: {said}");
        }
        let server = started(software, &spec("nistp256", "x25519"));
        for arguments in [&["-tls1_2"][..], &["-groups", "P-384"]] {
            let said = s_client(server.address(), arguments);
            assert!(said.contains("Cipher is (NONE)"), "{arguments:?}: {said}");
        }
    }
}

#[test]
fn no_session_is_taken_up_again() {
    for software in ALL {
        for kex in ["ecdhe-p256", "x25519", "rsa"] {
            let server = started(software, &spec("rsa2048", kex));
            let said = second_connection(server.address(), &[]);
            assert!(
                said.contains("\nNew, TLS") && !said.contains("Reused, "),
                "{said}"
            );
            if kex != "x25519" {
                let said = s_client(server.address(), &["-reconnect"]);
                let new = said.matches("\nNew, TLSv1.2").count();
                assert!(new >= 6 && !said.contains("Reused, "), "{new}: {said}");
            }
        }
    }
}

#[test]
fn diffie_hellman_has_the_size_that_was_asked_for() {
    for software in [Software::Apache(Mpm::Event), Software::Nginx] {
        for (kex, size) in [
            ("dhe-2048", "DH, 2048 bits"),
            ("dhe-3072", "DH, 3072 bits"),
            ("dhe-ffdhe4096", "DH, 4096 bits"),
        ] {
            // A key of another size: Apache would take parameters after the certificate's.
            let server = started(software, &spec("rsa2048", kex));
            let said = s_client(server.address(), &[]);
            let expected = format!("Server Temp Key: {size}");
            assert!(said.contains(&expected), "{software} {kex}: {said}");
            let kind = &server.describe()["dh_parameters"];
            assert_eq!(kind.contains("named"), kex.contains("ffdhe"), "{kind}");
        }
    }
}

#[test]
fn what_is_weak_is_served_when_it_is_allowed() {
    for software in [Software::Apache(Mpm::Event), Software::Nginx] {
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
    for software in [Software::Apache(Mpm::Event), Software::Nginx] {
        let pair = Certificates::rsa_and_ecdsa(identity("rsa2048"), identity("nistp256")).unwrap();
        let mut spec = spec("rsa2048", "ecdhe-p256");
        spec.certificates = pair;
        spec.handshakes = Handshakes {
            protocol: Protocol::Both,
            ..spec.handshakes
        };
        let server = started(software, &spec);
        let new12 = verified(&server, &["-tls1_2"]);
        assert!(new12.contains("ECDHE-ECDSA"), "{new12}");
        let new13 = verified(&server, &["-tls1_3"]);
        assert!(new13.contains("Peer signature type: ECDSA"), "{new13}");
        let old12 = verified(&server, &["-tls1_2", "-cipher", "aRSA"]);
        assert!(old12.contains("ECDHE-RSA"), "{old12}");
        let old13 = verified(&server, &["-tls1_3", "-sigalgs", "rsa_pss_rsae_sha256"]);
        assert!(old13.contains("Peer signature type: RSA-PSS"), "{old13}");
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
    for software in ALL {
        let mut spec = spec("rsa4096", "ecdhe-p256");
        spec.capacity = Capacity {
            processes: NonZeroU16::new(2).unwrap(),
            connections: NonZeroU16::new(4).unwrap(),
        };
        let server = started(software, &spec);
        let processes = server.processes().unwrap();
        let workers = if software == Software::Apache(Mpm::Prefork) {
            4
        } else {
            2
        };
        assert_eq!(processes.len(), 1 + workers, "{software}: {processes:?}");
        let before = server.cpu_time().unwrap();
        for _ in 0..12 {
            s_client(server.address(), &[]);
        }
        let spent = server.cpu_time().unwrap().since(before);
        assert!(!spent.total().is_zero(), "{software}");
    }
}
