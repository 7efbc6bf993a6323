//! The check of what `gpg --sign` wrote: in this process, and a few messages of each case by gpg as well.
//!
//! A gpg process for every block took a third of a plan's time. rPGP reads the packets, and OpenSSL calculates all
//! but Ed25519, since rPGP has no Brainpool curves.

mod message;
mod second_opinion;
mod signer;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use keymark_bench::error::Error;
use keymark_bench::workload::{Verifiable, Verifier, verify_each};

use super::key_home::KeyHome;
use super::listing::ListedKey;
pub use signer::Signer;

/// Messages of a case's first block that gpg looks at, too.
const SECOND_OPINIONS: usize = 3;

/// Signed messages, each of a text.
pub(super) struct SignedMessages {
    home: Arc<KeyHome>,
    fingerprint: String,
    /// None if only gpg can check its signatures.
    signer: Option<Signer>,
    texts: Vec<Vec<u8>>,
    /// Whether gpg was asked for its opinion.
    asked: AtomicBool,
}

impl SignedMessages {
    /// The check of the texts' signatures by a key of the home.
    pub(super) fn new(
        home: Arc<KeyHome>,
        key: &ListedKey,
        texts: Vec<Vec<u8>>,
    ) -> Result<Self, Error> {
        let arguments = [
            "--export-options",
            "export-minimal",
            "--export",
            &key.exactly(),
        ];
        let (certificate, _) = home.home.run("gpg --export", &arguments)?;
        Ok(Self {
            signer: Signer::find(&certificate, &key.fingerprint),
            fingerprint: key.fingerprint.clone(),
            home,
            texts,
            asked: AtomicBool::new(false),
        })
    }

    fn of_gpg(&self, results: &[Verifiable<'_>]) -> Vec<Result<(), String>> {
        second_opinion::verdicts(&self.home.home, &self.fingerprint, results)
            .unwrap_or_else(|error| vec![Err(error); results.len()])
    }

    /// What gpg does not accept is not right, whatever was found here.
    fn compare(&self, results: &[Verifiable<'_>], verdicts: &mut [Result<(), String>]) {
        let first = results.len().saturating_sub(SECOND_OPINIONS);
        let opinions = self.of_gpg(&results[first..]);
        for (verdict, opinion) in verdicts[first..].iter_mut().zip(opinions) {
            if let (Ok(()), Err(reason)) = (&*verdict, opinion) {
                *verdict = Err(format!(
                    "keymark accepts the signature, but gpg does not: {reason}"
                ));
            }
        }
    }
}

impl Verifier for SignedMessages {
    fn verify(&self, results: &[Verifiable<'_>]) -> Vec<Result<(), String>> {
        if results.is_empty() {
            return Vec::new();
        }
        let Some(signer) = &self.signer else {
            return self.of_gpg(results);
        };
        let check = |result: &Verifiable<'_>| match self.texts.get(result.input) {
            Some(text) => signer.check(text, result.output),
            None => Err("the text to be signed is unknown".to_owned()),
        };
        let mut verdicts = verify_each(results, check);
        if !self.asked.swap(true, Ordering::Relaxed) {
            self.compare(results, &mut verdicts);
        }
        verdicts
    }
}
