//! The test keys of a run: a home for each algorithm and protection, made when first needed, and
//! the questions asked of each key, the same on every layer.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use keymark_bench::algorithm::{Algorithm, Family};
use keymark_bench::case::{Case, Protection, StoreKind};
use keymark_bench::error::Error;
use keymark_bench::operation::Operation;
use keymark_stores::challenge::Challenge;
use keymark_stores::openpgp_card::{Slot, TouchPolicy};
use keymark_stores::raw::KeySource;
use keymark_stores::test_key::TestKey;

use super::Gnupg;
use super::card_homes::{CardHomes, Cards};
use super::home::{Home, Passphrase, write_private};
use super::inserted::InsertedCard;
use super::key_file;
use super::meter::Meter;
use super::openpgp::{self, EncryptedSessionKey};
use super::status::{self, ListedKey};
use crate::private_dir::PrivateDir;
use keymark_tokens::socket::CardServer;

/// Messages a key is asked about in turn.
pub(super) const MESSAGES: usize = 4;

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

/// Homes by algorithm and protection.
pub struct GnupgKeys {
    pub(super) gnupg: Gnupg,
    passphrase: Passphrase,
    homes: Mutex<HashMap<(Algorithm, Protection), Arc<KeyHome>>>,
    directories: AtomicUsize,
    pub(super) cards: Option<Cards>,
    pub(super) card_homes: Mutex<CardHomes>,
    session_keys: Mutex<HashMap<(Algorithm, u32), Arc<SessionKeys>>>,
    /// Removed last: agents and cards are used through sockets in it.
    pub(super) dir: PrivateDir,
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
            directories: AtomicUsize::new(0),
            cards: None,
            card_homes: Mutex::default(),
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
                let home = Home::new(&self.gnupg, self.directory()?)?;
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
        let path = self.directory()?;
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

    /// One for the next home; that of a home which came to nothing is not taken again.
    pub(super) fn directory(&self) -> Result<PathBuf, Error> {
        let number = self.directories.fetch_add(1, Ordering::Relaxed);
        self.dir.subdirectory(&format!("g{number}"))
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
            key_file::expression(&bytes).ok_or_else(|| wrong("it holds no key".to_owned()))?;
        key_file::test_key(algorithm, &expression)
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

pub(super) fn octets(hex: &str) -> Option<Vec<u8>> {
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
