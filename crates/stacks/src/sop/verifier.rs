//! The check of results. Signatures are read by keymark and calculated by OpenSSL, and a program also judges one of
//! each case: gpg, or, of composites, which gpg does not read, the one that made it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use keymark_bench::workload::{Verifiable, Verifier, verify_each};
use keymark_bench::{During as _, Error};

use super::Sop;
use super::composite::CompositeKeys;
use super::key::{Origin, SopKey};
use crate::gnupg::process::Message;
use crate::programs::write_private;

/// Check of the output for a message.
type Check = Box<dyn Fn(&Message, &[u8]) -> Result<(), String> + Send + Sync>;

/// A program's opinion on the signature of a message in a file.
type Judge = Box<dyn Fn(&Message, &Path) -> Result<(), Error> + Send + Sync>;

/// Results of messages.
pub(super) struct MessageResults {
    messages: Vec<Message>,
    check: Check,
    /// Size of the longest signature or ciphertext in bytes.
    longest: AtomicU32,
    signs: bool,
}

impl MessageResults {
    /// Returns the check of decrypted messages.
    pub(super) fn decrypted(messages: Vec<Message>) -> Result<Self, Error> {
        let size = |message: &Message| -> Result<u32, Error> {
            let found = fs::metadata(&message.file).during("reading a message")?;
            Ok(saturated(found.len()))
        };
        let sizes: Vec<u32> = messages.iter().map(size).collect::<Result<_, _>>()?;
        Ok(Self {
            messages,
            check: Box::new(Message::compare),
            longest: sizes.into_iter().max().unwrap_or_default().into(),
            signs: false,
        })
    }

    /// Returns the check of detached signatures, for which files are written into a directory.
    pub(super) fn signed(
        sop: &Arc<Sop>,
        key: &SopKey,
        messages: Vec<Message>,
        directory: PathBuf,
    ) -> Result<Self, Error> {
        let (check, judge): (Check, Judge) = match &key.origin {
            Origin::Gnupg(home) => {
                let (signer, home) = (home.signer()?, Arc::clone(home));
                let check = move |message: &Message, output: &[u8]| {
                    let checked = signer.check_detached(&message.plaintext, output);
                    checked.map_err(|expected| format!("the signature lacks {expected}"))
                };
                let judge = move |message: &Message, file: &Path| {
                    let [file, of] = [file, &*message.file].map(Path::to_string_lossy);
                    let arguments = ["--verify", &*file, &*of];
                    home.home.run("gpg --verify", &arguments).map(drop)
                };
                (Box::new(check), Box::new(judge))
            }
            Origin::Own(certificate) => {
                let (sop, certificate) = (Arc::clone(sop), certificate.clone());
                let octets = fs::read(&certificate).during("reading a certificate")?;
                let keys = CompositeKeys::of(&octets).during("reading a certificate's keys")?;
                let check =
                    move |message: &Message, output: &[u8]| keys.check(&message.plaintext, output);
                let judge = move |message: &Message, file: &Path| {
                    let arguments = [file, &*certificate];
                    let judged = sop.run("verify", &arguments, Some(&message.file));
                    judged.map(drop)
                };
                (Box::new(check), Box::new(judge))
            }
        };
        let has_asked = AtomicBool::new(false);
        let check = move |message: &Message, output: &[u8]| {
            check(message, output)?;
            if has_asked.swap(true, Ordering::Relaxed) {
                return Ok(());
            }
            let judged = in_file(&directory, output, |file| judge(message, file));
            judged.map_err(|error| error.to_string())
        };
        Ok(Self {
            messages,
            check: Box::new(check),
            longest: AtomicU32::new(0),
            signs: true,
        })
    }
}

impl Verifier for MessageResults {
    fn verify(&self, results: &[Verifiable<'_>]) -> Vec<Result<(), String>> {
        if self.signs {
            let lengths = results.iter().map(|result| result.output.len() as u64);
            let longest = saturated(lengths.max().unwrap_or_default());
            self.longest.fetch_max(longest, Ordering::Relaxed);
        }
        verify_each(results, |result| {
            let message = self.messages.get(result.input);
            (self.check)(message.ok_or("the message is unknown")?, result.output)
        })
    }

    fn message_bytes(&self) -> Option<u32> {
        Some(self.longest.load(Ordering::Relaxed))
    }
}

fn saturated(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

/// Has a signature judged in a file.
fn in_file(
    directory: &Path,
    signature: &[u8],
    judge: impl Fn(&Path) -> Result<(), Error>,
) -> Result<(), Error> {
    let file = tempfile::Builder::new()
        .suffix(".sig")
        .tempfile_in(directory)
        .during("writing a signature")?;
    write_private(file.path(), signature)?;
    judge(file.path())
}
