//! A lenient walk through DER and BER (X.690): lengths need not be the shortest, and content may have no length, as
//! some programs write PKCS#7 and PKCS#12. What a reader needs is found by its place; the rest may be anything.

use std::borrow::Cow;

/// Deepest nesting of content without a length.
const DEPTH: usize = 32;
/// Largest part of an object identifier that is written out: a UUID has 128 bits (X.667).
const ARC_BITS: u32 = 128;

pub(super) const INTEGER: u8 = 0x02;
pub(super) const BITS: u8 = 0x03;
pub(super) const OCTETS: u8 = 0x04;
pub(super) const OID: u8 = 0x06;
pub(super) const ENUMERATED: u8 = 0x0a;
pub(super) const SEQUENCE: u8 = 0x30;
pub(super) const SET: u8 = 0x31;
/// `[0]` and `[1]`, constructed.
pub(super) const TAG_0: u8 = 0xa0;
pub(super) const TAG_1: u8 = 0xa1;

/// A tag with its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Element<'a> {
    pub tag: u8,
    pub content: &'a [u8],
}

impl<'a> Element<'a> {
    /// Splits the first element off.
    pub fn first(bytes: &'a [u8]) -> Option<(Self, &'a [u8])> {
        split(bytes, DEPTH)
    }

    /// The elements in it, up to the first damaged one.
    pub fn parts(self) -> Vec<Self> {
        let mut rest = self.content;
        std::iter::from_fn(|| {
            let (part, behind) = Self::first(rest)?;
            rest = behind;
            Some(part)
        })
        .collect()
    }

    /// Returns whether it consists of undamaged elements.
    pub fn is_whole(self) -> bool {
        let mut rest = self.content;
        while let Some((_, behind)) = Self::first(rest) {
            rest = behind;
        }
        rest.is_empty()
    }

    /// The element in an explicit tag, a BIT STRING or an OCTET STRING.
    pub fn inner(self) -> Option<Self> {
        Some(Self::first(self.bits_or_content())?.0)
    }

    /// Octets of a BIT STRING without the number of its unused bits; of others the content.
    pub fn bits_or_content(self) -> &'a [u8] {
        match self {
            Self { tag: BITS, content } => content.get(1..).unwrap_or_default(),
            Self { content, .. } => content,
        }
    }

    /// Octets of an OCTET STRING, which BER may have in pieces.
    pub fn octets(self) -> Cow<'a, [u8]> {
        if self.tag & 0x20 == 0 {
            return Cow::Borrowed(self.content);
        }
        let pieces = self.parts().into_iter();
        Cow::Owned(pieces.flat_map(|piece| piece.content.to_vec()).collect())
    }

    /// An object identifier in numbers and points, none if it is something else.
    pub fn oid(self) -> Option<String> {
        (self.tag == OID).then(|| dotted(self.content))?
    }
}

fn split(bytes: &[u8], depth: usize) -> Option<(Element<'_>, &[u8])> {
    let (tag, rest) = bytes.split_first()?;
    let (length, rest) = rest.split_first()?;
    // Tags of several octets are in none of these forms.
    if tag & 0x1f == 0x1f || depth == 0 {
        return None;
    }
    if *length == 0x80 {
        let mut behind = rest;
        while !behind.starts_with(&[0, 0]) {
            (_, behind) = split(behind, depth - 1)?;
        }
        let content = &rest[..rest.len() - behind.len()];
        return Some((Element { tag: *tag, content }, &behind[2..]));
    }
    let octets = if *length < 0x80 { 0 } else { length & 0x7f };
    let (long, rest) = rest.split_at_checked(octets.into())?;
    let length = match octets {
        0 => usize::from(*length),
        _ => long.iter().try_fold(0_usize, |length, octet| {
            Some(length.checked_mul(256)? + usize::from(*octet))
        })?,
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((Element { tag: *tag, content }, rest))
}

/// An object identifier without its tag and length (X.690 §8.19).
pub(super) fn dotted(octets: &[u8]) -> Option<String> {
    let mut arcs: Vec<u128> = Vec::new();
    let mut arc = 0_u128;
    for octet in octets {
        if arc >> (ARC_BITS - 7) > 0 {
            return None;
        }
        arc = arc << 7 | u128::from(octet & 0x7f);
        if octet & 0x80 == 0 {
            arcs.push(arc);
            arc = 0;
        }
    }
    let first = *arcs.first().filter(|_| octets.last() < Some(&0x80))?;
    let root = (first / 40).min(2);
    let arcs = [root, first - 40 * root]
        .into_iter()
        .chain(arcs.into_iter().skip(1));
    Some(itertools::join(arcs, "."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_read_in_each_form() {
        let nothing: &[u8] = &[];
        for bytes in [
            &[4, 1, 9][..],
            &[4, 0x81, 1, 9],
            &[4, 0x85, 0, 0, 0, 0, 1, 9],
        ] {
            let (element, rest) = Element::first(bytes).unwrap();
            assert_eq!((element.content, rest), (&[9][..], nothing));
        }
        let (element, rest) = Element::first(&[0x24, 0x80, 4, 1, 9, 4, 1, 8, 0, 0, 7]).unwrap();
        assert_eq!((&*element.octets(), rest), (&[9, 8][..], &[7][..]));
        for damaged in [
            &[4, 2, 9][..],
            &[4, 0x82, 1],
            &[0x24, 0x80, 4, 1],
            &[0x1f, 1, 1],
        ] {
            assert_eq!(Element::first(damaged), None);
        }
        let deep = [0x30, 0x80].repeat(100_000);
        assert_eq!(Element::first(&deep), None);
        let huge = [&[4, 0xff][..], &[0xff; 0x7f]].concat();
        assert_eq!(Element::first(&huge), None);
    }

    #[test]
    fn identifiers_are_written_out_up_to_a_uuid() {
        let uuid = [&[0x69, 0x83][..], &[0xff; 17], &[0x7f]].concat();
        let widest = format!("2.25.{}", u128::MAX);
        for (octets, wanted) in [
            (&[0x2a, 0x86, 0x48][..], Some("1.2.840")),
            (&[0x88, 0x37], Some("2.999")),
            (&uuid, Some(&*widest)),
            (&[0x2a, 0x86], None),
            (&[], None),
            (&[0xff; 40], None),
        ] {
            assert_eq!(dotted(octets).as_deref(), wanted, "{octets:?}");
        }
    }
}
