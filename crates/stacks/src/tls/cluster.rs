//! What stands behind the address that clients ask: a server, or several with a balancer before them.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::num::NonZeroU16;
use std::time::Duration;

use super::handshake::{Arrangement, Balance, Handshake};
use crate::tls::servers::{
    Balancer, CallsSoFar, Capacity, Certificates, Handshakes, Port, RunningServer, ServerError,
    ServerSpec, TokenWay, Weak,
};
use keymark_bench::algorithm::Algorithm;
use keymark_bench::case::Case;
use keymark_bench::error::Error;

use super::keys::Keys;
use super::server::Servers;

/// How servers are started.
#[derive(Debug, Clone, Copy)]
pub struct Starting<'a> {
    /// Those that are installed.
    pub servers: &'a Servers,
    /// Whether what has 80 bits of security may be there.
    pub weak: Weak,
    /// How OpenSSL gets at keys on tokens, if the user has chosen.
    pub way: Option<TokenWay>,
    /// Processes of each.
    pub processes: NonZeroU16,
    /// Where clients ask.
    pub port: Port,
}

impl Starting<'_> {
    /// Starts what a case asks for, with keys of that devices: each server's of one of them, in turn.
    ///
    /// # Errors
    /// When it cannot be had, or does not start.
    pub fn start(&self, case: &Case, keys: &[&Keys], room: NonZeroU16) -> Result<Cluster, Error> {
        let first = keys.first().ok_or_else(|| {
            let reason = format!("{} is not a device of the plan", case.device);
            Error::call("starting a server", reason, "")
        })?;
        match Handshake::of(case)?.arrangement {
            Arrangement::One => self.alone(case, first, None, room),
            Arrangement::Beside { other } => self.alone(case, first, Some(other), room),
            Arrangement::Balanced {
                servers, balance, ..
            } => {
                let each = keys.iter().cycle().take(servers.get().into());
                let inner = Self {
                    port: Port::Free,
                    ..*self
                };
                let started: Vec<_> = each
                    .map(|keys| inner.server(case, keys, None, room))
                    .collect::<Result<_, _>>()?;
                let places = keys.len().min(servers.get().into());
                self.balanced(started, places, balance, room)
            }
        }
    }

    fn alone(
        &self,
        case: &Case,
        keys: &Keys,
        other: Option<Algorithm>,
        room: NonZeroU16,
    ) -> Result<Cluster, Error> {
        Ok(Cluster {
            servers: vec![self.server(case, keys, other, room)?],
            balancer: None,
            lost: None,
            places: 1,
        })
    }

    fn server(
        &self,
        case: &Case,
        keys: &Keys,
        other: Option<Algorithm>,
        room: NonZeroU16,
    ) -> Result<RunningServer, Error> {
        let asked = Handshake::of(case)?;
        let handshakes = Handshakes::of(asked.version, asked.key_exchange);
        let handshakes = handshakes.map_err(ServerError::from)?;
        let installed = self.servers.get(case.stack)?;
        let identity = keys.certified(case.algorithm, installed, self.way)?;
        let certificates = match other {
            None => Certificates::one(identity),
            Some(other) => {
                let second = keys.certified(other, installed, self.way)?;
                Certificates::of_two(identity, second).map_err(|impossible| {
                    Error::call("giving a server two certificates", impossible, "")
                })?
            }
        };
        let spec = ServerSpec {
            weak: self.weak,
            capacity: Capacity {
                processes: self.processes,
                connections: room,
            },
            port: self.port,
            body: case.input_bytes,
            ..ServerSpec::new(certificates, handshakes)
        };
        Ok(RunningServer::start(installed, &spec)?)
    }

    fn balanced(
        &self,
        servers: Vec<RunningServer>,
        places: usize,
        balance: Balance,
        room: NonZeroU16,
    ) -> Result<Cluster, Error> {
        let haproxy = self.servers.balancer()?;
        let backends: Vec<SocketAddr> = servers
            .iter()
            .map(|server| server.process.address)
            .collect();
        let balancer = Balancer::start(haproxy, &backends, balance, (self.port, room))?;
        Ok(Cluster {
            servers,
            balancer: Some(balancer),
            lost: None,
            places,
        })
    }
}

