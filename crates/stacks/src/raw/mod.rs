//! The stack `raw`: the private-key operation of a key store, nothing around it; of keys in memory also
//! by other libraries.

use std::sync::Arc;

use keymark_bench::store::Capability;
use keymark_bench::workload::{Crew, Stack, Workload};
use keymark_bench::{
    Case, Dimension, Error, Load, Operation, Parameters, Point, StackName, Standing, Words, Worker,
    default_input_bytes,
};
use keymark_stores::access::{AccessKind, KeyUse, Library};
use keymark_stores::challenge::Challenge;
use keymark_stores::device::{Device, Run};
use keymark_stores::scheme::Scheme;
use keymark_stores::store::KeyStore;
use keymark_stores::{software, worker};

use crate::provider::{Opener, StackFamily, StackProvider, Way};

/// `raw`, on every device.
pub const FAMILY: StackFamily = StackFamily {
    stacks: || vec![StackName::RAW],
    standing: Standing::Usual,
    look: Some(|| Box::new(RawProvider)),
    dimensions: &[LIBRARY, SCHEME],
    ..StackFamily::ON_REQUEST
};

/// Library that calculates with keys in memory; the usual is the OpenSSL that is built in.
pub const LIBRARY: Dimension =
    Dimension::of_family("library", "library", Words::Listed(Library::WORDS)).usually("openssl");

/// Scheme of a key's use; the usual is PKCS#1 v1.5 of RSA, and of every other algorithm its only scheme.
pub const SCHEME: Dimension =
    Dimension::of_family("scheme", "scheme", Words::Listed(Scheme::WORDS)).usually("pkcs1");

/// The bare operation by another library than the one that is built in, where keys are in memory.
pub fn by_library(library: Library) -> Point {
    Point::new(StackName::RAW, Parameters::of(&LIBRARY, library))
}

#[derive(Debug)]
struct RawProvider;

impl StackProvider for RawProvider {
    fn ways(&self, device: &dyn Device) -> Vec<Way> {
        let workers: &[Worker] = if !device.has(AccessKind::Card) {
            &[Worker::Thread, Worker::Process]
        } else {
            &[Worker::Thread]
        };
        let found = Ok(device.capabilities().to_vec());
        let usual = Way {
            standing: Standing::Usual,
            synonyms: device.synonyms(),
            workers,
            ..Way::on_request(StackName::RAW, found, vec![Parameters::NONE])
        };
        let mut ways = with_schemes(usual.clone(), device);
        if device.has(AccessKind::KeyFile) {
            ways.extend(software::libraries().map(|library| with_library(&usual, library)));
        }
        ways
    }

    fn open(&self, run: &Run) -> Result<Opener, Error> {
        let seed = run.seed;
        Ok(Box::new(move |_, store| {
            Box::new(RawStack::new(store, seed))
        }))
    }
}

/// The usual way, and the same keys used otherwise.
fn with_schemes(usual: Way, device: &dyn Device) -> Vec<Way> {
    let schemes = device.schemes().into_iter();
    let offered = schemes.filter(|(_, capabilities)| !capabilities.is_empty());
    let others: Vec<Way> = offered
        .map(|(scheme, capabilities)| Way {
            found: Ok(capabilities),
            synonyms: Vec::new(),
            parameters: vec![Parameters::of(&SCHEME, scheme)],
            ..usual.clone()
        })
        .collect();
    std::iter::once(usual).chain(others).collect()
}

/// Returns the way with another library than the built-in one, to the same keys in memory.
fn with_library(built_in: &Way, library: Library) -> Way {
    let found = software::load(library).map(|loaded| loaded.capabilities());
    let has = |algorithm| {
        let mut known = found.iter().flatten();
        known.any(|capability: &Capability| capability.algorithm == algorithm)
    };
    Way {
        synonyms: built_in
            .synonyms
            .iter()
            .filter(|synonym| has(synonym.algorithm))
            .copied()
            .collect(),
        parameters: vec![Parameters::of(&LIBRARY, library)],
        workers: match library {
            // Another process does not know their files.
            Library::OpenSslA | Library::OpenSslB => &[Worker::Thread],
            Library::Libgcrypt | Library::OpenSslSystem | Library::RustCrypto => built_in.workers,
        },
        found,
        ..built_in.clone()
    }
}

/// The stack, on one key store; messages are drawn with the seed.
#[derive(Debug, derive_more::Constructor)]
pub struct RawStack {
    store: Arc<dyn KeyStore>,
    seed: u64,
}

/// The operation of a case's key by itself, of one in memory by that library.
pub(crate) fn alone(
    case: &Case,
    store: &Arc<dyn KeyStore>,
    (operation, library): (Operation, Option<Library>),
    seed: u64,
) -> Result<Workload, Error> {
    let by = library.map(|library| by_library(library).parameters);
    let asked = Case {
        operation,
        stack: StackName::RAW,
        parameters: by.unwrap_or_default(),
        load: Load::single(),
        input_bytes: match operation == case.operation {
            true => case.input_bytes,
            false => default_input_bytes(operation),
        },
        ..case.clone()
    };
    RawStack::new(Arc::clone(store), seed).prepare(&asked)
}

impl Stack for RawStack {
    fn prepare(&self, case: &Case) -> Result<Workload, Error> {
        let capability = case.capability();
        let key = self.store.key(capability)?;
        let public = self.store.public_key(&key)?;
        let scheme: Option<Scheme> = case.parameters.read(&SCHEME)?;
        let library: Option<Library> = case.parameters.read(&LIBRARY)?;
        let bytes = case.input_bytes;
        let challenge = Challenge::new(&public, case.operation, scheme, bytes, self.seed)?;
        let answers = self.store.answers(&key)?;
        let workers = 0..case.workers();
        let crew = match (case.load.worker, library) {
            (Worker::Thread, None) => self.store.crew(&key, scheme, workers.len())?,
            (Worker::Thread, Some(library)) => {
                let key = self.store.access(&key)?.into_file()?;
                let open = |_| software::open(&key, case.operation, Some(library), None);
                Crew::Threads(workers.map(open).collect::<Result<_, _>>()?)
            }
            (Worker::Process, _) => {
                let access = self.store.access(&key)?;
                let used = KeyUse {
                    capability,
                    scheme,
                    library,
                };
                let processes = workers.map(|_| worker::start(&access, used));
                Crew::Processes(processes.collect::<Result<_, _>>()?)
            }
        };
        let check = challenge.verifier;
        Ok(Workload {
            crew,
            inputs: challenge.inputs,
            verifier: answers.form.checked(case.algorithm, case.operation, check),
            output_capacity: answers.capacity,
        })
    }
}
