//! Devices before a run: what the families of key stores find, and what each device offers.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use keymark_bench::store::Capability;
use keymark_bench::{DeviceName, Error, Profile, Provenance, StoreIdentity, StoreKind};
use serde::{Deserialize, Serialize};

use crate::access::AccessKind;
use crate::journal::{Journal, Journals};
use crate::scheme::Scheme;
use crate::software::SoftwareStore;
use crate::store::KeyStore;
use crate::user::{TokenId, User};

/// Devices to look for.
#[derive(Debug, Clone)]
pub enum Wish {
    /// Nothing but this CPU.
    Software,
    /// Devices that the default plan compares: this CPU and a stand-in for a token.
    Default,
    /// The token that is plugged in.
    Inserted,
    /// Devices by name.
    Named(Vec<String>),
    /// Everything.
    All,
}

/// A family of key stores, one folder, registered in [`crate::registry`]: looks for its devices that are wanted, and adds
/// them to those that others have found.
pub type StoreFamily = fn(&Wish, &User, &mut Looked) -> Result<(), Error>;

/// Result of looking for devices.
#[derive(Debug, Default)]
pub struct Looked {
    pub devices: Vec<Box<dyn Device>>,
    /// Names in a wish that are devices of the family.
    pub known: Vec<String>,
    /// Failure to look where it was necessary: readers without pcscd.
    pub unseen: Option<Error>,
    /// Readers whose token another program has to itself, by their names.
    pub occupied: Vec<String>,
    /// Places other than readers where tokens were looked for.
    pub visited: Vec<Visited>,
}

/// A place where tokens may be: a PKCS#11 module.
#[derive(Debug, Clone)]
pub struct Visited {
    pub store: StoreKind,
    /// Name of the place.
    pub name: String,
    pub file: PathBuf,
    /// Summary of its tokens, or the reason why there is none.
    pub said: Result<String, Error>,
}

/// A device that was found.
pub trait Device: Debug + Send + Sync {
    /// Returns its identity.
    fn identity(&self) -> &StoreIdentity;

    /// Returns all that can be measured on it.
    fn capabilities(&self) -> &[Capability];

    /// Returns all that needs no test key to be written: programs that want the owner's keyring use no other.
    fn present(&self) -> &[Capability] {
        self.capabilities()
    }

    /// Returns the capabilities that are the same work under another name.
    fn synonyms(&self) -> Vec<Capability> {
        Vec::new()
    }

    /// Returns the ways in which its keys can be used besides the usual one, and the capabilities of each.
    fn schemes(&self) -> Vec<(Scheme, Vec<Capability>)> {
        Vec::new()
    }

    /// The way to its keys.
    fn access(&self) -> AccessKind;

    /// Returns a description of it for people.
    fn facts(&self) -> Vec<Fact>;

    /// The public halves of its keys, and the certificates of them, as far as it shows them without a PIN and without
    /// a change to it.
    fn public_parts(&self) -> Result<Vec<PublicPart>, Error> {
        Ok(Vec::new())
    }

    /// Returns the token's identity, if it is one that outlives the run.
    fn token(&self) -> Option<TokenId> {
        None
    }

    /// Checks whether a run can ask it for all of this together.
    fn check(&self, _wanted: &[Capability]) -> Result<(), Error> {
        Ok(())
    }

    /// Has the user agree, in one question, to what a run destroys on it that asks for all of this.
    fn agree(&self, _wanted: &[Capability]) -> Result<(), Error> {
        Ok(())
    }

    /// Removes what a run that died has left on it, by its journal.
    fn undo(&self, left: Journal) -> Result<(), Error> {
        let call = format!("restoring {}", left.content().token);
        Err(Error::call(call, "it belongs to another device", ""))
    }

    /// Makes it ready for a run.
    fn open(&self, run: &Run) -> Result<Arc<dyn KeyStore>, Error>;
}

/// Makes the identity of a device of keymark's own: software of this CPU, or that with the times of another device.
pub(crate) fn made_identity(
    name: impl Into<String>,
    kind: StoreKind,
    (software, version): (&str, (&str, String)),
    profile: Option<&Profile>,
) -> StoreIdentity {
    let (provenance, product) = match profile {
        None => (Provenance::Virtual, software.to_owned()),
        Some(profile) => {
            let is_vowel = |letter| matches!(letter, 'A' | 'E' | 'I' | 'O' | 'U');
            let n = if profile.product.starts_with(is_vowel) {
                "n"
            } else {
                ""
            };
            (
                Provenance::Twin,
                format!("twin of a{n} {}", profile.product),
            )
        }
    };
    let mut versions = BTreeMap::from([(version.0.to_owned(), version.1)]);
    versions.extend(profile.map(|profile| ("profile".to_owned(), profile.source.clone())));
    StoreIdentity {
        versions,
        assumed: profile
            .iter()
            .flat_map(|profile| profile.assumed())
            .collect(),
        ..StoreIdentity::new(DeviceName::new(name.into()), kind, provenance, product)
    }
}

/// The public half of a key on a device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublicPart {
    /// Name of the key on the device.
    pub name: String,
    /// The key.
    pub der: PublicDer,
}

/// A public key as the device has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum PublicDer {
    /// SubjectPublicKeyInfo (RFC 5280 §4.1.2.7).
    Key(Vec<u8>),
    /// A certificate of it (RFC 5280 §4.1).
    Certificate(Vec<u8>),
    /// Prime and public number of a DSA key on a PKCS#11 token; the crate `cryptoki` cannot ask for the order.
    Dsa { p: Vec<u8>, y: Vec<u8> },
}

/// A line of a device's description.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// Subject; several lines may have the same.
    pub name: &'static str,
    /// Text of the line.
    pub text: String,
    /// Duration, where the line is about one.
    pub time: Option<Duration>,
}

impl Fact {
    /// A line.
    pub fn new(name: &'static str, text: impl Into<String>) -> Self {
        Self {
            name,
            text: text.into(),
            time: None,
        }
    }

    /// A line that ends with a time.
    pub fn timed(name: &'static str, text: impl Into<String>, time: Duration) -> Self {
        Self {
            time: Some(time),
            ..Self::new(name, text)
        }
    }
}

/// Means that the stores of one run share.
#[derive(Debug, Clone)]
pub struct Run {
    /// Seed of everything random.
    pub seed: u64,
    /// Store of test keys: all devices that are given keys get the same ones, so that they do the
    /// same work.
    pub test_keys: Arc<SoftwareStore>,
    /// The journals, and the name that the run has in them; without, no token is written to that outlives
    /// the run.
    pub journals: Option<(Journals, String)>,
}

impl Run {
    /// A run with test keys of its own.
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            test_keys: Arc::default(),
            journals: None,
        }
    }
}

impl dyn Device + '_ {
    /// Returns whether its keys are reached in that way.
    pub fn has(&self, kind: AccessKind) -> bool {
        self.access() == kind
    }
}
