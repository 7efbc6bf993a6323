//! Homes whose keys are on a card: one that was made for the run, or one in a reader. Of its owner's keyring the public keys
//! are copied.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use keymark_bench::algorithm::Algorithm;
use keymark_bench::error::Error;
use keymark_stores::card::{Aid, CardAccess, SigningPin as CardSigningPin, Slot};
use keymark_stores::places::library::OwnLibrary;
use keymark_stores::store::KeyStore;
use keymark_stores::tokens::reader::Reader;
use keymark_stores::tokens::socket::CardServer;
use keymark_stores::user::Pin;
use zeroize::Zeroizing;

use super::Gnupg;
use super::assuan::{Assuan, data_lines};
use super::home::Home;
use super::key_home::{HomeCard, KeyHome, SigningPin};
use super::provider::asked_by_gnupg;
use super::scdaemon::{CardLink, ScdaemonReader};
use crate::programs::write_private;

/// Puts all keys of the algorithm that the device can hold on the card, with the fingerprints that they
/// have in a home.
pub(super) fn load(
    store: &dyn KeyStore,
    algorithm: Algorithm,
    plain: &KeyHome,
    card: &dyn CardAccess,
) -> Result<(), Error> {
    for capability in store.capabilities()? {
        let Some(slot) = Slot::of(capability.operation) else {
            continue;
        };
        if capability.algorithm != algorithm {
            continue;
        }
        store.key(capability)?;
        // OpenPGP has no key that authenticates here: it is ssh's.
        if !asked_by_gnupg(capability) {
            continue;
        }
        let listed = &plain.key(capability.operation)?.fingerprint;
        let mut fingerprint = [0; 20];
        // A fingerprint of version 5 is longer; cards know none.
        if hex::decode_to_slice(listed, &mut fingerprint).is_ok() {
            card.write_fingerprint(slot, fingerprint)?;
        }
    }
    Ok(())
}

/// The home with the card, which is served to scdaemon at a socket in it.
pub(super) fn made_home(
    gnupg: &Gnupg,
    path: PathBuf,
    plain: &KeyHome,
    reader: Reader,
    card: &dyn CardAccess,
) -> Result<KeyHome, Error> {
    let failed = |error| Error::call(format!("serving a card in {}", path.display()), error, "");
    let server = CardServer::start(reader, &path.join("card")).map_err(failed)?;
    let link = CardLink {
        driver: OwnLibrary::PCSC.find()?,
        reader: ScdaemonReader::Served {
            socket: server.socket().to_owned(),
        },
        trace: Some(path.join("trace")),
    };
    linked_home(gnupg, path, plain, link, &card.user_pin()?, Some(server))
}

/// A home with the public keys of another, whose private ones are on a card.
pub(super) fn linked_home(
    gnupg: &Gnupg,
    path: PathBuf,
    plain: &KeyHome,
    link: CardLink,
    pin: &Pin,
    server: Option<CardServer>,
) -> Result<KeyHome, Error> {
    let home = Home::with_card(gnupg, path, link)?;
    home.copy_public_keys(&plain.home)?;
    home.learn_card(pin)?;
    KeyHome::of_card(home, plain.keys.clone(), HomeCard::Made { _server: server })
}

/// The home with a card in a reader, and the keys that its owner has put on it.
pub(super) fn inserted_home(
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
    let made = KeyHome::of_card(home, keys, HomeCard::Inserted(Arc::clone(card)))?;
    Ok(KeyHome {
        signing_pin,
        ..made
    })
}

