//! The test keys of a run: a home for each algorithm and protection, made when first needed, and
//! the questions asked of each key, the same on every layer.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use keymark_bench::algorithm::{Algorithm, Family};
use keymark_bench::case::{Case, DeviceName, Protection, StoreKind};
use keymark_bench::error::Error;
use keymark_bench::operation::Operation;
use keymark_stores::challenge::{Challenge, PublicKey};
use keymark_stores::openpgp_card::{CardDevice, CardMaker, Pin, Slot, TouchPolicy};
use keymark_stores::raw::KeySource;
use keymark_stores::test_key::{Numbers, TestKey};

use super::Gnupg;
use super::card::{self, CardAccess};
use super::home::{Home, Passphrase, write_private};
use super::inserted::{self, InsertedCard};
use super::meter::Meter;
use super::openpgp::{self, EncryptedSessionKey};
use super::sexp::Sexp;
use super::status::{self, ListedKey};
use crate::private_dir::PrivateDir;
use keymark_tokens::reader::Reader;
use keymark_tokens::socket::CardServer;

/// Messages a key is asked about in turn.
const MESSAGES: usize = 4;

/// A home with the key of one algorithm.
#[derive(Debug)]
pub struct KeyHome {
    /// The home; its agent ends before the card that it uses.
    pub home: Home,
    pub(super) keys: Vec<ListedKey>,
    pub(super) meter: Option<Arc<Meter>>,
    /// A card in a reader, which may want its owner's finger.
    pub(super) inserted: Option<InsertedCard>,
    pub(super) _card: Option<CardServer>,
}

impl KeyHome {
    /// What measures the parts of a case's operations: where there is a card, and one worker.
    #[must_use]
    pub fn meter(&self, case: &Case) -> Option<Arc<Meter>> {
        self.meter.clone().filter(|_| case.concurrency() == 1)
    }

    /// Tells the user to touch the card's button, if the key of the operation wants that.
    pub(super) fn ask_for_touch(&self, operation: Operation) {
        if let (Some(card), Some(slot)) = (&self.inserted, Slot::of(operation))
            && card
                .device
                .check_touch(slot)
                .is_ok_and(|policy| policy != TouchPolicy::Off)
        {
            card.device.ask_for_touch();
        }
    }

    /// The key that does the operation; a primary key signs, a subkey decrypts, an RSA key does both.
    ///
    /// # Errors
    /// When the home has none, which gpg's listing then shows.
    pub fn key(&self, operation: Operation) -> Result<&ListedKey, Error> {
        let letter = match operation {
            Operation::Sign | Operation::Authenticate => 's',
            _ => 'e',
        };
        self.keys
            .iter()
            .find(|key| key.capabilities.contains(letter))
            .ok_or_else(|| {
                Error::call(
                    "gpg --list-secret-keys",
                    format!("no key can {operation}"),
                    "",
                )
            })
    }
}

/// A message of the user's and, for decryption, its encrypted form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// What is signed, or comes out of the decryption.
    pub plaintext: Vec<u8>,
    /// The file that gpg is given.
    pub file: PathBuf,
}

/// Cards that GnuPG is to use.
#[derive(Debug)]
pub struct Cards {
    /// libkeymark_pcsc.so.
    pub driver: PathBuf,
    /// What makes the cards of a device.
    pub makers: HashMap<DeviceName, CardMaker>,
    /// Cards in readers.
    pub inserted: HashMap<DeviceName, InsertedCard>,
}

/// Homes with cards: of a card in a reader one, of others one an algorithm.
type CardHomes = HashMap<(DeviceName, Option<Algorithm>), Arc<KeyHome>>;

/// Homes by algorithm and protection.
pub struct GnupgKeys {
    gnupg: Gnupg,
    passphrase: Passphrase,
    homes: Mutex<HashMap<(Algorithm, Protection), Arc<KeyHome>>>,
    cards: Option<Cards>,
    card_homes: Mutex<CardHomes>,
    card_directories: AtomicUsize,
    session_keys: Mutex<HashMap<(Algorithm, u32), Arc<SessionKeys>>>,
    /// Removed last: agents and cards are used through sockets in it.
    dir: PrivateDir,
}

/// Encrypted session keys with what has to come out of each.
pub type SessionKeys = Vec<(EncryptedSessionKey, Vec<u8>)>;

