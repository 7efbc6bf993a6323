//! The stack `dgst`: one `openssl dgst -sign` process a signature, which reads and hashes the message by itself.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use keymark_bench::algorithm::Family;
use keymark_bench::case::{Case, Dimension, Parameters, Scope, StackName, Words, Worker};
use keymark_bench::error::Error;
use keymark_bench::operation::Operation;
use keymark_bench::plan::Standing;
use keymark_bench::store::Capability;
use keymark_bench::words::words;
use keymark_bench::workload::{
    Calculates, Crew, Input, KeyHandle, Performed, Stack, Verifiable, Workload,
};
use keymark_stores::access::AccessKind;
use keymark_stores::challenge::INPUTS;
use keymark_stores::device::{Device, Run};
use keymark_stores::store::{KeyStore, unsupported};
use openssl::hash::{MessageDigest, hash};
use openssl::md::Md;
use openssl::pkey::PKey;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use zeroize::Zeroizing;

use crate::private_dir::PrivateDir;
use crate::program;
use crate::programs::{OperationProcess, write_private};
use crate::provider::{StackFamily, StackProvider, Use, Way};

const DGST: StackName = StackName::of("dgst");
const CALL: &str = "openssl dgst -sign";

words! {
    /// What the message is hashed with.
    pub enum Hash("hash function") {
        /// SHA-256 (FIPS 180-4).
        Sha256 = "sha256",
        /// SHA-512.
        Sha512 = "sha512",
    }
}

words! {
    /// The form of the file that has the key.
    pub enum Encoding("encoding of the key") {
        /// PKCS#8 in PEM (RFC 7468 §10).
        Pem = "pem",
        /// The same in DER.
        Der = "der",
    }
}

const HASH: Dimension = Dimension {
    name: "hash",
    kind: "hash function",
    words: Words::Listed(Hash::WORDS),
    usual: Some("sha256"),
    scope: Scope::Family,
};
const ENCODING: Dimension = Dimension {
    name: "encoding",
    kind: "encoding of the key",
    words: Words::Listed(Encoding::WORDS),
    usual: Some("pem"),
    scope: Scope::Family,
};

/// `openssl dgst`, on keys in files.
pub(crate) const FAMILY: StackFamily = StackFamily {
    stacks: || vec![DGST],
    standing: Standing::OnRequest,
    look: Some(|| Box::new(DgstProvider(program::locate(None, "openssl")))),
    dimensions: &[HASH, ENCODING],
    layers: || None,
    comparisons: &[],
};

#[derive(Debug)]
struct DgstProvider(Option<PathBuf>);

impl DgstProvider {
    fn program(&self) -> Result<PathBuf, Error> {
        self.0.clone().ok_or_else(|| Error::Missing {
            what: "openssl".to_owned(),
            reason: "not in PATH".to_owned(),
            advice: "install it with 'apt-get install openssl' (Debian, Ubuntu)".to_owned(),
        })
    }
}

/// ECDSA and RSA of the digest of a message.
fn is_known(can: Capability) -> bool {
    matches!(
        can.algorithm.family(),
        Family::Rsa(_) | Family::Weierstrass(_)
    ) && can.operation == Operation::Sign
}

impl StackProvider for DgstProvider {
    fn ways(&self, device: &dyn Device) -> Vec<Way> {
        if !device.has(AccessKind::KeyFile) {
            return Vec::new();
        }
        let sets = Hash::ALL.iter().flat_map(|hash| {
            let of = Parameters::of(&HASH, hash);
            let encodings = Encoding::ALL.iter();
            encodings.map(move |encoding| of.clone().with(&ENCODING, encoding))
        });
        let can = device
            .present()
            .iter()
            .copied()
            .filter(|can| is_known(*can));
        vec![Way {
            stack: DGST,
            standing: Standing::OnRequest,
            found: self.program().map(|_| can.collect()),
            synonyms: Vec::new(),
            parameters: sets.collect(),
            workers: &[Worker::Thread],
        }]
    }

    fn versions(&self, _: &dyn Device) -> BTreeMap<String, String> {
        BTreeMap::new()
    }

    fn guess(&self, _: &Case) -> Duration {
        Duration::from_millis(5)
    }

    fn open(&self, uses: &[Use], run: &Run) -> Result<Vec<Box<dyn Stack>>, Error> {
        let program = self.program()?;
        let open = |wanted: &Use| -> Result<Box<dyn Stack>, Error> {
            Ok(Box::new(DgstStack {
                program: program.clone(),
                store: Arc::clone(&wanted.store),
                seed: run.seed,
                number: AtomicU32::new(0),
                directory: PrivateDir::new()?,
            }))
        };
        uses.iter().map(open).collect()
    }
}

