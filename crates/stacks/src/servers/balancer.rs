//! haproxy before several servers, in TCP mode: handshakes pass through.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::num::NonZeroU16;
use std::time::Duration;

use keymark_bench::case::Balance;
use keymark_bench::clock::{Clock, MonotonicClock};
use keymark_bench::error::Error;
use keymark_stores::places::process::Process;

use crate::servers::configuration::haproxy;
use crate::servers::error::ServerError;
use crate::servers::log::{self, Fault};
use crate::servers::place::{Place, write_private};
use crate::servers::process::{ProcessorTime, Running};
use crate::servers::server::{Unready, free_port, start_in, unready};
use crate::servers::software::{Installed, Software};
use crate::servers::spec::Port;

const READY: Duration = Duration::from_secs(10);
const STEP: Duration = Duration::from_millis(20);
const TRIES: usize = 4;

/// A haproxy that runs. It is gone with the value.
#[derive(Debug)]
pub struct Balancer {
    running: Running,
    address: SocketAddr,
    balance: Balance,
    backends: Vec<SocketAddr>,
    installed: Installed,
    /// Removed last.
    _place: Place,
}

impl Balancer {
    /// Starts it before servers on loopback, and waits until it takes connections.
    ///
    /// # Errors
    /// When a backend is elsewhere, or it does not start: with the end of its log.
    pub fn start(
        installed: &Installed,
        backends: &[SocketAddr],
        balance: Balance,
        (port, connections): (Port, NonZeroU16),
    ) -> Result<Self, ServerError> {
        match installed.software {
            Software::Haproxy => {}
            Software::Apache(_) | Software::Nginx => {
                let reason = format!("{} is not haproxy", installed.software);
                return Err(Error::call("starting a balancer", reason, "").into());
            }
        }
        if backends.is_empty() || backends.iter().any(|backend| !backend.ip().is_loopback()) {
            let reason = "its servers are some on loopback";
            return Err(Error::call("starting a balancer", reason, "").into());
        }
        let mut tries = 0;
        loop {
            tries += 1;
            let (port, may_try_again) = match port {
                Port::Given(port) => (port.get(), false),
                Port::Free => (free_port()?, tries < TRIES),
            };
            match Self::at(installed, (port, connections), balance, backends) {
                Err(Unready { fault, .. }) if may_try_again && fault == Some(Fault::PortTaken) => {}
                done => return done.map_err(|unready| unready.error),
            }
        }
    }

    fn at(
        installed: &Installed,
        (port, connections): (u16, NonZeroU16),
        balance: Balance,
        backends: &[SocketAddr],
    ) -> Result<Self, Unready> {
        let place = Place::empty()?;
        let worker = place.worker.as_ref();
        let worker = worker.map(|worker| (worker.name.as_str(), worker.group.as_str()));
        let text = haproxy::configuration(worker, (port, connections.get()), balance, backends);
        write_private(&place.configuration, text.as_bytes())?;
        let running = start_in(installed, &place)?;
        let mut balancer = Self {
            running,
            address: (Ipv4Addr::LOCALHOST, port).into(),
            balance,
            backends: backends.to_vec(),
            installed: installed.clone(),
            _place: place,
        };
        balancer.wait()?;
        Ok(balancer)
    }

    fn wait(&mut self) -> Result<(), Unready> {
        let clock = MonotonicClock::new();
        let deadline = clock.now().after(READY);
        loop {
            if let Some(status) = self.running.ended() {
                let how = format!("it has ended ({status})");
                return Err(unready("starting haproxy", &how, self.running.log()));
            }
            // Somebody else may listen there; then haproxy ends within a moment, having found the port taken.
            if self.listens() {
                return Ok(self.running.look().map(drop)?);
            }
            if clock.now() >= deadline {
                let how = format!("it accepted no connection within {} s", READY.as_secs());
                return Err(unready("starting haproxy", &how, self.running.log()));
            }
            std::thread::sleep(STEP);
        }
    }

    /// Whether the socket at the port is haproxy's own.
    fn listens(&self) -> bool {
        TcpStream::connect_timeout(&self.address, STEP).is_ok()
            && crate::servers::process::listens(self.running.number(), self.address.port())
    }

    /// Where it listens.
    #[must_use]
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
                Err(unready("balancing", &how, self.running.log()).error.into())
            }
        }
    }

    /// What it has written: which servers it takes for dead, and when.
    #[must_use]
    pub fn log(&self) -> String {
        log::read(self.running.log())
    }

    /// Everything about it, for the record.
    #[must_use]
    pub fn describe(&self) -> BTreeMap<String, String> {
        BTreeMap::from([
            ("balancer".to_owned(), "haproxy".to_owned()),
            (
                "balancer_version".to_owned(),
                self.installed.version.to_string(),
            ),
            ("balance".to_owned(), self.balance.word().to_owned()),
            ("backends".to_owned(), self.backends.len().to_string()),
        ])
    }
}
