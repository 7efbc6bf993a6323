//! haproxy's configuration: <https://docs.haproxy.org/2.6/configuration.html>.

use std::fmt::Write as _;
use std::net::SocketAddr;

use keymark_bench::case::Balance;

/// The whole configuration: TCP is passed on as it comes.
pub(crate) fn configuration(
    worker: Option<(&str, &str)>,
    (port, connections): (u16, u16),
    balance: Balance,
    backends: &[SocketAddr],
) -> String {
    let mut out =
        format!("global\n    maxconn {connections}\n    log stdout format raw daemon notice\n");
    if let Some((user, group)) = worker {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "    user {user}\n    group {group}");
    }
    out += "defaults\n    mode tcp\n    log global\n    timeout connect 5s\n    timeout client 60s\n    timeout server 60s\n    \
            retries 3\n    option redispatch\n";
    let word = match balance {
        Balance::RoundRobin => "roundrobin",
        Balance::LeastConnections => "leastconn",
    };
    let _ = writeln!(
        out,
        "listen tls\n    bind 127.0.0.1:{port} backlog 4096\n    balance {word}"
    );
    for (number, backend) in backends.iter().enumerate() {
        // Dead ones are found within two seconds.
        let _ = writeln!(
            out,
            "    server backend{number} {backend} check inter 1s fall 2 rise 1"
        );
    }
    out
}
