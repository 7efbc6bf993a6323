//! A private `GNUPGHOME` with its own agent and one test key. The user's keyring is never touched.
//!
//! All layers and devices have the same keys: the store gives the test key, it is written as gpg-agent keeps keys,
//! under the keygrip that GnuPG's own tool computes, and gpg makes the OpenPGP key around it (`Key-Grip`).
//!
//! The agent and its scdaemon are in the group of a watchdog, which ends them when keymark ends, however it ends.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use keymark_bench::{During as _, Error};
use zeroize::Zeroizing;

use super::assuan::Assuan;
use super::listing::{ListedKey, listed_keys};
use super::scdaemon::{CardLink, Scdaemon};
use super::{Gnupg, status};
use crate::program;
use crate::programs::{START, check_socket, create, write_private};
use keymark_stores::places::process::Process;
use keymark_stores::places::watchdog::Watchdog;

/// The longest name gpg-agent gives a socket.
const LONGEST_SOCKET: &str = "S.gpg-agent.browser";

/// Patience with an agent that was told to end.
const ENDING: Duration = Duration::from_secs(2);

/// The line of gpg-agent.conf without which several workers at once fail: the agent's secure memory has 32 KiB, or 64 KiB with
/// `--enable-large-secmem` (configure.ac of 2.2.40), as Debian builds it.
pub(super) const EXPANDING_MEMORY: &str = "auto-expand-secmem";

/// The passphrase of protected test keys.
#[allow(missing_debug_implementations, reason = "a secret is not printed")]
#[derive(Clone)]
pub struct Passphrase(Zeroizing<String>);

impl Passphrase {
    /// A fresh one.
    pub fn random() -> Result<Self, Error> {
        let mut octets = Zeroizing::new([0; 12]);
        openssl::rand::rand_bytes(octets.as_mut_slice()).during("RAND_bytes")?;
        Ok(Self(Zeroizing::new(hex::encode(octets.as_slice()))))
    }
}

/// A home with a running agent; both are gone when it is dropped.
#[derive(Debug)]
pub struct Home {
    pub(super) gnupg: Gnupg,
    path: PathBuf,
    socket: PathBuf,
    scdaemon: Scdaemon,
    agent: Watchdog,
}

impl Home {
    /// Makes a home of an empty directory and starts its agent.
    pub fn new(gnupg: &Gnupg, path: PathBuf) -> Result<Self, Error> {
        Self::start(gnupg, path, Scdaemon::none())
    }

    /// Returns a home with the same keys in an empty directory.
    pub fn copy(&self, to: PathBuf) -> Result<Self, Error> {
        let call = format!("copying keys to {}", to.display());
        let secret = to.join("private-keys-v1.d");
        fs::create_dir(&secret).during(&call)?;
        let entries = fs::read_dir(self.path.join("private-keys-v1.d")).during(&call)?;
        for entry in entries.flatten() {
            fs::copy(entry.path(), secret.join(entry.file_name())).during(&call)?;
        }
        copy_public_keys(self, &to)?;
        Self::new(&self.gnupg, to)
    }

    /// Starts a home whose scdaemon talks to one card.
    pub fn with_card(gnupg: &Gnupg, path: PathBuf, card: CardLink) -> Result<Self, Error> {
        Self::start(gnupg, path, Scdaemon::with_card(card)?)
    }

