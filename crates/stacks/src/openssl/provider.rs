//! Offers of the program on a device, its ways to a key, its layers, and the preparation of its cases.

use std::collections::BTreeMap;
use std::sync::Arc;

use keymark_bench::store::Capability;
use keymark_bench::words::words;
use keymark_bench::workload::{Crew, KeyHandle, Workload};
use keymark_bench::{
    Case, Dimension, End, Error, KeyRef, LayerStep, Layers, OwnLibrary, Parameters, Point,
    StackName, StoreKind, Words,
};
use keymark_stores::access::{Access, AccessKind, Certificate, Library};
use keymark_stores::challenge::Challenge;
use keymark_stores::device::{Device, Run};
use keymark_stores::pkcs11::is_known_to_programs;
use keymark_stores::store::{KeyStore, unsupported};

use super::OpenSsl;
use super::challenge::{self, Task};
use super::key::OpenSslKey;
use super::process;
use crate::private_dir::PrivateDir;
use crate::programs::{RefusedPins, SharedByName};
use crate::provider::{Opener, StackFamily, StackProvider, Way};
use crate::raw;

const OPENSSL: StackName = StackName::of("openssl");
/// Longest result: an RSA-8192 signature.
const CAPACITY: usize = 1024;

/// `openssl`, on keys in files and on tokens behind PKCS#11 modules.
pub const FAMILY: StackFamily = StackFamily {
    stacks: || vec![OPENSSL],
    look: Some(|| Box::new(OpenSslProvider(OpenSsl::find()))),
    dimensions: &[WAY],
    layers: || Some(layers()),
    ..StackFamily::ON_REQUEST
};

#[derive(Debug)]
struct OpenSslProvider(Result<OpenSsl, Error>);

impl StackProvider for OpenSslProvider {
    fn ways(&self, device: &dyn Device) -> Vec<Way> {
        let way = |way: OpenSslWay| {
            Way::on_request(OPENSSL, self.offered(device, way), vec![way.parameters()])
        };
        // A card or a TPM is behind a PKCS#11 module for OpenSSL, and another device then.
        if device.has(AccessKind::KeyFile) {
            vec![way(OpenSslWay::File)]
        } else if device.has(AccessKind::Module) {
            vec![way(OpenSslWay::Engine), way(OpenSslWay::Provider)]
        } else {
            Vec::new()
        }
    }

    fn versions(&self, _: &dyn Device) -> BTreeMap<String, String> {
        self.0.as_ref().map(OpenSsl::versions).unwrap_or_default()
    }

    fn open(&self, run: &Run) -> Result<Opener, Error> {
        let keys = Arc::new(OpenSslKeys {
            openssl: self.0.clone()?,
            keys: SharedByName::default(),
            refused: RefusedPins::default(),
            directory: PrivateDir::new()?,
        });
        let seed = run.seed;
        Ok(Box::new(move |_, store| {
            let keys = Arc::clone(&keys);
            Box::new(move |case: &Case| keys.prepare(&store, seed, case))
        }))
    }
}

impl OpenSslProvider {
    /// Returns the program's capabilities with the device's keys; on a token with the existing keys, which both ways
    /// know.
    fn offered(&self, device: &dyn Device, way: OpenSslWay) -> Result<Vec<Capability>, Error> {
        let openssl = self.0.as_ref().map_err(Clone::clone)?;
        if let Some(way) = way.to_token() {
            openssl.build.get(way)?;
        }
        let on_token = device.has(AccessKind::Module);
        if on_token {
            crate::provider::has_key_on_token(device)?;
        }
        let reached = |can: &Capability| !on_token || is_known_to_programs(can.algorithm.family());
        let there = device.present().iter().copied();
        Ok(there
            .filter(|can| Task::known(*can).is_some() && reached(can))
            .collect())
    }
}

/// The keys of a run as the program finds them: one place a key and way.
#[derive(Debug)]
struct OpenSslKeys {
    openssl: OpenSsl,
    keys: SharedByName<String, OpenSslKey>,
    refused: RefusedPins,
    /// Removed last.
    directory: PrivateDir,
}

