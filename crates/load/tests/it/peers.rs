//! Handshakes and failures, against servers that behave and servers that do not.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use keymark_bench::{Clock, MonotonicClock};
use keymark_load::{
    Alert, Certificate, CipherSuite, ClientOffer, Expectation, Failure, Fingerprint, KeyExchange,
    LoadError, Phase, Target, Timeouts, TlsVersion, Weak, handshake, probe,
};
use openssl::dh::Dh;
use openssl::pkey::PKey;
use openssl::ssl::SslVersion;
use socket2::{Domain, Socket, Type};

use crate::support::{
    Behaviour, Server, all_well, load, only_failure, p256, rsa, target as target_at, users,
    with_the_private_half_of,
};

/// Long enough for some handshakes of any kind.
const SHORT: u64 = 400;

fn works(server: &Server, target: &Target) {
    let measured = load(target, &users(2, SHORT));
    all_well(&measured);
    let resumed = server.seen.1.load(Ordering::Relaxed);
    assert_eq!(resumed, 0, "{target:?}");
}

#[test]
fn handshakes_are_full_ones_in_each_group_though_the_server_gives_tickets() {
    let server = Server::start(&p256(), Behaviour::Serve);
    let of_1_2 = [KeyExchange::EcdheP256, KeyExchange::X25519];
    let of_1_3 = KeyExchange::ALL.iter().copied();
    let of_1_3 = of_1_3.filter(|exchange| exchange.group().is_some());
    for exchange in of_1_3.chain([KeyExchange::Dhe2048]) {
        works(&server, &server.target(TlsVersion::V1_3, exchange));
    }
    for exchange in of_1_2 {
        works(&server, &server.target(TlsVersion::V1_2, exchange));
    }
}

#[test]
fn keys_are_exchanged_as_they_were_once() {
    let server = Server::with(&rsa(2048), Behaviour::Serve, |context| {
        context.set_tmp_dh(&Dh::get_2048_256().unwrap()).unwrap();
    });
    for exchange in [KeyExchange::Rsa, KeyExchange::Dhe2048] {
        works(&server, &server.target(TlsVersion::V1_2, exchange));
    }
    let target = server.target(TlsVersion::V1_2, KeyExchange::Dhe3072);
    let failure = only_failure(&load(&target, &users(1, SHORT)));
    assert_eq!(failure, Failure::Unexpected(Expectation::KeyExchange));
}

#[test]
fn weak_sizes_are_refused_unless_they_are_asked_for() {
    let server = Server::with(&rsa(1024), Behaviour::Serve, |context| {
        context.set_tmp_dh(&Dh::get_1024_160().unwrap()).unwrap();
    });
    let dhe = KeyExchange::Dhe1024;
    for exchange in [KeyExchange::Rsa, dhe, KeyExchange::EcdheP256] {
        let mut target = server.target(TlsVersion::V1_2, exchange);
        target.expected.certificate = Certificate::Key("rsa1024".parse().unwrap());
        let mut settings = users(1, SHORT);
        let failure = only_failure(&load(&target, &settings));
        let refused = if exchange == dhe {
            Failure::Tls("dh key too small".to_owned())
        } else {
            Failure::Unexpected(Expectation::KeySize)
        };
        assert_eq!(failure, refused);
        settings.weak = Weak::Allowed;
        all_well(&load(&target, &settings));
    }
}

#[test]
fn certificates_have_keys_of_every_kind() {
    let mldsa = keymark_native::evp::generate("ML-DSA-65").unwrap();
    for (name, key) in [
        ("ed25519", PKey::generate_ed25519().unwrap()),
        ("ed448", PKey::generate_ed448().unwrap()),
        ("mldsa65", mldsa),
        ("rsa2048", rsa(2048)),
    ] {
        let server = Server::start(&key, Behaviour::Serve);
        let mut target = server.target(TlsVersion::V1_3, KeyExchange::X25519);
        target.expected.certificate = Certificate::Key(name.parse().unwrap());
        all_well(&load(&target, &users(1, SHORT)));
    }
}

#[test]
fn a_wrong_certificate_or_body_does_not_count() {
    let server = Server::start(&p256(), Behaviour::Serve);
    let settings = users(1, SHORT);
    let target = || server.target(TlsVersion::V1_3, KeyExchange::EcdheP256);
    let mut other = target();
    other.expected.certificate = Certificate::Pinned(Fingerprint([7; 32]));
    let wrong = only_failure(&load(&other, &settings));
    assert_eq!(wrong, Failure::Unexpected(Expectation::Certificate));
    let mut longer = target();
    longer.expected.body = Some(3);
    let wrong = only_failure(&load(&longer, &settings));
    assert_eq!(wrong, Failure::Unexpected(Expectation::BodyLength));
    all_well(&load(&target(), &settings));
    let (clock, stop) = (MonotonicClock::new(), AtomicBool::new(false));
    let until: (&dyn Clock, _) = (&clock, &stop);
    let probed = probe(&target(), Weak::Refused, &Timeouts::ALONE, until).unwrap();
    let shaken = probed.shaken;
    let cipher = CipherSuite("TLS_AES_128_GCM_SHA256");
    assert_eq!(shaken.cipher, Some(cipher));
    assert_eq!(shaken.key(), Some("nistp256".parse().unwrap()));
    assert_eq!(Fingerprint::of(&shaken.chain[0]), server.leaf);
}

