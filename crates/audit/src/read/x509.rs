//! Certificates and requests of X.509 (RFC 5280, RFC 2986), what has certificates in it (PKCS#7, PKCS#12, timestamps),
//! and what else is written in DER.
//!
//! DER says what it is by its structure. Of a certificate no more is read than is judged: serial numbers, extensions
//! and dates that break the rules of RFC 5280 keep nobody from using its key.

use jiff::civil::Date;

use super::Read;
use super::der::{BITS, ENUMERATED, Element, INTEGER, OCTETS, OID, SEQUENCE, SET, TAG_0, TAG_1};
use super::spki::{self, NumbersOnly};
use crate::finding::{Finding, FindingKind};
use crate::key::{Broken, Form, FoundKey, Location, PublicKey};
use keymark_advice::key_spec::IDENTIFIERS;

const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
const BMP_STRING: u8 = 0x1e;
/// RSASSA-PSS, whose hash is in its parameters (RFC 8017, appendix A.2.3).
const PSS: &str = "1.2.840.113549.1.1.10";
const SIGNED_DATA: &str = "1.2.840.113549.1.7.2";
const TIMESTAMP: &str = "1.2.840.113549.1.9.16.1.4";
/// Bags of PKCS#12 (RFC 7292 §4.2).
const KEY_BAG: &str = "1.2.840.113549.1.12.10.1.1";
const SHROUDED_KEY_BAG: &str = "1.2.840.113549.1.12.10.1.2";
const CERTIFICATE_BAG: &str = "1.2.840.113549.1.12.10.1.3";
/// Mark of an encrypted key among pairs of an algorithm and octets: PKCS#5 and PKCS#12.
const ENCRYPTIONS: [&str; 2] = ["1.2.840.113549.1.5.", "1.2.840.113549.1.12.1."];

impl Read {
    /// Adds what elements in a row have; the label is that of their block, if they have one.
    pub(super) fn der(&mut self, place: &Location, bytes: &[u8], label: &str) {
        let mut rest = bytes;
        loop {
            let Some((element, behind)) = Element::first(rest) else {
                let what = match label {
                    "" => "DER".to_owned(),
                    label => format!("the block '{label}'"),
                };
                return self.fail(place, format!("{what} is cut off or damaged"));
            };
            self.object(place, &element, label);
            // OpenSSL writes what it trusts a certificate for behind it.
            rest = behind;
            if rest.iter().all(|octet| matches!(octet, 0 | b'\r' | b'\n'))
                || label.starts_with("TRUSTED")
            {
                return;
            }
        }
    }

    fn object(&mut self, place: &Location, element: &Element<'_>, label: &str) {
        let parts = element.parts();
        let tags: Vec<u8> = parts.iter().map(|part| part.tag).collect();
        let version = parts.first().filter(|part| part.tag == INTEGER);
        let version = version.and_then(|version| version.content.last().copied());
        let oid = parts.first().and_then(|first| first.oid());
        match (&tags[..], version) {
            _ if element.tag == OID => self.without(place, "EC parameters"),
            _ if element.tag != SEQUENCE => self.unknown(place, label),
            ([SEQUENCE, SEQUENCE, BITS, ..], _) => self.signed(place, &parts),
            ([SEQUENCE, BITS], _) => self.plain(place, spki::of_info(element), element),
            ([INTEGER, SEQUENCE, OCTETS, ..], Some(0 | 1)) => {
                self.plain(place, spki::of_pkcs8(&parts), element);
            }
            ([INTEGER, OCTETS, ..], Some(1)) => {
                self.plain(place, Ok(spki::of_sec1(&parts, None)), element);
            }
            ([SEQUENCE, OCTETS], _) => self.maybe_encrypted(place, &parts, label),
            ([OID, ..], _)
                if oid
                    .as_deref()
                    .is_some_and(|oid| oid.starts_with("1.2.840.113549.1.")) =>
            {
                self.content(place, &parts);
            }
            ([INTEGER, SEQUENCE, ..], Some(3)) => self.pkcs12(place, &parts),
            ([INTEGER, SEQUENCE, ..], Some(1)) => {
                self.without(place, "timestamp request or EC parameters");
            }
            ([ENUMERATED, ..], _) => self.without(place, "OCSP response"),
            ([SEQUENCE, ..], _) if is_status(&parts[0]) => match parts.get(1) {
                Some(token) => self.content(place, &token.parts()),
                None => self.without(place, "timestamp response without a token"),
            },
            ([SEQUENCE], _) if is_ocsp_request(&parts[0]) => self.without(place, "OCSP request"),
            _ => match spki::of_numbers(&parts, label) {
                NumbersOnly::Key(key) => self.plain(place, Ok(key), element),
                NumbersOnly::Named(_) if !label.is_empty() => self.without(place, label),
                NumbersOnly::Named(name) => self.without(place, name),
                NumbersOnly::Unknown => self.unknown(place, label),
            },
        }
    }

    fn unknown(&mut self, place: &Location, label: &str) {
        self.fail(
            place,
            match label {
                "" => "DER of an unknown kind".to_owned(),
                label => format!("the block '{label}' is none of the forms that keymark knows"),
            },
        );
    }

