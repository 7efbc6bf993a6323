//! The little of OpenPGP's packets that is needed to ask a bare key the question gpg asks: the
//! encrypted session key of a message, and how a session key hides in an ECDH secret.
//!
//! RFC 4880 §4.2 (headers), §5.1 (PKESK), RFC 6637 §7 and §8 (ECDH).

use openssl::aes::{AesKey, unwrap_key};
use openssl::hash::{MessageDigest, hash};

/// The public-key encrypted session key of a message, by its fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EncryptedSessionKey {
    /// m^e mod n.
    Rsa(Vec<u8>),
    /// g^k, m·y^k.
    Elgamal(Vec<u8>, Vec<u8>),
    /// Ephemeral point; wrapped session key, without its length octet.
    Ecdh {
        /// As in the packet: 04‖x‖y, 40‖x for Curve25519, bare for X448.
        ephemeral: Vec<u8>,
        /// AES key wrap (RFC 3394) of the padded session key.
        wrapped: Vec<u8>,
    },
}

/// Reads the first packet of a message, which has to be a PKESK of version 3.
#[must_use]
pub fn encrypted_session_key(message: &[u8]) -> Option<EncryptedSessionKey> {
    let body = first_packet(message, 1)?;
    let [3, rest @ ..] = body else { return None };
    let (algorithm, fields) = rest.get(8..)?.split_first()?;
    match algorithm {
        1 | 2 => Some(EncryptedSessionKey::Rsa(mpi(fields)?.0)),
        16 => {
            let (a, rest) = mpi(fields)?;
            Some(EncryptedSessionKey::Elgamal(a, mpi(rest)?.0))
        }
        18 => {
            let (ephemeral, rest) = mpi(fields)?;
            let (length, wrapped) = rest.split_first()?;
            let wrapped = wrapped.get(..usize::from(*length))?.to_vec();
            Some(EncryptedSessionKey::Ecdh { ephemeral, wrapped })
        }
        _ => None,
    }
}

/// Body of the first packet, if its tag is `tag` (RFC 4880 §4.2).
fn first_packet(message: &[u8], tag: u8) -> Option<&[u8]> {
    let (&header, rest) = message.split_first()?;
    let (found, length, at) = if header & 0x40 == 0 {
        let octets = 1 << (header & 3);
        let length = rest
            .get(..octets)?
            .iter()
            .fold(0_usize, |sum, octet| sum << 8 | usize::from(*octet));
        ((header >> 2) & 0xF, length, octets)
    } else {
        let first = usize::from(*rest.first()?);
        match first {
            0..=191 => (header & 0x3F, first, 1),
            192..=223 => (
                header & 0x3F,
                ((first - 192) << 8) + usize::from(*rest.get(1)?) + 192,
                2,
            ),
            _ => return None,
        }
    };
    (header & 0x80 != 0 && found == tag).then(|| rest.get(at..)?.get(..length))?
}

/// A multiprecision integer and what follows it (RFC 4880 §3.2).
fn mpi(fields: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let bits = usize::from(u16::from_be_bytes([*fields.first()?, *fields.get(1)?]));
    let length = bits.div_ceil(8);
    Some((fields.get(2..2 + length)?.to_vec(), &fields[2 + length..]))
}

/// The session key as RSA and Elgamal encrypt it: algorithm, key, checksum (RFC 4880 §5.1).
#[must_use]
pub fn session_key_frame(algorithm: u8, key: &[u8]) -> Vec<u8> {
    let sum = key
        .iter()
        .fold(0_u16, |sum, octet| sum.wrapping_add(u16::from(*octet)));
    let mut frame = vec![algorithm];
    frame.extend(key);
    frame.extend(sum.to_be_bytes());
    frame
}

/// What the key derivation of RFC 6637 §8 hangs on besides the shared secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EcdhParameters {
    /// Object identifier of the curve, DER without tag, with its length octet.
    pub oid: Vec<u8>,
    /// OpenPGP number of the hash.
    pub hash: u8,
    /// OpenPGP number of the key-wrap cipher.
    pub cipher: u8,
    /// Fingerprint of the subkey.
    pub fingerprint: Vec<u8>,
}

