//! haproxy before several servers, in TCP mode: handshakes pass through.

use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpStream};
use std::num::NonZeroU16;
use std::path::PathBuf;
use std::time::Duration;

use askama::Template;
use keymark_bench::Error;
use keymark_stores::places::program;

use crate::installed::{Program, Version};
use crate::programs::write_private;
use crate::templates::{Comments, written};
use crate::tls::handshake::Balance;
use crate::tls::servers::directory::ServerDirectory;
use crate::tls::servers::running::{Served, on_port};
use crate::tls::servers::worker_user::WorkerUser;

const READY: Duration = Duration::from_secs(10);
const CONNECT: Duration = Duration::from_millis(20);

/// haproxy.
pub const HAPROXY: Program = Program {
    version: &[("-v", "version ")],
    ..Program::of_package("haproxy", &["haproxy"], "haproxy")
};

#[derive(Template)]
#[template(path = "haproxy.cfg", escape = "none")]
struct HaproxyConfig<'c> {
    worker: Option<&'c WorkerUser>,
    port: u16,
    connections: u16,
    balance: &'c str,
    backends: &'c [SocketAddr],
}

/// A haproxy that runs. It is gone with the value.
#[derive(Debug)]
pub struct Balancer {
    /// Its processes.
    pub process: Served,
    balance: Balance,
    backends: usize,
    version: Version,
}

impl Balancer {
    /// Starts it before servers on loopback, and waits until it takes connections.
    ///
    /// # Errors
    /// When it does not start: with the end of its log.
    pub fn start(
        (haproxy, version): &(PathBuf, Version),
        backends: &[SocketAddr],
        balance: Balance,
        (port, connections): (Option<NonZeroU16>, NonZeroU16),
    ) -> Result<Self, Error> {
        let process = on_port(port, |port| {
            let directory = ServerDirectory::empty()?;
            let configuration = HaproxyConfig {
                worker: directory.worker.as_ref(),
                port,
                connections: connections.get(),
                balance: match balance {
                    Balance::RoundRobin => "roundrobin",
                    Balance::LeastConnections => "leastconn",
                },
                backends,
            };
            let text = written(&configuration, Comments::Left)?;
            write_private(&directory.configuration, text.as_bytes())?;
            let mut command = program::command(haproxy);
            command.arg("-db").arg("-f").arg(&directory.configuration);
            Served::start(command, directory, HAPROXY.name, (port, READY), |address| {
                let connected = TcpStream::connect_timeout(&address, CONNECT);
                let refused = |_| "it accepts no connection".to_owned();
                connected.map(drop).map_err(refused)
            })
        })?;
        Ok(Self {
            process,
            balance,
            backends: backends.len(),
            version: version.clone(),
        })
    }

    /// Everything about it, for the record.
    pub fn describe(&self) -> BTreeMap<String, String> {
        BTreeMap::from([
            ("balancer".to_owned(), "haproxy".to_owned()),
            ("balancer_version".to_owned(), self.version.to_string()),
            ("balance".to_owned(), self.balance.word().to_owned()),
            ("backends".to_owned(), self.backends.to_string()),
        ])
    }
}
