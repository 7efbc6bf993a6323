//! A signed message, taken apart with rPGP (RFC 9580 §10.3).

use std::io::Read;

use pgp::composed::{Deserializable, DetachedSignature, Message};
use pgp::crypto::hash::HashAlgorithm;
use pgp::packet::{Signature, SignatureType};
use pgp::types::SignatureBytes;

/// What the signature in a message says, and the digest that it has to be of.
pub(super) struct SignedMessage {
    pub(super) signature: Signature,
    pub(super) hash: HashAlgorithm,
    pub(super) digest: Vec<u8>,
}

impl SignedMessage {
    /// Reads a message that has to hold this text and one signature of it.
    pub(super) fn read(text: &[u8], bytes: &[u8]) -> Result<Self, String> {
        let mut message =
            opened(bytes).map_err(|error| format!("cannot read the OpenPGP message: {error}"))?;
        if !message.is_signed() {
            return Err("the message is not signed".to_owned());
        }
        // One byte more than there has to be: the end is read, and no bomb inflated.
        let mut content = Vec::with_capacity(text.len() + 1);
        (&mut message)
            .take(text.len() as u64 + 1)
            .read_to_end(&mut content)
            .map_err(|error| format!("cannot read the signed message: {error}"))?;
        if content != text {
            return Err("the signed text is not the expected text".to_owned());
        }
        let Message::Signed { reader, .. } = &message else {
            return Err("the message is not signed".to_owned());
        };
        if reader.num_signatures() != 1 {
            return Err(format!("{} signatures, not one", reader.num_signatures()));
        }
        let (Some(signature), Some(digest)) = (reader.signature(0), reader.hash(0)) else {
            return Err("the signature does not match the message's announcement".to_owned());
        };
        Self::of(signature, digest)
    }

    /// Reads a signature in armor that stands beside the text.
    pub(super) fn detached(text: &[u8], armored: &[u8]) -> Result<Self, String> {
        let read = |error: pgp::errors::Error| format!("cannot read the signature: {error}");
        let (detached, _) = DetachedSignature::from_armor_single(armored).map_err(read)?;
        let signature = detached.signature;
        let config = signature
            .config()
            .ok_or("a signature of an unknown version")?;
        let mut hasher = config
            .hash_alg
            .new_hasher()
            .map_err(|error| error.to_string())?;
        hasher.update(text);
        let length = config.hash_signature_data(&mut hasher).map_err(read)?;
        hasher.update(&config.trailer(length).map_err(read)?);
        Self::of(&signature, &hasher.finalize())
    }

    fn of(signature: &Signature, digest: &[u8]) -> Result<Self, String> {
        let Some(config) = signature.config() else {
            return Err(format!("a signature of {:?}", signature.version()));
        };
        if config.typ() != SignatureType::Binary {
            return Err(format!("a signature of type {:?}", config.typ()));
        }
        // gpg refuses a signature whose two octets of the digest in the clear are others.
        let announced = signature.signed_hash_value();
        if announced.is_none_or(|octets| !digest.starts_with(&octets)) {
            return Err("the signature has another digest".to_owned());
        }
        Ok(Self {
            signature: signature.clone(),
            hash: config.hash_alg,
            digest: digest.to_vec(),
        })
    }

    /// The numbers of the signature, or its octets.
    pub(super) fn octets(&self) -> Result<&SignatureBytes, String> {
        let octets = self.signature.signature();
        octets.ok_or_else(|| "the signature is of an unknown version".to_owned())
    }
}

/// The message in its compressed packet, if it is in one.
fn opened(bytes: &[u8]) -> pgp::errors::Result<Message<'_>> {
    let message = Message::from_bytes(bytes)?;
    if message.is_compressed() {
        message.decompress()
    } else {
        Ok(message)
    }
}
