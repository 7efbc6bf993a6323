//! Packets of OpenPGP (RFC 9580 §4): type, length and body.

/// Types of packets (RFC 9580 §5).
pub(super) const SIGNATURE: u8 = 2;
pub(super) const SECRET_KEY: u8 = 5;
pub(super) const PUBLIC_KEY: u8 = 6;
pub(super) const SECRET_SUBKEY: u8 = 7;
pub(super) const USER_ID: u8 = 13;
pub(super) const PUBLIC_SUBKEY: u8 = 14;

/// Returns whether a file begins with a packet: its type, and the octet behind its header, which is a version.
pub(super) fn begins(bytes: &[u8]) -> bool {
    let mut bytes = bytes;
    // A marker, trust, a user id or padding may come before the first key.
    while let Some((10 | 12 | 13 | 21, ..)) = header(bytes) {
        if packet(&mut bytes).is_none() {
            return false;
        }
    }
    let Some((tag, lengths, rest)) = header(bytes) else {
        return false;
    };
    let version = if lengths.is_none() {
        rest.first()
    } else {
        body_begins(bytes)
    };
    let versions = match tag {
        SIGNATURE | SECRET_KEY | PUBLIC_KEY | SECRET_SUBKEY | PUBLIC_SUBKEY => 2..=6,
        // Encrypted for a key or a passphrase, signed in one pass, encrypted.
        1 | 3 | 4 => 2..=6,
        18 => 1..=2,
        // Compressed: its algorithm.
        8 => 0..=3,
        _ => return false,
    };
    version.is_some_and(|version| versions.contains(version))
}

/// Encoding of a packet's length.
#[derive(Clone, Copy)]
pub(super) enum Lengths {
    New,
    Old(usize),
}

/// The type of a packet (RFC 9580 §4.2), how its length follows, unless it goes on to the end, and the octets behind.
fn header(bytes: &[u8]) -> Option<(u8, Option<Lengths>, &[u8])> {
    let (first, rest) = bytes.split_first()?;
    match first {
        0xc0.. => Some((first & 0x3f, Some(Lengths::New), rest)),
        0x80.. if first & 3 == 3 => Some((first >> 2 & 0xf, None, rest)),
        0x80.. => Some((first >> 2 & 0xf, Some(Lengths::Old(1 << (first & 3))), rest)),
        _ => None,
    }
}

/// A length, and whether it is that of a part with others behind it.
pub(super) fn length(lengths: Lengths, rest: &mut &[u8]) -> Option<(usize, bool)> {
    let number = |octets: &[u8]| {
        octets
            .iter()
            .fold(0, |sum, octet| sum << 8 | usize::from(*octet))
    };
    Some(match lengths {
        Lengths::Old(octets) => (number(taken(rest, octets)?), false),
        Lengths::New => match *taken(rest, 1)?.first()? {
            short @ ..192 => (short.into(), false),
            first @ 192..224 => {
                let second = *taken(rest, 1)?.first()?;
                (
                    (usize::from(first) - 192) * 256 + usize::from(second) + 192,
                    false,
                )
            }
            255 => (number(taken(rest, 4)?), false),
            part => (1 << (part & 0x1f), true),
        },
    })
}

fn body_begins(bytes: &[u8]) -> Option<&u8> {
    let (_, lengths, mut rest) = header(bytes)?;
    length(lengths?, &mut rest)?;
    rest.first()
}

/// Splits a packet off: its type and its body.
pub(super) fn packet(bytes: &mut &[u8]) -> Option<(u8, Vec<u8>)> {
    let (tag, lengths, mut rest) = header(bytes)?;
    let mut body = Vec::new();
    let mut goes_on = true;
    while goes_on {
        let octets;
        (octets, goes_on) = match lengths {
            Some(lengths) => length(lengths, &mut rest)?,
            None => (rest.len(), false),
        };
        body.extend_from_slice(taken(&mut rest, octets)?);
    }
    *bytes = rest;
    Some((tag, body))
}

pub(super) fn taken<'a>(left: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, rest) = left.split_at_checked(length)?;
    *left = rest;
    Some(taken)
}