#[test]
fn what_the_server_lacks_is_an_alert_by_its_name() {
    let server = Server::with(&p256(), Behaviour::Serve, |context| {
        context.set_groups_list("P-256").unwrap();
        let newest = Some(SslVersion::TLS1_2);
        context.set_max_proto_version(newest).unwrap();
    });
    let failure = |version, exchange| {
        only_failure(&load(&server.target(version, exchange), &users(1, SHORT)))
    };
    let version = failure(TlsVersion::V1_3, KeyExchange::EcdheP256);
    assert_eq!(version.to_string(), "alert protocol_version");
    // A client of TLS 1.2 also offers the certificate's curve, and the server takes that one.
    let group = failure(TlsVersion::V1_2, KeyExchange::X25519);
    assert_eq!(group, Failure::Unexpected(Expectation::KeyExchange));
    let server = Server::with(&p256(), Behaviour::Serve, |context| {
        context.set_groups_list("P-256").unwrap();
    });
    let target = server.target(TlsVersion::V1_3, KeyExchange::X25519);
    let failure = only_failure(&load(&target, &users(1, SHORT)));
    assert_eq!(failure, Failure::Alert(Alert(40)));
}

#[test]
#[allow(clippy::wildcard_enum_match_arm, reason = "two of many")]
fn failures_have_their_classes() {
    let vacant = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let server = Server::start(&p256(), Behaviour::Serve);
    let mut target = server.target(TlsVersion::V1_3, KeyExchange::EcdheP256);
    target.address = vacant;
    assert_eq!(
        only_failure(&load(&target, &users(2, SHORT))),
        Failure::Refused
    );

    let short = Failure::ShortBody;
    let cases = [
        (Behaviour::Reset, Failure::Reset(Phase::Handshake)),
        (Behaviour::Close, Failure::Closed(Phase::Handshake)),
        (Behaviour::Mute, Failure::HandshakeTimeout),
        (
            Behaviour::Slow(Duration::from_millis(200)),
            Failure::WholeTimeout,
        ),
        (
            Behaviour::Answer("HTTP/1.1 503 Busy\r\n\r\n"),
            Failure::Status(503),
        ),
        (
            Behaviour::Answer("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx"),
            short,
        ),
        (Behaviour::Answer(""), Failure::Closed(Phase::FirstByte)),
    ];
    for (behaviour, class) in cases {
        let server = Server::start(&p256(), behaviour);
        let target = server.target(TlsVersion::V1_3, KeyExchange::EcdheP256);
        let mut settings = users(1, SHORT);
        let short = Duration::from_millis(80);
        match class {
            Failure::HandshakeTimeout => settings.timeouts.handshake = short,
            Failure::WholeTimeout => settings.timeouts.whole = short,
            _ => {}
        }
        let measured = load(&target, &settings);
        assert_eq!(only_failure(&measured), class, "{behaviour:?}");
        assert_eq!(measured.load.totals.failed, measured.failures[&class]);
        let by_second: u64 = measured
            .load
            .seconds
            .iter()
            .map(|second| second.failed())
            .sum();
        assert_eq!(by_second, measured.load.totals.failed);
    }
}

#[test]
fn a_server_that_accepts_nobody_is_given_up() {
    let listener = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    listener.bind(&any.into()).unwrap();
    listener.listen(0).unwrap();
    let address = listener.local_addr().unwrap().as_socket().unwrap();
    let wait = Duration::from_millis(100);
    // What the kernel accepts on the server's behalf.
    let kept: Vec<_> =
        std::iter::from_fn(|| TcpStream::connect_timeout(&address, wait).ok()).collect();
    assert!(kept.len() < 10);
    let leaf = Fingerprint([0; 32]);
    let target = target_at(address, leaf, TlsVersion::V1_3, KeyExchange::EcdheP256);
    let mut settings = users(2, SHORT);
    settings.timeouts.connect = wait;
    assert_eq!(
        only_failure(&load(&target, &settings)),
        Failure::ConnectTimeout
    );
}

#[test]
fn a_server_without_the_key_of_its_certificate_is_found_out() {
    for (key, other) in [(p256(), p256()), (rsa(2048), rsa(2048))] {
        let impostor = Server::start(&with_the_private_half_of(&key, &other), Behaviour::Serve);
        for version in [TlsVersion::V1_3, TlsVersion::V1_2] {
            let target = impostor.target(version, KeyExchange::EcdheP256);
            let failure = only_failure(&load(&target, &users(1, SHORT)));
            let class = Failure::Unexpected(Expectation::Signature);
            assert_eq!(failure, class, "{version}");
        }
    }
}

/// The header of a handshake message, which goes on for ever.
#[test]
fn a_server_that_drips_is_left_at_the_limit() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let drip = b"\x16\x03\x03\x40\x00\x02\x00\x3f";
        while std::io::Write::write_all(&mut stream, drip).is_ok() {
            std::thread::sleep(Duration::from_millis(20));
        }
    });
    let clock = MonotonicClock::new();
    let until = clock.now().after(Duration::from_millis(300));
    let offer = ClientOffer::of_certificates(Certificate::Any);
    let ended = handshake((address, "localhost"), &offer, (&clock, until));
    assert!(matches!(
        ended,
        Err(LoadError::Transaction(Failure::HandshakeTimeout))
    ));
    server.join().unwrap();
}
