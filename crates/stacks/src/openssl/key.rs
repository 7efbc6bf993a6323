//! Key for `openssl`: a private directory with its configuration and the key's file, the PIN in memory, and the
//! program's messages of failure.

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output};

use keymark_bench::{During as _, Error};
use keymark_stores::pkcs11::ProgramKey;
use keymark_stores::places::memory_file::{self, STANDARD_INPUT};
use keymark_stores::test_key::TestKey;
use openssl::pkey::PKey;
use zeroize::Zeroizing;

use super::{OpenSsl, OpenSslWay};
use crate::program;
use crate::programs::{RefusedPins, write_private};
use crate::templates::Comments;

/// File of `OPENSSL_CONF`, in the key's directory.
const FOR_KEY: &str = "openssl.cnf";
const FOR_NOTHING: &str = "empty.cnf";

/// Key by one way to it.
#[derive(Debug)]
pub(super) struct OpenSslKey {
    openssl: OpenSsl,
    directory: PathBuf,
    /// Argument of `-inkey`.
    key: OsString,
    way: OpenSslWay,
    /// File with the token's PIN: the process's standard input.
    pin: Option<File>,
    /// Environment of the process; none for keymark's usual one.
    environment: Option<Vec<(OsString, OsString)>>,
    /// The URI of the token, and those that have refused their PIN.
    token: Option<(String, RefusedPins)>,
}

/// A file in memory with the key's PIN, to be the standard input of programs.
pub(crate) fn pin_file(key: &ProgramKey) -> Result<Option<File>, Error> {
    let pin = key.pin.as_ref();
    pin.map(|pin| memory_file::holding(pin.expose().as_bytes()))
        .transpose()
}

/// What a process is to do with the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyLocator {
    /// The private-key operation.
    Operate,
    /// Loads the key, and that is all.
    LoadKey,
    /// Starts, tells its version and ends, with a configuration that loads nothing.
    Nothing,
}

impl KeyLocator {
    /// The call as users know it.
    pub(super) const fn call(self) -> &'static str {
        match self {
            Self::Operate => "openssl pkeyutl",
            Self::LoadKey => "openssl pkey",
            Self::Nothing => "openssl version",
        }
    }
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
            .during("PEM_write_bio_PKCS8PrivateKey")?;
        let file = directory.join("key.pem");
        write_private(&file, &Zeroizing::new(pem))?;
        let place = Self {
            openssl: openssl.clone(),
            key: file.into_os_string(),
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
        let pin = pin_file(&key)?;
        let uri = key.uri(pin.as_ref().map(|_| Path::new(STANDARD_INPUT)));
        let token_way = way.to_token().ok_or_else(|| {
            Error::call(
                "opening a key",
                "a PKCS#11 token keeps it and exports no file",
                "--parameter openssl=engine,provider is for tokens",
            )
        })?;
        // The URI names the PIN's file.
        let configuration =
            openssl
                .build
                .configuration(token_way, key.module(), None, 0, Comments::Left)?;
        let place = Self {
            openssl: openssl.clone(),
            directory,
            key: uri.into(),
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
        write_private(&self.directory.join(FOR_KEY), configuration.as_bytes())?;
        write_private(&self.directory.join(FOR_NOTHING), b"")
    }

    /// The program, as far as all uses of an errand go: what else it is told follows.
    pub(super) fn command(&self, errand: KeyLocator) -> Result<Command, Error> {
        let (subcommand, key, form) = match errand {
            KeyLocator::Nothing => {
                let mut idle = self.program(FOR_NOTHING);
                idle.arg("version");
                return Ok(idle);
            }
            KeyLocator::Operate => ("pkeyutl", "-inkey", "-keyform"),
            KeyLocator::LoadKey => ("pkey", "-in", "-inform"),
        };
        let mut command = self.program(FOR_KEY);
        command.arg(subcommand).arg(key).arg(&self.key);
        match self.way {
            OpenSslWay::File => command.args([form, "PEM"]),
            OpenSslWay::Engine => command.args(["-engine", "pkcs11", form, "engine"]),
            OpenSslWay::Provider => &mut command,
        };
        if errand == KeyLocator::LoadKey {
            command.arg("-noout");
        }
        if let Some(pin) = &self.pin {
            command.stdin(pin.try_clone().during("handing the PIN over")?);
        }
        Ok(command)
    }

    /// Has the program load the key once, before several of it could send a wrong PIN at the same moment.
    fn tried(self) -> Result<Self, Error> {
        self.check_pin()?;
        let call = KeyLocator::LoadKey.call();
        let mut command = self.command(KeyLocator::LoadKey)?;
        let done = program::run(&mut command, program::WORK).during(call)?;
        self.succeeded(call, &done)?;
        Ok(self)
    }

    /// Checks that a process succeeded; a refusal of the PIN is remembered.
    pub(super) fn succeeded(&self, call: &str, done: &Output) -> Result<(), Error> {
        if done.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&done.stderr);
        Err(self.failed(call, done.status, &said, ""))
    }

    /// Why a process failed, by what it said.
    pub(super) fn failed(&self, call: &str, status: ExitStatus, said: &str, advice: &str) -> Error {
        let reason = format!("{status}: {}", complaint(said));
        let refused = match self.way {
            OpenSslWay::File => false,
            OpenSslWay::Engine => refuse_pin(said),
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

    fn program(&self, configuration: &str) -> Command {
        let mut command = program::command(&self.openssl.program);
        if let Some(environment) = &self.environment {
            command.env_clear().envs(environment.clone());
            command.env("LC_ALL", "C");
        }
        command.env("OPENSSL_CONF", self.directory.join(configuration));
        command
    }

    /// Checks that the PIN may be sent.
    pub(super) fn check_pin(&self) -> Result<(), Error> {
        match &self.token {
            Some((token, pins)) => pins.check(token),
            None => Ok(()),
        }
    }
}

/// Advice about an operation that failed, with a key that could be loaded before.
pub(super) const ADVICE: &str = "SoftHSM2 writes to its token at each login, and processes that start at the same \
                                 moment may not find it: measure one worker";

/// Messages of libp11, pkcs11-provider and OpenSSL when the token has refused the PIN.
const REFUSALS: [&str; 5] = [
    "login failed",
    "login to token failed",
    "pin incorrect",
    "pin locked",
    "ckr_pin",
];

/// Returns true if the token has judged the PIN.
pub(crate) fn refuse_pin(said: &str) -> bool {
    let said = said.to_ascii_lowercase();
    REFUSALS.iter().any(|words| said.contains(words))
}

/// The first line that tells a reason; the engine announces itself before.
pub(crate) fn complaint(said: &str) -> &str {
    let mut lines = said.lines().map(str::trim);
    let tells = |line: &&str| !line.is_empty() && !line.starts_with("Engine \"");
    lines.find(tells).unwrap_or("no reason given")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Message of libp11 0.4.12.
    const WRONG_PIN: &str =
        "Engine \"pkcs11\" set.\nLogin failed\nLogin to token failed, returning NULL...\n";

    #[test]
    fn the_reason_stands_behind_what_the_engine_announces() {
        assert_eq!(complaint(WRONG_PIN), "Login failed");
        assert_eq!(complaint("Engine \"pkcs11\" set.\n"), "no reason given");
        assert!(refuse_pin(WRONG_PIN));
        assert!(!refuse_pin(
            "The private key was not found at: pkcs11:token=a\n"
        ));
    }
}
