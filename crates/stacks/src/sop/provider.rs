//! Offers of the programs, and the preparation of their cases.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use keymark_bench::store::Capability;
use keymark_bench::workload::{Crew, KeyHandle, Workload};
use keymark_bench::{
    Algorithm, Case, Composite, Dimension, Error, Family, Operation, Parameters, Part, StackName,
    Words,
};
use keymark_stores::access::AccessKind;
use keymark_stores::device::{Device, Run};
use keymark_stores::store::{KeyStore, unsupported};

use super::key::{Origin, SopKey, encrypt};
use super::verifier::MessageResults;
use super::{Sop, SopProgram, VARIABLE};
use crate::gnupg::homes::GnupgHomes;
use crate::gnupg::process::{Message, messages, messages_in};
use crate::gnupg::{self, Gnupg, Protection};
use crate::private_dir::PrivateDir;
use crate::programs::{OperationProcess, SharedByName, create, open};
use crate::provider::{Opener, StackFamily, StackProvider, Way};
use crate::references::{self, ReferencedProcess, References};

const SOP: StackName = StackName::of("sop");
/// Longest result besides a message: a composite's signature has 3.4 kB.
const CAPACITY: usize = 16 << 10;

/// `sop`, on keys in files.
pub const FAMILY: StackFamily = StackFamily {
    stacks: || vec![SOP],
    look: Some(|| Box::new(SopProvider::look())),
    dimensions: &[PROGRAM],
    ..StackFamily::ON_REQUEST
};

/// Each case says one.
const PROGRAM: Dimension = Dimension::of_family(
    "program",
    "OpenPGP program",
    Words::Listed(SopProgram::WORDS),
);

/// Algorithms of RFC 9980's profile.
const COMPOSITES: [Family; 2] = [
    Family::Composite(Composite::MlDsa65Ed25519),
    Family::Composite(Composite::MlKem768X25519),
];

