//! A card in a reader, with the keys that its owner has put on it: a private home whose scdaemon
//! talks to that card. Of the owner's keyring the public keys are copied.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use keymark_bench::error::Error;
use keymark_stores::card::{CardAccess, SigningPin as CardSigningPin, Slot};

use super::Gnupg;
use super::card_link::{CardLink, ScdaemonReader};
use super::driver;
use super::home::{Home, write_private};
use super::key_home::{HomeCard, KeyHome, SigningPin};

/// Makes the home.
///
/// # Errors
/// When the owner's keyring lacks the public keys, or GnuPG or the card refuses.
pub(super) fn home(
    gnupg: &Gnupg,
    card: &Arc<dyn CardAccess>,
    reader: &str,
    path: PathBuf,
) -> Result<KeyHome, Error> {
    let home = private_home(gnupg, card.as_ref(), reader, path)?;
    // Tried here first, under the rules for PINs; scdaemon then enters one that is known to be right.
    let pin = card.user_pin()?;
    home.learn_inserted_card(card.aid()?, &pin)?;
    let keys = home.keys()?;
    let signing_pin = match card.signing_pin()? {
        CardSigningPin::Several => None,
        CardSigningPin::Once => Some(SigningPin {
            pin,
            refused: AtomicBool::new(false),
        }),
    };
    let card = Arc::clone(card);
    KeyHome::of_card(home, keys, HomeCard::Inserted { card, signing_pin })
}

/// A home with the card's public keys, before any PIN.
///
/// # Errors
/// When the owner's keyring lacks them, or GnuPG refuses.
pub(super) fn private_home(
    gnupg: &Gnupg,
    card: &dyn CardAccess,
    reader: &str,
    path: PathBuf,
) -> Result<Home, Error> {
    let public = path.join("public");
    write_private(&public, &exported(gnupg, card)?)?;
    let link = CardLink {
        driver: driver::driver()?,
        reader: ScdaemonReader::Pcscd {
            name: reader.to_owned(),
            // As libpcsclite finds it for keymark itself.
            socket: std::env::var_os("PCSCLITE_CSOCK_NAME").map(PathBuf::from),
        },
        trace: Some(path.join("trace")),
    };
    let home = Home::with_card(gnupg, path, link)?;
    home.run("gpg --import", &["--import", &public.to_string_lossy()])?;
    Ok(home)
}

/// The owner's public keys that belong to the keys on the card.
fn exported(gnupg: &Gnupg, card: &dyn CardAccess) -> Result<Vec<u8>, Error> {
    let fingerprints = Slot::ALL.into_iter().map(|slot| card.fingerprint(slot));
    let fingerprints: Vec<Option<String>> = fingerprints.collect::<Result<_, _>>()?;
    let fingerprints: Vec<String> = fingerprints.into_iter().flatten().collect();
    let mut command = gnupg.command_in_owners_home("gpg");
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
