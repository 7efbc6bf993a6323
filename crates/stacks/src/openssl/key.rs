//! Where `openssl` finds a key: a private directory with its configuration and the key's file, and the PIN in memory.

use std::ffi::OsString;
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};

use keymark_bench::error::Error;
use keymark_stores::pkcs11::ProgramKey;
use keymark_stores::places::memory_file::{self, STANDARD_INPUT};
use keymark_stores::test_key::TestKey;
use openssl::pkey::PKey;
use zeroize::Zeroizing;

use super::{Configuration, OpenSsl, OpenSslWay, TokenWay, words};
use crate::program;
use crate::programs::{RefusedPins, write_private};
use crate::templates::{Comments, written};

/// One key, by one way to it.
#[derive(Debug)]
pub(super) struct OpenSslKey {
    openssl: OpenSsl,
    directory: PathBuf,
    /// What follows `-inkey`, with what makes OpenSSL load it.
    key: Vec<OsString>,
    key_form: Option<&'static str>,
    engine: Option<&'static str>,
    way: OpenSslWay,
    /// What has the token's PIN: the process's standard input.
    pin: Option<File>,
    /// Of the process: none, where it is keymark's usual one for programs.
    environment: Option<Vec<(OsString, OsString)>>,
    /// The URI of the token, and those that have refused their PIN.
    token: Option<(String, RefusedPins)>,
}

/// What a process is to do with the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Errand {
    /// The private-key operation.
    Operate,
    /// Loads the key, and that is all.
    LoadKey,
    /// Starts, tells its version and ends, with a configuration that loads nothing.
    Nothing,
}

impl Errand {
    /// The call as users know it.
    pub(super) const fn call(self) -> &'static str {
        match self {
            Self::Operate => "openssl pkeyutl",
            Self::LoadKey => "openssl pkey",
            Self::Nothing => "openssl version",
        }
    }
}

/// Runs a process to its end; what it says on its standard error is kept.
pub(super) fn run(command: &mut Command, call: &str) -> Result<Output, Error> {
    command
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        // Ctrl-C is keymark's to handle.
        .process_group(0)
        .output()
        .map_err(|error| Error::call(call, error, ""))
}

impl OpenSslKey {
    /// A key in a file.
    pub(super) fn of_file(
        openssl: &OpenSsl,
        directory: PathBuf,
        key: &TestKey,
    ) -> Result<Self, Error> {
        let pem = PKey::private_key_from_pkcs8(&key.pkcs8_der()?)
            .and_then(|key| key.private_key_to_pem_pkcs8())
            .map_err(|error| Error::call("PEM_write_bio_PKCS8PrivateKey", error, ""))?;
        let file = directory.join("key.pem");
        write_private(&file, &Zeroizing::new(pem))?;
        let place = Self {
            openssl: openssl.clone(),
            key: vec![file.into_os_string()],
            key_form: Some("PEM"),
            engine: None,
            way: OpenSslWay::File,
            pin: None,
            environment: None,
            token: None,
            directory,
        };
        place.configure("")?;
        place.tried()
    }

    /// A token's key, by an engine or a provider.
    pub(super) fn of_token(
        openssl: &OpenSsl,
        directory: PathBuf,
        key: ProgramKey,
        way: OpenSslWay,
        refused: RefusedPins,
    ) -> Result<Self, Error> {
        let pin = key.pin.as_ref();
        let pin = pin.map(|pin| memory_file::holding(pin.expose().as_bytes()));
        let pin = pin.transpose()?;
        let uri = key.uri(pin.as_ref().map(|_| Path::new(STANDARD_INPUT)));
        let module = plain(key.module())?;
        let token_way = way.to_token().ok_or_else(|| {
            Error::call(
                "opening a key",
                "a PKCS#11 token keeps it and exports no file",
                "--parameter openssl=engine,provider is for tokens",
            )
        })?;
        let loadable = openssl.loadables.get(token_way)?;
        let configuration = Configuration {
            way: token_way,
            loadable: plain(&loadable)?,
            module,
            // It is in the URI.
            pin_file: None,
            init: 0,
        };
        let configuration = written(&configuration, Comments::Left)?;
        let by_engine = token_way == TokenWay::Engine;
        let place = Self {
            openssl: openssl.clone(),
            directory,
            key: vec![uri.into()],
            key_form: by_engine.then_some("engine"),
            engine: by_engine.then_some("pkcs11"),
            way,
            pin,
            token: Some((key.token_uri(), refused)),
            environment: Some(key.environment),
        };
        place.configure(&configuration)?;
        place.tried()
    }

