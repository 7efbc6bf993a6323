//! gpg-agent, asked as an SSH agent.

use std::any::Any;
use std::sync::Arc;

use keymark_bench::algorithm::Algorithm;
use keymark_bench::operation::Operation;
use keymark_bench::store::Capability;
use keymark_bench::workload::Workload;
use keymark_stacks::gnupg::homes::GnupgHomes;
use keymark_stacks::gnupg::{Gnupg, Protection};
use keymark_stacks::ssh::stack;
use keymark_stores::public_key::PublicKey;

use super::ALGORITHMS;
use crate::suite::{keys, passes};

fn homes() -> GnupgHomes {
    GnupgHomes::new(Gnupg::find(None).unwrap()).unwrap()
}

fn workload(homes: &GnupgHomes, algorithm: &str, protection: Protection, workers: u32) -> Workload {
    let algorithm: Algorithm = algorithm.parse().unwrap();
    let home = homes.file_home(&*keys(), algorithm, protection).unwrap();
    let keygrip = home.key(Operation::Sign).unwrap().keygrip.clone();
    for _ in 0..2 {
        home.home.offer_to_ssh(&keygrip).unwrap();
    }
    let listed = std::fs::read_to_string(home.home.path().join("sshcontrol")).unwrap();
    assert_eq!(listed.matches(&keygrip).count(), 1, "offered once");
    let key = keys().made_for(Capability::new(algorithm, Operation::Sign));
    let key = PublicKey::of(&key.unwrap()).unwrap();
    let socket = home.home.ssh_socket().unwrap();
    let agent: Arc<dyn Any + Send + Sync> = home;
    stack::workload(&socket, &agent, &key, workers, 1).unwrap()
}

#[test]
fn gpg_agent_signs_logins_with_keys_of_its_home() {
    let homes = homes();
    for algorithm in ALGORITHMS {
        let mut workload = workload(&homes, algorithm, Protection::None, 4);
        passes(&mut workload).unwrap_or_else(|error| panic!("{algorithm}: {error}"));
    }
    // Opening the key takes a tenth of a second each time.
    passes(&mut workload(&homes, "ed25519", Protection::Cached, 1)).unwrap();
}