#[derive(Debug)]
struct DgstStack {
    program: PathBuf,
    store: Arc<dyn KeyStore>,
    seed: u64,
    number: AtomicU32,
    directory: PrivateDir,
}

impl Stack for DgstStack {
    fn name(&self) -> StackName {
        DGST
    }

    fn prepare(&self, case: &Case) -> Result<Workload, Error> {
        let refused = || unsupported(CALL, case.capability());
        let key = self.store.key(case.capability())?;
        let public = self.store.public_key(&key)?;
        let file = self.store.access(&key)?.file.ok_or_else(refused)?;
        let hashed = case.parameters.read(&HASH)?.unwrap_or(Hash::Sha256);
        let encoding = case.parameters.read(&ENCODING)?.unwrap_or(Encoding::Pem);
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        let directory = self.directory.subdirectory(&format!("c{number}"))?;

        let der = file.pkcs8_der()?;
        let (bytes, form) = match encoding {
            Encoding::Der => (der, "DER"),
            Encoding::Pem => {
                let pem = PKey::private_key_from_pkcs8(&der)
                    .and_then(|key| key.private_key_to_pem_pkcs8())
                    .map_err(|error| Error::call("PEM_write_bio_PKCS8PrivateKey", error, ""))?;
                (Zeroizing::new(pem), "PEM")
            }
        };
        let key_file = directory.join("key");
        write_private(&key_file, &bytes)?;

        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        let mut messages = Vec::new();
        let mut inputs = Vec::new();
        for index in 0..INPUTS {
            let mut message = vec![0; case.input_bytes as usize];
            rng.fill_bytes(&mut message);
            let path = directory.join(format!("message-{index}"));
            write_private(&path, &message)?;
            inputs.push(Input {
                bytes: path.into_os_string().into_encoded_bytes(),
            });
            messages.push(message);
        }
        let (option, digest, md) = match hashed {
            Hash::Sha256 => ("-sha256", MessageDigest::sha256(), Md::sha256()),
            Hash::Sha512 => ("-sha512", MessageDigest::sha512(), Md::sha512()),
        };
        let verifier = move |result: &Verifiable<'_>| {
            let told = |error| format!("the check failed: {error}");
            let digest = hash(digest, &messages[result.input]).map_err(told)?;
            match public.verify_digest(md, &digest, result.output) {
                Ok(true) => Ok(()),
                Ok(false) => Err("the signature is not of the message".to_owned()),
                Err(error) => Err(told(error)),
            }
        };
        let handle = |worker| -> Box<dyn KeyHandle> {
            let output = directory.join(format!("{worker}.out"));
            Box::new(Dgst {
                program: self.program.clone(),
                key: key_file.clone(),
                options: [option, "-keyform", form],
                process: OperationProcess::new(CALL, output),
            })
        };
        Ok(Workload {
            crew: Crew::Threads((0..case.concurrency()).map(handle).collect()),
            inputs: inputs.into(),
            verifier: Arc::new(verifier),
            output_capacity: 1024,
        })
    }
}

struct Dgst {
    program: PathBuf,
    key: PathBuf,
    options: [&'static str; 3],
    process: OperationProcess,
}

impl KeyHandle for Dgst {
    fn calculates(&self) -> Calculates {
        Calculates::Others
    }

    fn arm(&mut self, input: &Input) -> Result<(), Error> {
        // What an operation before this one has written counts for nothing.
        let _ = fs::remove_file(&self.process.output);
        let mut command: Command = program::command(&self.program);
        command
            .arg("dgst")
            .args(self.options)
            .arg("-sign")
            .arg(&self.key)
            .arg("-out")
            .arg(&self.process.output)
            .arg(OsStr::from_bytes(&input.bytes))
            .stdout(Stdio::null());
        self.process.arm(command)
    }

    fn perform(&mut self, _: &Input, _: &mut [u8]) -> Result<Performed, Error> {
        let failed = |status, said: &str| Error::call(CALL, format!("{status}: {said}"), "");
        Ok(Performed {
            length: 0,
            cpu: Some(self.process.run(None, failed)?),
        })
    }

    fn collect(&mut self, _: Performed, output: &mut [u8]) -> Result<usize, Error> {
        self.process.collect(output)
    }
}
