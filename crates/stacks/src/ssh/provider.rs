//! Offers of SSH agents on a device, and their start for a run.

use std::any::Any;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use keymark_bench::store::Capability;
use keymark_bench::words::words;
use keymark_bench::workload::Workload;
use keymark_bench::{
    Algorithm, Case, Dimension, End, Error, LayerStep, Layers, Operation, OwnLibrary, Parameters,
    Point, StackName, Words,
};
use keymark_stores::access::{Access, AccessKind, Certificate};
use keymark_stores::device::{Device, Run};
use keymark_stores::pkcs11::{ModuleAccess, is_known_to_programs};
use keymark_stores::store::{KeyStore, unsupported};
use keymark_stores::test_key::TestKey;

use super::key::Scheme;
use super::{OpenSsh, agent, stack};
use crate::gnupg::home::Home;
use crate::gnupg::homes::GnupgHomes;
use crate::gnupg::{self, Gnupg, certificate};
use crate::private_dir::{self, PrivateDir};
use crate::programs::{RefusedPins, SharedByName};
use crate::provider::{Opener, StackFamily, StackProvider, Way};

const SSH: StackName = StackName::of("ssh");
/// The longest path that a socket has in a private directory.
const LONGEST_SOCKET: &str = "g-brainpoolp512r1/S.gpg-agent.browser";

/// `ssh`: logins signed by OpenSSH's agent with keys in files, by gpg-agent with those on cards too.
pub const FAMILY: StackFamily = StackFamily {
    stacks: || vec![SSH],
    look: Some(|| Box::new(SshProvider::find())),
    dimensions: &[AGENT],
    layers: || Some(layers()),
    ..StackFamily::ON_REQUEST
};

/// The agent that is asked.
const AGENT: Dimension = Dimension::of_family("agent", "SSH agent", Words::Listed(SshAgent::WORDS));

words! {
    /// The program that answers at an SSH agent's socket.
    pub enum SshAgent("SSH agent") {
        /// OpenSSH's `ssh-agent`.
        OpenSsh = "openssh",
        /// gpg-agent with `enable-ssh-support`.
        GpgAgent = "gpg-agent",
    }
}

fn through(agent: SshAgent) -> Parameters {
    Parameters::of(&AGENT, agent)
}

/// The key alone, and what each agent adds.
fn layers() -> Layers {
    let step = |heading, agent, lower: &Point| {
        LayerStep::new(heading, &Point::new(SSH, through(agent)), lower)
    };
    let libgcrypt = gnupg::libgcrypt();
    let point = libgcrypt.point.clone();
    Layers {
        family: "SSH",
        base: End::called("key", Point::RAW),
        own_library: Some(OwnLibrary {
            beside: End::called("libgcrypt", point.clone()),
            explanation: "the key is OpenSSL's time; '+ gpg-agent' is the difference to libgcrypt, which gpg-agent \
                          calculates with",
            stand_in: "the key is OpenSSL's time, but gpg-agent calculates with libgcrypt: '+ gpg-agent' includes the \
                       difference of the two libraries; --library openssl,libgcrypt separates them",
            ..libgcrypt
        }),
        steps: vec![
            step("+ ssh-agent", SshAgent::OpenSsh, &Point::RAW),
            step("+ gpg-agent", SshAgent::GpgAgent, &point),
        ],
        whole: None,
        bottleneck: None,
    }
}

/// The programs that have agents for ssh.
#[derive(Debug, Clone)]
pub(crate) struct SshProvider {
    pub(crate) openssh: Result<OpenSsh, Error>,
    pub(crate) gnupg: Result<Gnupg, Error>,
}

impl StackProvider for SshProvider {
    fn ways(&self, device: &dyn Device) -> Vec<Way> {
        let reached = [AccessKind::KeyFile, AccessKind::Card, AccessKind::Module];
        if !reached.into_iter().any(|kind| device.has(kind)) {
            return Vec::new();
        }
        let agents = self.agents(device);
        let found = agents
            .as_ref()
            .map(|_| keys(device, Operation::Authenticate))
            .map_err(Clone::clone);
        let parameters = agents.into_iter().flatten().map(through).collect();
        vec![Way::on_request(SSH, found, parameters)]
    }

