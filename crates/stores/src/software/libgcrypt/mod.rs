//! Test keys used by the installed libgcrypt, as gpg-agent uses its own.

pub mod answer;
pub mod key;

use keymark_bench::store::Capability;
use keymark_bench::workload::{Input, KeyHandle, Performed, copy_answer};
use keymark_bench::{Algorithm, Digest, During as _, Error, Family, Operation};
use keymark_native::gcrypt::{Expression, FILE, KeyCall, Libgcrypt};

use super::library::{Loaded, capabilities_of, missing};
use crate::store::unsupported;
use crate::test_key::TestKey;
use key::curve;

/// Loads the installed libgcrypt, if that has not been done.
pub(super) fn load() -> Result<&'static Libgcrypt, Error> {
    let what = || format!("libgcrypt ({FILE})");
    Libgcrypt::load().map_err(|reason| missing(what(), reason.to_string(), "libgcrypt20"))
}

impl Loaded for &'static Libgcrypt {
    fn version(&self) -> String {
        Libgcrypt::version(self).to_owned()
    }

    fn capabilities(&self) -> Vec<Capability> {
        let curves = self.curves();
        let has = |family| match family {
            Family::Rsa(_) => self.has_algorithm("rsa"),
            Family::Dsa(_) => self.has_algorithm("dsa"),
            Family::Elgamal(_) => self.has_algorithm("elg"),
            Family::Weierstrass(_)
            | Family::Cv25519
            | Family::Ed25519
            | Family::Cv448
            | Family::Ed448 => curves
                .iter()
                .any(|known| curve(family).is_some_and(|(name, _)| name == known)),
            // What newer ones have of these, gpg-agent does not ask for by this way.
            Family::MlKem(_) | Family::MlDsa(_) | Family::SlhDsa(..) | Family::Composite(_) => {
                false
            }
        };
        capabilities_of(has)
    }

    fn open(&self, key: &TestKey, operation: Operation) -> Result<Box<dyn KeyHandle>, Error> {
        let call = match operation {
            Operation::Sign | Operation::Authenticate => KeyCall::Sign,
            Operation::Decrypt => KeyCall::Decrypt,
            Operation::Decapsulate | Operation::Handshake => {
                let capability = Capability::new(key.algorithm, operation);
                return Err(unsupported("libgcrypt", capability));
            }
        };
        let refused = |error| Error::call("gcry_sexp_new", error, "");
        Ok(Box::new(Handle {
            library: self,
            key: self.key(&key::encode(key)?).map_err(refused)?,
            algorithm: key.algorithm,
            call,
            data: None,
            result: None,
        }))
    }
}

struct Handle {
    library: &'static Libgcrypt,
    key: Expression,
    algorithm: Algorithm,
    call: KeyCall,
    data: Option<Expression>,
    result: Option<Expression>,
}

impl KeyHandle for Handle {
    fn arm(&mut self, input: &Input) -> Result<(), Error> {
        self.result = None;
        let form = match self.call {
            KeyCall::Sign => to_sign(self.algorithm, &input.bytes),
            KeyCall::Decrypt => to_decrypt(self.algorithm, &input.bytes),
        };
        self.data = Some(self.library.data(form.as_bytes()).during("gcry_sexp_new")?);
        Ok(())
    }

    fn perform(&mut self, _: &Input, _: &mut [u8]) -> Result<Performed, Error> {
        let name = self.call.name();
        let unarmed = || Error::call(name, "there is no data", "");
        let data = self.data.as_ref().ok_or_else(unarmed)?;
        let result = self.library.operate(self.call, data, &self.key);
        self.result = Some(result.during(name)?);
        Ok(Performed::default())
    }

    fn collect(&mut self, _: Performed, output: &mut [u8]) -> Result<usize, Error> {
        let failed = |reason| Error::call(self.call.name(), reason, "");
        let result = self.result.as_ref().map(Expression::canonical);
        let result = result.ok_or_else(|| failed("there is no result"))?;
        let answer = match self.call {
            KeyCall::Sign => answer::signature(self.algorithm, &result),
            KeyCall::Decrypt => answer::secret(self.algorithm, &result),
        };
        let answer = answer.ok_or_else(|| failed("its result has no known form"))?;
        copy_answer(self.call.name(), &answer, output)
    }
}

/// Formats input in the advanced form of S-expressions, as gpg-agent has it signed (`do_encode_md`, `do_encode_dsa`,
/// `do_encode_eddsa` of its agent/pksign.c).
fn to_sign(algorithm: Algorithm, input: &[u8]) -> String {
    let input = hex::encode(input);
    let digest = match algorithm.digest() {
        None | Some(Digest::Sha256) => "sha256",
        Some(Digest::Sha384) => "sha384",
        Some(Digest::Sha512) => "sha512",
    };
    match (algorithm.family(), digest) {
        (Family::Rsa(_), _) => format!("(data (flags pkcs1) (hash {digest} #{input}#))"),
        (Family::Ed25519, _) => {
            format!("(data (flags eddsa) (hash-algo sha512) (value #{input}#))")
        }
        (Family::Ed448, _) => format!("(data (value #{input}#))"),
        (_, digest) => format!("(data (flags rfc6979) (hash {digest} #{input}#))"),
    }
}

/// Formats input as gpg sends it to gpg-agent, except that padding is taken off here, since there is no gpg above.
/// Without flags older versions answer without the name of what they answer. Numbers are signed: zeros come before
/// them.
fn to_decrypt(algorithm: Algorithm, input: &[u8]) -> String {
    let (a, b) = input.split_at(input.len() / 2);
    match (algorithm.family(), hex::encode(input)) {
        (Family::Rsa(_), a) => format!("(enc-val (flags pkcs1) (rsa (a #00{a}#)))"),
        (Family::Elgamal(_), _) => {
            let [a, b] = [a, b].map(hex::encode);
            format!("(enc-val (flags raw) (elg (a #00{a}#) (b #00{b}#)))")
        }
        // OpenPGP's mark of a point in its curve's own form (RFC 9580 §11.2.2).
        (Family::Cv25519, point) => format!("(enc-val (flags raw) (ecdh (e #40{point}#)))"),
        (_, point) => format!("(enc-val (flags raw) (ecdh (e #{point}#)))"),
    }
}
