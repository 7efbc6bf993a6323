//! Tokens of keymark's own, in software that is installed here: each in a private directory, with PINs that nobody
//! knows, gone with the device.

mod kryoptic;
pub(crate) mod new_token;
pub(crate) mod served;
mod softhsm;
mod swtpm;
mod twin;

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::places::private_dir::PrivateDir;
use keymark_bench::store::Capability;
use keymark_bench::{Curve, During as _, Error, Family, Profile, StoreIdentity, StoreKind};

use self::new_token::NewToken;
pub use self::twin::TwinDevice;
use crate::device::made_identity;
use crate::emulator::Emulator;
use crate::pkcs11::module::ModuleFile;
use crate::pkcs11::module::modules::Places;
use crate::pkcs11::module::process::initialize_token;
use crate::pkcs11::token::capabilities::offered;
use crate::pkcs11::token::identity::library;
use crate::pkcs11::token::token_info::ModuleInfo;
use crate::pkcs11::token::{FoundToken, Owner};
use crate::user::Pin;

/// Software of a temporary token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ManagedKind {
    /// SoftHSM2.
    SoftHsm,
    /// Kryoptic.
    Kryoptic,
    /// swtpm behind tpm2-pkcs11.
    Swtpm,
    /// SoftHSM2 with the times of a device.
    Twin(TwinDevice),
}

impl ManagedKind {
    const SOFTWARE: [Self; 3] = [Self::SoftHsm, Self::Kryoptic, Self::Swtpm];

    /// Returns those that come with keymark, in the order of tables.
    pub(crate) fn all() -> Vec<Self> {
        let twins = TwinDevice::shipped().map(Self::Twin);
        Self::SOFTWARE.into_iter().chain(twins).collect()
    }

    /// Returns the kind of a device's name.
    pub fn named(name: &str) -> Option<Self> {
        let mut software = Self::SOFTWARE.into_iter();
        let found = software.find(|own| own.name() == name);
        found.or_else(|| TwinDevice::named(name).map(Self::Twin))
    }

    /// Sets how many operations a twin does at a time.
    pub fn with_lanes(self, lanes: u16) -> Result<Self, Error> {
        match self {
            Self::Twin(device) => Ok(Self::Twin(TwinDevice { lanes, ..device })),
            Self::SoftHsm | Self::Kryoptic | Self::Swtpm => {
                let call = format!("setting the lanes of {}", self.name());
                let advice = "twin:nitrokey-hsm is one";
                Err(Error::call(call, "it is not a twin", advice))
            }
        }
    }

    /// The name of the device.
    pub fn name(&self) -> String {
        match self {
            Self::SoftHsm => "softhsm".to_owned(),
            Self::Kryoptic => "kryoptic".to_owned(),
            Self::Swtpm => "swtpm".to_owned(),
            Self::Twin(device) => device.name(),
        }
    }

    /// The times that it takes, if they are another device's.
    pub(crate) fn profile(&self) -> Option<&Profile> {
        match self {
            Self::SoftHsm | Self::Kryoptic | Self::Swtpm => None,
            Self::Twin(device) => Some(device.profile()),
        }
    }

    fn identity(&self, module: &ModuleInfo) -> StoreIdentity {
        let software = match self {
            Self::SoftHsm | Self::Twin(_) => "SoftHSM2 on this CPU, with a temporary token",
            Self::Kryoptic => "Kryoptic on this CPU, with a temporary token",
            Self::Swtpm => "swtpm on this CPU behind tpm2-pkcs11, with a temporary token",
        };
        let about = (software, ("module", library(module)));
        made_identity(self.name(), StoreKind::PKCS11, about, self.profile())
    }

    /// Returns whether it does what its module offers.
    pub(crate) fn can(&self, capability: Capability) -> bool {
        match self {
            Self::SoftHsm => true,
            Self::Twin(device) => device.profile().services.contains_key(&capability),
            // CKM_EDDSA wants CK_EDDSA_PARAMS for Ed448 (3.1 §6.3.16), which SoftHSM2 does without.
            Self::Kryoptic => capability.algorithm.family() != Family::Ed448,
            // tpm2-pkcs11 1.9 makes keys on this curve and cannot read their points, whose length takes two octets.
            Self::Swtpm => capability.algorithm.family() != Family::Weierstrass(Curve::NistP521),
        }
    }

    /// tpm2-pkcs11 takes no private key from outside, and keeps no objects of sessions.
    pub(crate) const fn owner(&self) -> Owner {
        match self {
            Self::SoftHsm | Self::Kryoptic | Self::Twin(_) => Owner::Keymark,
            Self::Swtpm => Owner::Generator,
        }
    }

