//! Test keys used by the distribution's libcrypto, as servers and ssh use theirs, or by another build of it.

use std::path::PathBuf;
use std::sync::OnceLock;

use keymark_bench::store::Capability;
use keymark_bench::workload::{Input, KeyHandle, Performed};
use keymark_bench::{Algorithm, During as _, Error, Family, Operation};
use keymark_native::NativeError;
use keymark_native::libcrypto::{Context, FILE, Key, Libcrypto, MessageSigner, Use};

use super::library::{Loaded, agreement, call, capabilities_of, missing, performed};
use crate::public_key::PublicKey;
use crate::store::unsupported;
use crate::test_key::{TestKey, nid};

/// Files of `openssl-a` and `openssl-b`.
static BUILDS: OnceLock<Vec<PathBuf>> = OnceLock::new();

/// Names the files of `openssl-a` and `openssl-b` for this process, once.
pub fn name_builds(files: Vec<PathBuf>) {
    BUILDS.get_or_init(|| files);
}

/// Number of builds whose files are named.
pub(super) fn named_builds() -> usize {
    BUILDS.get().map_or(0, Vec::len)
}

/// A libcrypto besides the one that is built in.
#[derive(Debug)]
pub(super) struct InstalledLibcrypto {
    library: &'static Libcrypto,
    /// Its file, if the user named it.
    file: Option<&'static PathBuf>,
}

/// Loads the installed one, if that has not been done.
pub(super) fn load() -> Result<InstalledLibcrypto, Error> {
    let what = || format!("the system's OpenSSL 3 ({FILE})");
    let library = Libcrypto::load(FILE);
    let library = library.map_err(|reason| missing(what(), reason.to_string(), "libssl3"))?;
    Ok(InstalledLibcrypto {
        library,
        file: None,
    })
}

/// Loads the build of that index among those that are named.
pub(super) fn load_build(index: usize) -> Result<InstalledLibcrypto, Error> {
    let missing = |what: String, reason: String| Error::Missing {
        what,
        reason,
        advice: "name another file: --library openssl=FILE".to_owned(),
    };
    let file = BUILDS.get().and_then(|files| files.get(index));
    let unnamed = || missing("the build".to_owned(), "its file is not named".to_owned());
    let file = file.ok_or_else(unnamed)?;
    let what = || format!("a libcrypto of OpenSSL 3 in {}", file.display());
    let library = Libcrypto::load(file);
    let library = library.map_err(|reason| missing(what(), reason.to_string()))?;
    Ok(InstalledLibcrypto {
        library,
        file: Some(file),
    })
}

impl Loaded for InstalledLibcrypto {
    fn version(&self) -> String {
        let version = self.library.version();
        match self.file {
            Some(file) => format!("{version} ({})", file.display()),
            None => version.to_owned(),
        }
    }

    fn capabilities(&self) -> Vec<Capability> {
        let keys = |name| self.library.has_keys_of(name);
        let has = |family| match family {
            Family::Rsa(_) => keys(c"RSA"),
            Family::Dsa(_) => keys(c"DSA"),
            Family::Weierstrass(curve) => {
                keys(c"EC") && self.library.has_curve(nid(curve).as_raw())
            }
            Family::Cv25519 => keys(c"X25519"),
            Family::Ed25519 => keys(c"ED25519"),
            Family::Cv448 => keys(c"X448"),
            Family::Ed448 => keys(c"ED448"),
            // It has no Elgamal; what 3.5 and newer have of the others could not be tried.
            Family::Elgamal(_)
            | Family::MlKem(_)
            | Family::MlDsa(_)
            | Family::SlhDsa(..)
            | Family::Composite(_) => false,
        };
        capabilities_of(has)
    }

    fn open(&self, key: &TestKey, operation: Operation) -> Result<Box<dyn KeyHandle>, Error> {
        let (family, signs) = (key.algorithm.family(), operation.signs());
        // Authenticating is signing.
        let work = if signs { Operation::Sign } else { operation };
        let can = |operation| Capability::new(key.algorithm, operation);
        if !self.capabilities().contains(&can(work)) {
            return Err(unsupported("the system's OpenSSL", can(operation)));
        }
        let read = |error| Error::call("d2i_AutoPrivateKey", error, "");
        let private = self.library.private_key(&key.pkcs8_der()?).map_err(read)?;
        let made: Result<Box<dyn KeyHandle>, NativeError> = match (family, signs) {
            (Family::Ed25519 | Family::Ed448, _) => {
                let signer = private.signing_messages();
                signer.map(|signer| Box::new(MessageSign(signer)) as _)
            }
            (Family::Rsa(_), true) => performing("EVP_PKEY_sign", &private, Use::SignPkcs1),
            (Family::Rsa(_), false) => performing("EVP_PKEY_decrypt", &private, Use::DecryptPkcs1),
            (_, true) => performing("EVP_PKEY_sign", &private, Use::Sign),
            (_, false) => Ok(derive(self.library, key.algorithm, private)),
        };
        made.during("setting up an EVP_PKEY_CTX")
    }
}

fn performing(
    name: &'static str,
    key: &Key,
    used: Use<'_>,
) -> Result<Box<dyn KeyHandle>, NativeError> {
    let mut context = key.context(used)?;
    let perform = move |input: &[u8], output: &mut [u8]| context.perform(input, output);
    Ok(call(name, perform))
}

/// Signatures of messages: EdDSA. `EVP_DigestSign` ends its context, which is begun anew untimed.
struct MessageSign(MessageSigner);

impl KeyHandle for MessageSign {
    fn arm(&mut self, _: &Input) -> Result<(), Error> {
        self.0.begin().during("EVP_DigestSignInit")
    }

    fn perform(&mut self, input: &Input, output: &mut [u8]) -> Result<Performed, Error> {
        performed("EVP_DigestSign", self.0.sign(&input.bytes, output))
    }
}

/// ECDH, X25519 and X448, with a context for each peer, as with the OpenSSL that is built in.
fn derive(library: &'static Libcrypto, algorithm: Algorithm, key: Key) -> Box<dyn KeyHandle> {
    let set_up = move |point: &[u8]| {
        let spki = PublicKey::point(algorithm, point).and_then(|peer| peer.spki_der());
        let peer = library.public_key(&spki.map_err(|error| error.to_string())?);
        let context = peer.and_then(|peer| key.context(Use::Derive(&peer)));
        context.map_err(|error| error.to_string())
    };
    agreement(
        ["EVP_PKEY_derive_set_peer", "EVP_PKEY_derive"],
        set_up,
        |context: &mut Context, secret| context.perform(&[], secret),
    )
}
