//! Resumed sessions, as a server of the tests' own counts them.

use std::sync::atomic::Ordering;

use keymark_load::{KeyExchange, TlsVersion};

use crate::support::{Behaviour, Server, all_well, load, p256, users};

/// Long enough for some hundred handshakes.
const TIME: u64 = 1_500;

#[test]
fn a_share_of_the_sessions_is_resumed_as_the_server_counts_it() {
    for version in [TlsVersion::V1_2, TlsVersion::V1_3] {
        for (share, expected) in [("80", 0.8), ("25", 0.25), ("100", 1.0)] {
            let server = Server::start(&p256(), Behaviour::Serve);
            let mut target = server.target(version, KeyExchange::EcdheP256);
            target.expected.resumed = share.parse().unwrap();
            let measured = load(&target, &users(3, TIME));
            all_well(&measured);
            let all = measured.load.totals.transactions;
            let seconds = measured.load.seconds.iter();
            let of_client: u64 = seconds.map(|second| second.resumed).sum();
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
