//! Ways by which a program that is not keymark reaches a key: the capabilities of access. A store gives those that its
//! keys have, a stack asks for the one that it needs; neither names the other.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use keymark_bench::Error;
use keymark_bench::store::Capability;
use keymark_bench::words::words;
use serde::{Deserialize, Serialize};
use strum::EnumDiscriminants;

use crate::card::{CardAccess, Slot};
use crate::pkcs11::ModuleAccess;
use crate::pkcs11_uri::Pkcs11Uri;
use crate::scheme::Scheme;
use crate::test_key::{SealedKey, TestKey};
use crate::user::Pin;

/// The way to one key, by which programs other than keymark reach it.
#[derive(Debug, Clone, EnumDiscriminants)]
#[strum_discriminants(
    name(AccessKind),
    doc = "The way to the keys of a device, before any of them is opened."
)]
pub enum Access {
    /// The private key itself, a test key: it can be written to a file in whatever form a program reads.
    KeyFile(Arc<TestKey>),
    /// A slot of a card in a reader.
    Card(Arc<dyn CardAccess>, Slot),
    /// An object on a token behind a PKCS#11 module.
    Module(ModuleAccess),
    /// A key that only another process of keymark's can open.
    Locator(KeyLocator),
}

/// Need of a program for a certificate of its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Certificate {
    /// The program sees no other keys.
    Wanted,
    /// The program finds keys by their names.
    NotNeeded,
}

/// The key that another process of keymark's opens as its store does.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum KeyLocator {
    /// A key in memory, in the clear.
    Software(SealedKey),
    /// Key that this TPM alone can load.
    #[cfg(feature = "tpm")]
    Tpm(crate::tpm::Way, tss_esapi::utils::TpmsContext),
}

words! {
    /// A library that calculates in place of the OpenSSL that is built in.
    pub enum Library("library") {
        /// The installed libgcrypt, which gpg-agent loads.
        Libgcrypt = "libgcrypt",
        /// The installed libcrypto, which the distribution's servers and ssh load.
        OpenSslSystem = "openssl-system",
        /// The crates of RustCrypto and dalek, which programs in Rust without C use.
        RustCrypto = "rustcrypto",
        /// The first build of libcrypto whose file the user names.
        OpenSslA = "openssl-a",
        /// The second one.
        OpenSslB = "openssl-b",
    }
}

/// Work of a worker with a key.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct KeyUse {
    pub capability: Capability,
    pub scheme: Option<Scheme>,
    /// Another library than the one that is built in, for a key in memory.
    pub library: Option<Library>,
}

impl Access {
    /// The private key, for what needs it in memory or in a file.
    pub fn into_file(self) -> Result<Arc<TestKey>, Error> {
        let advice = "--library and key files are about keys in memory";
        match self {
            Self::KeyFile(key) => Ok(key),
            Self::Card(..) | Self::Module(_) | Self::Locator(_) => {
                let reason = "its device keeps it to itself";
                Err(Error::call("opening a key", reason, advice))
            }
        }
    }

    /// The token's way.
    pub fn into_module(self) -> Result<ModuleAccess, Error> {
        match self {
            Self::Module(module) => Ok(module),
            Self::KeyFile(_) | Self::Card(..) | Self::Locator(_) => Err(Error::call(
                "opening a key",
                "it is on no PKCS#11 token",
                "",
            )),
        }
    }
}

/// Means by which a program that is not keymark reaches a token's key.
#[allow(missing_debug_implementations, reason = "a secret is not printed")]
#[derive(Serialize, Deserialize)]
pub struct ProgramKey {
    pub(crate) module: PathBuf,
    /// URI of the private key, as far as it is known, without module and PIN.
    pub uri: Box<Pkcs11Uri>,
    /// PIN that the token has accepted; none where it wants none.
    #[serde(skip)]
    pub pin: Option<Pin>,
    /// The whole environment of the program, as the process has it that starts the program.
    #[serde(skip)]
    pub environment: Vec<(OsString, OsString)>,
    /// The directory of a token that keymark has made: programs that run as another user have to be let into it.
    pub own_place: Option<PathBuf>,
}

impl ProgramKey {
    /// The private key that the URI names behind that module, whatever the URI says of modules and PINs. No token is
    /// asked.
    pub fn of_uri(module: PathBuf, uri: Pkcs11Uri) -> Result<Self, Error> {
        let key = Self {
            module,
            uri: Box::new(Pkcs11Uri {
                object: uri.object.private(),
                pin_file: None,
                module_path: None,
                module_name: None,
                ..uri
            }),
            pin: None,
            environment: Vec::new(),
            own_place: None,
        };
        key.naming_one()
    }

    /// Returns it if the URI names one key of its token.
    pub fn naming_one(self) -> Result<Self, Error> {
        if self.uri.object.names_one() {
            return Ok(self);
        }
        let (call, advice) = ("reading a pkcs11: URI", "add object=LABEL or id=%NN");
        Err(Error::call(call, "it names no key", advice))
    }

    /// The module's file.
    pub fn module(&self) -> &Path {
        &self.module
    }

    /// The token's URI: its PIN is one, for however many keys.
    pub fn token_uri(&self) -> String {
        let uri = Pkcs11Uri {
            module_path: Some(self.module.clone()),
            ..self.uri.of_token()
        };
        uri.to_string()
    }

    /// The private key's URI (RFC 7512). Programs find the PIN in that file: the PIN itself is in no URI, since
    /// URIs are arguments.
    pub fn uri(&self, pin_file: Option<&Path>) -> String {
        let uri = Pkcs11Uri {
            pin_file: pin_file.map(Path::to_owned),
            ..(*self.uri).clone()
        };
        uri.to_string()
    }
}
