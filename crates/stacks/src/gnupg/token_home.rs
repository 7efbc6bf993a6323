//! Homes whose key is on a token behind a PKCS#11 module.
//!
//! gnupg-pkcs11-scd finds keys by their certificates, so the store puts one beside its own token's key, logs in by
//! one signature, and gpg makes the OpenPGP key around the token's keygrip.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use keymark_bench::error::Error;
use keymark_native::gcrypt::sexp::Sexp;
use keymark_stores::pkcs11::ProgramKey;
use keymark_stores::public_key::PublicKey;
use keymark_stores::user::Pin;
use openssl::rsa::Rsa;
use zeroize::Zeroizing;

use super::Gnupg;
use super::assuan::data_lines;
use super::home::Home;
use super::key_home::KeyHome;
use super::token_link::TokenLink;

/// The homes of a run.
#[derive(Debug, Default)]
pub(super) struct TokenHomes {
    /// By the key's module and URI: a token may have a key of its own for each operation.
    homes: HashMap<(PathBuf, String), Arc<KeyHome>>,
    /// Why tokens, by their URIs, did not let the daemon in: no PIN is sent a second time.
    refused: HashMap<String, Error>,
}

impl TokenHomes {
    /// The home with that key, and an OpenPGP key around it, made at the first call.
    ///
    /// # Errors
    /// When gnupg-pkcs11-scd does not find the key, the token refuses the PIN, or GnuPG the key.
    pub(super) fn home(
        &mut self,
        gnupg: &Gnupg,
        directory: impl FnOnce() -> Result<PathBuf, Error>,
        key: &ProgramKey,
        public: &PublicKey,
    ) -> Result<Arc<KeyHome>, Error> {
        let named = (key.module().to_owned(), key.uri(None));
        if let Some(home) = self.homes.get(&named) {
            return Ok(Arc::clone(home));
        }
        if let Some(error) = self.refused.get(&key.token_uri()) {
            return Err(error.clone());
        }
        let home = Home::with_token(gnupg, directory()?, TokenLink::to(key)?)?;
        home.connect()?.command("LEARN --force")?;
        home.record_process("SCD GETINFO pid")?;
        let keygrip = home.keygrip(public)?;
        if let Some(pin) = &key.pin
            && let Err(error) = home.log_in(&keygrip, pin)
        {
            self.refused.insert(key.token_uri(), error.clone());
            return Err(error);
        }
        home.generate(&format!(
            "Key-Type: RSA\nKey-Grip: {keygrip}\nKey-Usage: sign,encrypt,cert\n"
        ))?;
        let keys = home.keys()?;
        let made = Arc::new(KeyHome::of_files(home, keys));
        self.homes.insert(named, Arc::clone(&made));
        Ok(made)
    }
}

impl Home {
    /// The keygrip of that key among those that the agent has learnt.
    fn keygrip(&self, public: &PublicKey) -> Result<String, Error> {
        let spki = public.spki_der();
        let modulus = spki.and_then(|spki| Ok(Rsa::public_key_from_der(&spki)?.n().to_vec()));
        let modulus = modulus.map_err(|error| Error::call("d2i_RSA_PUBKEY", error, ""))?;
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
        connection.command("OPTION pinentry-mode=loopback")?;
        connection.command(&format!("SIGKEY {keygrip}"))?;
        connection.command(&format!("SETHASH 8 {}", "00".repeat(32)))?;
        let reply = Zeroizing::new(data_lines(pin.expose().as_bytes()));
        connection.transact("PKSIGN", Some(&reply), &mut Vec::new())
    }
}