    fn versions(&self, _: &dyn Device) -> BTreeMap<String, String> {
        let gnupg = self.gnupg.iter().flat_map(Gnupg::versions);
        let openssh = self.openssh.iter().flat_map(OpenSsh::versions);
        gnupg.chain(openssh).collect()
    }

    fn open(&self, run: &Run) -> Result<Opener, Error> {
        let agents = Arc::new(Agents::new(self)?);
        let seed = run.seed;
        Ok(Box::new(move |_, store| {
            let agents = Arc::clone(&agents);
            Box::new(move |case: &Case| agents.prepare(store.as_ref(), seed, case))
        }))
    }
}

impl SshProvider {
    pub(crate) fn find() -> Self {
        Self {
            openssh: OpenSsh::find(),
            gnupg: Gnupg::find(None),
        }
    }

    /// The agents that are here and get at the device's keys; without any, why.
    fn agents(&self, device: &dyn Device) -> Result<Vec<SshAgent>, Error> {
        private_dir::check_room_for_socket(LONGEST_SOCKET)?;
        let gnupg = gnupg::reachable(&self.gnupg, device);
        let openssh = self.openssh.as_ref().map_err(Clone::clone);
        if device.has(AccessKind::Card) {
            // A card is gpg-agent's alone: ssh-agent knows PKCS#11 modules only.
            return gnupg.map(|_| vec![SshAgent::GpgAgent]);
        }
        if device.has(AccessKind::Module) {
            // And such a module is ssh-agent's.
            crate::provider::has_key_on_token(device)?;
            return openssh.map(|_| vec![SshAgent::OpenSsh]);
        }
        match (openssh, gnupg) {
            (Ok(_), Ok(_)) => Ok(vec![SshAgent::OpenSsh, SshAgent::GpgAgent]),
            (Ok(_), Err(_)) => Ok(vec![SshAgent::OpenSsh]),
            (Err(_), Ok(_)) => Ok(vec![SshAgent::GpgAgent]),
            (Err(error), Err(_)) => Err(error),
        }
    }
}

/// The keys with that operation that SSH has a name for; on a token none but those that are there, and behind a
/// PKCS#11 module those that OpenSSH takes from one.
pub(crate) fn keys(device: &dyn Device, operation: Operation) -> Vec<Capability> {
    let on_token = device.has(AccessKind::Module);
    let takes = |algorithm: Algorithm| !on_token || is_known_to_programs(algorithm.family());
    let synonyms = device.synonyms();
    let known = device.present().iter().chain(&synonyms);
    known
        .filter(|capability| capability.operation == operation)
        .filter(|capability| takes(capability.algorithm))
        .filter(|capability| Scheme::of(capability.algorithm).is_some())
        .copied()
        .collect()
}

/// The agents of a run: one of each kind for each algorithm's key, started when first needed.
#[derive(Debug)]
pub(crate) struct Agents {
    programs: SshProvider,
    ssh_agents: SharedByName<Algorithm, agent::SshAgent>,
    homes: SharedByName<Algorithm, Home>,
    /// Agents by the URI of their key.
    token_agents: SharedByName<String, agent::SshAgent>,
    refused: RefusedPins,
    gnupg_homes: Result<GnupgHomes, Error>,
    /// Removed last: agents listen at sockets in it.
    dir: PrivateDir,
}

impl Agents {
    pub(crate) fn new(found: &SshProvider) -> Result<Self, Error> {
        Ok(Self {
            programs: found.clone(),
            ssh_agents: SharedByName::default(),
            homes: SharedByName::default(),
            token_agents: SharedByName::default(),
            refused: RefusedPins::default(),
            gnupg_homes: found.gnupg.clone().and_then(GnupgHomes::new),
            dir: PrivateDir::new()?,
        })
    }

