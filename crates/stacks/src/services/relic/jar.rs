//! Java archives ("JAR File Specification", "Signed JAR File"): what is asked, and the check of an answer, which is the new
//! entries of the archive.

use std::ops::Range;

use crc32fast::hash as crc32;
use keymark_load::{Exchange, Expectation};
use openssl::base64::encode_block;
use openssl::pkcs7::Pkcs7;
use openssl::sha::sha256;

use super::patch::pieces;
use crate::services::signers::Signers;

/// As relic's client sends it: a tar of the archive's directory, and of the archive. Besides its manifest it has one entry,
/// `number`.
const STREAM: &[u8] = include_bytes!("../../../templates/smallest-jar.tar");
/// The content of that entry, and its CRC in both directories and in its own head.
const NUMBER: Range<usize> = 1668..1676;
const CHECKSUMS: [usize; 3] = [594, 1646, 1758];

/// Archives by one key.
pub(super) struct Archives(pub(super) Signers);

impl Exchange for Archives {
    /// With the number as the content of the entry: nobody else has it.
    fn body(&self, number: u64) -> Vec<u8> {
        let number = number.to_be_bytes();
        let mut stream = STREAM.to_vec();
        stream[NUMBER].copy_from_slice(&number);
        for at in CHECKSUMS {
            stream[at..at + 4].copy_from_slice(&crc32(&number).to_le_bytes());
        }
        stream
    }

    /// The signature is of the signature file, which has the manifest's digest, which has the entry's.
    fn check(&self, number: u64, answer: &[u8]) -> Result<(), Expectation> {
        let pieces = pieces(answer)?;
        let entries = pieces.first().and_then(|entries| contents(entries));
        let [_, manifest, signed, signature] = entries.ok_or(Expectation::Form)?;
        let signature = Pkcs7::from_der(signature).map_err(|_| Expectation::Form)?;
        self.0.verified(&signature, Some(signed))?;
        let has = |lines: &[u8], name: &str, digested: &[u8]| {
            let line = format!("{name}: {}\r\n", encode_block(&sha256(digested)));
            String::from_utf8_lossy(lines).contains(&line)
        };
        let right = has(signed, "SHA-256-Digest-Manifest", manifest)
            && has(
                manifest,
                "Name: number\r\nSHA-256-Digest",
                &number.to_be_bytes(),
            );
        right.then_some(()).ok_or(Expectation::Subject)
    }
}

/// The contents of the new entries (APPNOTE.TXT §4.3.7), which are not compressed: directory, manifest, signature file,
/// signature.
fn contents(mut rest: &[u8]) -> Option<[&[u8]; 4]> {
    let mut entries = [&[][..]; 4];
    for content in &mut entries {
        let head: &[u8; 30] = rest.first_chunk()?;
        let short = |at: usize| usize::from(u16::from_le_bytes([head[at], head[at + 1]]));
        let begin = head.len() + short(26) + short(28);
        // None of them has 65,536 octets.
        (*content, rest) = rest.get(begin..)?.split_at_checked(short(18))?;
    }
    Some(entries)
}

#[cfg(test)]
mod tests {
    use openssl::x509::X509;

    use super::*;
    use crate::services::signers::trusted;
    use crate::tls::servers::Purpose;

    /// relic 8.2.0's, for the number 7; jarsigner verifies the archive with it.
    const ANSWER: &[u8] = include_bytes!("../../../fixtures/relic-jar.bin");
    const AUTHORITY: &[u8] = include_bytes!("../../../fixtures/relic-jar.pem");

    #[test]
    fn an_answer_is_right_for_its_own_archive_alone() {
        let authority = X509::from_pem(AUTHORITY).unwrap();
        let archives = Archives(Signers {
            key: None,
            authorities: Some(trusted(vec![authority], Purpose::CodeSigning).unwrap()),
        });
        assert_eq!(archives.check(7, ANSWER), Ok(()));
        assert_eq!(archives.check(8, ANSWER), Err(Expectation::Subject));
        assert_eq!(archives.check(7, &ANSWER[..90]), Err(Expectation::Form));
        let found = |text: &[u8]| ANSWER.windows(text.len()).position(|there| there == text);
        // In the signature file, and in the manifest that it has the digest of.
        for (text, wrong) in [
            (&b"SHA-256-Digest-Manifest"[..], Expectation::Signature),
            (b"Created-By: keymark", Expectation::Subject),
        ] {
            let mut changed = ANSWER.to_vec();
            changed[found(text).unwrap()] ^= 1;
            assert_eq!(archives.check(7, &changed), Err(wrong));
        }
    }
}
