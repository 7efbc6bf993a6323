//! Questions to a key, made with its public half, and the check of the answers.

use std::sync::Arc;

use keymark_bench::store::Capability;
use keymark_bench::workload::{Input, Verifiable, Verifier};
use keymark_bench::{Algorithm, Digest, During as _, Error, Operation};
use openssl::error::ErrorStack;
use openssl::hash::{MessageDigest, hash};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::public_key::{PublicKey, verdict};
use crate::scheme::Scheme;
use crate::store::unsupported;

/// Different inputs, so that neither branch predictor nor cache learns one by heart.
pub const INPUTS: usize = 8;

/// Inputs and the check of what comes out.
#[derive(Clone, derive_more::Debug)]
#[debug("Challenge({})", inputs.len())]
pub struct Challenge {
    /// Used in turn.
    pub inputs: Arc<[Input]>,
    /// The check.
    pub verifier: Arc<dyn Verifier>,
}

impl Challenge {
    /// Makes inputs for an operation with a key, wherever its private half is; messages to be signed
    /// have `input_bytes` bytes and are drawn with the seed. By a scheme the key is used otherwise than usual.
    pub fn new(
        key: &PublicKey,
        operation: Operation,
        scheme: Option<Scheme>,
        input_bytes: u32,
        seed: u64,
    ) -> Result<Self, Error> {
        let algorithm = key.algorithm();
        if !algorithm.has(operation) {
            let capability = Capability::new(algorithm, operation);
            return Err(unsupported("the OpenSSL library", capability));
        }
        if operation.signs() {
            return Self::signing(key.clone(), scheme, input_bytes, seed).during("EVP_Digest");
        }
        let pairs = (0..INPUTS).map(|_| key.encrypt(scheme));
        let (inputs, expected): (Vec<_>, Vec<_>) = pairs
            .collect::<Result<Vec<_>, _>>()?
            .into_iter()
            .map(|(bytes, expected)| (Input { bytes }, expected))
            .unzip();
        let check = move |result: &Verifiable<'_>| match expected.get(result.input) {
            Some(expected) if expected == result.output => Ok(()),
            _ => Err("the decrypted secret is not the encrypted one".to_owned()),
        };
        Ok(Self {
            inputs: inputs.into(),
            verifier: Arc::new(check),
        })
    }

    fn signing(
        public: PublicKey,
        scheme: Option<Scheme>,
        input_bytes: u32,
        seed: u64,
    ) -> Result<Self, ErrorStack> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let messages = (0..INPUTS).map(|_| {
            let mut message = vec![0; input_bytes as usize];
            rng.fill_bytes(&mut message);
            message
        });
        let before = scheme.is_none_or(|scheme| !scheme.hashes());
        let signed: Vec<Vec<u8>> = match digest(public.algorithm()).filter(|_| before) {
            Some(digest) => messages
                .map(|message| Ok(hash(digest, &message)?.to_vec()))
                .collect::<Result<_, ErrorStack>>()?,
            None => messages.collect(),
        };
        let inputs: Arc<[Input]> = signed.into_iter().map(|bytes| Input { bytes }).collect();
        let signed = Arc::clone(&inputs);
        let check = move |result: &Verifiable<'_>| {
            let signed = &signed[result.input].bytes;
            verdict(public.verify(scheme, signed, result.output))
        };
        Ok(Self {
            inputs,
            verifier: Arc::new(check),
        })
    }
}

/// OpenSSL's digest that is signed in place of the message.
pub fn digest(algorithm: Algorithm) -> Option<MessageDigest> {
    algorithm.digest().map(|digest| match digest {
        Digest::Sha256 => MessageDigest::sha256(),
        Digest::Sha384 => MessageDigest::sha384(),
        Digest::Sha512 => MessageDigest::sha512(),
    })
}