    fn plain(&mut self, place: &Location, key: Result<PublicKey, String>, element: &Element<'_>) {
        let found = key.map(|key| {
            let mut found = FoundKey::new(place.clone(), "", Form::Plain, key);
            found.findings.extend(negative(element));
            found
        });
        self.take(place, found);
    }

    fn maybe_encrypted(&mut self, place: &Location, parts: &[Element<'_>], label: &str) {
        let oid = parts[0].parts().first().and_then(|first| first.oid());
        match oid {
            Some(oid) if ENCRYPTIONS.iter().any(|begin| oid.starts_with(begin)) => {
                self.sealed.push((place.clone(), ""));
            }
            Some(_) if label.is_empty() => self.without(place, "a digest"),
            _ => self.unknown(place, label),
        }
    }

    /// Signed content: an outer sequence, the algorithm, the signature.
    fn signed(&mut self, place: &Location, parts: &[Element<'_>]) {
        let body = parts[0].parts();
        let tags: Vec<u8> = body.iter().map(|part| part.tag).collect();
        let Some(at) = body.iter().position(spki::is_info) else {
            return match tags[..] {
                [SEQUENCE, SEQUENCE, UTC_TIME | GENERALIZED_TIME, ..]
                | [INTEGER, SEQUENCE, SEQUENCE, UTC_TIME | GENERALIZED_TIME, ..] => {
                    self.without(place, "certificate revocation list");
                }
                [
                    INTEGER,
                    SEQUENCE,
                    TAG_0 | TAG_1 | SEQUENCE,
                    SEQUENCE,
                    INTEGER,
                    ..,
                ] => {
                    self.without(place, "attribute certificate");
                }
                _ => self.fail(
                    place,
                    "a certificate without a public key that can be read".to_owned(),
                ),
            };
        };
        let found = spki::of_info(&body[at]).map(|key| {
            let owner = at
                .checked_sub(1)
                .map_or_else(String::new, |at| name(&body[at]));
            let mut found = FoundKey::new(place.clone(), owner, Form::Plain, key);
            found.findings.extend(negative(&body[at]));
            // Issuer, validity and subject come before the key of a certificate.
            if let Some([issuer, validity, subject]) = at.checked_sub(3).map(|from| &body[from..at])
            {
                found.form = Form::Certificate;
                let is_root = issuer == subject;
                found.broken = broken_hash(&parts[1]).map(|hash| Broken { hash, is_root });
                found.findings.extend(dates(validity, &mut found.expires));
            }
            found
        });
        self.take(place, found);
    }

    /// PKCS#7 (RFC 5652), given the parts of its ContentInfo: certificates that come with a signature.
    fn content(&mut self, place: &Location, parts: &[Element<'_>]) {
        let signed = match parts {
            [kind, content, ..] if kind.oid().as_deref() == Some(SIGNED_DATA) => {
                content.inner().unwrap_or(*content).parts()
            }
            _ => return self.without(place, "PKCS#7 without certificates"),
        };
        let certificates = signed.iter().filter(|part| part.tag == TAG_0);
        let certificates: Vec<_> = certificates.flat_map(|all| all.parts()).collect();
        for certificate in &certificates {
            self.object(place, certificate, "");
        }
        if certificates.is_empty() {
            let kind = signed.get(2).and_then(|content| content.inner()?.oid());
            self.without(
                place,
                match kind.as_deref() {
                    Some(TIMESTAMP) => "timestamp token without certificates",
                    _ => "PKCS#7 without certificates",
                },
            );
        }
    }

    /// PKCS#12 (RFC 7292): without its password only that can be read which is not encrypted.
    fn pkcs12(&mut self, place: &Location, parts: &[Element<'_>]) {
        let safe = octets_of(&parts[1]);
        let contents = safe
            .as_deref()
            .and_then(Element::first)
            .map(|(all, _)| all.parts());
        let mut is_encrypted = contents.is_none();
        for content in contents.unwrap_or_default() {
            let Some(bags) = octets_of(&content) else {
                is_encrypted = true;
                continue;
            };
            for bag in Element::first(&bags)
                .map(|(all, _)| all.parts())
                .unwrap_or_default()
            {
                self.bag(place, &bag.parts());
            }
        }
        if is_encrypted {
            let reason = "the certificates in PKCS#12 are encrypted; extract them with \
                          'openssl pkcs12 -nokeys -in FILE'";
            self.fail(place, reason.to_owned());
        }
    }

    fn bag(&mut self, place: &Location, bag: &[Element<'_>]) {
        let [kind, content, ..] = bag else {
            return self.fail(place, "PKCS#12 is damaged".to_owned());
        };
        let inner = content.inner();
        match (kind.oid().as_deref(), inner) {
            (Some(CERTIFICATE_BAG), Some(inner)) => {
                let certificate = octets_of(&inner).unwrap_or_default();
                self.der(place, &certificate, "");
            }
            (Some(KEY_BAG), Some(inner)) => self.object(place, &inner, ""),
            (Some(SHROUDED_KEY_BAG), _) => self.sealed.push((place.clone(), "in PKCS#12")),
            _ => self.without(place, "PKCS#12 bag without a key"),
        }
    }
}

/// Octets behind an identifier and an explicit tag, as `data` and the values of bags have them.
fn octets_of(element: &Element<'_>) -> Option<Vec<u8>> {
    let content = element.parts().get(1)?.inner()?;
    (content.tag & !0x20 == OCTETS).then(|| content.octets().into_owned())
}

/// PKIStatusInfo of a timestamp's response (RFC 3161 §2.4.2).
fn is_status(element: &Element<'_>) -> bool {
    element
        .parts()
        .first()
        .is_some_and(|status| status.tag == INTEGER && status.content.len() == 1)
}

/// RFC 6960 §4.1.1: a list of requests, each of which begins with a CertID.
fn is_ocsp_request(element: &Element<'_>) -> bool {
    let list = element
        .parts()
        .into_iter()
        .find(|part| part.tag == SEQUENCE);
    let request = list.and_then(Element::inner).and_then(Element::inner);
    request.is_some_and(|id| {
        let tags: Vec<u8> = id.parts().iter().map(|part| part.tag).collect();
        tags == [SEQUENCE, OCTETS, OCTETS, INTEGER]
    })
}

fn negative(info: &Element<'_>) -> Option<Finding> {
    let detail = "its modulus is a negative number, which is read as a positive one";
    spki::is_negative(info).then(|| Finding::of(FindingKind::Malformed).with(detail))
}

/// The broken hash of a signature's algorithm; RSASSA-PSS has SHA-1 unless it names another one.
fn broken_hash(algorithm: &Element<'_>) -> Option<&'static str> {
    let parts = algorithm.parts();
    let oid = parts.first()?.oid()?;
    let hash = if oid == PSS {
        let parameters = parts.get(1).map(|own| own.parts()).unwrap_or_default();
        let own = parameters.iter().find(|part| part.tag == TAG_0);
        own.map_or_else(
            || Some("1.3.14.3.2.26".to_owned()),
            |own| own.inner()?.inner()?.oid(),
        )?
    } else {
        oid
    };
    IDENTIFIERS.broken_hash.get(&hash).map(String::as_str)
}

/// The last day of a certificate, and whether its dates are as RFC 5280 §4.1.2.5 has them.
fn dates(validity: &Element<'_>, expires: &mut Option<Date>) -> Option<Finding> {
    let [from, to] = validity.parts()[..] else {
        return Some(Finding::of(FindingKind::Malformed).with("it has no dates"));
    };
    let end = day(&to);
    // The last day of the year 9999 is none.
    *expires = end.filter(|day| day.year() < 9999);
    let is_regular = |time: &Element<'_>| {
        let digits = if time.tag == UTC_TIME { 12 } else { 14 };
        day(time).is_some() && time.content.len() == digits + 1 && time.content.ends_with(b"Z")
    };
    let detail = match end {
        None => "its last day cannot be read",
        Some(_) if is_regular(&from) && is_regular(&to) => return None,
        Some(_) => "its dates are not in the form of RFC 5280",
    };
    Some(Finding::of(FindingKind::Malformed).with(detail))
}

/// `YYMMDD…` of a UTCTime, and `YYYYMMDD…`.
fn day(time: &Element<'_>) -> Option<Date> {
    let years = match time.tag {
        UTC_TIME => 2,
        GENERALIZED_TIME => 4,
        _ => return None,
    };
    let digits = |from: usize, many: usize| -> Option<i16> {
        let digits = std::str::from_utf8(time.content.get(from..from + many)?).ok()?;
        digits
            .bytes()
            .all(|digit| digit.is_ascii_digit())
            .then(|| digits.parse().ok())?
    };
    let year = match (years, digits(0, years)?) {
        (2, year) if year < 50 => 2000 + year,
        (2, year) => 1900 + year,
        (_, year) => year,
    };
    let month = i8::try_from(digits(years, 2)?).ok()?;
    Date::new(year, month, i8::try_from(digits(years + 2, 2)?).ok()?).ok()
}

/// A name as RFC 4514 writes it, the last part first.
fn name(sequence: &Element<'_>) -> String {
    let sets = sequence
        .parts()
        .into_iter()
        .rev()
        .filter(|set| set.tag == SET);
    let pairs = sets
        .flat_map(Element::parts)
        .filter_map(|pair| match pair.parts()[..] {
            [kind, value] => {
                let oid = kind.oid()?;
                let known = IDENTIFIERS.attribute.get(&oid);
                Some(format!("{}={}", known.unwrap_or(&oid), text(&value)))
            }
            _ => None,
        });
    itertools::join(pairs, ",")
}

/// Decodes text: valid UTF-8 as such, other octets as Latin-1.
fn text(value: &Element<'_>) -> String {
    if value.tag == BMP_STRING {
        let pairs = value
            .content
            .as_chunks()
            .0
            .iter()
            .map(|pair| u16::from_be_bytes(*pair));
        return char::decode_utf16(pairs)
            .map(|char| char.unwrap_or('\u{fffd}'))
            .collect();
    }
    super::text(value.content)
}
