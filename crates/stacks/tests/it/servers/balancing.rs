//! haproxy before two servers.

use std::net::TcpListener;
use std::num::NonZeroU16;

use keymark_stacks::tls::Balance;
use keymark_stacks::tls::servers::{Balancer, Haproxy, SearchPath};
use keymark_testkit::assert_says;
use keymark_testkit::waiting::until;
use nix::sys::signal::Signal;

use super::client::{has_document, s_client, spec, started};

#[test]
fn connections_pass_through_to_all_servers_and_go_on_when_one_is_killed() {
    for balance in [Balance::RoundRobin, Balance::LeastConnections] {
        let servers = ["nistp256", "nistp384"].map(|word| started("nginx", &spec(word, "x25519")));
        let backends = servers.each_ref().map(|server| server.process.address);
        let room = (None, NonZeroU16::new(64).unwrap());
        let haproxy = Haproxy::find(&SearchPath::usual()).unwrap();
        let mut balancer = Balancer::start(&haproxy, &backends, balance, room).unwrap();
        let kinds = |balancer: &Balancer| {
            let said: Vec<String> = (0..6)
                .map(|_| s_client(balancer.process.address, &[]))
                .collect();
            assert!(said.iter().all(|said| has_document(said)), "{said:?}");
            let is = |bits: &str| said.iter().filter(|said| said.contains(bits)).count();
            (
                is("Server public key is 256 bit"),
                is("Server public key is 384 bit"),
            )
        };
        assert_eq!(kinds(&balancer), (3, 3), "{balance:?}");
        for process in servers[1].process.processes() {
            process.signal(Signal::SIGKILL);
        }
        until("haproxy has seen it", || {
            balancer.process.log().contains("backend1 is DOWN")
        });
        assert_eq!(kinds(&balancer), (6, 0));
        balancer.process.check().unwrap();
        let processes = balancer.process.processes();
        assert_eq!(balancer.describe()["balance"], balance.word());
        drop(balancer);
        assert!(processes.iter().all(|process| !process.lives()));
    }
}

#[test]
fn a_backend_elsewhere_is_refused() {
    let haproxy = Haproxy::find(&SearchPath::usual()).unwrap();
    let room = (None, NonZeroU16::new(64).unwrap());
    let elsewhere = ["192.0.2.1:443".parse().unwrap()];
    let error = Balancer::start(&haproxy, &elsewhere, Balance::RoundRobin, room).unwrap_err();
    assert_says(&error, ["on loopback"]);
}

#[test]
fn a_port_that_is_taken_is_named() {
    let haproxy = Haproxy::find(&SearchPath::usual()).unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = NonZeroU16::new(taken.local_addr().unwrap().port()).unwrap();
    let room = (Some(port), NonZeroU16::new(64).unwrap());
    let backends = ["127.0.0.1:9".parse().unwrap()];
    let error = Balancer::start(&haproxy, &backends, Balance::RoundRobin, room).unwrap_err();
    let error = error.to_string();
    assert_says(&error, ["the port is taken", &port.to_string()]);
}