impl EcdhParameters {
    /// The session-key frame that the secret (x coordinate, or X25519's string) opens; `None` if
    /// it does not.
    #[must_use]
    pub fn open(&self, secret: &[u8], wrapped: &[u8]) -> Option<Vec<u8>> {
        let mut input = vec![0, 0, 0, 1];
        input.extend(secret);
        input.extend(&self.oid);
        input.extend([18, 3, 1, self.hash, self.cipher]);
        input.extend(b"Anonymous Sender    ");
        // A v5 fingerprint takes part with its first 20 octets.
        input.extend(self.fingerprint.get(..20)?);
        let digest = match self.hash {
            8 => MessageDigest::sha256(),
            9 => MessageDigest::sha384(),
            10 => MessageDigest::sha512(),
            _ => return None,
        };
        let key_bytes = match self.cipher {
            7 => 16,
            8 => 24,
            9 => 32,
            _ => return None,
        };
        let derived = hash(digest, &input).ok()?;
        let key = AesKey::new_decrypt(derived.get(..key_bytes)?).ok()?;
        let mut padded = vec![0; wrapped.len().checked_sub(8)?];
        unwrap_key(&key, None, &mut padded, wrapped).ok()?;
        let padding = usize::from(*padded.last()?);
        padded.truncate(padded.len().checked_sub(padding)?);
        Some(padded)
    }
}

/// ECDH parameters of the public subkey of `fingerprint`, out of exported public keys.
///
/// The material of an ECDH key is OID, point, and KDF parameters `03 01 hash cipher`
/// (RFC 6637 §9), at the end of the packet body.
#[must_use]
pub fn ecdh_parameters(packets: &[u8], fingerprint: &[u8]) -> Option<EcdhParameters> {
    let mut rest = packets;
    while !rest.is_empty() {
        for tag in [6, 14] {
            let Some(body) = first_packet(rest, tag) else {
                continue;
            };
            // v4: version, 4 octets of time, algorithm; v5 has 4 octets of length more.
            let skip = if body.first() == Some(&5) { 10 } else { 6 };
            if body.get(5) != Some(&18) || tag == 6 {
                continue;
            }
            let material = body.get(skip..)?;
            let oid = material.get(..=usize::from(*material.first()?))?.to_vec();
            let [.., 3, 1, hash, cipher] = material else {
                return None;
            };
            return Some(EcdhParameters {
                oid,
                hash: *hash,
                cipher: *cipher,
                fingerprint: fingerprint.to_vec(),
            });
        }
        rest = skip_packet(rest)?;
    }
    None
}

fn skip_packet(message: &[u8]) -> Option<&[u8]> {
    let header = *message.first()?;
    let tag = if header & 0x40 == 0 {
        (header >> 2) & 0xF
    } else {
        header & 0x3F
    };
    let body = first_packet(message, tag)?;
    let end = body.as_ptr() as usize - message.as_ptr() as usize + body.len();
    message.get(end..)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn packets_of_both_formats_are_read() {
        // Old format, tag 1, one length octet: version 3, key id, RSA, a 9-bit number.
        let old = [0x84, 14, 3, 1, 2, 3, 4, 5, 6, 7, 8, 1, 0, 9, 1, 0xFF];
        assert_eq!(
            encrypted_session_key(&old),
            Some(EncryptedSessionKey::Rsa(vec![1, 0xFF]))
        );
        let new = [0xC1, 14, 3, 1, 2, 3, 4, 5, 6, 7, 8, 1, 0, 9, 1, 0xFF];
        assert_eq!(encrypted_session_key(&new), encrypted_session_key(&old));
        assert_eq!(encrypted_session_key(&old[..15]), None, "cut");
        assert_eq!(encrypted_session_key(&[]), None);
    }

    #[test]
    fn an_ecdh_packet_holds_point_and_wrapped_key() {
        let packet = [
            0x84, 17, 3, 0, 0, 0, 0, 0, 0, 0, 0, 18, 0, 8, 0x40, 3, 0xA, 0xB, 0xC,
        ];
        let expected = EncryptedSessionKey::Ecdh {
            ephemeral: vec![0x40],
            wrapped: vec![0xA, 0xB, 0xC],
        };
        assert_eq!(encrypted_session_key(&packet), Some(expected));
    }

    #[test]
    fn the_frame_ends_with_the_sum() {
        assert_eq!(session_key_frame(9, &[0xFF, 2]), [9, 0xFF, 2, 1, 1]);
    }

    proptest! {
        #[test]
        fn no_message_panics(message in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = encrypted_session_key(&message);
            let _ = ecdh_parameters(&message, &[0; 20]);
        }
    }
}