/// A home with the card's public keys, before any PIN.
pub(super) fn private_home(
    gnupg: &Gnupg,
    card: &dyn CardAccess,
    reader: &str,
    path: PathBuf,
) -> Result<Home, Error> {
    let public = path.join("public");
    write_private(&public, &exported(gnupg, card)?)?;
    let link = CardLink {
        driver: OwnLibrary::PCSC.find()?,
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

impl Home {
    /// Has the agent take note of the keys on its card, and the card verify its user PIN: scdaemon
    /// does not ask for it again until the card is reset.
    pub fn learn_card(&self, pin: &Pin) -> Result<(), Error> {
        self.learn_keys()?;
        let mut connection = self.connect()?;
        let answer = connection.status("SCD SERIALNO", "SERIALNO")?;
        check_pin(&mut connection, &answer, pin)
    }

    /// The same with a card that is its owner's: right before it gets the PIN it is looked that it is this
    /// one and that the PIN may be tried, and no other is given it.
    ///
    /// # Errors
    /// When scdaemon has taken another card or none, the user PIN has fewer than two tries left, or the card
    /// refuses it.
    pub fn learn_inserted_card(&self, card: Aid, pin: &Pin) -> Result<(), Error> {
        // First: it talks to the card for long, which may be another afterwards.
        self.learn_keys()?;
        let mut connection = self.connect()?;
        let name = has_card(&mut connection, card)?;
        has_tries(&mut connection)?;
        check_pin(&mut connection, &name, pin)
    }

    /// Makes sure that scdaemon has taken this card: it takes the first there is if it does not find the
    /// reader that it was told.
    pub fn has_card(&self, card: Aid) -> Result<(), Error> {
        has_card(&mut self.connect()?, card).map(|_| ())
    }

    /// Has the agent take note of the keys on its card.
    pub fn learn_keys(&self) -> Result<(), Error> {
        self.connect()?.command("LEARN --force")?;
        // One that waits for a card does not see that its agent has ended.
        self.record_process("SCD GETINFO pid")
    }

    /// The public keys of another home, without any secret ones.
    pub fn copy_public_keys(&self, from: &Self) -> Result<(), Error> {
        for name in ["pubring.kbx", "trustdb.gpg"] {
            let (source, target) = (from.path().join(name), self.path().join(name));
            std::fs::copy(&source, &target)
                .map_err(|error| Error::call(format!("copying {}", source.display()), error, ""))?;
        }
        Ok(())
    }
}

/// The name of this card, by which scdaemon refuses a command when it has another.
fn has_card(connection: &mut Assuan, card: Aid) -> Result<String, Error> {
    connection.command("SCD SERIALNO")?;
    let name = answered(connection, "SCD APDU 00CA004F00")?;
    let told = Aid::new(&name);
    if told == Some(card) {
        return Ok(hex::encode_upper(name));
    }
    let told = told.map_or_else(|| "no OpenPGP card".to_owned(), |told| told.to_string());
    Err(Error::call(
        "SCD SERIALNO",
        format!("scdaemon has {told} instead of card {card}; no PIN was sent"),
        format!("leave only card {card} in its reader, or measure with --stack raw"),
    ))
}

/// Makes sure that the user PIN of scdaemon's card has two tries left or more.
fn has_tries(connection: &mut Assuan) -> Result<(), Error> {
    // DO C4 (OpenPGP card 3.4.1 §4.4.1): validity, three lengths, tries of PW1.
    let status = answered(connection, "SCD APDU 00CA00C400")?;
    match status.get(4) {
        Some(2..) => Ok(()),
        left => Err(Error::call(
            "SCD CHECKPIN",
            format!(
                "the user PIN has {} tries left; keymark sends none with fewer than two",
                left.copied().unwrap_or_default()
            ),
            "check the PIN with gpg --card-edit; a right PIN entered there resets the tries",
        )),
    }
}

/// Has the card of that name verify its user PIN.
fn check_pin(connection: &mut Assuan, name: &str, pin: &Pin) -> Result<(), Error> {
    connection.command("OPTION pinentry-mode=loopback")?;
    let reply = Zeroizing::new(data_lines(pin.expose().as_bytes()));
    connection.transact(
        &format!("SCD CHECKPIN {name}"),
        Some(&reply),
        &mut Vec::new(),
    )
}

/// The data of a response to a command that scdaemon passes on.
fn answered(connection: &mut Assuan, command: &str) -> Result<Vec<u8>, Error> {
    let mut response = connection.command(command)?;
    let data = response.len().saturating_sub(2);
    if response.split_off(data) == [0x90, 0x00] {
        return Ok(response);
    }
    Err(Error::call(command, "the card refuses it", ""))
}
