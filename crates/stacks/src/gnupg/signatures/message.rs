//! Messages that `gpg --sign` writes (RFC 9580 §10.3): an announcement, the text and its signature, compressed or not.

use std::borrow::Cow;

use flate2::{Decompress, FlushDecompress, Status};
use keymark_bench::outside::openpgp::{COMPRESSED, LITERAL, ONE_PASS_SIGNATURE, SIGNATURE, packet};

use super::signature::Signature;

/// Room for a signature and the headers of packets.
const FRAME: usize = 0x4000;
/// Octets of text in a packet's part, at least, for each octet of the part's header.
const PART: usize = 256;

/// Reads a message that has to hold this text and one signature of octets.
pub(super) fn signature(text: &[u8], message: &[u8]) -> Result<Signature, String> {
    let octets = opened(text.len(), message)?;
    let mut rest = &*octets;
    let (tag, announcement) = next(&mut rest)?;
    match tag {
        ONE_PASS_SIGNATURE => {}
        LITERAL => return Err("the message is not signed".to_owned()),
        other => {
            return Err(unreadable(&format!(
                "it begins with a packet of type {other}"
            )));
        }
    }
    let (tag, literal) = next(&mut rest)?;
    match tag {
        LITERAL => {}
        ONE_PASS_SIGNATURE => return Err("several signatures, not one".to_owned()),
        other => return Err(unreadable(&format!("type {other} instead of a text"))),
    }
    if content(&literal) != Some(text) {
        return Err("the signed text is not the expected text".to_owned());
    }
    let (tag, body) = next(&mut rest)?;
    if tag != SIGNATURE {
        return Err(unreadable(&format!("type {tag} instead of a signature")));
    }
    if !rest.is_empty() {
        return Err(unreadable("more follows its signature"));
    }
    let signature = Signature::read(&body)?;
    if !signature.is_announced(&announcement) {
        return Err("the signature does not match the message's announcement".to_owned());
    }
    signature.check_kind(false)?;
    Ok(signature)
}

fn unreadable(why: &str) -> String {
    format!("cannot read the OpenPGP message: {why}")
}

fn next(rest: &mut &[u8]) -> Result<(u8, Vec<u8>), String> {
    packet(rest).ok_or_else(|| unreadable("a packet is missing or cut off"))
}

/// Returns the text of a literal packet (RFC 9580 §5.9), without its format, file name and date.
fn content(literal: &[u8]) -> Option<&[u8]> {
    let [b'b' | b't' | b'u', name, rest @ ..] = literal else {
        return None;
    };
    rest.get(usize::from(*name) + 4..)
}

/// Returns the packets of a message, inflated if they are in a compressed packet.
fn opened(text: usize, message: &[u8]) -> Result<Cow<'_, [u8]>, String> {
    let mut rest = message;
    let (tag, body) = next(&mut rest)?;
    if tag != COMPRESSED {
        return Ok(Cow::Borrowed(message));
    }
    if !rest.is_empty() {
        return Err(unreadable("more follows its compressed packet"));
    }
    let limit = text.saturating_add(text / PART).saturating_add(FRAME);
    match body.split_first() {
        Some((0, packets)) => Ok(packets.to_vec().into()),
        Some((1, stream)) => Ok(inflated(stream, false, limit)?.into()),
        Some((2, stream)) => Ok(inflated(stream, true, limit)?.into()),
        Some((3, _)) => Err(unreadable("it is compressed with BZIP2")),
        Some((other, _)) => Err(unreadable(&format!("compression algorithm {other}"))),
        None => Err(unreadable("an empty compressed packet")),
    }
}

/// Inflates a whole stream (RFC 1951), in zlib's format (RFC 1950) or not, if it is within the limit.
/// Ignores octets behind the stream, as gpg does.
fn inflated(stream: &[u8], has_header: bool, limit: usize) -> Result<Vec<u8>, String> {
    let mut octets = Vec::with_capacity(limit.saturating_add(1));
    let status = Decompress::new(has_header)
        .decompress_vec(stream, &mut octets, FlushDecompress::None)
        .map_err(|error| unreadable(&error.to_string()))?;
    if octets.len() > limit {
        return Err("the signed text is not the expected text".to_owned());
    }
    match status {
        Status::StreamEnd => Ok(octets),
        Status::Ok | Status::BufError => Err(unreadable("it is cut off")),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::DeflateEncoder;

    use super::*;

    fn deflated(octets: &[u8]) -> Vec<u8> {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(octets).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn a_bomb_is_inflated_no_further_than_the_text_is_long() {
        let bomb = deflated(&vec![0; 10_000_000]);
        let message = [&[0xa3, 1][..], &bomb].concat();
        let refused = signature(b"text", &message).unwrap_err();
        assert_eq!(refused, "the signed text is not the expected text");
        assert_eq!(
            inflated(&bomb, false, 10_000_000).unwrap().len(),
            10_000_000
        );
        assert!(inflated(&bomb, false, 9_999_999).is_err());
    }

    #[test]
    fn a_stream_without_its_end_is_cut_off() {
        let stream = deflated(b"a text and so on, and so on, and so on");
        for length in 0..stream.len() {
            let refused = inflated(&stream[..length], false, 100).unwrap_err();
            assert!(refused.ends_with("cut off"), "{refused}");
        }
    }

    #[test]
    fn other_compressions_are_refused_by_their_names() {
        let refused = |message: &[u8]| signature(b"text", message).unwrap_err();
        assert!(refused(b"\xa3\x03BZh9").ends_with("BZIP2"));
        assert!(refused(b"\xa3\x09").ends_with("algorithm 9"));
        assert!(refused(b"\xa3").ends_with("empty compressed packet"));
        assert!(refused(b"\xa3\0\xcb\x06b\0\0\0\0\0").ends_with("not signed"));
    }
}
