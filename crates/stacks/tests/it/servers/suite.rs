//! What every kind of server must pass.

use std::collections::BTreeSet;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::num::NonZeroU16;
use std::os::unix::fs::PermissionsExt;
use std::sync::LazyLock;
use std::time::Duration;

use keymark_stacks::tls::TlsVersion;
use keymark_stacks::tls::servers::{
    Capacity, Certificates, Handshakes, Identity, KINDS, Purpose, RunningServer, ServerSpec,
};
use keymark_testkit::waiting::until;
use keymark_testkit::{assert_says, assert_silent};

use super::client::{
    handshakes, has_document, identity, installed, refused, s_client, second_connection, shown,
    spec, started, verified,
};

/// A test for each of these kinds and each thing that it must pass; the kinds' names.
macro_rules! instantiated {
    ($names:ident $kinds:tt $must:tt) => {
        instantiated!(@each $names $kinds $must);
    };
    (@each $names:ident { $($kind:ident = $word:literal,)+ } $must:tt) => {
        const $names: &[&str] = &[$($word),+];
        $(instantiated!(@kind $kind $word $must);)+
    };
    (@kind $kind:ident $word:literal { $($must:ident,)+ }) => {
        mod $kind {
            $(#[test]
            fn $must() {
                super::$must($word);
            })+
        }
    };
}

instantiated! {
    PROGRAMS
    {
        apache = "apache",
        nginx = "nginx",
        caddy = "caddy",
    }
    {
        has_the_handshake_that_was_asked_for,
        has_nothing_that_was_not_asked_for,
        takes_no_session_up_again,
        resumes_sessions_by_tickets,
        requires_client_certificates,
        gives_an_old_client_rsa_and_a_new_one_ecdsa,
        shares_its_work_and_counts_its_time,
        keeps_keys_and_configuration_to_itself,
        is_drained_when_nobody_is_connected_any_more,
        names_a_port_that_is_taken,
        tells_a_certificate_with_another_key,
    }
}

// Apache's other ways to share work: what has to do with processes and threads.
instantiated! {
    WAYS
    {
        apache_prefork = "apache-prefork",
        apache_worker = "apache-worker",
    }
    {
        has_the_handshake_that_was_asked_for,
        shares_its_work_and_counts_its_time,
        is_drained_when_nobody_is_connected_any_more,
    }
}

#[test]
fn every_kind_is_here() {
    let known: BTreeSet<_> = KINDS.iter().map(|kind| kind.stack.to_string()).collect();
    let here = PROGRAMS.iter().chain(WAYS).map(|word| (*word).to_owned());
    assert_eq!(known, here.collect());
}

fn negotiated(server: &RunningServer, words: &[&str]) {
    let said = verified(server, &[]);
    for word in words {
        assert!(
            said.contains(word),
            "{word} in {said}\n{}",
            server.process.log_end().join("\n")
        );
    }
    assert_says(&said, ["Verification: OK"]);
    assert!(has_document(&said), "{said}");
}