impl std::fmt::Debug for GnupgKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GnupgKeys")
            .field("gnupg", &self.gnupg)
            .field("dir", &self.dir)
            .finish_non_exhaustive()
    }
}

impl GnupgKeys {
    /// Homes will be made in a private directory.
    ///
    /// # Errors
    /// When there can be none.
    pub fn new(gnupg: Gnupg) -> Result<Self, Error> {
        let (dir, passphrase) = (PrivateDir::new()?, Passphrase::random()?);
        Ok(Self {
            gnupg,
            dir,
            passphrase,
            homes: Mutex::default(),
            cards: None,
            card_homes: Mutex::default(),
            card_directories: AtomicUsize::new(0),
            session_keys: Mutex::default(),
        })
    }

    /// The same, with some keys on cards.
    #[must_use]
    pub fn with_cards(self, cards: Cards) -> Self {
        Self {
            cards: Some(cards),
            ..self
        }
    }

    /// The home in which a case is measured.
    ///
    /// # Errors
    /// When gpg, its agent or a card refuses.
    pub fn home_of(&self, case: &Case) -> Result<Arc<KeyHome>, Error> {
        if case.store == StoreKind::OpenpgpCard {
            if let (Some(card), Some(slot)) =
                (self.inserted(&case.device), Slot::of(case.operation))
            {
                card.device.check_touch(slot)?;
            }
            self.card_home(&case.device, case.algorithm)
        } else {
            self.home(case.algorithm, case.protection)
        }
    }

    /// The public half of a case's key.
    ///
    /// # Errors
    /// When gpg, its agent or the card refuses.
    pub fn public_key(&self, case: &Case) -> Result<PublicKey, Error> {
        if let Some(card) = self.inserted(&case.device) {
            return card.public_key(case);
        }
        let key = self.test_key(case.algorithm, case.operation)?;
        PublicKey::of(&key).map_err(|error| Error::call("i2d_PUBKEY", error, ""))
    }

    /// Encrypted session keys for a case's key, with what has to come out of each. The private half
    /// of a key on a real card is not to be had: what it is asked was encrypted here.
    ///
    /// # Errors
    /// When gpg refuses, or the two libraries disagree.
    pub fn session_keys_of(&self, case: &Case) -> Result<Arc<SessionKeys>, Error> {
        let Some(card) = self.inserted(&case.device) else {
            let key = self.test_key(case.algorithm, case.operation)?;
            return self.session_keys(case, &key);
        };
        let public = card.public_key(case)?;
        let made = (0..MESSAGES).map(|_| inserted::session_key(case.algorithm, &public));
        Ok(Arc::new(made.collect::<Result<_, Error>>()?))
    }

    fn inserted(&self, device: &DeviceName) -> Option<&InsertedCard> {
        self.cards.as_ref()?.inserted.get(device)
    }

    /// The home whose keys are on a card, made at the first call: the same keys as in the home
    /// without a card, so that the two differ in nothing else.
    fn card_home(&self, device: &DeviceName, algorithm: Algorithm) -> Result<Arc<KeyHome>, Error> {
        // A real card has one home for all its keys, a made one is made for each algorithm.
        let own = self.inserted(device).is_none().then_some(algorithm);
        let named = (device.clone(), own);
        let mut homes = self
            .card_homes
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(home) = homes.get(&named) {
            return Ok(Arc::clone(home));
        }
        let unknown = || {
            let reason = format!("nothing is known of a card called {device}");
            Error::call("making a home for a card", reason, "")
        };
        let number = self.card_directories.fetch_add(1, Ordering::Relaxed);
        let path = self.dir.subdirectory(&format!("c{number}"))?;
        let cards = self.cards.as_ref().ok_or_else(unknown)?;
        let made = Arc::new(match self.inserted(device) {
            Some(card) => inserted::home(&self.gnupg, &cards.driver, card, path)?,
            None => {
                let maker = cards.makers.get(device).ok_or_else(unknown)?;
                self.made_home(&cards.driver, maker, algorithm, path)?
            }
        });
        homes.insert(named, Arc::clone(&made));
        Ok(made)
    }

