//! Packets of OpenPGP (RFC 9580 §4): type, length and body, and the fields inside of bodies.

/// Type of a signature packet (RFC 9580 §5.2).
pub const SIGNATURE: u8 = 2;
/// Type of the packet that announces a signature behind the text (RFC 9580 §5.4).
pub const ONE_PASS_SIGNATURE: u8 = 4;
/// Type of a secret primary key's packet (RFC 9580 §5.5.1.3).
pub const SECRET_KEY: u8 = 5;
/// Type of a public primary key's packet (RFC 9580 §5.5.1.1).
pub const PUBLIC_KEY: u8 = 6;
/// Type of a secret subkey's packet (RFC 9580 §5.5.1.4).
pub const SECRET_SUBKEY: u8 = 7;
/// Type of a packet with compressed packets (RFC 9580 §5.6).
pub const COMPRESSED: u8 = 8;
/// Type of a packet with a text (RFC 9580 §5.9).
pub const LITERAL: u8 = 11;
/// Type of a user id packet (RFC 9580 §5.12).
pub const USER_ID: u8 = 13;
/// Type of a public subkey's packet (RFC 9580 §5.5.1.2).
pub const PUBLIC_SUBKEY: u8 = 14;

/// Returns whether a file begins with a packet: its type, and the octet behind its header, which is a version.
pub fn begins(bytes: &[u8]) -> bool {
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
        1 | 3 | ONE_PASS_SIGNATURE => 2..=6,
        18 => 1..=2,
        // Its algorithm.
        COMPRESSED => 0..=3,
        _ => return false,
    };
    version.is_some_and(|version| versions.contains(version))
}

/// Encoding of a packet's length.
#[derive(Clone, Copy)]
enum Lengths {
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
fn length(lengths: Lengths, rest: &mut &[u8]) -> Option<(usize, bool)> {
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

/// Splits a packet off: its type and its body, of which the octets are there.
pub fn packet(bytes: &mut &[u8]) -> Option<(u8, Vec<u8>)> {
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

/// Splits the first octets off, if there are enough.
pub fn taken<'a>(left: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, rest) = left.split_at_checked(length)?;
    *left = rest;
    Some(taken)
}

/// An unsigned number from its octets, the first of which weighs most.
pub fn number(octets: &[u8]) -> usize {
    octets
        .iter()
        .fold(0, |sum, octet| sum << 8 | usize::from(*octet))
}

/// Reads the length of a subpacket: like that of packets, but without parts (RFC 9580 §5.2.3.7).
pub fn length_of_subpacket(area: &mut &[u8]) -> Option<usize> {
    if let Some(first @ 224..=254) = area.first().copied() {
        taken(area, 1)?;
        let second = *taken(area, 1)?.first()?;
        return Some((usize::from(first) - 192) * 256 + usize::from(second) + 192);
    }
    Some(length(Lengths::New, area)?.0)
}

/// Splits a number off, which its length in bits precedes (RFC 9580 §3.2).
pub fn mpi<'a>(left: &mut &'a [u8]) -> Option<&'a [u8]> {
    let [high, low] = *taken(left, 2)?.first_chunk()?;
    taken(
        left,
        usize::from(u16::from_be_bytes([high, low])).div_ceil(8),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Option<(u8, Vec<u8>, usize)> {
        let mut rest = bytes;
        let (tag, body) = packet(&mut rest)?;
        Some((tag, body, rest.len()))
    }

    #[test]
    fn a_packet_s_length_has_any_form_of_the_standard() {
        let short = |tag| Some((tag, b"ab".to_vec(), 1));
        assert_eq!(read(b"\xc2\x02abc"), short(SIGNATURE));
        assert_eq!(read(b"\xc2\xff\0\0\0\x02abc"), short(SIGNATURE));
        assert_eq!(read(b"\x88\x02abc"), short(SIGNATURE));
        assert_eq!(read(b"\x89\0\x02abc"), short(SIGNATURE));
        assert_eq!(read(b"\x8a\0\0\0\x02abc"), short(SIGNATURE));
        let to_the_end = Some((COMPRESSED, b"abc".to_vec(), 0));
        assert_eq!(read(b"\xa3abc"), to_the_end);
        let long = [&b"\xcb\xc0\x08"[..], &[7; 201]].concat();
        assert_eq!(read(&long), Some((LITERAL, vec![7; 200], 1)));
        // Parts of two and of one octet, and the last one.
        let parts = b"\xcb\xe1ab\xe0c\x01de";
        assert_eq!(read(parts), Some((LITERAL, b"abcd".to_vec(), 1)));
    }

    #[test]
    fn what_is_not_there_is_not_read() {
        for bytes in [
            &b""[..],
            b"\x42\x01a",
            b"\xc2",
            b"\xc2\x02a",
            b"\xc2\xc0",
            b"\xc2\xff\xff\xff\xff\xffa",
            b"\xc2\xfea",
            b"\xc2\xe0a",
            b"\x8a\0\0",
        ] {
            assert_eq!(read(bytes), None, "{bytes:?}");
        }
    }

    #[test]
    fn numbers_and_subpackets_have_lengths_of_their_own() {
        let mut left = &b"\0\x09\x01\xffrest"[..];
        assert_eq!(mpi(&mut left), Some(&b"\x01\xff"[..]));
        assert_eq!(left, b"rest");
        assert_eq!(mpi(&mut &b"\0\x11\x01\xff"[..]), None);
        for (octets, length) in [
            (&b"\x09"[..], Some(9)),
            (b"\xc0\0", Some(192)),
            (b"\xfe\xff", Some(16_319)),
            (b"\xff\0\x01\0\0", Some(65_536)),
            (b"\xe0", None),
            (b"", None),
        ] {
            assert_eq!(length_of_subpacket(&mut &*octets), length, "{octets:?}");
        }
    }
}