    /// Starts a home with that daemon.
    pub(super) fn start(gnupg: &Gnupg, path: PathBuf, scdaemon: Scdaemon) -> Result<Self, Error> {
        check_socket(&path.join(LONGEST_SOCKET))?;
        // Every home serves ssh: a card's authentication key is for it, other keys are offered by name.
        let configuration = format!(
            "allow-preset-passphrase\nenable-ssh-support\n{EXPANDING_MEMORY}\n{}default-cache-ttl 34560000\nmax-cache-ttl 34560000\n",
            scdaemon.agent_options
        );
        write_private(&path.join("gpg-agent.conf"), configuration.as_bytes())?;
        if let Some((name, text)) = &scdaemon.configuration {
            write_private(&path.join(name), text.as_bytes())?;
        }
        let mut home = Self {
            gnupg: gnupg.clone(),
            agent: Self::start_agent(gnupg, &path, &scdaemon)?,
            path,
            socket: PathBuf::new(),
            scdaemon,
        };
        home.socket = home.listed_socket()?;
        Ok(home)
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Processor time of the agent and its scdaemon since they were started.
    pub(crate) fn processor_time(&self) -> Duration {
        let all = self.agent.watched().into_iter();
        all.filter_map(Process::spent).sum()
    }

    /// A connection to the agent.
    pub fn connect(&self) -> Result<Assuan, Error> {
        let mut connection = Assuan::connect(&self.socket)?;
        connection.advise(self.key_advice());
        // Never a window: what is not in the cache is an error.
        connection.command("OPTION pinentry-mode=error")?;
        Ok(connection)
    }

    /// Starts the agent, which has its sockets when its starter has ended. Undetached, it stays in the watchdog's group.
    fn start_agent(gnupg: &Gnupg, path: &Path, scdaemon: &Scdaemon) -> Result<Watchdog, Error> {
        const CALL: &str = "gpg-agent --daemon";
        let said = path.join("gpg-agent.said");
        let mut command = gnupg.command("gpg-agent");
        command
            .arg("--homedir")
            .arg(path)
            .args(["--daemon", "--no-detach"])
            .envs(scdaemon.environment.iter().cloned())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(create(&said)?);
        let watchdog = Watchdog::start(path)?;
        let mut starter = watchdog.spawn(&mut command).during(CALL)?;
        let reason = match program::ended_within(&mut starter, START) {
            Some(status) if status.success() => return Ok(watchdog),
            Some(status) => format!(
                "{status}: {}",
                status::complaint(&program::complaints(&said))
            ),
            None => format!("it did not start within {START:?}"),
        };
        Err(Error::call(CALL, reason, ""))
    }

    /// Returns the agent's socket, which may be elsewhere, under `/run/user`.
    fn listed_socket(&self) -> Result<PathBuf, Error> {
        let mut command = self.program("gpgconf", &["--list-dirs", "agent-socket"]);
        let asked = program::run(&mut command, program::QUESTION);
        Ok(listed_path(&asked.during("gpgconf --list-dirs")?.stdout))
    }

    fn program(&self, name: &str, arguments: &[&str]) -> Command {
        let mut command = self.gnupg.command(name);
        command.arg("--homedir").arg(&self.path).args(arguments);
        command
    }

    /// `gpg` in this home, as a script calls it: no terminal, no questions, status lines on stderr.
    pub fn gpg(&self) -> Command {
        // gpg reads the administrator's gpg.conf for every home, and by `--no-options` too: what spoils a measurement there
        // is taken back here.
        let silent = [
            "--batch",
            "--no-tty",
            "--pinentry-mode",
            "error",
            "--no-encrypt-to",
            "--no-use-embedded-filename",
        ];
        let mut command = self.program("gpg", &silent);
        command.args(["--status-fd", "2"]);
        command
    }

    /// Runs gpg to its end and returns (stdout, stderr with status lines).
    pub fn run(&self, call: &str, arguments: &[&str]) -> Result<(Vec<u8>, String), Error> {
        let output = program::run(self.gpg().args(arguments), program::WORK).during(call)?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() {
            Ok((output.stdout, text))
        } else {
            let reason = format!("{}: {}", output.status, status::complaint(&text));
            Err(Error::call(call, reason, self.gnupg.advice()))
        }
    }

    /// Returns the agent's socket for ssh.
    pub fn ssh_socket(&self) -> Result<PathBuf, Error> {
        self.asked("GETINFO ssh_socket_name")
    }

    /// Returns the scdaemon's socket.
    pub fn scdaemon_socket(&self) -> Result<PathBuf, Error> {
        self.asked("SCD GETINFO socket_name")
    }

    fn asked(&self, question: &str) -> Result<PathBuf, Error> {
        let name = self.connect()?.command(question)?;
        Ok(PathBuf::from(String::from_utf8_lossy(&name).into_owned()))
    }

    /// Lets the agent offer a key to ssh, and no other one. A card's authentication key needs no leave.
    pub fn offer_to_ssh(&self, keygrip: &str) -> Result<(), Error> {
        let line = format!("{keygrip}\n");
        write_private(&self.path.join("sshcontrol"), line.as_bytes())
    }

    /// Makes an OpenPGP key, unprotected, by gpg's own parameters of it.
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
    pub fn keys(&self) -> Result<Vec<ListedKey>, Error> {
        let arguments = ["--with-colons", "--with-keygrip", "--list-secret-keys"];
        let (listing, _) = self.run("gpg --list-secret-keys", &arguments)?;
        Ok(listed_keys(&String::from_utf8_lossy(&listing)))
    }

    /// Returns the link of its scdaemon to a card, if it has one.
    pub const fn card(&self) -> Option<&CardLink> {
        self.scdaemon.card.as_ref()
    }

    /// Returns the advice for a key that cannot be used.
    pub const fn key_advice(&self) -> &'static str {
        self.scdaemon.key_advice
    }

    /// Returns the advice when gpg fails with a key: the administrator's settings come first, where there are any.
    pub(crate) fn advice(&self) -> String {
        let settings = self.gnupg.advice();
        match settings.is_empty() {
            true => self.key_advice().to_owned(),
            false => settings,
        }
    }

    /// Puts every key behind a passphrase (S2K with the agent's own calibration).
    pub fn protect(&self, passphrase: &Passphrase) -> Result<(), Error> {
        let mut connection = self.connect()?;
        for key in self.keys()? {
            connection.entrust(&format!("PASSWD {}", key.keygrip), passphrase.0.as_bytes())?;
        }
        Ok(())
    }

    /// Puts the passphrase into the agent's cache, for good.
    pub fn prime(&self, passphrase: &Passphrase) -> Result<(), Error> {
        let mut connection = self.connect()?;
        let hex = Zeroizing::new(hex::encode_upper(passphrase.0.as_bytes()));
        for ListedKey { keygrip, .. } in self.keys()? {
            let line = format!("PRESET_PASSPHRASE {keygrip} -1 {}", hex.as_str());
            connection.command(&Zeroizing::new(line))?;
        }
        Ok(())
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        if let Ok(mut connection) = Assuan::patient(&self.socket, START) {
            // They may be gone already. A scdaemon lets go of its card before its agent ends.
            if self.card().is_some() && connection.command("GETINFO scd_running").is_ok() {
                let _ = connection.command("SCD KILLSCD");
            }
            if connection.command("KILLAGENT").is_ok() {
                self.agent.await_end(ENDING);
            }
        }
    }
}

/// Copies a home's public keys into the directory of another.
pub(super) fn copy_public_keys(from: &Home, to: &Path) -> Result<(), Error> {
    for name in ["pubring.kbx", "trustdb.gpg"] {
        let source = from.path().join(name);
        std::fs::copy(&source, to.join(name))
            .during(format_args!("copying {}", source.display()))?;
    }
    Ok(())
}

/// The only path in gpgconf's answer, in which `:`, `%` and control characters are escaped (gpgconf(1), "Format
/// conventions").
pub(super) fn listed_path(answer: &[u8]) -> PathBuf {
    let listed = String::from_utf8_lossy(answer);
    PathBuf::from(listed.trim().replace("%3a", ":").replace("%25", "%"))
}
