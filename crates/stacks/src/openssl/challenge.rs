//! A challenge in the form in which `openssl pkeyutl` takes it: files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use keymark_bench::store::Capability;
use keymark_bench::workload::Input;
use keymark_bench::{Algorithm, Digest, During as _, Error, Family, Operation};
use keymark_stores::public_key::PublicKey;
use keymark_stores::store::unsupported;

use crate::programs::write_private;

/// Task of `pkeyutl`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Task {
    /// Signs a digest, which is told along with RSA.
    SignDigest(Option<&'static str>),
    /// Signs the message: EdDSA hashes itself.
    SignMessage,
    /// Decrypts with PKCS#1 v1.5.
    Decrypt,
    /// A shared secret.
    Derive,
}

impl Task {
    /// Returns the task of a capability; refused where the program has none.
    pub(super) fn of(capability: Capability) -> Result<Self, Error> {
        Self::known(capability).ok_or_else(|| unsupported("openssl pkeyutl", capability))
    }

    /// Returns the task of a capability, where it has one.
    pub(super) fn known(capability: Capability) -> Option<Self> {
        let digest = digest(capability.algorithm);
        let (signs, decrypts) = match capability.algorithm.family() {
            Family::Rsa(_) => (Some(Self::SignDigest(digest)), Some(Self::Decrypt)),
            Family::Weierstrass(_) => (Some(Self::SignDigest(None)), Some(Self::Derive)),
            Family::Dsa(_) => (Some(Self::SignDigest(None)), None),
            Family::Ed25519 | Family::Ed448 => (Some(Self::SignMessage), None),
            Family::Cv25519 | Family::Cv448 => (None, Some(Self::Derive)),
            Family::Elgamal(_)
            | Family::MlKem(_)
            | Family::MlDsa(_)
            | Family::SlhDsa(..)
            | Family::Composite(_) => (None, None),
        };
        match capability.operation {
            Operation::Sign => signs,
            Operation::Decrypt => decrypts,
            Operation::Authenticate | Operation::Decapsulate | Operation::Handshake => None,
        }
    }

    /// The call as users know it, and the arguments after the key; the file that is read comes behind them.
    pub(super) fn words(self) -> (&'static str, Vec<&'static str>) {
        const SIGN: &str = "openssl pkeyutl -sign";
        match self {
            Self::SignDigest(Some(digest)) => (SIGN, vec!["-sign", "-pkeyopt", digest, "-in"]),
            Self::SignDigest(None) => (SIGN, vec!["-sign", "-in"]),
            Self::SignMessage => (SIGN, vec!["-sign", "-rawin", "-in"]),
            Self::Decrypt => ("openssl pkeyutl -decrypt", vec!["-decrypt", "-in"]),
            Self::Derive => (
                "openssl pkeyutl -derive",
                vec!["-derive", "-peerform", "DER", "-peerkey"],
            ),
        }
    }
}

fn digest(algorithm: Algorithm) -> Option<&'static str> {
    algorithm.digest().map(|digest| match digest {
        Digest::Sha256 => "digest:sha256",
        Digest::Sha384 => "digest:sha384",
        Digest::Sha512 => "digest:sha512",
    })
}

/// The inputs as files in `directory`: a digest, a message, a ciphertext, or the other side's public key. The workload's
/// inputs are their paths.
pub(super) fn files(
    directory: &Path,
    (public, task): (&PublicKey, Task),
    inputs: &[Input],
) -> Result<Arc<[Input]>, Error> {
    let write = |(index, input): (usize, &Input)| -> Result<Input, Error> {
        let path: PathBuf = directory.join(format!("input-{index}"));
        match task {
            Task::Derive => {
                let peer = PublicKey::point(public.algorithm(), &input.bytes)
                    .and_then(|peer| peer.spki_der())
                    .during("i2d_PUBKEY")?;
                write_private(&path, &peer)?;
            }
            Task::SignDigest(_) | Task::SignMessage | Task::Decrypt => {
                write_private(&path, &input.bytes)?;
            }
        }
        Ok(Input {
            bytes: path.into_os_string().into_encoded_bytes(),
        })
    };
    inputs.iter().enumerate().map(write).collect()
}
