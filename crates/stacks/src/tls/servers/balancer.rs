//! haproxy before several servers, in TCP mode: handshakes pass through.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::num::NonZeroU16;
use std::path::PathBuf;
use std::time::Duration;

use crate::tls::handshake::Balance;
use keymark_bench::error::Error;
use keymark_stores::places::process::Process;
use keymark_stores::places::program;

use crate::tls::servers::directory::{ServerDirectory, write_private};
use crate::tls::servers::error::ServerError;
use crate::tls::servers::log::{self, Fault};
use crate::tls::servers::process::{self, ProcessorTime, Running};
use crate::tls::servers::program::{BroughtBy, Program, SearchPath, Version};
use crate::tls::servers::running::{Unready, on_port, start_in, unready, wait};
use crate::tls::servers::spec::Port;

const READY: Duration = Duration::from_secs(10);
const CONNECT: Duration = Duration::from_millis(20);

const HAPROXY: Program = Program {
    name: "haproxy",
    files: &["haproxy"],
    brought_by: BroughtBy::Package("haproxy"),
    version: &[("-v", "version ")],
};
/// Its words for what goes wrong.
const FAULTS: [(&str, Fault); 1] = [("cannot bind socket", Fault::PortTaken)];

/// haproxy as it is installed.
#[derive(Debug, Clone)]
pub struct Haproxy {
    program: PathBuf,
    /// Its version.
    pub version: Version,
}

impl Haproxy {
    /// Looks for it.
    ///
    /// # Errors
    /// When it is missing, with the package that brings it.
    pub fn find(search: &SearchPath) -> Result<Self, Error> {
        let (program, version) = HAPROXY.find(search)?;
        Ok(Self { program, version })
    }
}

/// A haproxy that runs. It is gone with the value.
#[derive(Debug)]
pub struct Balancer {
    running: Running,
    address: SocketAddr,
    balance: Balance,
    backends: Vec<SocketAddr>,
    version: Version,
    /// Removed last.
    _directory: ServerDirectory,
}

impl Balancer {
    /// Starts it before servers on loopback, and waits until it takes connections.
    ///
    /// # Errors
    /// When a backend is elsewhere, or it does not start: with the end of its log.
    pub fn start(
        installed: &Haproxy,
        backends: &[SocketAddr],
        balance: Balance,
        (port, connections): (Port, NonZeroU16),
    ) -> Result<Self, ServerError> {
        if backends.is_empty() || backends.iter().any(|backend| !backend.ip().is_loopback()) {
            let reason = "its servers are some on loopback";
            return Err(Error::call("starting a balancer", reason, "").into());
        }
        on_port(port, |port| {
            Self::at(installed, (port, connections), balance, backends)
        })
    }

    fn at(
        installed: &Haproxy,
        (port, connections): (u16, NonZeroU16),
        balance: Balance,
        backends: &[SocketAddr],
    ) -> Result<Self, Unready> {
        let directory = ServerDirectory::empty()?;
        let worker = directory.worker.as_ref();
        let worker = worker.map(|worker| (worker.name.as_str(), worker.group.as_str()));
        let text = configuration(worker, (port, connections.get()), balance, backends);
        write_private(&directory.configuration, text.as_bytes())?;
        let mut command = program::command(&installed.program);
        command.arg("-db").arg("-f").arg(&directory.configuration);
        let mut running = start_in(command, &directory)?;
        let address = (Ipv4Addr::LOCALHOST, port).into();
        wait(
            &mut running,
            READY,
            ("starting haproxy", &FAULTS),
            |running| {
                // Somebody else may listen there; then haproxy ends within a moment, having found the port taken.
                let own = TcpStream::connect_timeout(&address, CONNECT).is_ok()
                    && process::listens(running.number(), port);
                own.then_some(())
                    .ok_or_else(|| "it accepts no connection".to_owned())
            },
        )?;
        Ok(Self {
            running,
            address,
            balance,
            backends: backends.to_vec(),
            version: installed.version.clone(),
            _directory: directory,
        })
    }

    /// Where it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its processes that live now.
    ///
    /// # Errors
    /// When those that are new cannot be taken down.
    pub fn processes(&self) -> Result<Vec<Process>, Error> {
        self.running.look()
    }

    /// Its processor time since it was started.
    ///
    /// # Errors
    /// When its processes cannot be taken down.
    pub fn cpu_time(&self) -> Result<ProcessorTime, Error> {
        self.running.processor_time()
    }

    /// Whether it still runs.
    ///
    /// # Errors
    /// When it does not: how it ended, and the end of its log.
    pub fn check(&mut self) -> Result<(), Error> {
        match self.running.ended() {
            None => Ok(()),
            Some(status) => {
                let how = format!("it has ended ({status})");
                Err(unready("balancing", &how, (self.running.log(), &FAULTS))
                    .error
                    .into())
            }
        }
    }

    /// What it has written: which servers it takes for dead, and when.
    pub fn log(&self) -> String {
        log::read(self.running.log())
    }

    /// Everything about it, for the record.
    pub fn describe(&self) -> BTreeMap<String, String> {
        BTreeMap::from([
            ("balancer".to_owned(), "haproxy".to_owned()),
            ("balancer_version".to_owned(), self.version.to_string()),
            ("balance".to_owned(), self.balance.word().to_owned()),
            ("backends".to_owned(), self.backends.len().to_string()),
        ])
    }
}

/// The whole configuration (<https://docs.haproxy.org/2.6/configuration.html>): TCP is passed on as it comes.
fn configuration(
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
