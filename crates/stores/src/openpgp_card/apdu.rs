//! The commands of the three private-key operations (OpenPGP card 3.4.1 §7.2.10, §7.2.11, §7.2.13).

use keymark_bench::{Algorithm, Family};

use super::facts::Transfer;
use crate::card::Slot;
use crate::scheme::SHA256_DIGEST_INFO;

/// Bytes of a short command's data; GnuPG uses as many in a chain.
const BLOCK: usize = 254;
/// CLA bit of a command that is not the last of its chain (ISO 7816-4 §5.1.1.1).
const CHAINED: u8 = 0x10;

/// Header of a slot's operation.
pub(super) const fn header(slot: Slot) -> [u8; 4] {
    slot.pick([
        [0x00, 0x2A, 0x9E, 0x9A],
        [0x00, 0x2A, 0x80, 0x86],
        [0x00, 0x88, 0x00, 0x00],
    ])
}

/// The specification's name of a slot's operation.
pub(super) const fn call(slot: Slot) -> &'static str {
    slot.pick([
        "PSO:COMPUTE DIGITAL SIGNATURE",
        "PSO:DECIPHER",
        "INTERNAL AUTHENTICATE",
    ])
}

/// The data field for an input: a digest, an RSA ciphertext or an ephemeral public key.
pub(super) fn data(slot: Slot, algorithm: Algorithm, input: &[u8]) -> Vec<u8> {
    match (slot, algorithm.family()) {
        // Padding indicator byte 00 for RSA (§7.2.11).
        (Slot::Decryption, Family::Rsa(_)) => [&[0], input].concat(),
        // A6 cipher DO, 7F49 public key DO, 86 external public key (§7.2.11).
        (Slot::Decryption, _) => tlv(&[0xA6], &tlv(&[0x7F, 0x49], &tlv(&[0x86], input))),
        (_, Family::Rsa(_)) => [&SHA256_DIGEST_INFO, input].concat(),
        _ => input.to_vec(),
    }
}

/// BER-TLV with a length of up to two octets (ISO 7816-4 §5.2.2).
fn tlv(tag: &[u8], value: &[u8]) -> Vec<u8> {
    let mut tlv = tag.to_vec();
    match value.len() {
        short @ 0..=0x7F => tlv.push(short as u8),
        medium @ 0x80..=0xFF => tlv.extend([0x81, medium as u8]),
        long => {
            tlv.push(0x82);
            tlv.extend((long as u16).to_be_bytes());
        }
    }
    tlv.extend(value);
    tlv
}

/// The command as it goes to the card: one, short or extended, or a chain of short ones.
pub(super) fn commands(header: [u8; 4], data: &[u8], transfer: Transfer) -> Vec<Vec<u8>> {
    match transfer {
        Transfer::Extended => {
            let length = (data.len() as u16).to_be_bytes();
            vec![[&header[..], &[0], &length, data, &[0, 0]].concat()]
        }
        Transfer::Chained => {
            let [class, rest @ ..] = header;
            let part = |block: &[u8]| {
                let length = block.len() as u8;
                [&[class | CHAINED], &rest[..], &[length], block].concat()
            };
            let mut parts: Vec<_> = data.chunks(BLOCK).map(part).collect();
            if let Some(last) = parts.last_mut() {
                last[0] = class;
                last.push(0);
            }
            parts
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_modulus_goes_in_one_extended_command_or_a_chain() {
        let data = data(Slot::Decryption, "rsa2048".parse().unwrap(), &[7; 256]);
        assert_eq!(data.len(), 257);
        let extended = commands(header(Slot::Decryption), &data, Transfer::Extended);
        assert_eq!(extended[0][..8], [0, 0x2A, 0x80, 0x86, 0, 1, 1, 0]);
        assert_eq!((extended.len(), extended[0].len()), (1, 7 + 257 + 2));
        let chained = commands(header(Slot::Decryption), &data, Transfer::Chained);
        assert_eq!(chained[0][..5], [0x10, 0x2A, 0x80, 0x86, 254]);
        assert_eq!(chained[1], [0, 0x2A, 0x80, 0x86, 3, 7, 7, 7, 0]);
    }
}
