//! Resumed sessions and client certificates, against servers of the tests' own.

use std::sync::atomic::Ordering;

use keymark_load::{
    ClientIdentity, KeyExchange, LoadError, Measurement, ResumedShare, Target, Timeouts,
    TlsVersion, Weak, probe,
};
use openssl::ssl::{SslOptions, SslSessionCacheMode, SslVerifyMode, SslVersion};

use crate::support::{Behaviour, Server, all_well, certificate, load, only, p256, rsa, users};

/// Long enough for some hundred handshakes.
const TIME: u64 = 1_500;

fn resuming(server: &Server, version: TlsVersion, share: &str) -> Target {
    let mut target = server.target(version, KeyExchange::EcdheP256);
    target.expected.resumed = share.parse().unwrap();
    target
}

fn resumed(measured: &Measurement) -> (u64, u64) {
    let load = &measured.load;
    let resumed = load.seconds.iter().map(|second| second.resumed).sum();
    (resumed, load.totals.transactions)
}

#[test]
fn a_share_of_the_sessions_is_resumed_as_the_server_counts_it() {
    for version in [TlsVersion::V1_2, TlsVersion::V1_3] {
        for (share, expected) in [("80", 0.8), ("25", 0.25), ("100", 1.0)] {
            let server = Server::start(&p256(), Behaviour::Serve);
            let measured = load(&resuming(&server, version, share), &users(3, TIME));
            all_well(&measured);
            let (of_client, all) = resumed(&measured);
            let of_server = server.seen.1.load(Ordering::Relaxed);
            assert!(
                of_client.abs_diff(of_server) <= 3,
                "{of_client} {of_server}"
            );
            // The first of each user are full handshakes.
            let reached = of_client as f64 / all as f64;
            let first = 5.0 / all as f64;
            assert!(
                (reached - expected).abs() <= first + 0.01,
                "{version} {share}: {reached}"
            );
        }
    }
}

#[test]
fn a_server_that_gives_no_tickets_resumes_nothing() {
    let server = Server::with(&p256(), Behaviour::Serve, |context| {
        context.set_session_cache_mode(SslSessionCacheMode::OFF);
        context.set_options(SslOptions::NO_TICKET);
        only(SslVersion::TLS1_2)(context);
    });
    let measured = load(&resuming(&server, TlsVersion::V1_2, "80"), &users(2, TIME));
    all_well(&measured);
    let (resumed, all) = resumed(&measured);
    assert_eq!((resumed, server.seen.1.load(Ordering::Relaxed)), (0, 0));
    let asked: ResumedShare = "80".parse().unwrap();
    assert!(!asked.is_met(resumed, all));
}

#[test]
fn a_server_that_asks_gets_the_client_s_certificate() {
    for (version, key, name) in [
        (TlsVersion::V1_2, p256(), "nistp256"),
        (TlsVersion::V1_3, rsa(2048), "rsa2048"),
    ] {
        let server = Server::with(&p256(), Behaviour::Serve, |context| {
            let mode = SslVerifyMode::PEER | SslVerifyMode::FAIL_IF_NO_PEER_CERT;
            context.set_verify_callback(mode, |_, _| true);
        });
        let mut target = resuming(&server, version, "50");
        // With TLS 1.3 its alert may be lost, since the request is on its way.
        let refused = load(&target, &users(1, 300));
        assert_eq!(refused.load.totals.transactions, 0, "{version}");
        assert!(!refused.failures.is_empty(), "{version}");
        target.client = Some(ClientIdentity {
            algorithm: name.parse().unwrap(),
            certificate: certificate(&key),
            key,
        });
        let measured = load(&target, &users(2, TIME));
        all_well(&measured);
        assert!(resumed(&measured).0 > 0);
    }
}

#[test]
fn a_key_that_is_not_the_certificate_s_is_refused() {
    let server = Server::start(&p256(), Behaviour::Serve);
    let mut target = resuming(&server, TlsVersion::V1_3, "0");
    target.client = Some(ClientIdentity {
        algorithm: "nistp256".parse().unwrap(),
        certificate: certificate(&p256()),
        key: p256(),
    });
    let clock = keymark_bench::MonotonicClock::new();
    let stop = std::sync::atomic::AtomicBool::new(false);
    let error = probe(&target, Weak::Refused, &Timeouts::ALONE, (&clock, &stop)).unwrap_err();
    let LoadError::Unsupported(reason) = error else {
        panic!("{error}");
    };
    assert!(reason.starts_with("the client's certificate"), "{reason}");
}