    /// A home with a card that is made for it.
    fn made_home(
        &self,
        driver: &Path,
        maker: &CardMaker,
        algorithm: Algorithm,
        path: PathBuf,
    ) -> Result<KeyHome, Error> {
        let plain = self.home(algorithm, Protection::None)?;
        let (reader, pin) = self.loaded_card(maker, algorithm, &plain)?;
        let failed =
            |error| Error::call(format!("serving a card in {}", path.display()), error, "");
        let server = CardServer::start(reader, &path.join("card")).map_err(failed)?;
        let access = CardAccess {
            driver: driver.to_owned(),
            reader: card::Reader::Served {
                socket: server.socket().to_owned(),
            },
            trace: Some(path.join("trace")),
        };
        let home = Home::with_card(&self.gnupg, path, access)?;
        home.copy_public_keys(&plain.home)?;
        home.learn_card(&pin)?;
        Ok(KeyHome {
            meter: Meter::of(&home)?.map(Arc::new),
            inserted: None,
            home,
            keys: plain.keys.clone(),
            _card: Some(server),
        })
    }

    /// A further home with the keys of an algorithm on a card that is reached in that way; the card
    /// must hold the keys already.
    ///
    /// # Errors
    /// When GnuPG or the card refuses.
    pub fn home_with(
        &self,
        algorithm: Algorithm,
        access: CardAccess,
        pin: &Pin,
    ) -> Result<KeyHome, Error> {
        let plain = self.home(algorithm, Protection::None)?;
        let number = self.card_directories.fetch_add(1, Ordering::Relaxed);
        let path = self.dir.subdirectory(&format!("c{number}"))?;
        let home = Home::with_card(&self.gnupg, path, access)?;
        home.copy_public_keys(&plain.home)?;
        home.learn_card(pin)?;
        Ok(KeyHome {
            meter: Meter::of(&home)?.map(Arc::new),
            inserted: None,
            home,
            keys: plain.keys.clone(),
            _card: None,
        })
    }

    /// A card that holds the keys of a home.
    ///
    /// # Errors
    /// When the firmware or GnuPG refuses.
    pub fn loaded_card(
        &self,
        maker: &CardMaker,
        algorithm: Algorithm,
        home: &KeyHome,
    ) -> Result<(Reader, Pin), Error> {
        let reader = maker.make()?;
        let card = CardDevice::of_made(maker, reader.clone());
        for capability in maker.capabilities() {
            let Some(slot) = Slot::of(capability.operation) else {
                continue;
            };
            if capability.algorithm != algorithm {
                continue;
            }
            let key = self.test_key(algorithm, capability.operation)?;
            let fingerprint = octets(&home.key(capability.operation)?.fingerprint);
            let fingerprint = fingerprint.and_then(|octets| octets.try_into().ok());
            card.import(&key, slot, fingerprint)?;
        }
        card.allow_many_signatures()?;
        let pin = card.user_pin()?;
        Ok((reader, pin))
    }

    /// The home of an algorithm's key, made at the first call. The protected home holds a copy of
    /// the key of the unprotected one, so that the two differ in nothing else.
    ///
    /// # Errors
    /// When gpg or its agent refuses.
    pub fn home(
        &self,
        algorithm: Algorithm,
        protection: Protection,
    ) -> Result<Arc<KeyHome>, Error> {
        let shared = shared_home(algorithm);
        let mut homes = self.homes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(home) = homes.get(&(shared, protection)) {
            return Ok(Arc::clone(home));
        }
        let plain = match homes.get(&(shared, Protection::None)) {
            Some(home) => Arc::clone(home),
            None => {
                let home = Home::new(
                    &self.gnupg,
                    self.dir.subdirectory(&format!("g{}", homes.len()))?,
                )?;
                home.generate(shared)?;
                let keys = home.keys()?;
                let made = Arc::new(KeyHome {
                    home,
                    keys,
                    meter: None,
                    inserted: None,
                    _card: None,
                });
                homes.insert((shared, Protection::None), Arc::clone(&made));
                made
            }
        };
        if protection == Protection::None {
            return Ok(plain);
        }
        let path = self.dir.subdirectory(&format!("g{}", homes.len()))?;
        copy_keys(&plain.home, &path)?;
        let home = Home::new(&self.gnupg, path)?;
        home.protect(&self.passphrase)?;
        home.prime(&self.passphrase)?;
        let made = Arc::new(KeyHome {
            home,
            keys: plain.keys.clone(),
            meter: None,
            inserted: None,
            _card: None,
        });
        homes.insert((shared, protection), Arc::clone(&made));
        Ok(made)
    }

