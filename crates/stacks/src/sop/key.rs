//! Keys as files for the programs: GnuPG's, exported, or one of the program's own.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use keymark_bench::outside::openpgp::{PUBLIC_KEY, PUBLIC_SUBKEY, packet};
use keymark_bench::{Composite, Error};

use super::{COMPOSITES, Sop};
use crate::gnupg::key_home::KeyHome;
use crate::programs::write_private;

/// Key file, with its certificate where the program made them.
#[derive(Debug)]
pub(super) struct SopKey {
    /// Private directory.
    pub(super) directory: PathBuf,
    pub(super) secret: PathBuf,
    pub(super) origin: Origin,
}

/// Origin of a key.
#[derive(Debug)]
pub(super) enum Origin {
    /// The home of GnuPG with the same key.
    Gnupg(Arc<KeyHome>),
    /// The program itself; its certificate.
    Own(PathBuf),
}

impl SopKey {
    /// Exports the keys of a home.
    pub(super) fn exported(home: Arc<KeyHome>, directory: PathBuf) -> Result<Self, Error> {
        let exported = home
            .home
            .run("gpg --export-secret-keys", &["--export-secret-keys"])?;
        let secret = directory.join("key");
        write_private(&secret, &exported.0)?;
        Ok(Self {
            directory,
            secret,
            origin: Origin::Gnupg(home),
        })
    }

    /// Has the program make a key with composites.
    pub(super) fn made(sop: &Sop, directory: PathBuf) -> Result<Self, Error> {
        let (secret, certificate) = (directory.join("key"), directory.join("certificate"));
        let words = ["--no-armor", "--profile", COMPOSITES, "keymark test key"];
        write_private(&secret, &sop.run("generate-key", &words, None)?)?;
        let public = sop.run("extract-cert", &["--no-armor"], Some(&secret))?;
        for composite in [Composite::MlDsa65Ed25519, Composite::MlKem768X25519] {
            let number = composite.openpgp_number();
            if !has_key(&public, number) {
                let reason =
                    format!("its profile {COMPOSITES} has no key of OpenPGP algorithm {number}");
                return Err(Error::call(
                    format!("{} generate-key", sop.word),
                    reason,
                    "",
                ));
            }
        }
        write_private(&certificate, &public)?;
        Ok(Self {
            directory,
            secret,
            origin: Origin::Own(certificate),
        })
    }
}

/// Returns whether a certificate has a key of an algorithm (RFC 9580 §5.5.2): version, time, algorithm.
fn has_key(certificate: &[u8], algorithm: u8) -> bool {
    let mut rest = certificate;
    std::iter::from_fn(|| packet(&mut rest)).any(|(tag, body)| {
        matches!(tag, PUBLIC_KEY | PUBLIC_SUBKEY) && body.get(5) == Some(&algorithm)
    })
}

/// Encrypts a file for a certificate with the program that made it.
pub(super) fn encrypt(sop: &Sop, certificate: &Path, from: &Path, to: &Path) -> Result<(), Error> {
    let arguments = [OsStr::new("--no-armor"), certificate.as_os_str()];
    let message = sop.run("encrypt", &arguments, Some(from))?;
    write_private(to, &message)
}
