//! A home whose key is on a token behind a PKCS#11 module.
//!
//! gnupg-pkcs11-scd finds keys by their certificates, so the store puts one beside its own token's key, logs in by
//! one signature, and gpg makes the OpenPGP key around the token's keygrip.

use std::path::PathBuf;

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
use crate::programs::RefusedPins;

/// The home with that key, and an OpenPGP key around it.
pub(super) fn home(
    gnupg: &Gnupg,
    directory: PathBuf,
    key: &ProgramKey,
    public: &PublicKey,
    refused: &RefusedPins,
) -> Result<KeyHome, Error> {
    let home = Home::with_token(gnupg, directory, TokenLink::to(key)?)?;
    home.connect()?.command("LEARN --force")?;
    home.record_process("SCD GETINFO pid")?;
    let keygrip = home.keygrip(public)?;
    if let Some(pin) = &key.pin {
        home.log_in(&keygrip, pin)
            .inspect_err(|error| refused.note(&key.token_uri(), error.clone()))?;
    }
    home.generate(&format!(
        "Key-Type: RSA\nKey-Grip: {keygrip}\nKey-Usage: sign,encrypt,cert\n"
    ))?;
    let keys = home.keys()?;
    Ok(KeyHome::of_files(home, keys))
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