    /// Messages of `input_bytes` printable bytes, in files of the home; encrypted to its key if
    /// they are to be decrypted.
    ///
    /// # Errors
    /// When gpg refuses or the disk is full.
    pub fn messages(
        &self,
        home: &KeyHome,
        operation: Operation,
        input_bytes: u32,
    ) -> Result<Vec<Message>, Error> {
        (0..MESSAGES)
            .map(|number| {
                let plaintext = text(input_bytes as usize)?;
                let name = home
                    .home
                    .path()
                    .join(format!("{operation}-{input_bytes}-{number}"));
                let encrypted = name.with_extension("gpg");
                if operation == Operation::Sign {
                    write_private(&name, &plaintext)?;
                    return Ok(Message {
                        plaintext,
                        file: name,
                    });
                }
                // A file that another case of this run has made serves again.
                if let (Ok(plaintext), true) = (fs::read(&name), encrypted.exists()) {
                    return Ok(Message {
                        plaintext,
                        file: encrypted,
                    });
                }
                write_private(&name, &plaintext)?;
                let recipient = &home.key(operation)?.fingerprint;
                let (to, from) = (encrypted.to_string_lossy(), name.to_string_lossy());
                let arguments = [
                    "--trust-model",
                    "always",
                    "-r",
                    recipient,
                    "--output",
                    &*to,
                    "--encrypt",
                    &*from,
                ];
                home.home.run("gpg --encrypt", &arguments)?;
                Ok(Message {
                    plaintext,
                    file: encrypted,
                })
            })
            .collect()
    }

    /// Encrypted session keys of the home's messages, with what has to come out of each: the frame
    /// for RSA and Elgamal, the shared secret for ECDH. OpenSSL's result is accepted as the right
    /// one only if it opens the session key that gpg reports. Asked of gpg once for all layers.
    ///
    /// # Errors
    /// When gpg refuses, or the two libraries disagree.
    pub fn session_keys(&self, case: &Case, key: &TestKey) -> Result<Arc<SessionKeys>, Error> {
        let named = (case.algorithm, case.input_bytes);
        let mut known = self
            .session_keys
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(session_keys) = known.get(&named) {
            return Ok(Arc::clone(session_keys));
        }
        let home = self.home(case.algorithm, Protection::None)?;
        let messages = self.messages(&home, Operation::Decrypt, case.input_bytes)?;
        let asked = messages
            .iter()
            .map(|message| session_key(&home, case.algorithm, key, message));
        let session_keys = Arc::new(asked.collect::<Result<SessionKeys, Error>>()?);
        known.insert(named, Arc::clone(&session_keys));
        Ok(session_keys)
    }

    /// The private key of an unprotected home, as OpenSSL takes it.
    ///
    /// # Errors
    /// When the agent's file cannot be read.
    pub fn test_key(&self, algorithm: Algorithm, operation: Operation) -> Result<TestKey, Error> {
        let home = self.home(algorithm, Protection::None)?;
        let file = home
            .home
            .path()
            .join("private-keys-v1.d")
            .join(format!("{}.key", home.key(operation)?.keygrip));
        let wrong = |reason: String| Error::call(format!("reading {}", file.display()), reason, "");
        let bytes = fs::read(&file).map_err(|error| wrong(error.to_string()))?;
        let expression =
            key_expression(&bytes).ok_or_else(|| wrong("it holds no key".to_owned()))?;
        from_expression(algorithm, &expression)
            .unwrap_or_else(|| Err(wrong(format!("it holds no private key of {algorithm}"))))
    }
}

/// `raw` measures the very keys and messages that agent and gpg are asked about.
impl KeySource for GnupgKeys {
    fn exercise(&self, case: &Case) -> Result<(Arc<TestKey>, Challenge), Error> {
        let key = self.test_key(case.algorithm, case.operation)?;
        let challenge = if case.operation == Operation::Decrypt {
            let session_keys = self.session_keys(case, &key)?;
            let pairs = session_keys.iter().map(|(session, secret)| {
                let input = match session {
                    EncryptedSessionKey::Rsa(ciphertext) => key.padded(ciphertext),
                    EncryptedSessionKey::Elgamal(a, b) => [key.padded(a), key.padded(b)].concat(),
                    EncryptedSessionKey::Ecdh { ephemeral, .. } => {
                        peer(case.algorithm, ephemeral).to_vec()
                    }
                };
                // OpenSSL hands out Elgamal's number: the frame behind its padding.
                let expected = match case.algorithm.family() {
                    Family::Elgamal(_) => {
                        padded_frame(key.answer(case.operation, &input)?, secret)?
                    }
                    _ => secret.clone(),
                };
                Ok((input, expected))
            });
            Challenge::known(pairs.collect::<Result<_, Error>>()?)
        } else {
            Challenge::new(&key, case.operation, case.input_bytes, 0)?
        };
        Ok((Arc::new(key), challenge))
    }
}

