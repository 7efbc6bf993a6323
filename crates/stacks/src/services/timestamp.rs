//! Timestamps of RFC 3161: what is asked, and the check of an answer, whose signature and chain OpenSSL verifies.

use der::asn1::{AnyRef, ObjectIdentifier, OctetStringRef, UintRef};
use der::{Decode, Encode, Reader as _, Sequence, Tag, Tagged as _};
use keymark_load::{Exchange, Expectation};
use openssl::pkcs7::Pkcs7;
use openssl::sha::sha256;

use super::signers::Signers;

/// id-sha256 (RFC 5754 §2.2).
const SHA256: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.2.1");
/// PKIStatus of a token that is there (RFC 3161 §2.4.2).
const GRANTED: [u8; 2] = [0, 1];

#[derive(Debug, Sequence)]
struct Algorithm<'a> {
    oid: ObjectIdentifier,
    #[asn1(optional = "true")]
    parameters: Option<AnyRef<'a>>,
}

#[derive(Debug, Sequence)]
struct MessageImprint<'a> {
    algorithm: Algorithm<'a>,
    digest: OctetStringRef<'a>,
}

/// TimeStampReq (RFC 3161 §2.4.1), without a policy or extensions.
#[derive(Debug, Sequence)]
struct Request<'a> {
    version: u8,
    imprint: MessageImprint<'a>,
    nonce: UintRef<'a>,
    certificate_wanted: bool,
}

/// PKIStatusInfo.
#[derive(Debug, Sequence)]
struct Status<'a> {
    status: u8,
    #[asn1(optional = "true")]
    text: Option<AnyRef<'a>>,
    #[asn1(optional = "true")]
    failure: Option<AnyRef<'a>>,
}

/// TimeStampResp (RFC 3161 §2.4.2).
#[derive(Debug, Sequence)]
struct Response<'a> {
    status: Status<'a>,
    #[asn1(optional = "true")]
    token: Option<AnyRef<'a>>,
}

/// Timestamps by one key.
pub(crate) struct Timestamps(pub(crate) Signers);

/// What is timestamped: nobody else has it.
fn document(number: u64) -> [u8; 8] {
    number.to_be_bytes()
}

/// A request for a timestamp, with nonce and the certificate.
fn request(number: u64) -> Vec<u8> {
    let digest = sha256(&document(number));
    let nonce = number.to_be_bytes();
    let encoded = || {
        Request {
            version: 1,
            imprint: MessageImprint {
                algorithm: Algorithm {
                    oid: SHA256,
                    parameters: Some(AnyRef::NULL),
                },
                digest: OctetStringRef::new(&digest)?,
            },
            nonce: UintRef::new(&nonce)?,
            certificate_wanted: true,
        }
        .to_der()
    };
    // Its parts are of fixed lengths: a service refuses what is empty.
    encoded().unwrap_or_default()
}

/// The token in an answer.
pub(super) fn token(answer: &[u8]) -> Result<Pkcs7, Expectation> {
    let response = Response::from_der(answer).map_err(|_| Expectation::Form)?;
    if !GRANTED.contains(&response.status.status) {
        return Err(Expectation::Consent);
    }
    let token = response.token.and_then(|token| token.to_der().ok());
    let token = token.and_then(|token| Pkcs7::from_der(&token).ok());
    token.ok_or(Expectation::Form)
}

impl Exchange for Timestamps {
    fn body(&self, number: u64) -> Vec<u8> {
        request(number)
    }

    fn check(&self, number: u64, answer: &[u8]) -> Result<(), Expectation> {
        let signed = self.0.verified(&token(answer)?, None)?;
        let (imprint, nonce) = told(&signed).map_err(|_| Expectation::Form)?;
        if imprint.algorithm.oid != SHA256 || imprint.digest.as_bytes() != sha256(&document(number))
        {
            return Err(Expectation::Subject);
        }
        let wanted = number.to_be_bytes();
        let same = UintRef::new(&wanted).is_ok_and(|wanted| nonce == Some(wanted));
        same.then_some(()).ok_or(Expectation::Nonce)
    }
}

/// Imprint and nonce of a TSTInfo (RFC 3161 §2.4.2): version, policy, imprint, serial number and time come first; of what
/// may follow the nonce alone is an integer.
fn told(info: &[u8]) -> der::Result<(MessageImprint<'_>, Option<UintRef<'_>>)> {
    AnyRef::from_der(info)?.sequence(|reader| {
        let _version = u8::decode(reader)?;
        let _policy = ObjectIdentifier::decode(reader)?;
        let imprint = MessageImprint::decode(reader)?;
        let _serial = AnyRef::decode(reader)?;
        let _time = AnyRef::decode(reader)?;
        let mut nonce = None;
        while !reader.is_finished() {
            let part = AnyRef::decode(reader)?;
            if part.tag() == Tag::Integer {
                nonce = Some(part.decode_as()?);
            }
        }
        Ok((imprint, nonce))
    })
}