impl OpenSslKeys {
    /// The stack, on one key store.
    fn prepare(
        &self,
        store: &Arc<dyn KeyStore>,
        seed: u64,
        case: &Case,
    ) -> Result<Workload, Error> {
        let capability = case.capability();
        let task = Task::of(capability)?;
        let way = case.parameters.read(&WAY)?;
        let way = way.ok_or_else(|| unsupported("openssl without a way to the key", capability))?;
        let key = store.key(capability)?;
        let public = store.public_key(&key)?;
        let Challenge { inputs, verifier } =
            Challenge::new(&public, case.operation, None, case.input_bytes, seed)?;
        let place = self.place(store.access(&key)?, way)?;
        // Two replicas of a case are two cases.
        let directory = self.directory.numbered('i')?;
        let files = challenge::files(&directory, (&public, task), &inputs)?;
        let workers = case.workers();
        let handle = |worker: u32| -> Result<Box<dyn KeyHandle>, Error> {
            let references = if workers == 1 {
                let alone = alone(case, store, &key, seed)?;
                Some(process::references(Arc::clone(&place), alone))
            } else {
                None
            };
            let output = directory.join(format!("{worker}.out"));
            Ok(Box::new(process::handle(&place, task, output, references)))
        };
        Ok(Workload {
            crew: Crew::threads(workers, handle)?,
            inputs: files,
            verifier,
            output_capacity: CAPACITY,
        })
    }

    fn place(&self, access: Access, way: OpenSslWay) -> Result<Arc<OpenSslKey>, Error> {
        if let Access::KeyFile(key) = access {
            // The test key is one as long as the run is.
            let name = format!("file {:p}", Arc::as_ptr(&key));
            return self.keys.get(name, || {
                OpenSslKey::of_file(&self.openssl, self.directory.numbered('k')?, &key)
            });
        }
        let key = access.into_module()?.program_key(Certificate::NotNeeded)?;
        let name = format!("{way} {} {}", key.module().display(), key.uri(None));
        self.keys.get(name, || {
            let (directory, refused) = (self.directory.numbered('k')?, self.refused.clone());
            OpenSslKey::of_token(&self.openssl, directory, key, way, refused)
        })
    }
}

/// The operation by itself: on a token through its module, and with a key in a file by the library that the program
/// loads, where that is to be had.
fn alone(
    case: &Case,
    store: &Arc<dyn KeyStore>,
    key: &KeyRef,
    seed: u64,
) -> Result<Option<Workload>, Error> {
    // The program's library may not be one that is loaded here.
    let in_file = matches!(store.access(key)?, Access::KeyFile(_));
    let library = in_file.then_some(Library::OpenSslSystem);
    match raw::alone(case, store, (case.operation, library), seed) {
        Err(_) if library.is_some() => Ok(None),
        ready => ready.map(Some),
    }
}

/// Each case says one.
pub const WAY: Dimension = Dimension::of_family(
    "openssl",
    "way of OpenSSL to a key",
    Words::Listed(OpenSslWay::WORDS),
);

words! {
    /// Way of the program `openssl` to a key.
    pub enum OpenSslWay("way of OpenSSL to a key") {
        /// A file with the key in it (`-keyform PEM`).
        File = "file",
        /// libp11's engine for a PKCS#11 token (`-engine pkcs11`).
        Engine = "engine",
        /// A provider for a PKCS#11 token (`pkcs11-provider`).
        Provider = "provider",
    }
}

words! {
    /// Way of OpenSSL, in whatever program, to a key on a token.
    pub enum TokenWay("way of OpenSSL to a token") {
        /// libp11's engine.
        Engine = "engine",
        /// pkcs11-provider.
        Provider = "provider",
    }
}

impl OpenSslWay {
    /// The parameters of a case that goes this way.
    pub fn parameters(self) -> Parameters {
        Parameters::of(&WAY, self)
    }

    /// To a token; none where there is a file.
    pub const fn to_token(self) -> Option<TokenWay> {
        match self {
            Self::File => None,
            Self::Engine => Some(TokenWay::Engine),
            Self::Provider => Some(TokenWay::Provider),
        }
    }
}

/// The key alone, and what a process an operation adds, by each way to the key.
fn layers() -> Layers {
    let raw = raw::by_library(Library::OpenSslSystem);
    let step = |heading, way: OpenSslWay| {
        LayerStep::new(heading, &Point::new(OPENSSL, way.parameters()), &raw)
    };
    Layers {
        family: "the program openssl",
        base: End::called("key", raw.clone()),
        own_library: Some(OwnLibrary {
            point: raw.clone(),
            store: StoreKind::SOFTWARE,
            beside: End {
                heading: "built in",
                name: "the OpenSSL that is built in",
                point: Point::RAW,
            },
            explanation: "the key of software is the time of the installed libcrypto, which the program loads",
            stand_in: "the key is the time of the built-in OpenSSL, but the program loads the installed one: the process \
                       includes the difference of the two; --library openssl,openssl-system separates them",
        }),
        steps: vec![
            step("+ process (file)", OpenSslWay::File),
            step("+ process (engine)", OpenSslWay::Engine),
            step("+ process (provider)", OpenSslWay::Provider),
        ],
        whole: None,
        bottleneck: None,
    }
}
