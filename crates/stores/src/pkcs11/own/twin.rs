//! The twin of an HSM: keymark's own module before a SoftHSM2, with the device's service times.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use keymark_bench::error::Error;
use keymark_shim_protocol::pkcs11::settings::{Manner, Settings, TwinSettings};
use keymark_tokens::profile::{Profile, ProfileStore};

use super::super::wrapped::wrapped;
use super::OwnPlace;

/// Before the profile's name.
const TWIN: &str = "twin:";

/// The device whose time is taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TwinDevice {
    profile: Arc<Profile>,
    manner: Manner,
}

impl TwinDevice {
    /// By the name of the device, if it is the twin of one that is reached by PKCS#11.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let profile = Profile::find(name.strip_prefix(TWIN)?).ok()?;
        match profile.store {
            ProfileStore::Pkcs11 => Some(Self::of(profile)),
            ProfileStore::OpenpgpCard => None,
        }
    }

    /// Those that come with keymark.
    pub(in super::super) fn shipped() -> impl Iterator<Item = Self> {
        let shipped = Profile::shipped().unwrap_or_default().into_iter();
        let twins = shipped.filter(|profile| profile.store == ProfileStore::Pkcs11);
        twins.map(Self::of)
    }

    fn of(profile: Profile) -> Self {
        Self {
            profile: Arc::new(profile),
            manner: Manner::default(),
        }
    }

    /// The same device with another manner.
    pub(super) fn with(self, manner: Manner) -> Self {
        Self { manner, ..self }
    }

    /// `twin:nitrokey-hsm`
    pub(super) fn name(&self) -> String {
        format!("{TWIN}{}", self.profile.name)
    }

    /// Its times.
    pub(in super::super) fn profile(&self) -> &Profile {
        &self.profile
    }
}

/// Puts keymark's module before the library that is in the place. The library is a copy, so that it is another one
/// than SoftHSM2's own in the same process, with a configuration of its own.
pub(super) fn before(mut place: OwnPlace, device: &TwinDevice) -> Result<OwnPlace, Error> {
    let directory = place.place.path();
    let library = directory.join("libsofthsm2.so");
    let profile = directory.join("profile.toml");
    let put = |to: &PathBuf, done: std::io::Result<()>| {
        done.map_err(|error| Error::call(format!("writing {}", to.display()), error, ""))
    };
    put(&library, fs::copy(&place.file.path, &library).map(|_| ()))?;
    let text = device.profile.to_toml();
    let text = text.map_err(|error| Error::call("writing the profile", error, ""))?;
    put(&profile, fs::write(&profile, text))?;
    let told = |value: &std::ffi::OsString| value.to_string_lossy().into_owned();
    let variables = place.file.environment.iter();
    let settings = Settings {
        module: Some(library),
        trace: None,
        environment: variables
            .map(|(name, value)| (name.clone(), told(value)))
            .collect(),
        twin: Some(TwinSettings::of(
            profile.display().to_string(),
            directory.join("device"),
            device.manner,
        )),
    };
    place.file.path = wrapped(&settings, directory, "keymark-pkcs11.so")?;
    Ok(place)
}
