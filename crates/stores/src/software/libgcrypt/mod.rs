//! Test keys used by the installed libgcrypt, as gpg-agent uses its own.

pub mod answer;
pub mod key;

use keymark_bench::algorithm::{Algorithm, Digest, Family};
use keymark_bench::error::Error;
use keymark_bench::operation::Operation;
use keymark_bench::store::Capability;
use keymark_bench::workload::{Input, KeyHandle, Performed};
use keymark_native::NativeError;
use keymark_native::gcrypt::sexp::{Sexp, list};
use keymark_native::gcrypt::{Expression, FILE, Libgcrypt};

use super::library::{Loaded, capabilities_of, missing};
use crate::store::unsupported;
use crate::test_key::TestKey;
use key::{curve_name, number, octets};

/// The installed libgcrypt.
#[derive(Debug)]
pub(super) struct Installed(&'static Libgcrypt);

/// Loads it, if that has not been done.
pub(super) fn load() -> Result<Installed, Error> {
    let what = || format!("libgcrypt ({FILE})");
    Libgcrypt::load()
        .map(Installed)
        .map_err(|reason| missing(what(), reason.to_string(), "libgcrypt20"))
}

impl Loaded for Installed {
    fn version(&self) -> String {
        self.0.version().to_owned()
    }

    fn capabilities(&self) -> Vec<Capability> {
        let curves = self.0.curves();
        let has = |family| match family {
            Family::Rsa(_) => self.0.has_algorithm("rsa"),
            Family::Dsa(_) => self.0.has_algorithm("dsa"),
            Family::Elgamal(_) => self.0.has_algorithm("elg"),
            Family::Weierstrass(_)
            | Family::Cv25519
            | Family::Ed25519
            | Family::Cv448
            | Family::Ed448 => curves
                .iter()
                .any(|curve| Some(curve.as_str()) == curve_name(family)),
            // What newer ones have of these, gpg-agent does not ask for by this way.
            Family::MlKem(_)
            | Family::MlDsa(_)
            | Family::SlhDsa(..)
            | Family::KyberComposite(_) => false,
        };
        capabilities_of(has)
    }

    fn open(&self, key: &TestKey, operation: Operation) -> Result<Box<dyn KeyHandle>, Error> {
        let capability = Capability::new(key.algorithm, operation);
        let (form, call): (fn(_, &_) -> _, Call) = match operation {
            Operation::Sign | Operation::Authenticate => (to_sign, Libgcrypt::sign),
            Operation::Decrypt => (to_decrypt, Libgcrypt::decrypt),
            Operation::Decapsulate | Operation::Handshake => {
                return Err(unsupported("libgcrypt", capability));
            }
        };
        let refused = |error| Error::call("gcry_sexp_new", error, "");
        Ok(Box::new(Handle {
            library: self.0,
            key: self.0.key(&key::encode(key)?).map_err(refused)?,
            capability,
            form,
            call,
            data: None,
            result: None,
        }))
    }
}

type Call = fn(&'static Libgcrypt, &Expression, &Expression) -> Result<Expression, NativeError>;

struct Handle {
    library: &'static Libgcrypt,
    key: Expression,
    capability: Capability,
    form: fn(Algorithm, &[u8]) -> Sexp,
    call: Call,
    data: Option<Expression>,
    result: Option<Expression>,
}

impl Handle {
    fn name(&self) -> &'static str {
        if self.capability.operation.signs() {
            "gcry_pk_sign"
        } else {
            "gcry_pk_decrypt"
        }
    }
}

impl KeyHandle for Handle {
    fn arm(&mut self, input: &Input) -> Result<(), Error> {
        self.result = None;
        let form = (self.form)(self.capability.algorithm, &input.bytes).canonical();
        let data = self.library.data(&form);
        self.data = Some(data.map_err(|error| Error::call("gcry_sexp_new", error, ""))?);
        Ok(())
    }

    fn perform(&mut self, _: &Input, _: &mut [u8]) -> Result<Performed, Error> {
        let unarmed = || Error::call(self.name(), "there is no data", "");
        let data = self.data.as_ref().ok_or_else(unarmed)?;
        match (self.call)(self.library, data, &self.key) {
            Ok(result) => self.result = Some(result),
            Err(error) => return Err(Error::call(self.name(), error, "")),
        }
        Ok(Performed::default())
    }

    fn collect(&mut self, _: Performed, output: &mut [u8]) -> Result<usize, Error> {
        let failed = |reason| Error::call(self.name(), reason, "");
        let result = self.result.as_ref().map(Expression::canonical);
        let result = result.ok_or_else(|| failed("there is no result"))?;
        let algorithm = self.capability.algorithm;
        let answer = if self.capability.operation.signs() {
            answer::signature(algorithm, &result)
        } else {
            answer::secret(algorithm, &result)
        };
        let answer = answer.ok_or_else(|| failed("its result has no known form"))?;
        let room = output.get_mut(..answer.len());
        let room = room.ok_or_else(|| failed("its result does not fit the output"))?;
        room.copy_from_slice(&answer);
        Ok(answer.len())
    }
}

/// As gpg-agent has it signed (`do_encode_md`, `do_encode_dsa`, `do_encode_eddsa` of its agent/pksign.c).
#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "the other families are alike in this"
)]
fn to_sign(algorithm: Algorithm, input: &[u8]) -> Sexp {
    let text = |text: &str| Sexp::Atom(text.as_bytes().to_vec());
    let flags = |flag| list("flags", [text(flag)]);
    let hash = |digest| {
        let name = match digest {
            Digest::Sha256 => "sha256",
            Digest::Sha384 => "sha384",
            Digest::Sha512 => "sha512",
        };
        list("hash", [text(name), Sexp::Atom(input.to_vec())])
    };
    let digest = algorithm.digest().unwrap_or(Digest::Sha256);
    let value = || octets("value", input.to_vec());
    match algorithm.family() {
        Family::Rsa(_) => list("data", [flags("pkcs1"), hash(digest)]),
        Family::Ed25519 => {
            let sha512 = list("hash-algo", [text("sha512")]);
            list("data", [flags("eddsa"), sha512, value()])
        }
        Family::Ed448 => list("data", [value()]),
        _ => list("data", [flags("rfc6979"), hash(digest)]),
    }
}

/// As gpg sends it to gpg-agent, except that padding is taken off here, since no gpg stands above.
#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "the other families are alike in this"
)]
fn to_decrypt(algorithm: Algorithm, input: &[u8]) -> Sexp {
    let (flag, encrypted) = match algorithm.family() {
        Family::Rsa(_) => ("pkcs1", list("rsa", [number(("a", input.to_vec()))])),
        Family::Elgamal(_) => {
            let (a, b) = input.split_at(input.len() / 2);
            let numbers = [("a", a.to_vec()), ("b", b.to_vec())].map(number);
            ("raw", list("elg", numbers))
        }
        family => {
            let mut point = input.to_vec();
            if let Family::Cv25519 = family {
                // OpenPGP's mark of a point in its curve's own form (RFC 9580 §11.2.2).
                point.insert(0, 0x40);
            }
            ("raw", list("ecdh", [octets("e", point)]))
        }
    };
    // Without flags older versions answer without the name of what they answer.
    let flags = list("flags", [Sexp::Atom(flag.as_bytes().to_vec())]);
    list("enc-val", [flags, encrypted])
}
