//! A private `GNUPGHOME` with its own agent and one test key. The user's keyring is never touched.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use keymark_bench::error::Error;
use zeroize::Zeroizing;

use super::Gnupg;
use super::assuan::{Assuan, data_lines};
use super::card_link::CardLink;
use super::listing::{ListedKey, listed_keys};
use super::scdaemon::Scdaemon;
use super::status;
use super::token_link::TokenLink;
use crate::private_dir::{self, SOCKET_PATH};
use crate::program;

/// The longest name gpg-agent gives a socket.
const LONGEST_SOCKET: &str = "S.gpg-agent.browser";
/// How long an agent may take to open its socket, and to say that it ends.
const AGENT_START: Duration = Duration::from_secs(10);
/// What it says meanwhile.
const AGENT_LOG: &str = "gpg-agent.said";

/// The passphrase of protected test keys.
#[allow(missing_debug_implementations, reason = "a secret is not printed")]
#[derive(Clone)]
pub struct Passphrase(Zeroizing<String>);

impl Passphrase {
    /// A fresh one.
    ///
    /// # Errors
    /// When the system has no randomness.
    pub fn random() -> Result<Self, Error> {
        let mut octets = Zeroizing::new([0; 12]);
        openssl::rand::rand_bytes(octets.as_mut_slice())
            .map_err(|error| Error::call("RAND_bytes", error, ""))?;
        Ok(Self(Zeroizing::new(
            octets.iter().map(|octet| format!("{octet:02x}")).collect(),
        )))
    }
}

/// A home with a running agent; both are gone when it is dropped.
#[derive(Debug)]
pub struct Home {
    gnupg: Gnupg,
    path: PathBuf,
    agent: Option<Child>,
    socket: PathBuf,
    scdaemon: Scdaemon,
}

impl Home {
    /// Makes a home of an empty directory and starts its agent.
    ///
    /// # Errors
    /// When the path is too long for a socket, or the agent does not start.
    pub fn new(gnupg: &Gnupg, path: PathBuf) -> Result<Self, Error> {
        Self::start(gnupg, path, Scdaemon::None)
    }

    /// The same, with a scdaemon that talks to one card.
    ///
    /// # Errors
    /// When the path is too long for a socket, or the agent does not start.
    pub fn with_card(gnupg: &Gnupg, path: PathBuf, card: CardLink) -> Result<Self, Error> {
        card.reader.check()?;
        Self::start(gnupg, path, Scdaemon::GnuPg(card))
    }

    /// The same, with gnupg-pkcs11-scd in scdaemon's place.
    ///
    /// # Errors
    /// When the path is too long for a socket, or the agent does not start.
    pub(super) fn with_token(
        gnupg: &Gnupg,
        path: PathBuf,
        token: TokenLink,
    ) -> Result<Self, Error> {
        Self::start(gnupg, path, Scdaemon::Pkcs11(token))
    }

    fn start(gnupg: &Gnupg, path: PathBuf, scdaemon: Scdaemon) -> Result<Self, Error> {
        let length = path.as_os_str().len() + 1 + LONGEST_SOCKET.len();
        if length > SOCKET_PATH {
            return Err(Error::call(
                format!("making the GNUPGHOME {}", path.display()),
                format!(
                    "its sockets' paths would have {length} bytes, and the system allows {SOCKET_PATH}"
                ),
                "set TMPDIR to a shorter directory",
            ));
        }
        // Every home serves ssh: a card's authentication key is for it, other keys are offered by name.
        let configuration = format!(
            "allow-preset-passphrase\nenable-ssh-support\n{}default-cache-ttl 34560000\nmax-cache-ttl 34560000\n",
            scdaemon.agent_options()
        );
        write_private(&path.join("gpg-agent.conf"), configuration.as_bytes())?;
        if let Some((name, text)) = scdaemon.configuration() {
            write_private(&path.join(name), text.as_bytes())?;
        }
        let mut home = Self {
            gnupg: gnupg.clone(),
            path,
            agent: None,
            socket: PathBuf::new(),
            scdaemon,
        };
        home.start_agent()?;
        Ok(home)
    }

    /// The directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The installed GnuPG.
    #[must_use]
    pub const fn gnupg(&self) -> &Gnupg {
        &self.gnupg
    }

    /// A connection to the agent.
    ///
    /// # Errors
    /// When it does not answer.
    pub fn connect(&self) -> Result<Assuan, Error> {
        let mut connection = Assuan::connect(&self.socket)?;
        connection.advise(self.key_advice());
        // Never a window: what is not in the cache is an error.
        connection.command("OPTION pinentry-mode=error")?;
        Ok(connection)
    }

