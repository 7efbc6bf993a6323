//! haproxy before two servers.

use std::num::NonZeroU16;

use keymark_stacks::tls::Balance;
use keymark_stacks::tls::servers::{Balancer, HAPROXY, SearchPath};
use keymark_testkit::waiting::until;

use super::client::{has_document, s_client, spec, started};

#[test]
fn connections_pass_through_to_all_servers_and_go_on_when_one_is_killed() {
    for balance in [Balance::RoundRobin, Balance::LeastConnections] {
        let servers = ["nistp256", "nistp384"].map(|word| started("nginx", &spec(word, "x25519")));
        let backends = servers.each_ref().map(|server| server.process.address);
        let room = (None, NonZeroU16::new(64).unwrap());
        let haproxy = HAPROXY.find(&SearchPath::usual()).unwrap();
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
        servers[1].process.kill();
        until("haproxy has seen it", || {
            let log = balancer.process.log_end().concat();
            log.contains("backend1 is DOWN")
        });
        assert_eq!(kinds(&balancer), (6, 0));
        balancer.process.check().unwrap();
        let processes = balancer.process.processes();
        assert_eq!(balancer.describe()["balance"], balance.word());
        drop(balancer);
        assert!(processes.iter().all(|process| !process.lives()));
    }
}
