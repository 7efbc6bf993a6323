//! Homes whose keys are on a card: one that was made for the run, or one in a reader. Of its owner's keyring the public keys
//! are copied. A home may be for a program that is traced.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use keymark_bench::{Algorithm, Capability, During as _, Error, Operation};
use keymark_stores::access::Access;
use keymark_stores::card::{Aid, CardAccess, CardPlace, SigningPin as CardSigningPin, Slot};
use keymark_stores::device::{Device, Run};
use keymark_stores::places::library::OwnLibrary;
use keymark_stores::store::{KeyStore, unsupported};
use keymark_stores::tokens::reader::CardReader;
use keymark_stores::tokens::socket::CardServer;
use keymark_stores::user::Pin;

use super::assuan::Assuan;
use super::home::{Home, copy_public_keys};
use super::homes::GnupgHomes;
use super::key_home::{KeyHome, SigningPin};
use super::process::Task;
use super::scdaemon::{CardLink, ScdaemonReader};
use super::{Gnupg, reachable};
use crate::private_dir::PrivateDir;
use crate::program;
use crate::programs::write_private;

/// Puts all keys of the algorithm that the device can hold on the card, with the fingerprints that they
/// have in a home.
pub(super) fn load(
    store: &dyn KeyStore,
    algorithm: Algorithm,
    plain: &KeyHome,
    card: &dyn CardAccess,
) -> Result<(), Error> {
    let mut capabilities = store.capabilities()?;
    capabilities.retain(|capability| capability.algorithm == algorithm);
    for capability in capabilities {
        let Some(slot) = Slot::of(capability.operation) else {
            continue;
        };
        store.key(capability)?;
        // OpenPGP has no key that authenticates here: it is ssh's.
        if Task::known(capability.operation).is_none() {
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
    reader: CardReader,
    card: &dyn CardAccess,
) -> Result<KeyHome, Error> {
    let server = CardServer::start(reader, &path.join("card"))
        .during(format_args!("serving a card in {}", path.display()))?;
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
    copy_public_keys(&plain.home, &path)?;
    let home = Home::with_card(gnupg, path, link)?;
    home.learn_card(pin)?;
    Ok(KeyHome {
        _server: server,
        ..KeyHome::new(home, plain.keys.clone())?
    })
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
    Ok(KeyHome {
        signing_pin,
        inserted: Some(Arc::clone(card)),
        ..KeyHome::new(home, keys)?
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
    let slots = Slot::ALL.into_iter();
    let fingerprints = slots.filter_map(|slot| card.fingerprint(slot).transpose());
    let fingerprints: Vec<String> = fingerprints.collect::<Result<_, _>>()?;
    let mut command = gnupg.command_in_owners_home("gpg");
    command
        .args(["--batch", "--no-tty", "--export"])
        .args(&fingerprints);
    let output = program::run(&mut command, program::WORK).during("gpg --export")?;
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

    /// Has the agent take note of the keys on its card.
    pub fn learn_keys(&self) -> Result<(), Error> {
        self.connect()?.command("LEARN --force").map(drop)
    }
}

/// The name of this card, by which scdaemon refuses a command when it has another: it takes the first there is if it
/// does not find the reader that it was told.
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
    connection.entrust(&format!("SCD CHECKPIN {name}"), pin.expose().as_bytes())
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

/// The home; everything is gone when it is dropped.
#[derive(Debug)]
pub enum TracedCard {
    /// Made card with a test key.
    Made {
        home: Arc<KeyHome>,
        /// Parent of its directory.
        _homes: GnupgHomes,
    },
    /// Owner's card with its public keys.
    Inserted {
        home: Home,
        /// Parent of its directory.
        _dir: PrivateDir,
    },
}

/// Entry of the PIN of a card in a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PinEntry {
    /// GnuPG's pinentry, when a program first needs it.
    Pinentry,
    /// The user of the device, before there is a program.
    Before,
}

impl TracedCard {
    /// A home with that card: with a test key of the algorithm on it if it was made for the purpose,
    /// with its owner's keys otherwise.
    pub fn new(device: &dyn Device, algorithm: Algorithm, entry: PinEntry) -> Result<Self, Error> {
        let gnupg = Gnupg::find(None);
        let gnupg = reachable(&gnupg, device)?.clone();
        let store = device.open(&Run::new(0))?;
        let offered = device.capabilities().iter().copied();
        let offered = offered.filter(|capability| Task::known(capability.operation).is_some());
        let of_algorithm = offered
            .clone()
            .find(|capability| capability.algorithm == algorithm);
        let no_card = || {
            let reason = format!("{} is not a card with a key", device.identity().device);
            Error::call("looking for a card", reason, "name a card with --device")
        };
        let capability = of_algorithm.or_else(|| offered.clone().next());
        let capability = capability.ok_or_else(no_card)?;
        let Access::Card(card, _) = store.access(&store.key(capability)?)? else {
            return Err(no_card());
        };
        match card.place() {
            CardPlace::Virtual { .. } if of_algorithm.is_none() => {
                let wanted = Capability::new(algorithm, Operation::Decrypt);
                Err(unsupported(device.identity().device.as_str(), wanted))
            }
            CardPlace::Virtual { .. } => {
                let homes = GnupgHomes::new(gnupg)?;
                let name = &device.identity().device;
                let home = homes.card_home(name, capability.algorithm, store.as_ref(), card)?;
                Ok(Self::Made {
                    home,
                    _homes: homes,
                })
            }
            CardPlace::Pcscd(reader) => {
                let dir = PrivateDir::new()?;
                let path = dir.subdirectory("g")?;
                let home = private_home(&gnupg, card.as_ref(), reader, path)?;
                match entry {
                    PinEntry::Pinentry => {
                        has_card(&mut home.connect()?, card.aid()?)?;
                        home.learn_keys()?;
                    }
                    PinEntry::Before => {
                        // Under the rules for PINs: scdaemon then enters one that is known to be right.
                        let pin = card.user_pin()?;
                        home.learn_inserted_card(card.aid()?, &pin)?;
                    }
                }
                Ok(Self::Inserted { home, _dir: dir })
            }
        }
    }

    /// The home.
    pub fn home(&self) -> &Home {
        match self {
            Self::Made { home, .. } => &home.home,
            Self::Inserted { home, .. } => home,
        }
    }

    /// The file with the calls.
    pub fn trace(&self) -> &Path {
        let trace = self.home().card().and_then(|card| card.trace.as_deref());
        trace.unwrap_or(self.home().path())
    }
}