/// Elgamal's number, if the frame is what its padding (RFC 8017 §7.2.1) ends with.
fn padded_frame(number: Vec<u8>, frame: &[u8]) -> Result<Vec<u8>, Error> {
    match number.strip_suffix(frame) {
        Some([2, .., 0]) => Ok(number),
        _ => Err(Error::call(
            "BN_mod_exp",
            "the number does not end with the session key",
            "",
        )),
    }
}

/// Algorithms that make one OpenPGP key together share a home.
fn shared_home(algorithm: Algorithm) -> Algorithm {
    let partner = match algorithm.family() {
        Family::Ed25519 => Algorithm::of(Family::Cv25519),
        Family::Ed448 => Algorithm::of(Family::Cv448),
        _ => None,
    };
    partner.unwrap_or(algorithm)
}

/// The peer's public key as RFC 7748 and SEC 1 have it: OpenPGP puts 0x40 before Curve25519's.
pub(super) fn peer(algorithm: Algorithm, point: &[u8]) -> &[u8] {
    match (algorithm.family(), point) {
        (Family::Cv25519, [0x40, rest @ ..]) if rest.len() == 32 => rest,
        _ => point,
    }
}

/// The encrypted session key of one message, and what has to come out of it.
fn session_key(
    home: &KeyHome,
    algorithm: Algorithm,
    key: &TestKey,
    message: &Message,
) -> Result<(EncryptedSessionKey, Vec<u8>), Error> {
    let wrong = |reason: &str| Error::call("reading an encrypted message", reason, "");
    let bytes = fs::read(&message.file).map_err(|error| wrong(&error.to_string()))?;
    let session = openpgp::encrypted_session_key(&bytes)
        .ok_or_else(|| wrong("it does not begin with an encrypted session key of version 3"))?;
    let frame = reported_session_key(&home.home, message)?;
    let EncryptedSessionKey::Ecdh { ephemeral, wrapped } = &session else {
        return Ok((session, frame));
    };
    let secret = key.shared_secret(peer(algorithm, ephemeral))?;
    let fingerprint = octets(&home.key(Operation::Decrypt)?.fingerprint).unwrap_or_default();
    let (exported, _) = home.home.run("gpg --export", &["--export"])?;
    let parameters = openpgp::ecdh_parameters(&exported, &fingerprint)
        .ok_or_else(|| wrong("the public key has no ECDH parameters"))?;
    if parameters.open(&secret, wrapped).as_deref() != Some(frame.as_slice()) {
        return Err(wrong(
            "OpenSSL's shared secret does not open the session key",
        ));
    }
    Ok((session, secret))
}

/// What `gpg --show-session-key` reports, as a frame.
fn reported_session_key(home: &Home, message: &Message) -> Result<Vec<u8>, Error> {
    let file = message.file.to_string_lossy();
    let (_, said) = home.run(
        "gpg --show-session-key",
        &["--show-session-key", "--decrypt", &*file],
    )?;
    status::status_lines(&said)
        .find(|status| status.keyword == "SESSION_KEY")
        .and_then(|status| {
            let (algorithm, key) = status.arguments.first()?.split_once(':')?;
            Some(openpgp::session_key_frame(
                algorithm.parse().ok()?,
                &octets(key)?,
            ))
        })
        .ok_or_else(|| Error::call("gpg --show-session-key", "it shows none", ""))
}

fn octets(hex: &str) -> Option<Vec<u8>> {
    (0..hex.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok())
        .collect()
}

/// Printable text, so that a signed file looks like one.
fn text(length: usize) -> Result<Vec<u8>, Error> {
    let mut bytes = vec![0; length];
    openssl::rand::rand_bytes(&mut bytes).map_err(|error| Error::call("RAND_bytes", error, ""))?;
    Ok(bytes.into_iter().map(|byte| b'a' + byte % 26).collect())
}