/// Returns the subcommand of an operation with its options; the key's file follows.
const fn subcommand(operation: Operation) -> Option<(&'static str, &'static [&'static str])> {
    match operation {
        Operation::Sign => Some(("sign", &["--no-armor"])),
        Operation::Decrypt => Some(("decrypt", &[])),
        Operation::Authenticate | Operation::Decapsulate | Operation::Handshake => None,
    }
}

#[derive(Debug)]
struct SopProvider {
    programs: Vec<(SopProgram, Result<Sop, Error>)>,
    /// Makes the keys of all but composites.
    gnupg: Result<Gnupg, Error>,
}

impl SopProvider {
    /// Asks the programs; another one has to be named.
    fn look() -> Self {
        let is_named = std::env::var_os(VARIABLE).is_some();
        let words = SopProgram::ALL.iter().copied();
        let expected = words.filter(|word| *word != SopProgram::Other || is_named);
        Self {
            programs: expected.map(|word| (word, Sop::find(word))).collect(),
            gnupg: Gnupg::find(None),
        }
    }

    /// Returns the capabilities of a program: keys that every OpenPGP program of today reads, and composites where it makes
    /// them itself.
    fn offered(&self, sop: &Sop, device: &dyn Device) -> Result<Vec<Capability>, Error> {
        let own = COMPOSITES.into_iter().filter_map(Algorithm::of);
        let own = own.flat_map(Capability::of).filter(|_| sop.has_composites);
        let gnupg = match gnupg::reachable(&self.gnupg, device) {
            Err(_) if sop.has_composites => return Ok(own.collect()),
            gnupg => gnupg?,
        };
        let is_common = |can: &&Capability| {
            let family = can.algorithm.family();
            let is_in_all = matches!(
                family,
                Family::Rsa(2048..) | Family::Ed25519 | Family::Cv25519
            );
            (is_in_all || family.is_of_nist()) && gnupg.algorithms.contains(&can.algorithm)
        };
        let does = |can: &&Capability| subcommand(can.operation).is_some();
        let present = device.present().iter();
        let common = present.filter(is_common).filter(does).copied();
        Ok(common.chain(own).collect())
    }

    fn found(&self) -> impl Iterator<Item = &Sop> {
        self.programs
            .iter()
            .filter_map(|(_, found)| found.as_ref().ok())
    }
}

impl StackProvider for SopProvider {
    fn ways(&self, device: &dyn Device) -> Vec<Way> {
        if !device.has(AccessKind::KeyFile) {
            return Vec::new();
        }
        let way = |(word, found): &(SopProgram, Result<Sop, Error>)| {
            let found = found.as_ref().map_err(Clone::clone);
            let found = found.and_then(|sop| self.offered(sop, device));
            Way::on_request(SOP, found, vec![Parameters::of(&PROGRAM, word)])
        };
        self.programs.iter().map(way).collect()
    }

    fn versions(&self, _: &dyn Device) -> BTreeMap<String, String> {
        self.found().map(|sop| sop.version.clone()).collect()
    }

    fn open(&self, _: &Run) -> Result<Opener, Error> {
        let keys = Arc::new(SopKeys {
            programs: self.found().cloned().map(Arc::new).collect(),
            homes: self.gnupg.clone().and_then(GnupgHomes::new),
            keys: SharedByName::default(),
            directory: PrivateDir::new()?,
        });
        Ok(Box::new(move |_, store| {
            let keys = Arc::clone(&keys);
            Box::new(move |case: &Case| keys.prepare(&*store, case))
        }))
    }
}

/// Keys of a run.
#[derive(Debug)]
struct SopKeys {
    programs: Vec<Arc<Sop>>,
    homes: Result<GnupgHomes, Error>,
    /// Keys by the home of GnuPG, or by the program that made them.
    keys: SharedByName<String, SopKey>,
    /// Removed last.
    directory: PrivateDir,
}

impl SopKeys {
    /// The stack, on one key store.
    fn prepare(&self, store: &dyn KeyStore, case: &Case) -> Result<Workload, Error> {
        let lacking = || unsupported("an OpenPGP program", case.capability());
        let subcommand = subcommand(case.operation).ok_or_else(lacking)?;
        let word: Option<SopProgram> = case.parameters.read(&PROGRAM)?;
        let sop = { self.programs.iter() }
            .find(|sop| Some(sop.word) == word)
            .ok_or_else(lacking)?;
        let key = self.key(sop, store, case)?;
        let messages = match &key.origin {
            Origin::Gnupg(home) => messages(home, case.operation, case.input_bytes)?,
            Origin::Own(certificate) => {
                let size = (case.operation, case.input_bytes);
                let encrypt = |from: &Path, to: &Path| encrypt(sop, certificate, from, to);
                messages_in(&key.directory, size, encrypt)?
            }
        };
        // Two replicas of a case are two cases.
        let directory = self.directory.numbered('i')?;
        let workers = case.workers();
        let handle = |worker: u32| -> Result<Box<dyn KeyHandle>, Error> {
            let output = directory.join(format!("{worker}.out"));
            let start = (workers == 1).then(|| start_of(sop));
            Ok(Box::new(process(sop, subcommand, &key, output, start)))
        };
        let crew = Crew::threads(workers, handle)?;
        let inputs = messages.iter().map(Message::input).collect();
        let verifier = match case.operation.signs() {
            true => MessageResults::signed(sop, &key, messages, directory)?,
            false => MessageResults::decrypted(messages)?,
        };
        Ok(Workload {
            crew,
            inputs,
            verifier: Arc::new(verifier),
            output_capacity: CAPACITY + case.input_bytes as usize,
        })
    }

    /// Returns the program's key for a case: GnuPG's, or of composites its own.
    fn key(&self, sop: &Sop, store: &dyn KeyStore, case: &Case) -> Result<Arc<SopKey>, Error> {
        if COMPOSITES.contains(&case.algorithm.family()) {
            return self.keys.get(sop.word.to_string(), || {
                SopKey::made(sop, self.directory.numbered('k')?)
            });
        }
        let homes = self.homes.as_ref().map_err(Clone::clone)?;
        let home = homes.file_home(store, case.algorithm, Protection::None)?;
        self.keys.get(home.home.path().display().to_string(), || {
            SopKey::exported(home, self.directory.numbered('k')?)
        })
    }
}

/// Returns the processes of a worker with a key, whose output is that file.
fn process(
    sop: &Arc<Sop>,
    (subcommand, options): (&'static str, &'static [&'static str]),
    key: &SopKey,
    output: PathBuf,
    references: Option<References>,
) -> ReferencedProcess {
    let (key, of) = (key.secret.clone(), Arc::clone(sop));
    let program = Arc::clone(sop);
    let command = move |input: &Path, output: &Path| {
        let mut command = program.command(subcommand);
        command.args(options).arg(&key);
        command.stdin(open(input)?).stdout(create(output)?);
        Ok(command)
    };
    ReferencedProcess {
        process: OperationProcess::new("sop", output),
        references,
        command: Box::new(command),
        failed: Box::new(move |status, said| of.failed(subcommand, status, said)),
    }
}

/// Returns the start of a program as a reference.
fn start_of(sop: &Arc<Sop>) -> References {
    let sop = Arc::clone(sop);
    References::new(move |clock| {
        let (took, done) = references::timed(clock, &mut sop.command("version"), "version")?;
        if done.status.success() {
            return Ok(vec![(Part::ProgramStart, took)]);
        }
        let said = String::from_utf8_lossy(&done.stderr);
        Err(sop.failed("version", done.status, &said))
    })
}
