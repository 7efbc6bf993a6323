//! Signature packets of versions 4 and 6 (RFC 9580 §5.2.3): their fields, and the digest that they sign.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use keymark_bench::outside::openpgp::{self, length_of_subpacket, packet, taken};
use openssl::error::ErrorStack;
use openssl::md::{Md, MdRef};
use openssl::md_ctx::MdCtx;

/// Type of a signature of octets.
const BINARY: u8 = 0;
/// Type of a signature of lines of text.
const TEXT: u8 = 1;
/// Subpacket with the key ID of the signer.
const ISSUER_KEY_ID: u8 = 16;
/// Subpacket with the fingerprint of the signer.
const ISSUER_FINGERPRINT: u8 = 33;

/// Signature packet.
#[derive(Debug)]
pub(crate) struct Signature {
    /// Octets from the version to the end of the hashed area.
    hashed: Vec<u8>,
    kind: u8,
    pub(crate) algorithm: u8,
    hash: u8,
    /// Key versions and fingerprints of the signer.
    pub(super) fingerprints: Vec<Vec<u8>>,
    /// Key IDs of the signer.
    pub(super) ids: Vec<[u8; 8]>,
    /// First two octets of the digest.
    announced: [u8; 2],
    /// Salt of version 6.
    salt: Vec<u8>,
    /// Numbers or octets of the algorithm.
    pub(crate) value: Vec<u8>,
}

impl Signature {
    /// Reads the body of a signature packet.
    pub(super) fn read(body: &[u8]) -> Result<Self, String> {
        if body
            .first()
            .is_some_and(|version| ![4, 6].contains(version))
        {
            return Err("a signature of an unknown version".to_owned());
        }
        Self::fields(body).ok_or_else(|| "cannot read the signature's packet".to_owned())
    }

    fn fields(body: &[u8]) -> Option<Self> {
        let mut left = body;
        let [version, kind, algorithm, hash] = *taken(&mut left, 4)?.first_chunk()?;
        let hashed_area = area(&mut left, version)?;
        let hashed = body.get(..body.len() - left.len())?.to_vec();
        let unhashed_area = area(&mut left, version)?;
        let announced = *taken(&mut left, 2)?.first_chunk()?;
        let salt = match version {
            6 => *taken(&mut left, 1)?.first()?,
            _ => 0,
        };
        let salt = taken(&mut left, salt.into())?.to_vec();
        let mut signature = Self {
            hashed,
            kind,
            algorithm,
            hash,
            fingerprints: Vec::new(),
            ids: Vec::new(),
            announced,
            salt,
            value: left.to_vec(),
        };
        signature.add_issuers(hashed_area)?;
        signature.add_issuers(unhashed_area)?;
        Some(signature)
    }

    fn add_issuers(&mut self, mut area: &[u8]) -> Option<()> {
        while !area.is_empty() {
            let length = length_of_subpacket(&mut area)?;
            let (kind, content) = taken(&mut area, length)?.split_first()?;
            // The first bit says that the subpacket is critical.
            match kind & 0x7f {
                ISSUER_KEY_ID => self.ids.push(content.try_into().ok()?),
                ISSUER_FINGERPRINT => self.fingerprints.push(content.to_vec()),
                _ => {}
            }
        }
        Some(())
    }

    /// Reads a file with one detached signature, in armor or not.
    pub(crate) fn detached(file: &[u8]) -> Option<Self> {
        let decoded;
        let mut packets = file;
        if file.first().is_some_and(u8::is_ascii) {
            decoded = decoded_armor(file)?;
            packets = &decoded;
        }
        let (tag, body) = packet(&mut packets)?;
        let is_one = tag == openpgp::SIGNATURE && packets.is_empty();
        Self::read(&body).ok().filter(|_| is_one)
    }

    /// Returns whether a one-pass signature packet announces this signature.
    pub(super) fn is_announced(&self, announcement: &[u8]) -> bool {
        // Version, type, digest, algorithm, key ID, and a mark of the last announcement.
        match announcement {
            [3, kind, hash, algorithm, id @ .., 1] => {
                [*kind, *hash, *algorithm] == [self.kind, self.hash, self.algorithm]
                    && id.len() == 8
                    && self.ids.iter().all(|own| own == id)
            }
            _ => false,
        }
    }

    /// Refuses signatures of anything but octets, and of texts where `or_text` allows them.
    pub(crate) fn check_kind(&self, or_text: bool) -> Result<(), String> {
        match self.kind {
            BINARY => Ok(()),
            TEXT if or_text => Ok(()),
            TEXT => Err("a signature of type Text".to_owned()),
            other => Err(format!("a signature of type {other:#04x}")),
        }
    }

    /// Calculates the digest that is signed: of the salt of version 6, the text, the hashed fields, which begin with the
    /// version, and a trailer (RFC 9580 §5.2.4).
    ///
    /// # Errors
    /// The two octets of the digest in the clear are others: gpg refuses such a signature.
    pub(crate) fn digest(&self, text: &[u8]) -> Result<Vec<u8>, String> {
        let md = self.md()?;
        let version = self.hashed.first().copied().unwrap_or_default();
        let length = (self.hashed.len() as u32).to_be_bytes();
        let parts = [&self.salt, text, &self.hashed, &[version, 0xff], &length];
        let calculated = || -> Result<_, ErrorStack> {
            let mut ctx = MdCtx::new()?;
            ctx.digest_init(md)?;
            for part in parts {
                ctx.digest_update(part)?;
            }
            let mut digest = vec![0; md.size()];
            ctx.digest_final(&mut digest)?;
            Ok(digest)
        };
        let digest = calculated().map_err(|error| format!("cannot calculate a digest: {error}"))?;
        match digest.starts_with(&self.announced) {
            true => Ok(digest),
            false => Err("the signature has another digest".to_owned()),
        }
    }

    /// Returns OpenSSL's digest of the number in the packet, of those that OpenPGP programs sign with (RFC 9580 §9.5).
    pub(super) fn md(&self) -> Result<&'static MdRef, String> {
        match self.hash {
            2 => Ok(Md::sha1()),
            8 => Ok(Md::sha256()),
            9 => Ok(Md::sha384()),
            10 => Ok(Md::sha512()),
            11 => Ok(Md::sha224()),
            12 => Ok(Md::sha3_256()),
            14 => Ok(Md::sha3_512()),
            other => Err(format!(
                "a signature of a digest of algorithm {other} is not checked here"
            )),
        }
    }
}

/// Splits off an area of subpackets, which its length precedes: two octets, or four in version 6.
fn area<'a>(left: &mut &'a [u8], version: u8) -> Option<&'a [u8]> {
    let octets = taken(left, if version == 6 { 4 } else { 2 })?;
    let number = |length, octet: &u8| length << 8 | usize::from(*octet);
    taken(left, octets.iter().fold(0, number))
}

/// Decodes a signature's armor (RFC 9580 §6.2) without its checksum, which §6.1 allows to ignore.
fn decoded_armor(text: &[u8]) -> Option<Vec<u8>> {
    let mut lines = text
        .split(|octet| *octet == b'\n')
        .map(<[u8]>::trim_ascii_end);
    lines.find(|line| line == b"-----BEGIN PGP SIGNATURE-----")?;
    // Headers end with an empty line.
    lines.find(|line| line.is_empty())?;
    let mut encoded = Vec::new();
    for line in lines {
        if line == b"-----END PGP SIGNATURE-----" {
            return STANDARD.decode(encoded).ok();
        }
        if !line.starts_with(b"=") {
            encoded.extend_from_slice(line);
        }
    }
    None
}
