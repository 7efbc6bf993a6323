//! Tokens of keymark's own, in software that is installed here: each in a private directory, with PINs that nobody
//! knows, gone with the device.

mod kryoptic;
mod new_token;
mod softhsm;
mod swtpm;

use std::path::PathBuf;

use keymark_bench::algorithm::{Algorithm, Curve, Family};
use keymark_bench::error::Error;
use keymark_places::private_dir::PrivateDir;

pub(super) use self::kryoptic::built as built_kryoptic;
pub(super) use self::new_token::NewToken;
use super::module::{Module, ModuleFile};
use super::modules::Places;
use super::probe;
use super::says::{self, ModuleSays, TokenState};
use super::session_keys::Lives;
use super::token::FoundToken;
use crate::emulator::Emulator;
use crate::user::Pin;

/// Which software.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnKind {
    /// SoftHSM2.
    SoftHsm,
    /// Kryoptic.
    Kryoptic,
    /// swtpm behind tpm2-pkcs11.
    Swtpm,
}

impl OwnKind {
    /// In the order of tables.
    pub(super) const ALL: [Self; 3] = [Self::SoftHsm, Self::Kryoptic, Self::Swtpm];

    /// The name of the device.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::SoftHsm => "softhsm",
            Self::Kryoptic => "kryoptic",
            Self::Swtpm => "swtpm",
        }
    }

    /// What it is, for people.
    pub(super) const fn product(self) -> &'static str {
        match self {
            Self::SoftHsm => "SoftHSM2 on this CPU, with a token of keymark's",
            Self::Kryoptic => "Kryoptic on this CPU, with a token of keymark's",
            Self::Swtpm => {
                "swtpm on this CPU behind tpm2-pkcs11 and tpm2-abrmd, with a token of keymark's"
            }
        }
    }

    /// Whether it does what it offers with keys of that algorithm.
    pub(super) fn can_use(self, algorithm: Algorithm) -> bool {
        match self {
            Self::SoftHsm => true,
            // CKM_EDDSA wants CK_EDDSA_PARAMS for Ed448 (3.1 §6.3.16), which SoftHSM2 does without.
            Self::Kryoptic => algorithm.family() != Family::Ed448,
            // tpm2-pkcs11 1.9 makes keys on this curve and cannot read their points, whose length takes two octets.
            Self::Swtpm => algorithm.family() != Family::Weierstrass(Curve::NistP521),
        }
    }

    /// tpm2-pkcs11 takes no private key from outside, and keeps no objects of sessions.
    pub(super) const fn test_keys(self) -> Lives {
        match self {
            Self::SoftHsm | Self::Kryoptic => Lives::InSession,
            Self::Swtpm => Lives::OnOwnToken,
        }
    }

    /// The library's file.
    pub(super) fn installed(self, places: &Places) -> Result<PathBuf, Error> {
        match self {
            Self::SoftHsm => softhsm::installed(places),
            Self::Kryoptic => kryoptic::installed(places),
            Self::Swtpm => swtpm::installed(places),
        }
    }
}

/// A library with a place of its own, and what has to run for it. All of it is gone with the value.
#[derive(Debug)]
pub struct OwnPlace {
    file: ModuleFile,
    /// Ended before its directory is removed.
    emulator: Option<Emulator>,
    _place: PrivateDir,
}

/// A token that was made.
pub(super) struct OwnToken {
    pub(super) kind: OwnKind,
    pub(super) found: FoundToken,
    pub(super) pin: Pin,
    /// What the library says.
    pub(super) says: ModuleSays,
    /// Without, it is somebody else's to keep.
    _place: Option<OwnPlace>,
}

impl std::fmt::Debug for OwnToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OwnToken")
            .field("kind", &self.kind)
            .field("found", &self.found)
            .finish_non_exhaustive()
    }
}

impl OwnToken {
    /// Makes one, in a process of its own: this one loads the library when the token is used.
    pub(super) fn make(kind: OwnKind, places: &Places) -> Result<Self, Error> {
        let place = OwnPlace::prepare(kind, places)?;
        let (officer, pin) = (random_pin()?, random_pin()?);
        let says = probe::initialize_token(&place.file, &NewToken::new(&officer, &pin))
            .map_err(|error| place.explained(error))?;
        let file = place.file.clone();
        Self::made(kind, file, pin, says, Some(place))
    }

    /// The same in this process, which has the environment that is to be.
    pub(super) fn make_here(kind: OwnKind, file: &ModuleFile) -> Result<Self, Error> {
        let (officer, pin) = (random_pin()?, random_pin()?);
        let module = Module::load(file)?;
        NewToken::new(&officer, &pin).make(&module.client)?;
        let says = says::ask(&module.client)?;
        Self::made(kind, file.clone(), pin, says, None)
    }

    fn made(
        kind: OwnKind,
        file: ModuleFile,
        pin: Pin,
        says: ModuleSays,
        place: Option<OwnPlace>,
    ) -> Result<Self, Error> {
        let tokens = says
            .slots
            .iter()
            .filter_map(|slot| slot.token.as_ref().ok());
        let mut made = tokens.filter(|token| token.state == TokenState::Initialized);
        let token = made.next().ok_or_else(|| {
            let call = format!("looking for the token '{}'", kind.name());
            Error::call(call, "it was initialised, and is not there", "")
        })?;
        Ok(Self {
            kind,
            found: FoundToken {
                file,
                says: token.clone(),
            },
            pin,
            says: says.clone(),
            _place: place,
        })
    }
}

impl OwnPlace {
    /// Makes one, with a blank token.
    ///
    /// # Errors
    /// When the software is not installed, or does not start.
    pub fn prepare(kind: OwnKind, places: &Places) -> Result<Self, Error> {
        let library = kind.installed(places)?;
        match kind {
            OwnKind::SoftHsm => softhsm::prepare(library),
            OwnKind::Kryoptic => kryoptic::prepare(library),
            OwnKind::Swtpm => swtpm::prepare(library),
        }
    }

    /// The library, and what it has to find in its environment.
    #[must_use]
    pub const fn file(&self) -> &ModuleFile {
        &self.file
    }

    /// With what the programs have complained of, where any run for the token.
    fn explained(&self, error: Error) -> Error {
        match &self.emulator {
            None => error,
            Some(emulator) => emulator.explained(error),
        }
    }
}

/// Of 16 letters.
fn random_pin() -> Result<Pin, Error> {
    let mut octets = [0; 8];
    openssl::rand::rand_bytes(&mut octets).map_err(|error| Error::call("RAND_bytes", error, ""))?;
    Ok(Pin::new(format!("{:016x}", u64::from_be_bytes(octets))))
}

/// Writes a file that a library reads.
fn write(file: &std::path::Path, text: &str) -> Result<(), Error> {
    std::fs::write(file, text)
        .map_err(|error| Error::call(format!("writing {}", file.display()), error, ""))
}
