//! Timestamps of RFC 3161: what is asked, and the check of an answer, whose signature and chain OpenSSL verifies.

use der::asn1::{AnyRef, ObjectIdentifier, OctetStringRef, UintRef};
use der::{Decode, Encode, Reader, Sequence, Tag, Tagged as _};
use keymark_load::{Exchange, Expectation};
use openssl::pkcs7::Pkcs7;
use openssl::sha::sha256;

use super::signers::Signers;

/// id-sha256 (RFC 5754 §2.2).
const SHA256: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.2.1");
/// PKIStatus of a token that is there (RFC 3161 §2.4.2).
const GRANTED: [u8; 2] = [0, 1];

#[derive(Debug, Sequence)]
struct AlgorithmIdentifier<'a> {
    oid: ObjectIdentifier,
    #[asn1(optional = "true")]
    parameters: Option<AnyRef<'a>>,
}

#[derive(Debug, Sequence)]
struct MessageImprint<'a> {
    algorithm: AlgorithmIdentifier<'a>,
    digest: OctetStringRef<'a>,
}

/// TimeStampReq (RFC 3161 §2.4.1), without a policy or extensions.
#[derive(Debug, Sequence)]
struct TimestampRequest<'a> {
    version: u8,
    imprint: MessageImprint<'a>,
    nonce: UintRef<'a>,
    certificate_wanted: bool,
}

/// TimeStampResp (RFC 3161 §2.4.2): what the check needs, and what is told of a refusal.
#[derive(Debug, Default)]
struct TimestampResponse<'a> {
    status: u8,
    /// PKIFreeText: the authority's own words.
    texts: Vec<String>,
    /// PKIFailureInfo: the octets of its bits.
    failure: &'a [u8],
    token: Option<AnyRef<'a>>,
}

/// PKIStatus by number, and PKIFailureInfo by bit, in words (RFC 3161 §2.4.2).
const REFUSALS: &str = include_str!("../../../../data/timestamp-refusals.txt");

/// Numbers of one kind of refusal with their words.
fn refusals(kind: &str) -> impl Iterator<Item = (usize, &'static str)> {
    REFUSALS.lines().filter_map(move |line| {
        let (number, words) = line.strip_prefix(kind)?.trim_start().split_once(' ')?;
        Some((number.parse().ok()?, words))
    })
}

impl<'a> TimestampResponse<'a> {
    fn read(answer: &'a [u8]) -> der::Result<Self> {
        AnyRef::from_der(answer)?.sequence(|reader| {
            let mut response = AnyRef::decode(reader)?.sequence(Self::status)?;
            while !reader.is_finished() {
                let part = AnyRef::decode(reader)?;
                if part.tag() == Tag::Sequence {
                    response.token.get_or_insert(part);
                }
            }
            Ok(response)
        })
    }

    /// PKIStatusInfo. Of what follows the status only what can be read is told.
    fn status(reader: &mut impl Reader<'a>) -> der::Result<Self> {
        let mut response = Self {
            status: u8::decode(reader)?,
            ..Self::default()
        };
        while !reader.is_finished() {
            let part = AnyRef::decode(reader)?;
            #[allow(
                clippy::wildcard_enum_match_arm,
                reason = "tags of ASN.1: others are not decoded"
            )]
            match part.tag() {
                Tag::Sequence => response.texts = texts(part).unwrap_or_default(),
                // The first octet says how many bits are unused.
                Tag::BitString => response.failure = part.value().get(1..).unwrap_or_default(),
                _ => {}
            }
        }
        Ok(response)
    }

    fn has(&self, bit: usize) -> bool {
        let octet = self.failure.get(bit / 8);
        octet.is_some_and(|octet| octet >> (7 - bit % 8) & 1 == 1)
    }
}

fn texts(part: AnyRef<'_>) -> der::Result<Vec<String>> {
    part.sequence(|reader| {
        let mut texts = Vec::new();
        while !reader.is_finished() {
            let text = AnyRef::decode(reader)?;
            texts.push(String::from_utf8_lossy(text.value()).into_owned());
        }
        Ok(texts)
    })
}

