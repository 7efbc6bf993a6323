//! The check of composite signatures by OpenSSL, which has both parts.

use keymark_bench::outside::openpgp::{PUBLIC_KEY, PUBLIC_SUBKEY, packet};
use keymark_bench::{Algorithm, Composite, Family};
use keymark_stores::public_key::PublicKey;
use openssl::error::ErrorStack;

use crate::gnupg::signatures::Signature;

/// Octets of a public key (RFC 8032 §5.1.5) and of a signature of Ed25519; ML-DSA-65's follow.
const ED25519: [usize; 2] = [32, 64];

/// The public keys of ML-DSA-65 with Ed25519 (RFC 9980) that sign for a certificate.
pub(super) struct CompositeKeys(Vec<[PublicKey; 2]>);

impl CompositeKeys {
    /// Reads them out of a certificate (RFC 9580 §5.5.2.3): version 6, time, algorithm, length, key.
    pub(super) fn of(mut certificate: &[u8]) -> Result<Self, ErrorStack> {
        let number = Composite::MlDsa65Ed25519.openpgp_number();
        let mut found = Vec::new();
        while let Some((tag, body)) = packet(&mut certificate) {
            let is_key = matches!(tag, PUBLIC_KEY | PUBLIC_SUBKEY) && body.get(5) == Some(&number);
            let key = body
                .get(10..)
                .and_then(|key| key.split_at_checked(ED25519[0]));
            if let Some((ed25519, ml_dsa)) = key.filter(|_| is_key) {
                let parts = [(Family::Ed25519, ed25519), (Family::MlDsa(65), ml_dsa)];
                let [ed25519, ml_dsa] = parts.map(|(family, octets)| {
                    let algorithm = Algorithm::of(family).ok_or_else(ErrorStack::get)?;
                    PublicKey::string(algorithm, octets)
                });
                found.push([ed25519?, ml_dsa?]);
            }
        }
        Ok(Self(found))
    }

    /// Checks a detached signature of a text: both parts are of the same digest.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn check(&self, text: &[u8], signature: &[u8]) -> Result<(), String> {
        let number = Composite::MlDsa65Ed25519.openpgp_number();
        let read = Signature::detached(signature).filter(|read| read.algorithm == number);
        let none = "no signature of ML-DSA-65 with Ed25519";
        let read = read.ok_or(none)?;
        read.check_kind(false)?;
        let digest = read.digest(text)?;
        let (ed25519, ml_dsa) = read.value.split_at_checked(ED25519[1]).ok_or(none)?;
        let holds = |key: &PublicKey, part: &[u8]| key.verify(None, &digest, part).unwrap_or(false);
        match self
            .0
            .iter()
            .any(|[first, second]| holds(first, ed25519) && holds(second, ml_dsa))
        {
            true => Ok(()),
            false => Err("the signature is not the key's".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::CompositeKeys;

    /// By rsop 0.12.0, profile rfc9980: `generate-key`, `extract-cert` and `sign`, all with `--no-armor`.
    const CERTIFICATE: &[u8] = include_bytes!("fixtures/certificate.pgp");
    const SIGNATURE: &[u8] = include_bytes!("fixtures/signature.pgp");
    const TEXT: &[u8] = b"a text\n";

    #[test]
    fn both_parts_have_to_hold() {
        let keys = CompositeKeys::of(CERTIFICATE).unwrap();
        assert_eq!(keys.check(TEXT, SIGNATURE), Ok(()));
        assert!(keys.check(b"a text", SIGNATURE).is_err());
        // Behind the header: version, type, algorithm, digest; at the end ML-DSA's part, before it Ed25519's.
        let at_end = [1, 3309, 3310, 3373].map(|place| SIGNATURE.len() - place);
        for place in [3, 4, 5, 6, 7, 14].into_iter().chain(at_end) {
            let mut other = SIGNATURE.to_vec();
            other[place] ^= 1;
            assert!(keys.check(TEXT, &other).is_err(), "{place}");
        }
        for length in 0..SIGNATURE.len() {
            assert!(keys.check(TEXT, &SIGNATURE[..length]).is_err(), "{length}");
        }
        let none = CompositeKeys::of(&CERTIFICATE[..1000]).unwrap();
        assert!(none.check(TEXT, SIGNATURE).is_err());
    }
}