    /// The agent lives as long as the `cat` it runs, and that as long as our end of its input:
    /// when keymark is killed, the agent ends by itself within a second.
    fn start_agent(&mut self) -> Result<(), Error> {
        let failed = |reason: String| Error::call("gpg-agent --daemon", reason, "");
        let log = self.path.join(AGENT_LOG);
        // A file: nobody reads a pipe for as long as the agent lives.
        let log = File::create(&log).map_err(|error| failed(error.to_string()))?;
        let mut command = self.program("gpg-agent");
        command
            .args(["--daemon", "cat"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log);
        command.envs(self.scdaemon.environment(&self.path));
        // Ctrl-C is keymark's to handle.
        command.process_group(0);
        let agent = command.spawn().map_err(|error| failed(error.to_string()))?;
        let started = self.agent.insert(agent);
        let started = heard_back(started).map_err(|error| self.no_agent(&error))?;
        private_dir::record(&self.path, started)?;
        self.socket = self.listed_path("agent-socket")?;
        self.record_process("GETINFO pid")
    }

    /// Why the agent did not start.
    fn no_agent(&mut self, error: &io::Error) -> Error {
        let call = "gpg-agent --daemon";
        let Some(agent) = &mut self.agent else {
            return Error::call(call, error, "");
        };
        if error.kind() == io::ErrorKind::TimedOut {
            let _ = agent.kill();
            let reason = format!("it has not started after {AGENT_START:?}");
            return Error::call(call, reason, "");
        }
        let said = fs::read_to_string(self.path.join(AGENT_LOG)).unwrap_or_default();
        let complaint = status::complaint(&said);
        let reason = match agent.wait() {
            Ok(status) => format!("{status}: {complaint}"),
            Err(error) => format!("{error}: {complaint}"),
        };
        Error::call(call, reason, "")
    }

    /// Takes down the process that answers the command with its number.
    pub(super) fn record_process(&self, command: &str) -> Result<(), Error> {
        let number = self.connect()?.command(command)?;
        match String::from_utf8_lossy(&number).trim().parse() {
            Ok(number) => private_dir::record(&self.path, number),
            Err(_) => Err(Error::call(command, "the answer is no process", "")),
        }
    }

    /// Where GnuPG has something of this home: sockets may be elsewhere, under `/run/user`.
    ///
    /// # Errors
    /// When gpgconf does not start.
    pub fn listed_path(&self, what: &str) -> Result<PathBuf, Error> {
        let asked = self.program_of("gpgconf", &["--list-dirs", what]).output();
        let listed = asked.map_err(|error| Error::call("gpgconf --list-dirs", error, ""))?;
        let listed = String::from_utf8_lossy(&listed.stdout);
        Ok(PathBuf::from(unescaped(listed.trim())))
    }

    fn program(&self, name: &str) -> Command {
        self.program_of(name, &[])
    }

    fn program_of(&self, name: &str, arguments: &[&str]) -> Command {
        let mut command = self.gnupg.command(name);
        command.arg("--homedir").arg(&self.path).args(arguments);
        command
    }

    /// `gpg` in this home, as a script calls it: no terminal, no questions, status lines on stderr.
    #[must_use]
    pub fn gpg(&self) -> Command {
        let mut command = self.program("gpg");
        command.args([
            "--batch",
            "--no-tty",
            "--pinentry-mode",
            "error",
            "--status-fd",
            "2",
        ]);
        command
    }

    /// Runs gpg to its end and returns (stdout, stderr with status lines).
    ///
    /// # Errors
    /// With gpg's complaint when it fails.
    pub fn run(&self, call: &str, arguments: &[&str]) -> Result<(Vec<u8>, String), Error> {
        let output = self
            .gpg()
            .args(arguments)
            .output()
            .map_err(|error| Error::call(call, error, ""))?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() {
            Ok((output.stdout, text))
        } else {
            let reason = format!("{}: {}", output.status, status::complaint(&text));
            Err(Error::call(call, reason, ""))
        }
    }

    /// Makes an OpenPGP key, unprotected, by gpg's own parameters of it.
    ///
    /// # Errors
    /// With gpg's complaint.
    pub fn generate(&self, parameters: &str) -> Result<(), Error> {
        let text = format!(
            "%no-protection\n{parameters}Name-Real: keymark test key\nExpire-Date: 0\n%commit\n"
        );
        let file = self.path.join("parameters");
        write_private(&file, text.as_bytes())?;
        let arguments = ["--generate-key", &file.to_string_lossy()];
        let (_, said) = self.run("gpg --generate-key", &arguments)?;
        if status::has(&said, "KEY_CREATED") {
            return Ok(());
        }
        let complaint = status::complaint(&said);
        Err(Error::call("gpg --generate-key", complaint, ""))
    }

    /// The keys of this home.
    ///
    /// # Errors
    /// With gpg's complaint.
    pub fn keys(&self) -> Result<Vec<ListedKey>, Error> {
        let arguments = ["--with-colons", "--with-keygrip", "--list-secret-keys"];
        let (listing, _) = self.run("gpg --list-secret-keys", &arguments)?;
        Ok(listed_keys(&String::from_utf8_lossy(&listing)))
    }

    /// How its scdaemon reaches a card, if it does.
    #[must_use]
    pub const fn card(&self) -> Option<&CardLink> {
        match &self.scdaemon {
            Scdaemon::GnuPg(card) => Some(card),
            Scdaemon::None => None,
            Scdaemon::Pkcs11(_) => None,
        }
    }

    /// What to do when a key cannot be used.
    #[must_use]
    pub const fn key_advice(&self) -> &'static str {
        self.scdaemon.key_advice()
    }