    /// The stack, on one key store.
    fn prepare(&self, store: &dyn KeyStore, seed: u64, case: &Case) -> Result<Workload, Error> {
        let capability = case.capability();
        let agent = case.parameters.read(&AGENT)?;
        let agent = agent.ok_or_else(|| unsupported("an unnamed SSH agent", capability))?;
        let key = store.key(capability)?;
        let public = store.public_key(&key)?;
        let access = store.access(&key)?;
        let asking = |socket: &Path, agent: Arc<dyn Any + Send + Sync>| {
            stack::workload(socket, &agent, &public, case.workers(), seed)
        };
        match agent {
            SshAgent::OpenSsh => {
                let agent = self.openssh_agent(access, capability)?;
                asking(agent.socket(), agent.clone())
            }
            SshAgent::GpgAgent => match access {
                Access::KeyFile(key) => {
                    let home = self.home(&key)?;
                    asking(&home.ssh_socket()?, home)
                }
                Access::Card(..) => {
                    let home = self.gnupg_homes()?.home_of(case, store)?;
                    let workload = asking(&home.home.ssh_socket()?, home.clone())?;
                    let metered = |handle| gnupg::key_home::metered(handle, case, &home);
                    Ok(Workload {
                        crew: workload.crew.wrapped(metered),
                        ..workload
                    })
                }
                Access::Module(_) | Access::Locator(_) => Err(unsupported("gpg-agent", capability)),
            },
        }
    }

    /// Returns OpenSSH's agent with that key.
    pub(crate) fn openssh_agent(
        &self,
        access: Access,
        capability: Capability,
    ) -> Result<Arc<agent::SshAgent>, Error> {
        match access {
            Access::KeyFile(key) => self.ssh_agent(&key),
            Access::Module(module) => self.token_agent(&module),
            Access::Card(..) | Access::Locator(_) => Err(unsupported("ssh-agent", capability)),
        }
    }

    fn ssh_agent(&self, key: &TestKey) -> Result<Arc<agent::SshAgent>, Error> {
        self.ssh_agents.get(key.algorithm, || {
            let openssh = self.programs.openssh.as_ref().map_err(Clone::clone)?;
            let agent = agent::SshAgent::start(openssh, &self.directory("o", key)?)?;
            agent.add(key)?;
            Ok(agent)
        })
    }

    /// OpenSSH's agent that has loaded the module and logged in to the key's token. Each key has its own: an agent sees
    /// what was on the token when it loaded the module.
    fn token_agent(&self, access: &ModuleAccess) -> Result<Arc<agent::SshAgent>, Error> {
        let openssh = self.programs.openssh.as_ref().map_err(Clone::clone)?;
        let others = access.other_tokens_with_pin()?;
        if !others.is_empty() {
            return Err(Error::call(
                "giving ssh-agent a token",
                format!(
                    "it would also send the PIN to the module's other tokens: {}",
                    others.join(", ")
                ),
                "leave only this token in the module, or measure it through raw or openssl",
            ));
        }
        let key = access.program_key(Certificate::NotNeeded)?;
        let (token, uri) = (key.token_uri(), key.uri(None));
        self.token_agents.get(uri, || {
            self.refused.check(&token)?;
            let directory = self.dir.numbered('p')?;
            // The agent does not say whether the PIN was wrong.
            agent::SshAgent::with_token(openssh, &directory, &key)
                .inspect_err(|error| self.refused.note(&token, error.clone()))
        })
    }

    /// The home whose gpg-agent offers the key to ssh. It has no OpenPGP key: ssh asks for none.
    fn home(&self, key: &TestKey) -> Result<Arc<Home>, Error> {
        self.homes.get(key.algorithm, || {
            let gnupg = self.programs.gnupg.as_ref().map_err(Clone::clone)?;
            let home = Home::new(gnupg, self.directory("g", key)?)?;
            home.offer_to_ssh(&certificate::put(&home, key)?)?;
            Ok(home)
        })
    }

    /// Returns the homes of gpg's keys.
    pub(crate) fn gnupg_homes(&self) -> Result<&GnupgHomes, Error> {
        self.gnupg_homes.as_ref().map_err(Clone::clone)
    }

    fn directory(&self, kind: &str, key: &TestKey) -> Result<PathBuf, Error> {
        self.dir.subdirectory(&format!("{kind}-{}", key.algorithm))
    }
}
