//! OpenSSH's agent in a private directory. The user's agent is never asked.

use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use keymark_bench::{During as _, Error};
use keymark_stores::pkcs11::ProgramKey;
use keymark_stores::places::watchdog::Watchdog;
use keymark_stores::test_key::TestKey;
use keymark_stores::user::Pin;

use super::protocol::{AgentConnection, AgentRequest};
use super::{OpenSsh, key, protocol};
use crate::program;
use crate::programs::{START, check_socket, create};

const STEP: Duration = Duration::from_millis(1);
/// Its socket, in its directory.
const SOCKET: &str = "S.ssh-agent";
/// A running agent. It ends with the value, or with keymark if that is killed.
#[derive(Debug)]
pub struct SshAgent {
    watchdog: Watchdog,
    process: Child,
    socket: PathBuf,
}

impl SshAgent {
    /// Starts an agent without keys, its socket in `directory`.
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
            .envs(key.environment.clone())
            .env("LC_ALL", "C")
            // A comma would begin another pattern; this one matches any letter.
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
        let said = directory.join("ssh-agent.said");
        command
            // In the foreground it stays in the watchdog's group, as does the helper that it starts for a token.
            .args(["-D", "-a"])
            .arg(&socket)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(create(&said)?);
        let watchdog = Watchdog::start(directory)?;
        let process = watchdog.spawn(&mut command).during("ssh-agent")?;
        let mut agent = Self {
            watchdog,
            process,
            socket,
        };
        let mut waited = Duration::ZERO;
        while UnixStream::connect(&agent.socket).is_err() {
            if let Ok(Some(status)) = agent.process.try_wait() {
                let said = program::complaints(&said);
                return Err(failed(&format!("{status}: {}", said.trim_end())));
            }
            if waited >= START {
                return Err(failed(&format!("it did not start within {START:?}")));
            }
            std::thread::sleep(STEP);
            waited += STEP;
        }
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
        self.watchdog.end();
        // It was killed with the group.
        let _ = self.process.wait();
    }
}

fn failed(reason: &str) -> Error {
    Error::call("ssh-agent", reason, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_that_does_not_start_says_why() {
        let openssh = OpenSsh::find().unwrap();
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
