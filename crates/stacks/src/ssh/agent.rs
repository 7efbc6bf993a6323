//! OpenSSH's agent in a private directory. The user's agent is never asked.

use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use keymark_bench::Error;
use keymark_stores::pkcs11::ProgramKey;
use keymark_stores::test_key::TestKey;
use keymark_stores::user::Pin;

use super::protocol::{AgentConnection, AgentRequest};
use super::{OpenSsh, key, protocol};
use crate::programs::{Daemon, START, check_socket};
use crate::{private_dir, program};

const STEP: Duration = Duration::from_millis(1);
/// Its socket, in its directory.
const SOCKET: &str = "S.ssh-agent";
/// An agent runs a command once it listens, which is told with its number. It ends after that command, but
/// looks only every ten seconds: so the command ends it.
const UNTIL_INPUT_ENDS: &str =
    r#"read -r _; echo "$SSH_AGENT_PID"; read -r _; kill "$SSH_AGENT_PID""#;

/// A running agent, gone when it is dropped.
#[derive(Debug)]
pub struct SshAgent {
    command: Daemon,
    socket: PathBuf,
}

impl SshAgent {
    /// Starts an agent without keys, its socket in `directory`.
    ///
    /// It lives as long as the shell it runs, and that as long as our end of its input: when keymark
    /// is killed, the agent ends by itself at once.
    pub fn start(openssh: &OpenSsh, directory: &Path) -> Result<Self, Error> {
        Self::started_by(program::command(&openssh.agent), directory)
    }

    /// Starts an agent that has the keys of a PKCS#11 token, its socket in `directory`. The module is loaded by
    /// `ssh-pkcs11-helper`, which the agent starts.
    pub fn with_token(
        openssh: &OpenSsh,
        directory: &Path,
        key: &ProgramKey,
    ) -> Result<Self, Error> {
        // The agent loads the module by its real path, and only what it was told to (ssh-agent(1), -P).
        let module = key.module();
        let module = module.canonicalize().unwrap_or_else(|_| module.to_owned());
        let module = module
            .to_str()
            .ok_or_else(|| failed(&format!("the name of {} is not text", module.display())))?;
        let mut command = program::command(&openssh.agent);
        command
            .env_clear()
            .envs(key.environment.iter().map(|(name, value)| (name, value)))
            .env("LC_ALL", "C")
            // A comma would begin another pattern; this one stands for any letter.
            .args(["-P", &module.replace(',', "?")]);
        let agent = Self::started_by(command, directory)?;
        let pin = key.pin.as_ref().map_or("", Pin::expose);
        let request = protocol::add_token(module, pin)?;
        AgentConnection::open(&agent.socket)?.add(AgentRequest::ADD_TOKEN, &request)?;
        Ok(agent)
    }

    fn started_by(mut command: Command, directory: &Path) -> Result<Self, Error> {
        let socket = directory.join(SOCKET);
        check_socket(&socket)?;
        command
            .arg("-a")
            .arg(&socket)
            .args(["sh", "-c", UNTIL_INPUT_ENDS])
            // Its name, so that whoever sweeps the directory finds the shell too.
            .arg(&socket);
        let said = directory.join("ssh-agent.said");
        let whole = |said: &str| said.trim_end().to_owned();
        let (command, process) = Daemon::start(command, "ssh-agent", &said, whole)?;
        let agent = Self { command, socket };
        private_dir::record(directory, agent.command.id())?;
        let process = process.parse();
        let process = process.map_err(|_| failed("it does not report its process number"))?;
        private_dir::record(directory, process)?;
        Ok(agent)
    }

    /// Returns its socket.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Gives it a key.
    pub fn add(&self, key: &TestKey) -> Result<(), Error> {
        let request = protocol::add_identity(&key::private(key)?)?;
        AgentConnection::open(&self.socket)?.add(AgentRequest::ADD, &request)
    }
}

impl Drop for SshAgent {
    fn drop(&mut self) {
        self.command.end(); // the shell, which ends the agent
        let mut waited = Duration::ZERO;
        while UnixStream::connect(&self.socket).is_ok() && waited < START {
            std::thread::sleep(STEP);
            waited += STEP;
        }
    }
}

fn failed(reason: &str) -> Error {
    Error::call("ssh-agent", reason, "")
}

#[cfg(test)]
mod tests {
    use keymark_testkit::assert_says;

    use super::*;

    #[test]
    fn a_path_too_long_for_a_socket_is_refused_at_once() {
        let openssh = OpenSsh::find(None).unwrap();
        let long = PathBuf::from(format!("/tmp/{}", "x".repeat(100)));
        let error = SshAgent::start(&openssh, &long).unwrap_err().to_string();
        assert_says(&error, ["107", "TMPDIR"]);
    }

    #[test]
    fn an_agent_that_does_not_start_says_why() {
        let openssh = OpenSsh::find(None).unwrap();
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join(SOCKET)).unwrap();
        let error = SshAgent::start(&openssh, directory.path()).unwrap_err();
        let error = error.to_string();
        assert!(
            error.starts_with("ssh-agent failed: exit status: 1") && error.contains(SOCKET),
            "{error}"
        );
    }
}
