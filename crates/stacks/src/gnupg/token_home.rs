//! A home whose key is on a token behind a PKCS#11 module.
//!
//! gnupg-pkcs11-scd finds keys by their certificates, so the store puts one next to its own token's key, logs in by
//! one signature, and gpg makes the OpenPGP key around the token's keygrip.

use std::path::{Path, PathBuf};

use keymark_bench::{During as _, Error, Family};
use keymark_native::gcrypt::sexp::Sexp;
use keymark_stores::pkcs11::ProgramKey;
use keymark_stores::public_key::PublicKey;
use keymark_stores::user::Pin;
use openssl::rsa::Rsa;

use super::Gnupg;
use super::home::Home;
use super::key_home::KeyHome;
use super::scdaemon::{Scdaemon, is_plain_value};
use crate::installed::{Program, SearchPath};
use crate::programs::RefusedPins;

const NAME: &str = "gnupg-pkcs11-scd";
const PROGRAM: Program = Program {
    version: &[("--version", "gnupg-pkcs11-scd ")],
    ..Program::of_package(
        "gnupg-pkcs11-scd, through which GnuPG reaches PKCS#11 tokens,",
        &[NAME],
        NAME,
    )
};

/// The installed program.
pub(super) fn program() -> Result<PathBuf, Error> {
    PROGRAM.locate(&SearchPath::of(None))
}

/// The version of the installed one.
pub(super) fn version() -> Option<(String, String)> {
    let (_, version) = PROGRAM.find(&SearchPath::of(None)).ok()?;
    Some((NAME.to_owned(), version.to_string()))
}

/// Returns true if it takes keys of the family: its S-expressions (0.10, `keyutil.c`) are of RSA only.
pub(super) const fn takes(family: Family) -> bool {
    matches!(family, Family::Rsa(_))
}

/// The way to the token that has that key, for a home: it replaces scdaemon and loads the module.
fn scdaemon(key: &ProgramKey, home: &Path) -> Result<Scdaemon, Error> {
    let (program, module) = (program()?, key.module());
    for path in [&program, module] {
        check(path)?;
    }
    // It makes a directory for a socket, which it leaves behind when it is ended: in the home, that is removed.
    let own = ("TMPDIR".into(), home.into());
    // One provider (gnupg-pkcs11-scd(1)): the module. A PIN is good for as long as the token's session is.
    let text = format!(
        "providers token\nprovider-token-library {}\n",
        module.display()
    );
    Ok(Scdaemon {
        agent_options: format!("scdaemon-program {}\n", program.display()),
        configuration: Some(("gnupg-pkcs11-scd.conf", text)),
        environment: key.environment.iter().cloned().chain([own]).collect(),
        key_advice: "is the token there, with the same PIN as at the start of the run?",
        card: None,
    })
}

/// A path is the rest of its line in both configurations: space around it is cut.
fn check(path: &Path) -> Result<(), Error> {
    if path.to_str().is_some_and(is_plain_value) {
        return Ok(());
    }
    Err(Error::call(
        "configuring gnupg-pkcs11-scd",
        "the module's path has letters that mean something in its configuration",
        "give it another name, by a symbolic link",
    ))
}

/// The home with that key, and an OpenPGP key around it.
pub(super) fn home(
    gnupg: &Gnupg,
    directory: PathBuf,
    key: &ProgramKey,
    public: &PublicKey,
    refused: &RefusedPins,
) -> Result<KeyHome, Error> {
    let scdaemon = scdaemon(key, &directory)?;
    let home = Home::start(gnupg, directory, scdaemon)?;
    home.learn_keys()?;
    let keygrip = home.keygrip(public)?;
    if let Some(pin) = &key.pin {
        home.log_in(&keygrip, pin)
            .inspect_err(|error| refused.note(&key.token_uri(), error.clone()))?;
    }
    home.generate(&format!(
        "Key-Type: RSA\nKey-Grip: {keygrip}\nKey-Usage: sign,encrypt,cert\n"
    ))?;
    let keys = home.keys()?;
    KeyHome::new(home, keys)
}

impl Home {
    /// The keygrip of that key among those that the agent has learnt.
    fn keygrip(&self, public: &PublicKey) -> Result<String, Error> {
        let spki = public.spki_der();
        let modulus = spki
            .and_then(|spki| Ok(Rsa::public_key_from_der(&spki)?.n().to_vec()))
            .during("d2i_RSA_PUBKEY")?;
        let mut connection = self.connect()?;
        let learnt = std::fs::read_dir(self.path().join("private-keys-v1.d"));
        for entry in learnt.into_iter().flatten().flatten() {
            let name = entry.file_name();
            let Some(keygrip) = name.to_str().and_then(|name| name.strip_suffix(".key")) else {
                continue;
            };
            let answer = connection.command(&format!("READKEY {keygrip}"))?;
            let is_it = Sexp::parse(&answer).is_ok_and(|key| {
                // libgcrypt puts a zero before a first bit that is set.
                key.value("n")
                    .is_some_and(|n| n.strip_prefix(&[0]).unwrap_or(n) == modulus)
            });
            if is_it {
                return Ok(keygrip.to_owned());
            }
        }
        Err(Error::call(
            "LEARN",
            "gnupg-pkcs11-scd does not find the key: it finds keys by their certificates",
            "put an X.509 certificate with the key's CKA_ID on the token, or measure with --stack raw",
        ))
    }

    /// Has the token sign something, for which the daemon logs in: it stays so. A PIN that is refused is not sent again.
    fn log_in(&self, keygrip: &str, pin: &Pin) -> Result<(), Error> {
        let mut connection = self.connect()?;
        connection.command(&format!("SIGKEY {keygrip}"))?;
        connection.command(&format!("SETHASH 8 {}", "00".repeat(32)))?;
        connection.entrust("PKSIGN", pin.expose().as_bytes())
    }
}
