//! Certificates and requests of X.509 (RFC 5280, RFC 2986).

use x509_cert::Certificate;
use x509_cert::der::{Decode as _, Encode as _, Header, Reader as _, SliceReader};
use x509_cert::request::CertReq;

use super::spki;
use crate::audit::key::{Broken, Form, FoundKey, Location, day};
use crate::key_spec::IDENTIFIERS;

/// The key of a certificate, with its end and its signature.
pub(super) fn of_certificate(place: &Location, bytes: &[u8]) -> Result<FoundKey, String> {
    let certificate = Certificate::from_der(first_element(bytes)).map_err(wrong)?;
    let body = &certificate.tbs_certificate;
    let spki = body.subject_public_key_info.to_der().map_err(wrong)?;
    let is_root = body.subject == body.issuer;
    let hash = certificate.signature_algorithm.oid.to_string();
    // Collisions of these are known.
    let hash = IDENTIFIERS.broken_hash.get(&hash).map(String::as_str);
    let end = body.validity.not_after.to_unix_duration().as_secs();
    Ok(FoundKey {
        // RFC 5280 §4.1.2.5: the last day of the year 9999 is none.
        expires: day(end).filter(|day| day.year() < 9999),
        broken: hash.map(|hash| Broken { hash, is_root }),
        ..FoundKey::new(
            place.clone(),
            body.subject.to_string(),
            Form::Certificate,
            spki::of_der("PUBLIC KEY", &spki)?,
        )
    })
}

/// The key of a request, with its subject.
pub(super) fn of_request(place: &Location, bytes: &[u8]) -> Result<FoundKey, String> {
    let request = CertReq::from_der(bytes).map_err(wrong)?;
    let spki = request.info.public_key.to_der().map_err(wrong)?;
    let key = spki::of_der("PUBLIC KEY", &spki)?;
    let owner = request.info.subject.to_string();
    Ok(FoundKey::new(place.clone(), owner, Form::Plain, key))
}

/// OpenSSL writes what it trusts a certificate for behind it (`TRUSTED CERTIFICATE`).
fn first_element(bytes: &[u8]) -> &[u8] {
    let length = SliceReader::new(bytes).and_then(|mut reader| {
        let header = Header::decode(&mut reader)?;
        reader.position() + header.length
    });
    let end = length.ok().and_then(|length| usize::try_from(length).ok());
    end.and_then(|end| bytes.get(..end)).unwrap_or(bytes)
}

fn wrong(error: x509_cert::der::Error) -> String {
    format!("not a certificate as RFC 5280 has it: {error}")
}
