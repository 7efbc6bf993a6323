//! OpenSSH's agent in a private directory. The user's agent is never asked.

use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use keymark_bench::error::Error;
use keymark_stores::pkcs11::ProgramKey;
use keymark_stores::test_key::TestKey;
use keymark_stores::user::Pin;

use super::client::Connection;
use super::{OpenSsh, key, protocol};
use crate::private_dir::{self, SOCKET_PATH};
use crate::program;

/// How long an agent may take to open its socket, and to leave it.
const LIMIT: Duration = Duration::from_secs(10);
const STEP: Duration = Duration::from_millis(1);
/// Its socket, in its directory.
const SOCKET: &str = "S.ssh-agent";
/// An agent runs a command once it listens, which is told with its number. It ends after that command, but
/// looks only every ten seconds: so the command ends it.
const UNTIL_INPUT_ENDS: &str = r#"echo "$SSH_AGENT_PID"; read -r _; kill "$SSH_AGENT_PID""#;

/// A running agent, gone when it is dropped.
#[derive(Debug)]
pub struct SshAgent {
    command: Child,
    socket: PathBuf,
}

impl SshAgent {
    /// Starts an agent without keys, its socket in `directory`.
    ///
    /// It lives as long as the shell it runs, and that as long as our end of its input: when keymark
    /// is killed, the agent ends by itself at once.
    ///
    /// # Errors
    /// When the path is too long for a socket, or the agent does not start.
    pub fn start(openssh: &OpenSsh, directory: &Path) -> Result<Self, Error> {
        Self::started_by(program::command(&openssh.agent), directory)
    }

    /// Starts an agent that has the keys of a PKCS#11 token, its socket in `directory`. The module is loaded by
    /// `ssh-pkcs11-helper`, which the agent starts.
    ///
    /// # Errors
    /// When the agent does not start, or does not take the module or the PIN.
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
        Connection::open(&agent.socket)?.add_token(&request)?;
        Ok(agent)
    }

    fn started_by(mut command: Command, directory: &Path) -> Result<Self, Error> {
        let socket = directory.join(SOCKET);
        let length = socket.as_os_str().len();
        if length > SOCKET_PATH {
            return Err(Error::call(
                format!("starting an agent in {}", directory.display()),
                format!(
                    "its socket's path would have {length} bytes, and the system allows {SOCKET_PATH}"
                ),
                "set TMPDIR to a shorter directory",
            ));
        }
        command
            .arg("-a")
            .arg(&socket)
            .args(["sh", "-c", UNTIL_INPUT_ENDS])
            // Its name, so that whoever sweeps the directory finds the shell too.
            .arg(&socket)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Ctrl-C is keymark's to handle.
            .process_group(0);
        let command = command
            .spawn()
            .map_err(|error| failed(&error.to_string()))?;
        let mut agent = Self { command, socket };
        let process = agent.started()?;
        private_dir::record(directory, agent.command.id())?;
        private_dir::record(directory, process)?;
        Ok(agent)
    }

    /// Where it listens.
    #[must_use]
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Gives it a key.
    ///
    /// # Errors
    /// When SSH has no keys of this algorithm, or the agent refuses it.
    pub fn add(&self, key: &TestKey) -> Result<(), Error> {
        let request = protocol::add_identity(&key::private(key)?)?;
        Connection::open(&self.socket)?.add_identity(&request)
    }

    /// The agent's number, once it listens.
    fn started(&mut self) -> Result<u32, Error> {
        let said = match self.command.stdout.take() {
            Some(stdout) => program::first_line(stdout, LIMIT),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        };
        let error = match said.map(|number| number.parse()) {
            Ok(Ok(number)) => return Ok(number),
            Ok(Err(_)) => return Err(failed("it does not tell its process")),
            Err(error) => error,
        };
        if error.kind() != io::ErrorKind::UnexpectedEof {
            // It is still there, and so is what it holds.
            let _ = self.command.kill();
            return Err(failed(&format!("it has not started after {LIMIT:?}")));
        }
        let status = self.command.wait();
        let status = status.map_err(|error| failed(&error.to_string()))?;
        let mut said = String::new();
        if let Some(mut stderr) = self.command.stderr.take() {
            // What it said is an extra: its status is known.
            let _ = stderr.read_to_string(&mut said);
        }
        Err(failed(&format!("{status}: {}", said.trim_end())))
    }
}

impl Drop for SshAgent {
    fn drop(&mut self) {
        drop(self.command.stdin.take()); // ends the shell, which ends the agent
        let _ = self.command.wait();
        let mut waited = Duration::ZERO;
        while UnixStream::connect(&self.socket).is_ok() && waited < LIMIT {
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
    use super::*;

    #[test]
    fn a_path_too_long_for_a_socket_is_refused_at_once() {
        let openssh = OpenSsh::find(None).unwrap();
        let long = PathBuf::from(format!("/tmp/{}", "x".repeat(100)));
        let error = SshAgent::start(&openssh, &long).unwrap_err().to_string();
        assert!(error.contains("107") && error.contains("TMPDIR"), "{error}");
    }

    #[test]
    fn an_agent_that_does_not_start_says_why() {
        let openssh = OpenSsh::find(None).unwrap();
        let error = SshAgent::start(&openssh, Path::new("/nonexistent"))
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("ssh-agent failed: exit status: 1") && error.contains("/nonexistent"),
            "{error}"
        );
    }
}