/// Servers that run. They are gone with the value.
#[derive(Debug)]
pub struct Cluster {
    servers: Vec<RunningServer>,
    balancer: Option<Balancer>,
    /// The one that was killed, with the processor time that it had spent.
    lost: Option<(usize, Duration)>,
    /// Tokens that the servers' keys are on, or places of files.
    places: usize,
}

impl Cluster {
    /// Where clients ask.
    ///
    /// # Errors
    /// Of a cluster without servers.
    pub fn address(&self) -> Result<SocketAddr, Error> {
        match &self.balancer {
            Some(balancer) => Ok(balancer.process.address),
            None => Ok(self.first()?.process.address),
        }
    }

    /// What is served.
    ///
    /// # Errors
    /// Of a cluster without servers.
    pub fn path(&self) -> Result<String, Error> {
        Ok(self.first()?.path())
    }

    /// The first server, like all others but for its key.
    ///
    /// # Errors
    /// Of a cluster without servers.
    pub fn first(&self) -> Result<&RunningServer, Error> {
        let none = || Error::call("asking a server", "there is none", "");
        self.servers.first().ok_or_else(none)
    }

    /// Each server.
    pub fn servers(&self) -> impl Iterator<Item = &RunningServer> {
        self.servers.iter()
    }

    /// Processor time of all its processes since they were started.
    ///
    /// # Errors
    /// When processes cannot be taken down.
    pub fn processor_time(&self) -> Result<Duration, Error> {
        let mut time = self.lost.map_or(Duration::ZERO, |(_, spent)| spent);
        for (number, server) in self.servers.iter().enumerate() {
            if !self.is_lost(number) {
                time += server.process.cpu_time()?.total();
            }
        }
        if let Some(balancer) = &self.balancer {
            time += balancer.process.cpu_time()?.total();
        }
        Ok(time)
    }

    /// The last lines of what each server has written, the first one's first.
    pub fn log_end(&self) -> Vec<String> {
        let each = self.servers.iter();
        each.flat_map(|server| server.process.log_end()).collect()
    }

    /// What all servers have asked of their tokens until now; none where nothing is counted.
    ///
    /// # Errors
    /// When that cannot be read.
    pub fn calls(&self) -> Result<Option<CallsSoFar>, Error> {
        let mut sum: Option<CallsSoFar> = None;
        for server in &self.servers {
            if let Some(calls) = server.calls()? {
                sum.get_or_insert_default().add(calls);
            }
        }
        Ok(sum)
    }

    /// Kills the last server, as an accident would.
    ///
    /// # Errors
    /// When its processes cannot be taken down.
    pub fn kill_one(&mut self) -> Result<(), Error> {
        if let Some(last) = self.servers.last() {
            let spent = last.process.cpu_time()?.total();
            last.process.kill()?;
            self.lost = Some((self.servers.len() - 1, spent));
        }
        Ok(())
    }

    /// Whether all that were not killed still run.
    ///
    /// # Errors
    /// When one does not: how it ended, and the end of its log.
    pub fn check(&mut self) -> Result<(), Error> {
        if let Some(balancer) = &mut self.balancer {
            balancer.process.check()?;
        }
        let mut living = self.living();
        living.try_for_each(|server| server.process.check())
    }

    /// Waits until nothing of a load is left in those that were not killed. Says how long it took.
    ///
    /// # Errors
    /// When something is left after that time.
    pub fn drain(&mut self, limit: Duration) -> Result<Duration, Error> {
        let mut all = Duration::ZERO;
        for server in self.living() {
            all += server.drain(limit.saturating_sub(all))?;
        }
        Ok(all)
    }

    fn living(&mut self) -> impl Iterator<Item = &mut RunningServer> {
        let lost = self.lost.map(|(number, _)| number);
        let each = self.servers.iter_mut().enumerate();
        each.filter_map(move |(number, server)| (Some(number) != lost).then_some(server))
    }

    fn is_lost(&self, number: usize) -> bool {
        self.lost.is_some_and(|(lost, _)| lost == number)
    }

    /// Everything about it, for the record.
    pub fn describe(&self) -> BTreeMap<String, String> {
        let mut told = self
            .servers
            .first()
            .map(RunningServer::describe)
            .unwrap_or_default();
        told.extend(
            self.balancer
                .as_ref()
                .map(Balancer::describe)
                .unwrap_or_default(),
        );
        if self.balancer.is_some() {
            told.insert("key_places".to_owned(), self.places.to_string());
        }
        told
    }
}