    /// Its configuration, and one that loads nothing.
    fn configure(&self, configuration: &str) -> Result<(), Error> {
        write_private(
            &self.configuration(Configured::ForKey),
            configuration.as_bytes(),
        )?;
        write_private(&self.configuration(Configured::ForNothing), b"")
    }

    fn configuration(&self, configured: Configured) -> PathBuf {
        self.directory.join(match configured {
            Configured::ForKey => "openssl.cnf",
            Configured::ForNothing => "empty.cnf",
        })
    }

    /// A file of that name beside the key.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// The program, as far as all uses of an errand go: what else it is told follows.
    pub(super) fn command(&self, errand: Errand) -> Result<Command, Error> {
        let (subcommand, key, form) = match errand {
            Errand::Nothing => {
                let mut idle = self.program(Configured::ForNothing);
                idle.arg("version");
                return Ok(idle);
            }
            Errand::Operate => ("pkeyutl", "-inkey", "-keyform"),
            Errand::LoadKey => ("pkey", "-in", "-inform"),
        };
        let mut command = self.program(Configured::ForKey);
        command.arg(subcommand).arg(key).args(&self.key);
        if let Some(engine) = self.engine {
            command.args(["-engine", engine]);
        }
        if let Some(word) = self.key_form {
            command.args([form, word]);
        }
        if errand == Errand::LoadKey {
            command.arg("-noout");
        }
        if let Some(pin) = &self.pin {
            let pin = pin.try_clone();
            command.stdin(pin.map_err(|error| Error::call("handing the PIN over", error, ""))?);
        }
        Ok(command)
    }

    /// Has the program load the key once, before several of it could send a wrong PIN at the same moment.
    fn tried(self) -> Result<Self, Error> {
        self.check_pin()?;
        let call = Errand::LoadKey.call();
        let done = run(&mut self.command(Errand::LoadKey)?, call)?;
        self.succeeded(call, &done)?;
        Ok(self)
    }

    /// Whether a process did what it was to do; if the token has judged its PIN wrong, that is remembered.
    pub(super) fn succeeded(&self, call: &str, done: &Output) -> Result<(), Error> {
        if done.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&done.stderr);
        Err(self.failed(call, done.status, &said, ""))
    }

    /// Why a process failed, by what it said.
    pub(super) fn failed(&self, call: &str, status: ExitStatus, said: &str, advice: &str) -> Error {
        let reason = format!("{status}: {}", words::complaint(said));
        let refused = match self.way {
            OpenSslWay::File => false,
            OpenSslWay::Engine => words::refuse_pin(said),
            // It does not say why: whatever it was may have been the PIN.
            OpenSslWay::Provider => true,
        };
        match &self.token {
            Some((token, pins)) if refused => {
                let again = Error::call(
                    "sending the PIN",
                    "it may have been refused to an earlier program, and is not sent a second time",
                    "was it changed while keymark was running?",
                );
                pins.note(token, again);
                Error::call(call, reason, "the PIN is not sent a second time")
            }
            Some(_) | None => Error::call(call, reason, advice),
        }
    }

    fn program(&self, configured: Configured) -> Command {
        let mut command = program::command(&self.openssl.program);
        if let Some(environment) = &self.environment {
            let environment = environment.iter().map(|(name, value)| (name, value));
            command.env_clear().envs(environment).env("LC_ALL", "C");
        }
        command.env("OPENSSL_CONF", self.configuration(configured));
        command
    }

    /// Whether the PIN may be sent.
    pub(super) fn check_pin(&self) -> Result<(), Error> {
        match &self.token {
            Some((token, pins)) => pins.check(token),
            None => Ok(()),
        }
    }
}

/// What a configuration is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Configured {
    ForKey,
    ForNothing,
}

/// A path that can stand in OpenSSL's configuration as it is (config(5)): no quote, no variable, no comment.
fn plain(path: &Path) -> Result<&str, Error> {
    let special =
        |letter: char| letter.is_control() || "\"'`\\$#;".contains(letter) || letter == ' ';
    let path = path.to_str().filter(|path| !path.contains(special));
    path.ok_or_else(|| {
        Error::call(
            "configuring OpenSSL",
            "the module's path has characters with a meaning in OpenSSL's configuration",
            "give it another name, by a symbolic link",
        )
    })
}
