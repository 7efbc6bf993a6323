//! A card in a reader, with the keys that its owner has put on it: a private home whose scdaemon
//! talks to that card. The owner's own agent is asked to let go of it, and takes it back when it
//! next needs it; of the owner's keyring the public keys are copied.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use keymark_bench::algorithm::{Algorithm, Family};
use keymark_bench::case::Case;
use keymark_bench::error::Error;
use keymark_stores::challenge::PublicKey;
use keymark_stores::openpgp_card::{CardDevice, Slot};

use super::Gnupg;
use super::card::{CardAccess, Reader};
use super::home::{Home, write_private};
use super::keys::KeyHome;
use super::meter::Meter;
use super::openpgp::EncryptedSessionKey;

/// Octets that a wrapped AES-256 session key has (RFC 6637 §8, RFC 3394).
const WRAPPED: usize = 48;

/// A card in a reader.
#[derive(Debug, Clone)]
pub struct InsertedCard {
    /// The card.
    pub device: Arc<CardDevice>,
    /// The reader's name.
    pub reader: String,
}

impl InsertedCard {
    /// The public half of the key that a case uses.
    ///
    /// # Errors
    /// When the card has none.
    pub fn public_key(&self, case: &Case) -> Result<PublicKey, Error> {
        let slot = Slot::of(case.operation).ok_or_else(|| Error::Unsupported {
            by: case.device.to_string(),
            operation: case.operation,
            algorithm: case.algorithm,
        })?;
        self.device.public_key(slot, case.algorithm)
    }
}

/// Makes the home.
///
/// # Errors
/// When the owner's keyring lacks the public keys, or GnuPG or the card refuses.
pub(super) fn home(
    gnupg: &Gnupg,
    driver: &Path,
    card: &InsertedCard,
    path: PathBuf,
) -> Result<KeyHome, Error> {
    let home = private_home(gnupg, driver, card, path)?;
    // Tried here first, under the rules for PINs; scdaemon then enters one that is known to be right.
    home.learn_card(&card.device.user_pin()?)?;
    let keys = home.keys()?;
    Ok(KeyHome {
        meter: Meter::of(&home)?.map(Arc::new),
        inserted: Some(card.clone()),
        home,
        keys,
        _card: None,
    })
}

/// A home with the card's public keys, before any PIN.
///
/// # Errors
/// When the owner's keyring lacks them, or GnuPG refuses.
pub fn private_home(
    gnupg: &Gnupg,
    driver: &Path,
    card: &InsertedCard,
    path: PathBuf,
) -> Result<Home, Error> {
    release(gnupg);
    let public = path.join("public");
    write_private(&public, &exported(gnupg, card)?)?;
    let access = CardAccess {
        driver: driver.to_owned(),
        reader: Reader::Pcscd {
            name: card.reader.clone(),
            // As libpcsclite finds it for keymark itself.
            socket: std::env::var_os("PCSCLITE_CSOCK_NAME").map(PathBuf::from),
        },
        trace: Some(path.join("trace")),
    };
    let home = Home::with_card(gnupg, path, access)?;
    home.run("gpg --import", &["--import", &public.to_string_lossy()])?;
    Ok(home)
}

/// Asks the owner's agent, if one runs, to let go of the card.
fn release(gnupg: &Gnupg) {
    let mut command = gnupg.command("gpg-connect-agent");
    if let Some(home) = std::env::var_os("GNUPGHOME") {
        command.env("GNUPGHOME", home);
    }
    let arguments = ["--no-autostart", "SCD KILLSCD", "/bye"];
    // Without an agent there is nobody who holds it.
    let _ = command.args(arguments).output();
}

/// The owner's public keys that belong to the keys on the card.
fn exported(gnupg: &Gnupg, card: &InsertedCard) -> Result<Vec<u8>, Error> {
    let slots = &card.device.facts()?.slots;
    let fingerprints = slots.iter().filter_map(|slot| slot.fingerprint.as_deref());
    let fingerprints: Vec<_> = fingerprints.collect();
    let mut command = gnupg.command("gpg");
    if let Some(home) = std::env::var_os("GNUPGHOME") {
        command.env("GNUPGHOME", home);
    }
    let output = command
        .args(["--batch", "--no-tty", "--export"])
        .args(&fingerprints)
        .output()
        .map_err(|error| Error::call("gpg --export", error, ""))?;
    if fingerprints.is_empty() || output.stdout.is_empty() {
        return Err(Error::call(
            "gpg --export",
            "your keyring has no public key for the keys on the card",
            "import it (gpg --card-edit, fetch), or measure with --stack raw",
        ));
    }
    Ok(output.stdout)
}

/// What the card's key is asked, and what has to come out.
pub(super) fn session_key(
    algorithm: Algorithm,
    public: &PublicKey,
) -> Result<(EncryptedSessionKey, Vec<u8>), Error> {
    let (input, secret) = public.encrypt()?;
    let session_key = match algorithm.family() {
        Family::Rsa(_) => EncryptedSessionKey::Rsa(input),
        family => EncryptedSessionKey::Ecdh {
            // OpenPGP's mark of a point in its curve's own form (RFC 9580 §11.2.2).
            ephemeral: match family {
                Family::Cv25519 => [vec![0x40], input].concat(),
                _ => input,
            },
            // gpg unwraps it, not the agent, which hands out the shared secret.
            wrapped: vec![0; WRAPPED],
        },
    };
    Ok((session_key, secret))
}