    /// The file of its library on this machine.
    pub fn library(&self, places: &Places) -> Result<PathBuf, Error> {
        match self {
            Self::SoftHsm | Self::Twin(_) => softhsm::installed(places),
            Self::Kryoptic => kryoptic::installed(places),
            Self::Swtpm => swtpm::installed(places),
        }
    }
}

/// A library with a place of its own, and what has to run for it. All of it is gone with the value.
#[derive(Debug)]
pub struct ManagedPlace {
    file: ModuleFile,
    /// Ended before its directory is removed.
    emulator: Option<Emulator>,
    place: PrivateDir,
}

/// A token that was made.
#[derive(derive_more::Debug)]
#[debug("ManagedToken({kind:?}, {found:?})")]
pub(crate) struct ManagedToken {
    pub(crate) kind: ManagedKind,
    pub(crate) found: FoundToken,
    pub(crate) pin: Pin,
    /// Gone with the token. Without one, another owner keeps it.
    _place: ManagedPlace,
}

impl ManagedToken {
    /// Makes one, in a process of its own: this one loads the library when the token is used.
    pub(crate) fn make(kind: &ManagedKind, places: &Places) -> Result<Self, Error> {
        Self::make_in(ManagedPlace::prepare(kind, places)?, kind)
    }

    fn make_in(place: ManagedPlace, kind: &ManagedKind) -> Result<Self, Error> {
        let token = NewToken::random()?;
        let pin = token.user.0.clone();
        let info = initialize_token(&place.file, token);
        let info = info.map_err(|error| match &place.emulator {
            None => error,
            Some(emulator) => emulator.explained(error),
        })?;
        let made = info.slots.iter().find_map(|slot| slot.token.as_ref().ok());
        let made = made.ok_or_else(|| {
            let call = format!("looking for the token '{}'", kind.name());
            Error::call(call, "it was initialized, but was not found", "")
        })?;
        Ok(Self {
            found: FoundToken {
                identity: kind.identity(&info),
                file: place.file.clone(),
                info: made.clone(),
            },
            kind: kind.clone(),
            pin,
            _place: place,
        })
    }

    /// Makes a token that other programs can have keys written to, behind a module that needs no environment, and its
    /// directory.
    pub(crate) fn make_to_serve(
        kind: &ManagedKind,
        places: &Places,
    ) -> Result<(Self, PathBuf), Error> {
        let place = match kind {
            ManagedKind::Twin(_) => ManagedPlace::prepare(kind, places)?,
            ManagedKind::SoftHsm | ManagedKind::Kryoptic => {
                twin::behind_own_module(ManagedPlace::prepare(kind, places)?, None)?
            }
            ManagedKind::Swtpm => {
                let reason = format!("{} accepts no keys from outside", kind.name());
                let advice = "softhsm, kryoptic and twins do";
                return Err(Error::call("serving a token", reason, advice));
            }
        };
        let directory = place.place.path().to_owned();
        Ok((Self::make_in(place, kind)?, directory))
    }

    /// Returns the capabilities that work.
    pub(crate) fn capabilities(&self) -> Vec<Capability> {
        let mut capabilities = offered(&self.found.info);
        capabilities.retain(|capability| self.kind.can(*capability));
        capabilities
    }
}

impl ManagedPlace {
    /// A library that finds its configuration, of that name in the place, by a variable.
    fn configured(
        library: PathBuf,
        place: PrivateDir,
        (variable, name): (&str, &str),
        text: &str,
    ) -> Result<Self, Error> {
        let configuration = place.path().join(name);
        write(&configuration, text)?;
        let variable = (variable.to_owned(), configuration.into_os_string());
        Ok(Self {
            file: ModuleFile {
                environment: BTreeMap::from([variable]),
                ..ModuleFile::new(&library)
            },
            emulator: None,
            place,
        })
    }

    /// Makes one, with a blank token.
    pub fn prepare(kind: &ManagedKind, places: &Places) -> Result<Self, Error> {
        let library = kind.library(places)?;
        match kind {
            ManagedKind::SoftHsm => softhsm::prepare(library),
            ManagedKind::Kryoptic => kryoptic::prepare(library),
            ManagedKind::Swtpm => swtpm::prepare(library),
            ManagedKind::Twin(device) => twin::before(softhsm::prepare(library)?, device),
        }
    }

    /// The library, and what it has to find in its environment.
    pub const fn file(&self) -> &ModuleFile {
        &self.file
    }
}

/// Writes a file that a library reads.
fn write(file: &std::path::Path, text: &str) -> Result<(), Error> {
    std::fs::write(file, text).during(format_args!("writing {}", file.display()))
}
