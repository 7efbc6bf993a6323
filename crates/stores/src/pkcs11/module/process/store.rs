//! A token in a process of its own, as a key store.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use keymark_bench::store::Capability;
use keymark_bench::worker::{Channel, Peer, Reply, Request, WorkerProcess};
use keymark_bench::workload::{Crew, KeyHandle};
use keymark_bench::{During as _, Error, KeyRef};
use openssl::pkey::PKey;
use parking_lot::Mutex;

use super::client::{Readers, TokenProcess, look_at};
use super::{ModuleRequest, OpenRequest, PipedPin, WorkersRequest, out_of_turn};
use crate::access::{Access, Certificate, KeyUse, ProgramKey};
use crate::device::Run;
use crate::pkcs11::session::{KeyOrigin, Placed};
use crate::pkcs11::token::Owner;
use crate::pkcs11::token::capabilities::asked_for;
use crate::pkcs11::token::external_access::NAME_A_KEY;
use crate::pkcs11::token::family::tokens;
use crate::public_key::PublicKey;
use crate::scheme::Scheme;
use crate::software::SoftwareStore;
use crate::store::{KeyStore, unsupported};

/// Reason for which a device was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DeviceChoice {
    /// The user has named it: a run without it is none.
    ByName,
    /// The device is one of all that are here.
    AmongAll,
}

/// The store.
#[derive(Debug)]
pub(crate) struct ProcessStore {
    capabilities: Vec<Capability>,
    keys: Arc<ProcessKeys>,
}

/// The keys of a run on the token.
#[derive(Debug)]
struct ProcessKeys {
    process: Arc<TokenProcess>,
    test_keys: Arc<SoftwareStore>,
    /// Each with the process that has it.
    placed: Mutex<HashMap<Capability, (u32, Placed)>>,
}

impl ProcessStore {
    /// The token, in a run. The user enters a PIN before anything is measured. One of many devices that
    /// were looked for is in nobody's way when it fails: the run learns of it when it asks for a key.
    pub(crate) fn open(
        process: Arc<TokenProcess>,
        capabilities: &[Capability],
        run: &Run,
        by: DeviceChoice,
    ) -> Result<Self, Error> {
        let journals = run.journals.as_ref();
        let journals = journals.map(|(place, run)| (place.path().to_owned(), run.clone()));
        let begun = process.begin_run(journals);
        match (begun, by) {
            (Ok(()), _) => {}
            (Err(error), DeviceChoice::ByName) => return Err(error),
            (Err(error), DeviceChoice::AmongAll) => process.give_up(error),
        }
        Ok(Self {
            capabilities: capabilities.to_vec(),
            keys: Arc::new(ProcessKeys {
                process,
                test_keys: Arc::clone(&run.test_keys),
                placed: Mutex::default(),
            }),
        })
    }
}

impl ProcessKeys {
    /// Has the key there, in the process that is there now.
    fn placed(&self, capability: Capability) -> Result<(u32, Placed), Error> {
        let asked = asked_for(capability);
        let generation = self.process.generation()?;
        let mut all = self.placed.lock();
        let before = all.get(&asked);
        if let Some(placed) = before.filter(|(process, _)| *process == generation) {
            return Ok(placed.clone());
        }
        let open = &self.process.open;
        let takes_test_key = !open.wanted.names_one() && open.owner != Owner::Generator;
        let test_key = if takes_test_key {
            Some(self.test_keys.made_for(asked)?.sealed()?)
        } else {
            None
        };
        let request = ModuleRequest::Key(asked, test_key);
        let (label, spki, origin): (String, Vec<u8>, KeyOrigin) = self.process.request(request)?;
        let public = PKey::public_key_from_der(&spki)
            .map(|key| PublicKey::of_public(asked.algorithm, key))
            .during("d2i_PUBKEY")?;
        if let Some((_, before)) = before
            && before.public.spki_der().ok().as_ref() != Some(&spki)
        {
            return Err(Error::call(
                format!("using '{}' again", before.label),
                "the token generated it for a process that has ended",
                "",
            ));
        }
        let placed = Placed {
            label,
            public,
            origin,
        };
        let placed = (generation, placed);
        all.insert(asked, placed.clone());
        Ok(placed)
    }

    /// A process with one worker, which is also given the key, or finds it.
    fn worker_apart(
        &self,
        capability: Capability,
        scheme: Option<Scheme>,
    ) -> Result<WorkerProcess, Error> {
        let OpenRequest { info, wanted, .. } = &self.process.open;
        let wanted = match self.placed(capability)?.1.origin {
            KeyOrigin::Found(object) => object,
            KeyOrigin::Written(_) => wanted.clone(),
            KeyOrigin::Generated(_) => {
                let token = info.id();
                let serial = token.serial();
                return Err(Error::call(
                    format!("opening token {serial} in another process"),
                    "it accepts no test keys from outside, and those that it generates belong to one process",
                    format!("--write-to {serial} writes them to the token; or {NAME_A_KEY}"),
                ));
            }
        };
        let process = self.process.another(wanted)?;
        process.begin_run(None)?;
        let keys = Self {
            process: Arc::new(process),
            test_keys: Arc::clone(&self.test_keys),
            placed: Mutex::default(),
        };
        let channel = WorkersChannel::open(Arc::new(keys), capability, scheme, 1)?;
        Ok(WorkerProcess::new(channel, 1))
    }
}

