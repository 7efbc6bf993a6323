//! OpenSSH's agent end to end, and its server on what keymark set up.

mod token;

use std::any::Any;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;

use keymark_bench::error::Error;
use keymark_bench::workload::Workload;
use keymark_stacks::private_dir::PrivateDir;
use keymark_stacks::ssh::OpenSsh;
use keymark_stacks::ssh::agent::SshAgent;
use keymark_stacks::ssh::stack;
use keymark_stores::public_key::PublicKey;
use keymark_stores::test_key::TestKey;
use keymark_testkit::assert_says;

use crate::suite::{exercise, passes, perform, performed, verdict};

const ALGORITHMS: [&str; 6] = [
    "rsa2048", "rsa3072", "nistp256", "nistp384", "nistp521", "ed25519",
];

/// An agent in a directory of its own.
struct Place {
    agent: Arc<SshAgent>,
    dir: PrivateDir,
}

impl Place {
    fn new() -> Self {
        let dir = PrivateDir::new().unwrap();
        let agent = SshAgent::start(&OpenSsh::find().unwrap(), dir.path()).unwrap();
        Self {
            agent: Arc::new(agent),
            dir,
        }
    }

    fn with_key(algorithm: &str) -> (Self, PublicKey) {
        let place = Self::new();
        let key = test_key(algorithm);
        place.agent.add(&key).unwrap();
        (place, PublicKey::of(&key).unwrap())
    }

    fn workload(&self, key: &PublicKey, workers: u32) -> Result<Workload, Error> {
        let agent: Arc<dyn Any + Send + Sync> = self.agent.clone();
        stack::workload(self.agent.socket(), &agent, key, workers, 1)
    }

    fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.dir.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    /// One of OpenSSH's programs, with this agent as the user's.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env("SSH_AUTH_SOCK", self.agent.socket())
            .stdin(Stdio::null());
        command
    }
}

fn test_key(algorithm: &str) -> TestKey {
    TestKey::generate(algorithm.parse().unwrap()).unwrap()
}

#[test]
fn every_kind_of_key_signs_logins_for_one_worker_and_for_four() {
    for algorithm in ALGORITHMS {
        let (place, key) = Place::with_key(algorithm);
        for workers in [1, 4] {
            let mut workload = place.workload(&key, workers).unwrap();
            assert_eq!(workload.crew.size(), workers as usize);
            passes(&mut workload).unwrap_or_else(|error| panic!("{algorithm}: {error}"));
            let (others, key) = Place::with_key(algorithm);
            let foreign = performed(&mut others.workload(&key, 1).unwrap(), 0).unwrap();
            assert!(verdict(&workload, 0, &foreign).is_err(), "{algorithm}");
        }
    }
}

#[test]
fn a_signature_with_another_digest_is_refused() {
    let (place, key) = Place::with_key("rsa2048");
    let mut workload = place.workload(&key, 1).unwrap();
    let mut input = workload.inputs[0].clone();
    *input.bytes.last_mut().unwrap() = 4; // SSH_AGENT_RSA_SHA2_512
    let signed = perform(workload.crew.handles()[0].as_mut(), &input, 1024).unwrap();
    assert_eq!(
        verdict(&workload, 0, &signed),
        Err("the agent signed with rsa-sha2-512, not with rsa-sha2-256".to_owned())
    );
}

#[test]
fn logins_differ_and_follow_the_seed() {
    let (place, key) = Place::with_key("ed25519");
    let agent: Arc<dyn Any + Send + Sync> = place.agent.clone();
    let inputs = |seed| {
        stack::workload(place.agent.socket(), &agent, &key, 1, seed)
            .unwrap()
            .inputs
    };
    let first = inputs(1);
    assert!((1..first.len()).all(|index| first[index] != first[0]));
    assert_eq!(first, inputs(1));
    assert_ne!(first, inputs(2));
}

#[test]
fn a_key_that_the_agent_does_not_have_is_named() {
    let place = Place::new();
    place.agent.add(&test_key("ed25519")).unwrap();
    let key = PublicKey::of(&test_key("ed25519")).unwrap();
    let error = place.workload(&key, 1).unwrap_err().to_string();
    assert_says(&error, ["has 1 keys, but not SHA256:", "ssh-add"]);
}

#[test]
fn an_agent_that_is_gone_ends_the_operation_with_a_reason() {
    let (place, key) = Place::with_key("ed25519");
    let socket = place.agent.socket().to_owned();
    let nothing: Arc<dyn Any + Send + Sync> = Arc::new(());
    let mut workload = stack::workload(&socket, &nothing, &key, 1, 1).unwrap();
    drop(place);
    let error = exercise(&mut workload).unwrap_err();
    assert!(
        error.starts_with("SSH_AGENTC_SIGN_REQUEST failed: the connection to the SSH agent broke"),
        "{error}"
    );
    let error = stack::workload(&socket, &nothing, &key, 1, 1).unwrap_err();
    assert_says(&error, ["still running"]);
}
