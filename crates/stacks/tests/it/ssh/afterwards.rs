//! What is left of an agent: nothing.

use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Stdio;

use keymark_stacks::private_dir::PrivateDir;
use keymark_stacks::ssh::OpenSsh;
use keymark_stacks::ssh::agent::SshAgent;
use keymark_stacks::ssh::protocol::AgentConnection;
use keymark_testkit::process::{naming, this_test_program};
use keymark_testkit::waiting::until;

use super::{Place, test_key};

#[test]
fn agent_and_directory_are_gone_afterwards() {
    let (place, key) = Place::with_key("ed25519");
    let path = place.dir.path().to_owned();
    let workload = place.workload(&key, 1).unwrap();
    let Place { agent, dir } = place;
    drop(agent);
    assert!(
        UnixStream::connect(path.join("S.ssh-agent")).is_ok(),
        "a workload keeps its agent"
    );
    drop(workload);
    assert!(UnixStream::connect(path.join("S.ssh-agent")).is_err());
    drop(dir);
    assert_eq!(naming(&path), 0);
    assert!(!path.exists());
}

/// Set in the copy of this test that is killed: where its agent's socket goes.
const VICTIM: &str = "KEYMARK_TEST_AGENT_DIRECTORY";

#[test]
fn an_agent_ends_when_keymark_is_killed() {
    if let Some(directory) = std::env::var_os(VICTIM) {
        let openssh = OpenSsh::find(None).unwrap();
        let agent = SshAgent::start(&openssh, Path::new(&directory)).unwrap();
        agent.add(&test_key("ed25519")).unwrap();
        loop {
            std::thread::park(); // until the kill
        }
    }
    let dir = PrivateDir::new().unwrap();
    let socket = dir.path().join("S.ssh-agent");
    const NAME: &str = "ssh::afterwards::an_agent_ends_when_keymark_is_killed";
    let mut victim = this_test_program(NAME)
        .env(VICTIM, dir.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let held = || {
        AgentConnection::open(&socket)
            .and_then(|mut agent| agent.identities())
            .is_ok_and(|keys| keys.len() == 1)
    };
    until("the agent holds the key", held);
    victim.kill().unwrap();
    victim.wait().unwrap();
    until("the agent is gone", || naming(dir.path()) == 0);
}
