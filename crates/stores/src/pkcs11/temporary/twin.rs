//! The twin of an HSM: keymark's own module before a SoftHSM2, with the device's service times.

use std::fs;
use std::sync::Arc;

use keymark_bench::{During as _, Error, Profile, ProfileStore};
use keymark_shim_protocol::pkcs11::settings::{Settings, TwinSettings};

use super::ManagedPlace;
use crate::pkcs11::module::wrapped;

const TWIN: &str = "twin:";

/// The device whose time is taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TwinDevice {
    pub(super) profile: Arc<Profile>,
    /// Operations that it does at a time.
    pub(super) lanes: u16,
}

impl TwinDevice {
    /// Returns the twin of a name, if it is one of a device that is reached by PKCS#11.
    pub fn named(name: &str) -> Option<Self> {
        let profile = Profile::find(name.strip_prefix(TWIN)?).ok()?;
        match profile.store {
            ProfileStore::Pkcs11 => Some(Self::of(profile)),
            ProfileStore::OpenpgpCard => None,
        }
    }

    pub(crate) fn shipped() -> impl Iterator<Item = Self> {
        let shipped = Profile::shipped().unwrap_or_default().into_iter();
        let twins = shipped.filter(|profile| profile.store == ProfileStore::Pkcs11);
        twins.map(Self::of)
    }

    fn of(profile: Profile) -> Self {
        Self {
            profile: Arc::new(profile),
            lanes: 1,
        }
    }

    /// `twin:nitrokey-hsm`
    pub(super) fn name(&self) -> String {
        format!("{TWIN}{}", self.profile.name)
    }

    /// Its times.
    pub(crate) fn profile(&self) -> &Profile {
        &self.profile
    }
}

/// Puts keymark's module before the library that is in the place, with the times of the device.
pub(super) fn before(place: ManagedPlace, device: &TwinDevice) -> Result<ManagedPlace, Error> {
    let directory = place.place.path();
    let profile = directory.join("profile.toml");
    let text = device.profile.to_toml().during("writing the profile")?;
    super::write(&profile, &text)?;
    let twin = TwinSettings {
        profile: profile.display().to_string(),
        // By this file all programs share the device.
        device: Some(directory.join("device")),
        lanes: device.lanes,
        ..TwinSettings::default()
    };
    behind_own_module(place, Some(twin))
}

/// Puts keymark's module before the library that is in the place. It gives the library what that has to find in its
/// environment, so that programs which load it need none. The library is a copy: in the same process it is another one
/// than the one that is installed.
pub(super) fn behind_own_module(
    mut place: ManagedPlace,
    twin: Option<TwinSettings>,
) -> Result<ManagedPlace, Error> {
    let directory = place.place.path();
    let name = place.file.path.file_name().unwrap_or_default();
    let library = directory.join(name);
    fs::copy(&place.file.path, &library).during(format_args!("writing {}", library.display()))?;
    let variables = std::mem::take(&mut place.file.environment).into_iter();
    let settings = Settings {
        module: Some(library),
        trace: None,
        environment: variables
            .map(|(name, value)| (name, value.to_string_lossy().into_owned()))
            .collect(),
        twin,
    };
    place.file.path = wrapped(&settings, directory, "keymark-pkcs11.so")?;
    Ok(place)
}
