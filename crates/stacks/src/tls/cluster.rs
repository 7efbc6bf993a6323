//! The servers that are installed, and what is behind the address that clients ask: a server, or several with a balancer
//! before them.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::num::NonZeroU16;
use std::path::PathBuf;
use std::time::Duration;

use keymark_bench::{Algorithm, Case, Error, StackName};

use super::handshake::{Arrangement, Handshake};
use super::keys::Keys;
use crate::tls::servers::{
    self, Balancer, CallsSoFar, Capacity, Certificates, HAPROXY, Handshakes, Identity,
    InstalledServer, Purpose, RunningServer, SearchPath, Served, ServerSpec, TokenWay, Version,
    Weak,
};

/// Start of servers.
#[derive(Debug, Clone, Copy)]
pub struct Starting<'a> {
    /// Installed servers.
    pub servers: &'a Servers,
    /// Acceptance of keys and parameters with 80 bits of security.
    pub weak: Weak,
    /// OpenSSL's way to keys on tokens, if the user has chosen.
    pub way: Option<TokenWay>,
    /// Processes of each.
    pub processes: NonZeroU16,
    /// Port for clients; none means a free one.
    pub port: Option<NonZeroU16>,
}

impl Starting<'_> {
    /// Starts what a case asks for, with keys of that devices: each server's of one of them, in turn.
    ///
    /// # Errors
    /// When it cannot be had, or does not start.
    pub fn start(&self, case: &Case, keys: &[&Keys], room: NonZeroU16) -> Result<Cluster, Error> {
        let asked = Handshake::of(case)?;
        let number = asked.arrangement.servers().get();
        let (other, balance) = match asked.arrangement {
            Arrangement::One => (None, None),
            Arrangement::Beside { other } => (Some(other), None),
            Arrangement::Balanced { balance, .. } => (None, Some(balance)),
        };
        let port = self.port.filter(|_| balance.is_none());
        let each = keys.iter().cycle().take(number.into());
        let started = each.map(|keys| self.server((case, asked), keys, other, (port, room)));
        let mut started = started.collect::<Result<Vec<_>, _>>()?.into_iter();
        let first = started.next().ok_or_else(|| Keys::none_of(case))?;
        let mut cluster = Cluster {
            first,
            others: started.collect(),
            balancer: None,
            lost: None,
            places: keys.len().min(number.into()),
        };
        if let Some(balance) = balance {
            let addresses = cluster.servers().map(|server| server.process.address);
            let backends: Vec<SocketAddr> = addresses.collect();
            let (haproxy, place) = (self.servers.balancer()?, (self.port, room));
            cluster.balancer = Some(Balancer::start(haproxy, &backends, balance, place)?);
        }
        Ok(cluster)
    }

    fn server(
        &self,
        (case, asked): (&Case, Handshake),
        keys: &Keys,
        other: Option<Algorithm>,
        (port, connections): (Option<NonZeroU16>, NonZeroU16),
    ) -> Result<RunningServer, Error> {
        let mut handshakes = Handshakes::of(asked.version, asked.key_exchange)?;
        handshakes.resumed = asked.resumed;
        let installed = self.servers.get(case.stack)?;
        let identity = keys.certified(case.algorithm, installed, self.way)?;
        let certificates = match other {
            None => Certificates::one(identity),
            Some(other) => {
                let second = keys.certified(other, installed, self.way)?;
                Certificates::of_two(identity, second)?
            }
        };
        let mut spec = ServerSpec {
            weak: self.weak,
            capacity: Capacity {
                processes: self.processes,
                connections,
            },
            port,
            body: case.input_bytes,
            ..ServerSpec::new(certificates, handshakes)
        };
        if let Some(key) = asked.client {
            spec = spec.requiring(Identity::generate(key, Purpose::Client)?);
        }
        RunningServer::start(installed, &spec)
    }
}

/// Servers that run. They are gone with the value.
#[derive(Debug)]
pub struct Cluster {
    /// Like all others but for its key.
    pub first: RunningServer,
    others: Vec<RunningServer>,
    balancer: Option<Balancer>,
    /// The one that was killed, with the processor time that it had spent.
    lost: Option<(RunningServer, Duration)>,
    /// Tokens that the servers' keys are on, or places of files.
    places: usize,
}

impl Cluster {
    /// Address for clients.
    pub fn address(&self) -> SocketAddr {
        let balancer = self.balancer.as_ref().map(|balancer| &balancer.process);
        balancer.unwrap_or(&self.first.process).address
    }

    /// Each server that was not killed.
    fn servers(&self) -> impl Iterator<Item = &RunningServer> {
        std::iter::once(&self.first).chain(&self.others)
    }

    /// All of them.
    fn all(&self) -> impl Iterator<Item = &RunningServer> {
        let lost = self.lost.iter().map(|(server, _)| server);
        self.servers().chain(lost)
    }

