//! Test keys used by the distribution's libcrypto, as servers and ssh use theirs.

use std::ffi::CStr;

use keymark_bench::algorithm::{Algorithm, Curve, Family};
use keymark_bench::error::Error;
use keymark_bench::operation::Operation;
use keymark_bench::store::Capability;
use keymark_bench::workload::{Input, KeyHandle, Performed};
use keymark_native::NativeError;
use keymark_native::libcrypto::{Context, FILE, Key, Libcrypto, MessageSigner, Padding};

use super::library::{Loaded, capabilities_of, missing};
use crate::public_key::PublicKey;
use crate::store::unsupported;
use crate::test_key::TestKey;

/// The installed libcrypto.
#[derive(Debug)]
pub(super) struct Installed(&'static Libcrypto);

/// Loads it, if that has not been done.
pub(super) fn load() -> Result<Installed, Error> {
    let what = || format!("the system's OpenSSL 3 ({FILE})");
    Libcrypto::load()
        .map(Installed)
        .map_err(|reason| missing(what(), reason.to_string(), "libssl3"))
}

#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "the other families are alike in this"
)]
impl Loaded for Installed {
    fn version(&self) -> String {
        self.0.version().to_owned()
    }

    fn capabilities(&self) -> Vec<Capability> {
        let keys = |name| self.0.has_keys_of(name);
        let has = |family| match family {
            Family::Rsa(_) => keys(c"RSA"),
            Family::Dsa(_) => keys(c"DSA"),
            Family::Weierstrass(curve) => keys(c"EC") && self.0.has_curve(curve_name(curve)),
            Family::Cv25519 => keys(c"X25519"),
            Family::Ed25519 => keys(c"ED25519"),
            Family::Cv448 => keys(c"X448"),
            Family::Ed448 => keys(c"ED448"),
            // It has no Elgamal; what 3.5 and newer have of the others could not be tried.
            Family::Elgamal(_)
            | Family::MlKem(_)
            | Family::MlDsa(_)
            | Family::SlhDsa(..)
            | Family::KyberComposite(_) => false,
        };
        capabilities_of(has)
    }

    fn open(&self, key: &TestKey, operation: Operation) -> Result<Box<dyn KeyHandle>, Error> {
        let family = key.algorithm.family();
        let padding = match family {
            Family::Rsa(_) => Padding::Pkcs1,
            Family::Dsa(_)
            | Family::Weierstrass(_)
            | Family::Cv25519
            | Family::Ed25519
            | Family::Cv448
            | Family::Ed448 => Padding::None,
            Family::Elgamal(_)
            | Family::MlKem(_)
            | Family::MlDsa(_)
            | Family::SlhDsa(..)
            | Family::KyberComposite(_) => return Err(lacks(key, operation)),
        };
        let read = |error| Error::call("d2i_AutoPrivateKey", error, "");
        let private = self.0.private_key(&key.pkcs8_der()?).map_err(read)?;
        let made: Result<Box<dyn KeyHandle>, NativeError> = match operation {
            Operation::Sign | Operation::Authenticate => match family {
                Family::Ed25519 | Family::Ed448 => private
                    .signing_messages()
                    .map(|signer| Box::new(MessageSign(signer)) as _),
                Family::Cv25519 | Family::Cv448 => return Err(lacks(key, operation)),
                _ => private
                    .signing(padding)
                    .map(|context| Box::new(Calls("EVP_PKEY_sign", context)) as _),
            },
            Operation::Decrypt => match family {
                Family::Rsa(_) => private
                    .decrypting(padding)
                    .map(|context| Box::new(Calls("EVP_PKEY_decrypt", context)) as _),
                Family::Weierstrass(_) | Family::Cv25519 | Family::Cv448 => Ok(Box::new(Derive {
                    library: self.0,
                    algorithm: key.algorithm,
                    key: private,
                    contexts: Vec::new(),
                    current: 0,
                })
                    as _),
                _ => return Err(lacks(key, operation)),
            },
            Operation::Decapsulate | Operation::Handshake => return Err(lacks(key, operation)),
        };
        made.map_err(|error| Error::call("setting up an EVP_PKEY_CTX", error, ""))
    }
}

fn lacks(key: &TestKey, operation: Operation) -> Error {
    let capability = Capability::new(key.algorithm, operation);
    unsupported("the system's OpenSSL", capability)
}

/// OpenSSL's short name of a curve.
const fn curve_name(curve: Curve) -> &'static CStr {
    match curve {
        Curve::NistP256 => c"prime256v1",
        Curve::NistP384 => c"secp384r1",
        Curve::NistP521 => c"secp521r1",
        Curve::BrainpoolP256r1 => c"brainpoolP256r1",
        Curve::BrainpoolP384r1 => c"brainpoolP384r1",
        Curve::BrainpoolP512r1 => c"brainpoolP512r1",
        Curve::Secp256k1 => c"secp256k1",
    }
}

fn performed(call: &str, result: Result<usize, NativeError>) -> Result<Performed, Error> {
    match result {
        Ok(length) => Ok(Performed { length, cpu: None }),
        Err(error) => Err(Error::call(call, error, "")),
    }
}

/// One call of a context that was set up once, by its name.
struct Calls(&'static str, Context);

impl KeyHandle for Calls {
    fn perform(&mut self, input: &Input, output: &mut [u8]) -> Result<Performed, Error> {
        performed(self.0, self.1.perform(&input.bytes, output))
    }
}

/// Signatures of messages: EdDSA. `EVP_DigestSign` ends its context, which is begun anew untimed.
struct MessageSign(MessageSigner);

impl KeyHandle for MessageSign {
    fn arm(&mut self, _: &Input) -> Result<(), Error> {
        let begun = self.0.begin();
        begun.map_err(|error| Error::call("EVP_DigestSignInit", error, ""))
    }

    fn perform(&mut self, input: &Input, output: &mut [u8]) -> Result<Performed, Error> {
        performed("EVP_DigestSign", self.0.sign(&input.bytes, output))
    }
}

/// ECDH, X25519 and X448, with a context for each peer, as with the OpenSSL that is built in.
struct Derive {
    library: &'static Libcrypto,
    algorithm: Algorithm,
    key: Key,
    contexts: Vec<(Vec<u8>, Context)>,
    current: usize,
}

impl KeyHandle for Derive {
    fn arm(&mut self, input: &Input) -> Result<(), Error> {
        let mut known = self.contexts.iter();
        if let Some(index) = known.position(|(point, _)| *point == input.bytes) {
            self.current = index;
            return Ok(());
        }
        let call = "EVP_PKEY_derive_set_peer";
        let spki = PublicKey::point(self.algorithm, &input.bytes).and_then(|peer| peer.spki_der());
        let spki = spki.map_err(|error| Error::call(call, error, ""))?;
        let peer = self.library.public_key(&spki);
        let context = peer.and_then(|peer| self.key.deriving(&peer));
        let context = context.map_err(|error| Error::call(call, error, ""))?;
        self.current = self.contexts.len();
        self.contexts.push((input.bytes.clone(), context));
        Ok(())
    }

    fn perform(&mut self, _: &Input, output: &mut [u8]) -> Result<Performed, Error> {
        let Some((_, context)) = self.contexts.get_mut(self.current) else {
            return Err(Error::call("EVP_PKEY_derive", "it was not armed", ""));
        };
        performed("EVP_PKEY_derive", context.perform(&[], output))
    }
}
