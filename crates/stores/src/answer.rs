//! Answers of devices in the form that the check of the results expects.

use std::sync::Arc;

use keymark_bench::workload::{Verifiable, Verifier};
use keymark_bench::{Algorithm, Family, Operation};

use crate::public_key::der_signature;

/// The answers of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answers {
    /// Their form.
    pub form: AnswerForm,
    /// Room that the longest needs, in bytes.
    pub capacity: usize,
}

/// Form of signatures and secrets on elliptic curves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerForm {
    /// OpenSSL's form: ECDSA signatures in DER, the x coordinate of an ECDH secret.
    Der,
    /// The form of devices: r and s of equal length (OpenPGP card 3.4.1 §7.2.10.3, PKCS#11 3.1 §6.3.1), an
    /// ECDH secret as a point or as its x coordinate (§7.2.11).
    Concatenated,
}

impl AnswerForm {
    /// The check of a challenge, for answers of this form.
    pub fn checked(
        self,
        algorithm: Algorithm,
        operation: Operation,
        check: Arc<dyn Verifier>,
    ) -> Arc<dyn Verifier> {
        match self {
            Self::Der => check,
            Self::Concatenated => Arc::new(move |result: &Verifiable<'_>| {
                let usual = usual_form(algorithm, operation, result.output);
                let output = &*usual.ok_or("the answer does not have the length of a result")?;
                let verdicts = check.verify(&[Verifiable { output, ..*result }]);
                verdicts.into_iter().collect()
            }),
        }
    }
}

impl Answers {
    /// Returns the answers of a device; the longest are an RSA-8192 signature, with room for what a faulty one may
    /// add, and one of ML-DSA-87 (FIPS 204 table 2).
    pub(crate) const fn of_device(algorithm: Algorithm) -> Self {
        let is_long = matches!(algorithm.family(), Family::MlDsa(_));
        Self {
            form: AnswerForm::Concatenated,
            capacity: if is_long { 4627 } else { 1024 },
        }
    }
}

fn usual_form(algorithm: Algorithm, operation: Operation, output: &[u8]) -> Option<Vec<u8>> {
    match (algorithm.family(), operation.signs()) {
        (Family::Weierstrass(_), false) => match output {
            [0x04, point @ ..] if point.len().is_multiple_of(2) => {
                Some(point[..point.len() / 2].to_vec())
            }
            x => Some(x.to_vec()),
        },
        (Family::Weierstrass(_), true) => {
            if output.is_empty() || !output.len().is_multiple_of(2) {
                return None;
            }
            let (r, s) = output.split_at(output.len() / 2);
            der_signature(r, s).ok()
        }
        // GnuPG's own form puts 0x40 before Curve25519's points.
        (Family::Cv25519, _) => match output {
            [0x40, secret @ ..] if secret.len() == 32 => Some(secret.to_vec()),
            secret => Some(secret.to_vec()),
        },
        _ => Some(output.to_vec()),
    }
}