/// Why the authority refuses, as its answer says; nothing where it grants a token or cannot be read.
pub(super) fn refusal(answer: &[u8]) -> Option<String> {
    let response = TimestampResponse::read(answer).ok()?;
    if GRANTED.contains(&response.status) {
        return None;
    }
    let number = usize::from(response.status);
    let status = refusals("status").find(|(known, _)| *known == number);
    let status = status.map_or("no known status", |(_, words)| words);
    let failures = refusals("failure").filter(|(bit, _)| response.has(*bit));
    let failures = failures.map(|(_, words)| words.to_owned());
    let texts = response.texts.iter().map(|text| format!("'{text}'"));
    let all: Vec<String> = failures.chain(texts).collect();
    let reasons = if all.is_empty() {
        "without a reason".to_owned()
    } else {
        all.join(", ")
    };
    Some(format!(
        "the authority refuses (status {}, {status}): {reasons}",
        response.status
    ))
}

/// Timestamps by one key.
pub(crate) struct Timestamps(pub(crate) Signers);

/// Document to timestamp, which is unique.
fn document(number: u64) -> [u8; 8] {
    number.to_be_bytes()
}

/// A request for a timestamp, with nonce and the certificate.
fn request(number: u64) -> Vec<u8> {
    let digest = sha256(&document(number));
    let nonce = number.to_be_bytes();
    let encoded = || {
        TimestampRequest {
            version: 1,
            imprint: MessageImprint {
                algorithm: AlgorithmIdentifier {
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
    let response = TimestampResponse::read(answer).map_err(|_| Expectation::Form)?;
    if !GRANTED.contains(&response.status) {
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
        let _version = AnyRef::decode(reader)?;
        let _policy = AnyRef::decode(reader)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A tag, the length and the content.
    fn tlv(tag: u8, content: &[u8]) -> Vec<u8> {
        [&[tag, content.len() as u8], content].concat()
    }

    fn answer(status: u8, behind: &[Vec<u8>]) -> Vec<u8> {
        tlv(
            0x30,
            &tlv(0x30, &[tlv(2, &[status]), behind.concat()].concat()),
        )
    }

    #[test]
    fn a_refusal_is_told_with_status_failure_and_text() {
        let text = tlv(0x30, &tlv(0x0c, b"use SHA-512"));
        let bad_algorithm = tlv(3, &[7, 0x80]);
        let system_failure = tlv(3, &[6, 0, 0, 0, 0x40]);
        for (answer, wanted) in [
            (
                answer(2, &[text.clone(), bad_algorithm.clone()]),
                "(status 2, rejection): badAlg: it does not take SHA-256, 'use SHA-512'",
            ),
            (
                answer(2, &[bad_algorithm]),
                "badAlg: it does not take SHA-256",
            ),
            (answer(2, &[system_failure]), "systemFailure"),
            (answer(3, &[]), "(status 3, waiting): without a reason"),
            // A text that is none, and a part that nobody knows.
            (
                answer(2, &[tlv(0x30, &[0x0c, 9]), tlv(0xa5, &[])]),
                "without a reason",
            ),
            (
                answer(99, &[text]),
                "(status 99, no known status): 'use SHA-512'",
            ),
        ] {
            let said = refusal(&answer).unwrap();
            assert!(said.contains(wanted), "{said}");
            assert_eq!(token(&answer).err(), Some(Expectation::Consent));
        }
        assert_eq!(refusal(&answer(0, &[])), None);
        assert_eq!(refusal(b"not found"), None);
        assert_eq!(token(b"not found").err(), Some(Expectation::Form));
    }

    #[test]
    fn what_the_check_does_not_need_is_not_decoded() {
        // A policy, a serial number and a time that are none, and odd parts behind: imprint and nonce are read.
        let digest = sha256(&document(7));
        let algorithm = tlv(0x30, &SHA256.to_der().unwrap());
        let imprint = tlv(0x30, &[algorithm, tlv(4, &digest)].concat());
        let info = tlv(
            0x30,
            &[
                tlv(2, &[1]),
                tlv(6, &[0x2a, 3]),
                imprint,
                tlv(2, &[0, 0, 0x80]),
                tlv(0x18, b"20261127"),
                tlv(0x30, &[0x80, 1, 0xff]),
                tlv(1, &[0x17]),
                tlv(2, &[7]),
                tlv(0xa0, &[0xff]),
            ]
            .concat(),
        );
        let (imprint, nonce) = told(&info).unwrap();
        assert_eq!(imprint.digest.as_bytes(), digest);
        assert_eq!(nonce, Some(UintRef::new(&[7]).unwrap()));
    }
}