    fn living(&mut self) -> impl Iterator<Item = &mut RunningServer> {
        std::iter::once(&mut self.first).chain(&mut self.others)
    }

    /// Processor time of all its processes since they were started.
    pub fn processor_time(&self) -> Duration {
        let lost = self.lost.as_ref().map(|(_, spent)| *spent);
        let balancer = self.balancer.iter().map(|balancer| &balancer.process);
        let each = self.servers().map(|server| &server.process).chain(balancer);
        each.map(Served::cpu_time).chain(lost).sum()
    }

    /// The last lines of what each server has written, the first one's first.
    pub fn log_end(&self) -> Vec<String> {
        self.all()
            .flat_map(|server| server.process.log_end())
            .collect()
    }

    /// Calls of all servers to their tokens so far; none where nothing is counted.
    ///
    /// # Errors
    /// When that cannot be read.
    pub fn calls(&self) -> Result<Option<CallsSoFar>, Error> {
        let mut sum: Option<CallsSoFar> = None;
        for server in self.all() {
            if let Some(calls) = server.calls()? {
                sum.get_or_insert_default().add(calls);
            }
        }
        Ok(sum)
    }

    /// Kills the last server of several, as an accident would.
    pub fn kill_one(&mut self) {
        if let Some(last) = self.others.pop() {
            let spent = last.process.cpu_time();
            last.process.kill();
            self.lost = Some((last, spent));
        }
    }

    /// Checks that all servers that were not killed still run.
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

    /// Waits until nothing of a load is left in those that were not killed. Returns how long it took; none when something is
    /// left after that time.
    pub fn drain(&mut self, limit: Duration) -> Option<Duration> {
        let mut all = Duration::ZERO;
        for server in self.living() {
            all += server.drain(limit.saturating_sub(all))?;
        }
        Some(all)
    }

    /// Everything about it, for the record.
    pub fn describe(&self) -> BTreeMap<String, String> {
        let mut told = self.first.describe();
        if let Some(balancer) = &self.balancer {
            told.extend(balancer.describe());
            told.insert("key_places".to_owned(), self.places.to_string());
        }
        told
    }
}

/// The servers of a plan.
#[derive(Debug)]
pub struct Servers {
    by_stack: BTreeMap<StackName, InstalledServer>,
    balancer: Option<(PathBuf, Version)>,
}

impl Servers {
    /// Looks for those of that names.
    ///
    /// # Errors
    /// When one is missing, with the package that brings it, or a name is no server's.
    pub fn find(names: &[StackName]) -> Result<Self, Error> {
        let find = |name: &StackName| {
            let kind = servers::kind(name.word());
            let kind = kind.map_err(|why| Error::call("looking for a server", why, ""))?;
            let installed = InstalledServer::find(kind, &SearchPath::usual())?;
            Ok::<_, Error>((*name, installed))
        };
        Ok(Self {
            by_stack: names.iter().map(find).collect::<Result<_, _>>()?,
            balancer: None,
        })
    }

    /// Also looks for haproxy.
    ///
    /// # Errors
    /// When it is missing, with the package that brings it.
    pub fn and_balancer(self) -> Result<Self, Error> {
        let haproxy = HAPROXY.find(&SearchPath::usual())?;
        Ok(Self {
            balancer: Some(haproxy),
            ..self
        })
    }

    fn balancer(&self) -> Result<&(PathBuf, Version), Error> {
        let none = || Error::call("starting a balancer", "the plan has none", "");
        self.balancer.as_ref().ok_or_else(none)
    }

    fn get(&self, name: StackName) -> Result<&InstalledServer, Error> {
        let none = || {
            Error::call(
                "starting a server",
                format!("{name} is not in the plan"),
                "",
            )
        };
        self.by_stack.get(&name).ok_or_else(none)
    }

    /// Why the server's OpenSSL is too old for a case, if it is.
    pub fn too_old_for(&self, case: &Case) -> Option<String> {
        let version = &self.by_stack.get(&case.stack)?.openssl().ok()?.version;
        let asked = Handshake::of(case).ok()?;
        let keys = std::iter::once(case.algorithm).chain(asked.client);
        servers::too_new(version, keys, &[asked.key_exchange])
    }

    /// Versions of the programs, and of the library of cryptography that each uses.
    pub fn versions(&self) -> BTreeMap<String, String> {
        let balancer = self
            .balancer
            .iter()
            .map(|(_, version)| ("haproxy".to_owned(), version.to_string()));
        let each = self.by_stack.values().flat_map(|installed| {
            let (name, library) = (installed.name().to_lowercase(), &installed.library);
            [
                (
                    format!("{name} with {}", library.name),
                    library.version.to_string(),
                ),
                (name, installed.version.to_string()),
            ]
        });
        each.chain(balancer).collect()
    }
}
