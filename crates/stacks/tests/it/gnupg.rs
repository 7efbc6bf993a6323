//! The installed GnuPG end to end: every algorithm it offers, on every layer, with the same key.

use std::path::Path;
use std::sync::Arc;

use keymark_bench::algorithm::{Algorithm, Family};
use keymark_bench::case::{Case, StackName};
use keymark_bench::error::Error;
use keymark_bench::operation::Operation;
use keymark_bench::workload::Stack;
use keymark_stacks::gnupg::agent::AgentStack;
use keymark_stacks::gnupg::home::Passphrase;
use keymark_stacks::gnupg::homes::GnupgHomes;
use keymark_stacks::gnupg::key_home::KeyHome;
use keymark_stacks::gnupg::process::GnupgStack;
use keymark_stacks::gnupg::{Gnupg, Protection};
use keymark_stacks::raw::RawStack;
use keymark_testkit::assert_says;

use crate::suite::{exercise, gpg_with, keys, stack_passes};

fn case(
    algorithm: Algorithm,
    operation: Operation,
    stack: StackName,
    protection: Protection,
) -> Case {
    let case = keymark_testkit::case(algorithm.name()).stack(stack);
    let case = if stack == StackName::RAW {
        case
    } else {
        case.parameters(protection.parameters())
    };
    case.operation(operation).workers(2).input_bytes(40).build()
}

/// Homes of the installed GnuPG.
struct Homes(Arc<GnupgHomes>);

impl Homes {
    fn new() -> Self {
        Self::of(Gnupg::find(None).unwrap())
    }

    fn of(gnupg: Gnupg) -> Self {
        Self(Arc::new(GnupgHomes::new(gnupg).unwrap()))
    }

    fn home(&self, algorithm: &str, protection: Protection) -> Result<Arc<KeyHome>, Error> {
        let algorithm = algorithm.parse().unwrap();
        self.0.file_home(&*keys(), algorithm, protection)
    }

    fn agent(&self) -> AgentStack {
        AgentStack::new(Arc::clone(&self.0), keys(), 0)
    }

    fn stacks(&self) -> [(StackName, Box<dyn Stack>); 2] {
        [
            (StackName::AGENT, Box::new(self.agent())),
            (StackName::GPG, Box::new(self.gnupg())),
        ]
    }

    fn gnupg(&self) -> GnupgStack {
        GnupgStack::new(Arc::clone(&self.0), keys())
    }
}

fn every_layer(algorithms: impl Iterator<Item = Algorithm>) {
    let homes = Homes::new();
    let raw = RawStack::new(keys(), 0);
    let (agent, gnupg) = (homes.agent(), homes.gnupg());
    let stacks: [(StackName, &dyn Stack); 3] = [
        (StackName::RAW, &raw),
        (StackName::AGENT, &agent),
        (StackName::GPG, &gnupg),
    ];
    let mut failures = Vec::new();
    for algorithm in algorithms {
        // ML-KEM composites have one layer only: OpenSSL lacks them, and the agent's way differs.
        let layers = if matches!(algorithm.family(), Family::Composite(_)) {
            &stacks[2..]
        } else {
            &stacks
        };
        for &operation in algorithm.operations() {
            for (name, stack) in layers {
                let case = case(algorithm, operation, *name, Protection::None);
                failures.extend(stack_passes(*stack, &case).err());
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

fn offered() -> impl Iterator<Item = Algorithm> {
    Gnupg::find(None).unwrap().algorithms.into_iter()
}

fn is_elgamal(algorithm: &Algorithm) -> bool {
    matches!(algorithm.family(), Family::Elgamal(_))
}

#[test]
fn every_algorithm_that_gpg_offers_works_on_every_layer() {
    every_layer(offered().filter(|algorithm| !is_elgamal(algorithm)));
}

#[test]
fn elgamal_works_on_every_layer() {
    every_layer(offered().filter(is_elgamal));
}

#[test]
fn a_cached_passphrase_opens_the_key_on_both_layers() {
    let homes = Homes::new();
    let cv25519: Algorithm = "cv25519".parse().unwrap();
    let plain = homes.home("cv25519", Protection::None).unwrap();
    let cached = homes.home("cv25519", Protection::Cached).unwrap();
    assert_eq!(
        plain.key(Operation::Decrypt).unwrap().keygrip,
        cached.key(Operation::Decrypt).unwrap().keygrip,
        "both homes hold the same key"
    );
    let keygrip = &cached.key(Operation::Decrypt).unwrap().keygrip;
    let file = format!("private-keys-v1.d/{keygrip}.key");
    let file = cached.home.path().join(file);
    let content = std::fs::read(file).unwrap();
    assert!(
        content.windows(10).any(|window| window == b"(protected"),
        "the cached key is protected at rest"
    );
    for (name, stack) in homes.stacks() {
        let case = case(cv25519, Operation::Decrypt, name, Protection::Cached);
        exercise(&mut stack.prepare(&case).unwrap()).unwrap();
    }
}

#[test]
fn a_wrong_passphrase_in_the_cache_ends_the_operation_with_a_reason() {
    let homes = Homes::new();
    let ed25519: Algorithm = "ed25519".parse().unwrap();
    let home = homes.home("ed25519", Protection::Cached).unwrap();
    home.home.prime(&Passphrase::random().unwrap()).unwrap();
    for (name, stack) in homes.stacks() {
        let case = case(ed25519, Operation::Sign, name, Protection::Cached);
        let error = exercise(&mut stack.prepare(&case).unwrap()).unwrap_err();
        assert!(error.contains("passphrase"), "{name}: {error}");
    }
}

/// The installed programs, with a gpg in front that refuses to make the first key.
fn gpg_that_fails_once(directory: &Path) -> Gnupg {
    let lines = format!(
        "case \"$*\" in *--generate-key*)\n\
         [ -e {0}/failed ] || {{ touch {0}/failed; echo 'gpg: No secret key' >&2; exit 2; }}\n\
         echo '[GNUPG:] KEY_CREATED B x' >&2; exit 0;;\nesac",
        directory.display()
    );
    gpg_with(directory, &lines)
}

#[test]
fn a_home_that_came_to_nothing_is_not_in_the_way_of_the_next() {
    let directory = tempfile::tempdir().unwrap();
    let homes = Homes::of(gpg_that_fails_once(directory.path()));
    let home = || homes.home("ed25519", Protection::None);
    let error = home().unwrap_err().to_string();
    assert_says(&error, ["No secret key"]);
    home().unwrap();
}
