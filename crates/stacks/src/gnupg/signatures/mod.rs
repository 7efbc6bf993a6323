//! The check of what `gpg --sign` wrote: in this process, and for a few messages of each case also by gpg.
//!
//! A gpg process for every block took a third of a plan's time. keymark reads the packets, and OpenSSL calculates.

mod message;
mod signature;
mod signer;

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use keymark_bench::Error;
use keymark_bench::workload::{Verifiable, Verifier, verify_each};
pub(crate) use signature::Signature;
pub use signer::Signer;

use super::home::Home;
use super::key_home::KeyHome;
use super::listing::ListedKey;
use super::process::Message;
use super::status;
use crate::program;

/// Messages of a case's first block that gpg also looks at.
const SECOND_OPINIONS: usize = 3;

/// Signed messages, each of a text.
pub(super) struct SignedMessages {
    home: Arc<KeyHome>,
    fingerprint: String,
    /// Signer; none if only gpg can check its signatures.
    signer: Option<Signer>,
    messages: Vec<Message>,
    /// True once gpg was asked.
    asked: AtomicBool,
}

impl SignedMessages {
    /// The check of the texts' signatures by a key of the home.
    pub(super) fn new(
        home: Arc<KeyHome>,
        key: &ListedKey,
        messages: Vec<Message>,
    ) -> Result<Self, Error> {
        let certificate = home.certificate(key)?;
        Ok(Self {
            signer: Signer::find(&certificate, &key.fingerprint),
            fingerprint: key.fingerprint.clone(),
            home,
            messages,
            asked: AtomicBool::new(false),
        })
    }

    fn of_gpg(&self, results: &[Verifiable<'_>]) -> Vec<Result<(), String>> {
        verdicts(&self.home.home, &self.fingerprint, results)
            .unwrap_or_else(|error| vec![Err(error); results.len()])
    }

    /// Lets gpg check the last results: its refusal counts.
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
        let check = |result: &Verifiable<'_>| match self.messages.get(result.input) {
            Some(message) => signer.check(&message.plaintext, result.output),
            None => Err("the text to be signed is unknown".to_owned()),
        };
        let mut verdicts = verify_each(results, check);
        if !self.asked.swap(true, Ordering::Relaxed) {
            self.compare(results, &mut verdicts);
        }
        verdicts
    }
}

/// Returns gpg's own verdicts on signed messages, in one process for all of them; it looks at the signer, not at the
/// text.
fn verdicts(
    home: &Home,
    signer: &str,
    results: &[Verifiable<'_>],
) -> Result<Vec<Result<(), String>>, String> {
    let failed = |error: std::io::Error| format!("gpg --verify-files failed: {error}");
    let dir = home.path().join("check");
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir(&dir).map_err(failed)?;
    let mut command = home.gpg();
    command.args(["--trust-model", "always", "--verify-files"]);
    for (number, result) in results.iter().enumerate() {
        let file = dir.join(format!("{number}.gpg"));
        fs::write(&file, result.output).map_err(failed)?;
        command.arg(file);
    }
    let output = program::run(&mut command, program::WORK).map_err(failed)?;
    let said = String::from_utf8_lossy(&output.stderr);
    let refusal = Err(format!(
        "the signature does not verify: {}",
        status::complaint(&said)
    ));
    let mut verdicts: Vec<Result<(), String>> = vec![refusal; results.len()];
    let mut current = None;
    for (keyword, rest) in status::status_lines(&said) {
        match keyword {
            // FILE_START 1 path
            "FILE_START" => current = current.map_or(Some(0), |number: usize| Some(number + 1)),
            // The key that signed comes first, its primary key last.
            "VALIDSIG" if rest.split(' ').next() == Some(signer) => {
                if let Some(verdict) = current.and_then(|number| verdicts.get_mut(number)) {
                    *verdict = Ok(());
                }
            }
            _ => {}
        }
    }
    Ok(verdicts)
}