fn has_the_handshake_that_was_asked_for(software: &str) {
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

fn has_nothing_that_was_not_asked_for(software: &str) {
    let server = started(software, &spec("rsa2048", "1.2 ecdhe-p256"));
    for arguments in [
        &["-tls1_3"][..],
        &["-tls1_2", "-cipher", "kRSA"],
        &["-tls1_2", "-groups", "X25519"],
    ] {
        let said = s_client(server.process.address, arguments);
        assert!(said.contains("Cipher is (NONE)"), "{arguments:?}: {said}");
    }
    let server = started(software, &spec("nistp256", "x25519"));
    for arguments in [&["-tls1_2"][..], &["-groups", "P-384"]] {
        let said = s_client(server.process.address, arguments);
        assert!(said.contains("Cipher is (NONE)"), "{arguments:?}: {said}");
    }
}

fn resumes_sessions_by_tickets(software: &str) {
    for kex in ["x25519", "1.2 x25519"] {
        let mut spec = spec("nistp256", kex);
        spec.handshakes.resumed = "80".parse().unwrap();
        let server = started(software, &spec);
        let said = second_connection(server.process.address, &[]);
        assert_says(&said, ["Reused, TLSv1."]);
        assert!(has_document(&said), "{software} {kex}: {said}");
        assert_eq!(server.describe()["session_tickets"], "on");
    }
}

fn requires_client_certificates(software: &str) {
    for (kex, key) in [("x25519", "rsa2048"), ("1.2 x25519", "nistp256")] {
        let client = Identity::generate(key.parse().unwrap(), Purpose::Client).unwrap();
        let server = started(software, &spec("rsa2048", kex).requiring(client));
        let address = server.process.address;
        let said = s_client(address, &[]);
        assert!(!has_document(&said), "{software} {kex}: {said}");
        let stranger = Identity::generate(key.parse().unwrap(), Purpose::Client).unwrap();
        for (client, is_served) in [
            (server.spec.client.as_ref(), true),
            (Some(&stranger), false),
        ] {
            let said = shown(address, client.unwrap());
            assert_eq!(has_document(&said), is_served, "{software} {kex}: {said}");
        }
    }
}

fn takes_no_session_up_again(software: &str) {
    let has_rsa = installed(software).openssl().is_ok();
    let rsa = has_rsa.then_some("rsa").into_iter();
    for kex in ["1.2 ecdhe-p256", "x25519"].into_iter().chain(rsa) {
        let server = started(software, &spec("rsa2048", kex));
        let said = second_connection(server.process.address, &[]);
        assert_says(&said, ["\nNew, TLS"]);
        assert_silent(&said, ["Reused, "]);
        if kex != "x25519" {
            let said = s_client(server.process.address, &["-reconnect"]);
            let new = said.matches("\nNew, TLSv1.2").count();
            assert!(new >= 6 && !said.contains("Reused, "), "{new}: {said}");
        }
    }
}

fn gives_an_old_client_rsa_and_a_new_one_ecdsa(software: &str) {
    let pair = Certificates::of_two(identity("rsa2048"), identity("nistp256")).unwrap();
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

fn shares_its_work_and_counts_its_time(software: &str) {
    // For all kinds: its key takes seconds to make.
    static RSA4096: LazyLock<Identity> = LazyLock::new(|| identity("rsa4096"));
    let certificates = Certificates::one(RSA4096.clone());
    let mut spec = ServerSpec::new(certificates, handshakes("1.2 ecdhe-p256"));
    spec.capacity = Capacity {
        processes: NonZeroU16::new(2).unwrap(),
        connections: NonZeroU16::new(4).unwrap(),
    };
    let server = started(software, &spec);
    let processes = server.process.processes();
    let workers = match software {
        "apache-prefork" => 4,
        // One process, on two processors.
        "caddy" => 0,
        _ => 2,
    };
    assert_eq!(processes.len(), 1 + workers, "{software}: {processes:?}");
    let before = server.process.cpu_time();
    for _ in 0..12 {
        s_client(server.process.address, &[]);
    }
    let spent = server.process.cpu_time().saturating_sub(before);
    assert!(!spent.is_zero(), "{software}");
}

fn keeps_keys_and_configuration_to_itself(software: &str) {
    let server = started(software, &spec("nistp256", "x25519"));
    let master = server.process.processes()[0].number;
    let directory = fs::read_link(format!("/proc/{master}/cwd")).unwrap();
    let mode = |name: &str| {
        let meta = fs::metadata(directory.join(name)).unwrap();
        meta.permissions().mode() & 0o777
    };
    assert_eq!(mode("k0") & 0o077, 0);
    assert_eq!(mode("k0/key.pem"), 0o600);
    assert_eq!(mode("server.conf"), 0o600);
    // Others may not even list it.
    assert_eq!(mode("") & 0o067, 0);
    if nix::unistd::geteuid().is_root() {
        // One that has just been forked is still about to give its rights up.
        until("no worker is root", || {
            let workers = server.process.processes().into_iter().skip(1);
            workers.into_iter().all(|worker| {
                let status = fs::read_to_string(format!("/proc/{}/status", worker.number));
                let status = status.unwrap_or_default();
                let mut lines = status.lines();
                let line = lines.find(|line| line.starts_with("Uid:"));
                !line.is_some_and(|line| line.split_whitespace().any(|word| word == "0"))
            })
        });
    }
}

fn is_drained_when_nobody_is_connected_any_more(software: &str) {
    let mut server = started(software, &spec("nistp256", "x25519"));
    // A client that says nothing, and one that has left.
    let silent = TcpStream::connect(server.process.address).unwrap();
    assert_eq!(server.drain(Duration::from_millis(300)), None);
    drop(silent);
    let took = server.drain(Duration::from_secs(20)).unwrap();
    assert!(took < Duration::from_secs(20), "{took:?}");
}

fn names_a_port_that_is_taken(software: &str) {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let mut spec = spec("nistp256", "x25519");
    spec.port = NonZeroU16::new(port);
    let error = refused(software, &spec).to_string();
    assert!(
        error.contains("the port is taken") && error.contains(&port.to_string()),
        "{software}: {error}"
    );
}

fn tells_a_certificate_with_another_key(software: &str) {
    let mut mixed = identity("nistp256");
    mixed.certificate = identity("nistp256").certificate;
    let of = spec("nistp256", "x25519");
    let spec = ServerSpec::new(Certificates::one(mixed), of.handshakes);
    let error = refused(software, &spec).to_string();
    assert!(
        error.contains("certificate and private key do not belong together"),
        "{software}: {error}"
    );
}