    /// Puts every key behind a passphrase (S2K with the agent's own calibration).
    ///
    /// # Errors
    /// When the agent refuses.
    pub fn protect(&self, passphrase: &Passphrase) -> Result<(), Error> {
        let mut connection = self.connect()?;
        connection.command("OPTION pinentry-mode=loopback")?;
        for key in self.keys()? {
            let reply = Zeroizing::new(data_lines(passphrase.0.as_bytes()));
            connection.transact(
                &format!("PASSWD {}", key.keygrip),
                Some(&reply),
                &mut Vec::new(),
            )?;
        }
        Ok(())
    }

    /// Puts the passphrase into the agent's cache, for good.
    ///
    /// # Errors
    /// When the agent refuses.
    pub fn prime(&self, passphrase: &Passphrase) -> Result<(), Error> {
        let mut connection = self.connect()?;
        let octets = passphrase.0.bytes();
        let hex: Zeroizing<String> =
            Zeroizing::new(octets.map(|octet| format!("{octet:02X}")).collect());
        for key in self.keys()? {
            let line = Zeroizing::new(format!(
                "PRESET_PASSPHRASE {} -1 {}",
                key.keygrip,
                hex.as_str()
            ));
            connection.command(&line)?;
        }
        Ok(())
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        if let Ok(mut connection) = Assuan::patient(&self.socket, AGENT_START) {
            // They may be gone already. A scdaemon lets go of its card before its agent ends.
            if self.card().is_some() && connection.command("GETINFO scd_running").is_ok() {
                let _ = connection.command("SCD KILLSCD");
            }
            // Where it does not listen, it ends with its directory.
            let _ = connection.command("KILLAGENT");
        }
        if let Some(mut agent) = self.agent.take() {
            drop(agent.stdin.take()); // ends the `cat`
            let _ = agent.wait();
        }
    }
}

/// The agent runs `cat` once its sockets are open: a line that comes back says so.
fn heard_back(agent: &mut Child) -> io::Result<u32> {
    let (Some(stdin), Some(stdout)) = (&mut agent.stdin, agent.stdout.take()) else {
        return Err(io::ErrorKind::BrokenPipe.into());
    };
    stdin.write_all(b"\n")?;
    program::first_line(stdout, AGENT_START)?;
    Ok(agent.id())
}

/// gpgconf escapes `:`, `%` and control characters in paths (gpgconf(1), "Format conventions").
pub(super) fn unescaped(path: &str) -> String {
    path.replace("%3a", ":").replace("%25", "%")
}

/// Writes a file that only this user can read.
pub(crate) fn write_private(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let open = fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path);
    open.and_then(|mut file| file.write_all(bytes))
        .map_err(|error| {
            Error::call(
                format!("writing {}", path.display()),
                error,
                "is the disk full?",
            )
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_too_long_for_a_socket_is_refused_at_once() {
        let gnupg = Gnupg::find(None).unwrap();
        let error =
            Home::new(&gnupg, PathBuf::from(format!("/tmp/{}", "x".repeat(90)))).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("107") && text.contains("TMPDIR"), "{text}");
    }
}