/// A key on a token behind a PKCS#11 module, for other programs and for other processes of keymark's.
#[derive(Debug, Clone)]
pub struct ModuleAccess {
    keys: Arc<ProcessKeys>,
    capability: Capability,
}

impl ModuleAccess {
    /// Returns the means by which a program uses the key. A test key is written to the token for it, if that is one of
    /// keymark's own, and given a certificate where one is wanted; owners have seen to it for other keys.
    pub fn program_key(&self, certificate: Certificate) -> Result<ProgramKey, Error> {
        self.keys.placed(self.capability)?;
        let TokenProcess { open, user, .. } = &*self.keys.process;
        let request = ModuleRequest::Program(asked_for(self.capability), certificate);
        let (told, pin): (ProgramKey, Option<PipedPin>) = self.keys.process.request(request)?;
        Ok(ProgramKey {
            pin: pin.map(|PipedPin(pin)| pin),
            environment: open.file.environment_without(&user.pins),
            ..told
        })
    }

    /// The module's other tokens that would take a PIN.
    pub fn other_tokens_with_pin(&self) -> Result<Vec<String>, Error> {
        let TokenProcess { open, user, .. } = &*self.keys.process;
        let mut looked = look_at(vec![open.file.clone()], user, Readers::Shown);
        let module = looked.pop().ok_or_else(out_of_turn)?.1?;
        Ok(tokens(&module)
            .map(|(_, token)| token)
            .filter(|token| token.login.pin().is_some())
            .filter(|token| (token.id(), &token.label) != (open.info.id(), &open.info.label))
            .map(|token| token.id().to_string())
            .collect())
    }

    /// A process of keymark's with one worker, which does that with the key.
    pub(crate) fn worker(&self, used: KeyUse) -> Result<WorkerProcess, Error> {
        self.keys.worker_apart(used.capability, used.scheme)
    }
}

impl KeyStore for ProcessStore {
    fn capabilities(&self) -> Result<Vec<Capability>, Error> {
        Ok(self.capabilities.clone())
    }

    fn key(&self, capability: Capability) -> Result<KeyRef, Error> {
        if !self.capabilities.contains(&asked_for(capability)) {
            let device = &self.keys.process.open.device;
            return Err(unsupported(device.to_string(), capability));
        }
        let (_, placed) = self.keys.placed(capability)?;
        Ok(KeyRef::new(capability, placed.label))
    }

    fn public_key(&self, key: &KeyRef) -> Result<PublicKey, Error> {
        Ok(self.keys.placed(key.capability())?.1.public)
    }

    fn access(&self, key: &KeyRef) -> Result<Access, Error> {
        Ok(Access::Module(ModuleAccess {
            keys: Arc::clone(&self.keys),
            capability: key.capability(),
        }))
    }

    fn open(&self, key: &KeyRef, _: Option<Scheme>) -> Result<Box<dyn KeyHandle>, Error> {
        let reason = "its module runs in a process of its own, where workers use it";
        Err(Error::call(format!("opening '{}'", key.label), reason, ""))
    }

    fn crew(&self, key: &KeyRef, scheme: Option<Scheme>, workers: usize) -> Result<Crew, Error> {
        let keys = Arc::clone(&self.keys);
        let channel = WorkersChannel::open(keys, key.capability(), scheme, workers)?;
        Ok(Crew::Processes(vec![WorkerProcess::new(channel, workers)]))
    }

    fn restore(&self) -> Result<(), Error> {
        self.keys.placed.lock().clear();
        // Nothing but a journal outlives the process.
        let process = &self.keys.process;
        let may_write = process.open.write.is_some();
        if process.was_given_up() || (process.has_died() && !may_write) {
            return Ok(());
        }
        process.request(ModuleRequest::Restore(None))
    }
}

/// The connection to the workers of one case, in whichever process there is.
struct WorkersChannel {
    keys: Arc<ProcessKeys>,
    request: WorkersRequest,
    /// Generation of the process that they are in.
    opened: Option<u32>,
    peer: Peer,
}

impl WorkersChannel {
    fn open(
        keys: Arc<ProcessKeys>,
        capability: Capability,
        scheme: Option<Scheme>,
        workers: usize,
    ) -> Result<Self, Error> {
        let request = WorkersRequest {
            number: keys.process.next_workers(),
            capability,
            scheme,
            workers,
        };
        let mut channel = Self {
            keys,
            request,
            opened: None,
            peer: Peer::New,
        };
        channel.reopen()?;
        Ok(channel)
    }

    /// Has the workers in the process that is there now.
    fn reopen(&mut self) -> Result<(), Error> {
        let (generation, _) = self.keys.placed(self.request.capability)?;
        if self.opened != Some(generation) {
            let process = &self.keys.process;
            process.request::<()>(ModuleRequest::Workers(self.request))?;
            self.opened = Some(generation);
            self.peer = Peer::New;
        }
        Ok(())
    }
}

impl Channel for WorkersChannel {
    fn begin(&mut self) -> Result<Peer, Error> {
        self.reopen()?;
        Ok(std::mem::replace(&mut self.peer, Peer::Known))
    }

    fn send(&mut self, request: &Request) -> Result<(), Error> {
        self.keys.process.send(self.request.number, request)
    }

    fn recv(&mut self, limit: Option<Duration>) -> Result<Reply, Error> {
        self.keys.process.recv(limit)
    }
}
