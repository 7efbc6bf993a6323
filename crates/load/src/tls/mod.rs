//! The client's side of TLS, by OpenSSL as it is built in, and the check of each handshake.

mod check;
mod session;

use keymark_bench::{Algorithm, Family};
use openssl::x509::X509;
use spki::SubjectPublicKeyInfoRef;

pub(crate) use check::{Checker, Seen};
pub(crate) use session::{Connector, Session, Stop};

/// Acceptance of weak keys: RSA and DH below 2048 bits, SHA-1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Weak {
    /// No: OpenSSL's own limits hold.
    #[default]
    Refused,
    /// Yes: OpenSSL's security level 0.
    Allowed,
}

/// rsaEncryption (RFC 8017 §A.1).
const RSA: &[u8] = &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 1];
/// id-ecPublicKey (RFC 5480 §2.1.1).
const EC: &[u8] = &[0x2A, 0x86, 0x48, 0xCE, 0x3D, 2, 1];
/// id-ml-dsa-44, -65, -87 are this with 17, 18, 19 (RFC 9881 §2).
const SIGNATURES_OF_NIST: &[u8] = &[0x60, 0x86, 0x48, 1, 0x65, 3, 4, 3];

/// The algorithm of the key in a certificate (DER), if it is one of keymark's: by the AlgorithmIdentifier of its
/// SubjectPublicKeyInfo (RFC 5280 §4.1).
pub fn key_of_certificate(certificate: &[u8]) -> Option<Algorithm> {
    let key = X509::from_der(certificate).ok()?.public_key().ok()?;
    let info = key.public_key_to_der().ok()?;
    let identifier = SubjectPublicKeyInfoRef::try_from(info.as_slice())
        .ok()?
        .algorithm;
    let oid = identifier.oid.as_bytes();
    if oid == RSA {
        return Algorithm::of(Family::Rsa(key.bits()));
    }
    let family = match (oid == EC, oid.strip_prefix(SIGNATURES_OF_NIST)) {
        (true, _) => Family::of_oid(identifier.parameters?.value()),
        (false, Some([17])) => Some(Family::MlDsa(44)),
        (false, Some([18])) => Some(Family::MlDsa(65)),
        (false, Some([19])) => Some(Family::MlDsa(87)),
        (false, Some(_) | None) => Family::of_oid(oid),
    };
    Algorithm::of(family?)
}
