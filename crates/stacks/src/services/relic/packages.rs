//! Packages of distributions, which are signed by OpenPGP: Debian's (deb(5), as debsigs signs them) and RPM's (Maximum RPM,
//! appendix A).

use keymark_load::{Exchange, Expectation};
use openssl::hash::MessageDigest;
use openssl::hash::hash as digest;
use pgp::composed::CleartextSignedMessage;

use super::patch::pieces;
use crate::gnupg::signatures::Signer;

const DEB: &[u8] = include_bytes!("../../../templates/smallest.deb");
/// The head of an archive's last member (ar(5)), which is the number: nobody else has it.
const MEMBER: &[u8; 60] = b"number          0           0     0     100644  8         `\n";

/// Debian packages by one key.
pub(super) struct Debs(pub(super) Signer);

impl Exchange for Debs {
    fn body(&self, number: u64) -> Vec<u8> {
        [DEB, MEMBER, &number.to_be_bytes()].concat()
    }

    /// The new member is a text with the digests of all others, signed in the clear.
    fn check(&self, number: u64, answer: &[u8]) -> Result<(), Expectation> {
        let pieces = pieces(answer)?;
        let member = pieces.first().and_then(|member| member.get(MEMBER.len()..));
        let text = member.and_then(|text| std::str::from_utf8(text).ok());
        let read = CleartextSignedMessage::from_string(text.ok_or(Expectation::Form)?.trim_end());
        let (message, _) = read.map_err(|_| Expectation::Form)?;
        let [signature] = message.signatures() else {
            return Err(Expectation::Form);
        };
        let signed = message.signed_text();
        self.0.check_beside(signed.as_bytes(), signature)?;
        let of = |kind| digest(kind, &number.to_be_bytes()).map(hex::encode);
        let line = || {
            Ok::<_, openssl::error::ErrorStack>(format!(
                "\t{} {} 8 number\r\n",
                of(MessageDigest::md5())?,
                of(MessageDigest::sha1())?
            ))
        };
        let line = line().map_err(|_| Expectation::Form)?;
        signed
            .contains(&line)
            .then_some(())
            .ok_or(Expectation::Subject)
    }
}

/// Lead, the header of signatures, and the header; the payload is the number.
const RPM: &[u8] = include_bytes!("../../../templates/smallest.rpm");
/// In the header of signatures the MD5 digest of header and payload; and where the header begins.
const MD5: std::ops::Range<usize> = 304..320;
const HEADER: usize = 336;
/// `RPMSIGTAG_PGP`: the signature of header and payload.
const SIGNATURE: u32 = 1002;

/// RPM packages by one key.
pub(super) struct Rpms(pub(super) Signer);

impl Exchange for Rpms {
    fn body(&self, number: u64) -> Vec<u8> {
        let mut package = [RPM, &number.to_be_bytes()].concat();
        // OpenSSL has MD5, or the package is refused.
        if let Ok(md5) = digest(MessageDigest::md5(), &package[HEADER..]) {
            package[MD5].copy_from_slice(&md5);
        }
        package
    }

    fn check(&self, number: u64, answer: &[u8]) -> Result<(), Expectation> {
        let pieces = pieces(answer)?;
        let signature = pieces.first().and_then(|headers| entry(headers, SIGNATURE));
        let signature = signature.ok_or(Expectation::Form)?;
        self.0
            .check_detached(&self.body(number)[HEADER..], signature)
    }
}

/// An entry of the header that stands behind the lead.
fn entry(headers: &[u8], tag: u32) -> Option<&[u8]> {
    const LEAD: usize = 96;
    let header = headers.get(LEAD..)?;
    let number = |at: usize| Some(u32::from_be_bytes(*header.get(at..)?.first_chunk()?));
    // Magic and eight octets more; then entries of tag, type, offset and count.
    let entries = usize::try_from(number(8)?).ok()?;
    let place = (0..entries).map(|entry| 16 + 16 * entry);
    let found = place.clone().find(|at| number(*at) == Some(tag))?;
    let begin = 16 + 16 * entries + usize::try_from(number(found + 8)?).ok()?;
    header
        .get(begin..)?
        .get(..usize::try_from(number(found + 12)?).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// relic 8.2.0's, for the number 7; rpmkeys verifies the package with it, and gpg what is in the other.
    const RPM_ANSWER: &[u8] = include_bytes!("../../../fixtures/relic-rpm.bin");
    const RPM_KEY: &[u8] = include_bytes!("../../../fixtures/relic-rpm.key");
    const DEB_ANSWER: &[u8] = include_bytes!("../../../fixtures/relic-deb.bin");
    const DEB_KEY: &[u8] = include_bytes!("../../../fixtures/relic-deb.key");

    fn is_right_for_its_own_package_alone(
        packages: &dyn Exchange,
        answer: &[u8],
        other: Expectation,
    ) {
        assert_eq!(packages.check(7, answer), Ok(()));
        assert_eq!(packages.check(8, answer), Err(other));
        assert_eq!(packages.check(7, &answer[..200]), Err(Expectation::Form));
        assert_eq!(packages.check(7, b"no"), Err(Expectation::Form));
    }

    #[test]
    fn what_is_signed_is_the_package_that_was_sent() {
        let signer = |key, fingerprint| Signer::find(key, fingerprint).unwrap();
        let deb = signer(DEB_KEY, "231B61F041F997E8B5064334F98355F62C161923");
        let rpm = signer(RPM_KEY, "6AD9574E006042E0D840CE12D8719AB924079D28");
        is_right_for_its_own_package_alone(&Debs(deb), DEB_ANSWER, Expectation::Subject);
        is_right_for_its_own_package_alone(&Rpms(rpm), RPM_ANSWER, Expectation::Signature);
        let other = signer(RPM_KEY, "6AD9574E006042E0D840CE12D8719AB924079D28");
        assert_eq!(Debs(other).check(7, DEB_ANSWER), Err(Expectation::Signer));
    }
}