fn copy_keys(from: &Home, to: &std::path::Path) -> Result<(), Error> {
    let failed =
        |error: std::io::Error| Error::call(format!("copying keys to {}", to.display()), error, "");
    let secret = to.join("private-keys-v1.d");
    fs::create_dir(&secret).map_err(failed)?;
    let entries = fs::read_dir(from.path().join("private-keys-v1.d")).map_err(failed)?;
    let files = entries
        .flatten()
        .map(|entry| (entry.path(), secret.join(entry.file_name())));
    let public = ["pubring.kbx", "trustdb.gpg"].map(|name| (from.path().join(name), to.join(name)));
    for (source, target) in files.chain(public) {
        fs::copy(source, target).map_err(failed)?;
    }
    Ok(())
}

/// The S-expression of a key file, in either of its formats: bare canonical, or `Key: (…)` with
/// continuation lines that begin with a space (agent/keyformat.txt).
fn key_expression(file: &[u8]) -> Option<Sexp> {
    if file.first() == Some(&b'(') {
        return Sexp::parse(file).ok();
    }
    let mut text = Vec::new();
    let mut inside = false;
    for line in file.split_inclusive(|octet| *octet == b'\n') {
        if let Some(rest) = line.strip_prefix(b"Key: ") {
            inside = true;
            text.extend(rest);
        } else if let (true, Some(rest)) = (inside, line.strip_prefix(b" ")) {
            // The line may have been wrapped within a token: join without the line feed.
            text.pop();
            text.extend(rest);
        } else {
            inside = false;
        }
    }
    Sexp::parse(&text).ok()
}

/// `None` when a number is missing.
fn from_expression(algorithm: Algorithm, expression: &Sexp) -> Option<Result<TestKey, Error>> {
    let key = expression.find("private-key")?;
    let number = |name: &str| key.iter().find_map(|item| item.find(name))?.first()?.atom();
    let reversed: Vec<u8>;
    let numbers = match algorithm.family() {
        Family::Rsa(_) => Numbers::Rsa {
            n: number("n")?,
            e: number("e")?,
            d: number("d")?,
            p: number("p")?,
            q: number("q")?,
        },
        Family::Dsa(_) => Numbers::Dsa {
            p: number("p")?,
            q: number("q")?,
            g: number("g")?,
            y: number("y")?,
            x: number("x")?,
        },
        Family::Elgamal(_) => Numbers::Elgamal {
            p: number("p")?,
            g: number("g")?,
            y: number("y")?,
            x: number("x")?,
        },
        Family::Weierstrass(_) => Numbers::Weierstrass {
            point: number("q")?,
            d: number("d")?,
        },
        // An MPI, big-endian and without leading zeros, where RFC 7748 has 32 octets little-endian.
        Family::Cv25519 => {
            let d = number("d")?;
            let digits = d.iter().rev().copied().chain(std::iter::repeat(0)).take(32);
            reversed = digits.collect();
            Numbers::Raw { secret: &reversed }
        }
        Family::Ed25519 => Numbers::Raw {
            secret: last(number("d")?, 32)?,
        },
        Family::Ed448 | Family::Cv448 => Numbers::Raw {
            secret: number("d")?,
        },
        _ => return None,
    };
    Some(TestKey::from_numbers(algorithm, &numbers))
}

/// The last `length` octets: a leading zero may stand before them.
fn last(octets: &[u8], length: usize) -> Option<&[u8]> {
    octets.get(octets.len().checked_sub(length)?..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_files_are_unwrapped_within_tokens() {
        let file = b"Created: 20261121T035838\nKey: (private-key (ecc (curve \"NI\n ST P-256\")(q #04\n AB#)))\nUse: x\n";
        let expression = key_expression(file).unwrap();
        assert_eq!(expression.value("curve"), Some(b"NIST P-256".as_slice()));
        assert_eq!(expression.value("q"), Some([0x04, 0xAB].as_slice()));
        assert_eq!(
            key_expression(b"(11:private-key(3:rsa))")
                .unwrap()
                .find("rsa"),
            Some([].as_slice())
        );
        assert_eq!(key_expression(b"Created: 1\n"), None);
    }

    #[test]
    fn curve25519_scalars_are_turned_round_and_filled() {
        let expression = Sexp::parse(b"(private-key (ecc (d #0102#)))").unwrap();
        let key = from_expression("cv25519".parse().unwrap(), &expression)
            .unwrap()
            .unwrap();
        assert_eq!(key.algorithm.name(), "cv25519");
        assert!(from_expression("rsa2048".parse().unwrap(), &expression).is_none());
    }
}
