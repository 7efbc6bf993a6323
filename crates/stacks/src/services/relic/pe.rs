//! Programs in PE form that a service signs ("Windows Authenticode Portable Executable Signature Format", 2008): what is
//! asked, and the check of an answer, which is relic's patch for the program.

use der::asn1::AnyRef;
use der::{Decode, SliceReader};
use keymark_load::{Exchange, Expectation};
use openssl::pkcs7::Pkcs7;
use openssl::sha::sha256;

use crate::services::signers::Signers;

/// The headers of the smallest program that there is: those of DOS and COFF, and an optional one (PE32) with 16 data
/// directories, behind which it ends.
const HEADERS: &[u8] = include_bytes!("../../../templates/smallest.exe");
/// Checksum and directory entry of the signature, which are not signed.
const UNSIGNED: [std::ops::Range<usize>; 2] = [152..156, 216..224];
/// Length of the head before the signature in the certificate's table.
const BEFORE_SIGNATURE: usize = 8;

/// Length of the head before the patches: version and number of patches, 32 bits each.
const HEAD: usize = 8;
/// Offset, old and new length of one.
const ENTRY: usize = 16;

/// Programs by one key.
pub(super) struct Programs(pub(super) Signers);

/// Program with the number behind its headers, so that it is unique.
fn program(number: u64) -> Vec<u8> {
    [HEADERS, &number.to_be_bytes()].concat()
}

fn digest(mut program: Vec<u8>) -> [u8; 32] {
    let [checksum, entry] = UNSIGNED;
    program.drain(entry);
    program.drain(checksum);
    sha256(&program)
}

/// Pieces that a patch of relic (its `lib/binpatch`) puts into a file, in the order of their places.
fn pieces(answer: &[u8]) -> Result<Vec<&[u8]>, Expectation> {
    let number = |at: usize| {
        let octets = answer.get(at..)?.first_chunk()?;
        usize::try_from(u32::from_be_bytes(*octets)).ok()
    };
    let all = || {
        let count = number(4)?;
        let mut rest = answer.get(HEAD + count.checked_mul(ENTRY)?..)?;
        let mut pieces = Vec::new();
        for patch in 0..count {
            let (piece, behind) = rest.split_at_checked(number(HEAD + patch * ENTRY + 12)?)?;
            pieces.push(piece);
            rest = behind;
        }
        Some(pieces)
    };
    all().ok_or(Expectation::Form)
}

impl Exchange for Programs {
    fn body(&self, number: u64) -> Vec<u8> {
        program(number)
    }

    fn check(&self, number: u64, answer: &[u8]) -> Result<(), Expectation> {
        // The directory's entry is the first piece.
        let table = pieces(answer)?.into_iter().nth(1);
        let signature = table.and_then(|table| table.get(BEFORE_SIGNATURE..));
        let signature = signature.ok_or(Expectation::Form)?;
        let signed = Pkcs7::from_der(signature).map_err(|_| Expectation::Form)?;
        let whole = signed.to_der().map_err(|_| Expectation::Form)?;
        let content = AnyRef::from_der(&whole);
        let content = content.and_then(|info| CONTENT.into_iter().try_fold(info, part));
        let content = content.map_err(|_| Expectation::Form)?;
        self.0.verified(&signed, Some(content.value()))?;
        let imprint = IMPRINT.into_iter().try_fold(content, part);
        let imprint = imprint.map_err(|_| Expectation::Form)?;
        let same = imprint.value() == digest(program(number));
        same.then_some(()).ok_or(Expectation::Subject)
    }
}

/// Path from a ContentInfo to the SpcIndirectDataContent of its SignedData (PKCS #7 §9.1).
const CONTENT: [usize; 5] = [1, 0, 2, 1, 0];
/// Path from there to the digest of the program.
const IMPRINT: [usize; 2] = [1, 1];

/// The part of that place.
fn part(of: AnyRef<'_>, place: usize) -> der::Result<AnyRef<'_>> {
    let mut reader = SliceReader::new(of.value())?;
    for _ in 0..place {
        AnyRef::decode(&mut reader)?;
    }
    AnyRef::decode(&mut reader)
}

#[cfg(test)]
mod tests {
    use openssl::x509::X509;

    use super::*;
    use crate::services::signers::trusted;
    use crate::tls::servers::{Authority, Purpose};

    /// relic 8.2.0's, for the program with the number 7; osslsigncode verifies the program with it.
    const ANSWER: &[u8] = include_bytes!("../../../fixtures/relic-pe.bin");
    const AUTHORITY: &[u8] = include_bytes!("../../../fixtures/relic-pe.pem");

    fn signed_for(authority: &[u8]) -> Programs {
        let authority = X509::from_pem(authority).unwrap();
        Programs(Signers {
            key: None,
            authorities: Some(trusted(vec![authority], Purpose::CodeSigning).unwrap()),
        })
    }

    #[test]
    fn an_answer_is_right_for_its_own_program_alone() {
        let programs = signed_for(AUTHORITY);
        assert_eq!(programs.check(7, ANSWER), Ok(()));
        assert_eq!(programs.check(8, ANSWER), Err(Expectation::Subject));
    }

    #[test]
    fn what_is_wrong_with_an_answer_is_said() {
        let programs = signed_for(AUTHORITY);
        assert_eq!(programs.check(7, b"no"), Err(Expectation::Form));
        assert_eq!(programs.check(7, &ANSWER[..100]), Err(Expectation::Form));
        let changed = |at: usize| {
            let mut answer = ANSWER.to_vec();
            answer[at] ^= 1;
            programs.check(7, &answer)
        };
        // The signature is at the end, before what makes it a multiple of eight.
        let end = ANSWER.iter().rposition(|octet| *octet != 0).unwrap();
        assert_eq!(changed(end), Err(Expectation::Signature));
        let digest = digest(program(7));
        let place = ANSWER.windows(32).position(|window| window == digest);
        assert_eq!(changed(place.unwrap()), Err(Expectation::Signature));
        let other = Authority::signing_for("nistp256".parse().unwrap()).unwrap();
        let other = signed_for(&other.certificate().to_pem().unwrap());
        assert_eq!(other.check(7, ANSWER), Err(Expectation::Certificate));
    }
}
