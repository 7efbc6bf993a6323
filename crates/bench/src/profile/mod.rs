//! The service times of a device, per algorithm and operation, with their source.

mod file;
mod measured;
mod network;
mod service_time;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use crate::outside::read;
use crate::store::Capability;
use crate::{Algorithm, Assumed, Assumption, Operation};
use include_dir::{Dir, include_dir};
use serde::{Deserialize, Serialize};

pub use measured::{MeasuredProfile, Unprofiled, slug};
pub use network::{Network, Quota, QuotaError};
pub use service_time::{Sampler, ServiceTime, Unusable};

/// Profiles that come with keymark: a file each.
static SHIPPED: Dir = include_dir!("$CARGO_MANIFEST_DIR/../../data/profiles");

/// Service times of one device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// Name of the twin, behind `twin:`.
    pub name: String,
    /// Interface of the device.
    pub store: ProfileStore,
    /// Product and firmware.
    pub product: String,
    /// Document or measurement with the figures.
    pub source: String,
    /// Remarks on the figures.
    pub note: String,
    /// Card time of each private-key operation. What is not here, the twin does not do.
    pub services: BTreeMap<Capability, Service>,
    /// Card time of VERIFY, where it is known.
    pub verify: Option<ServiceTime>,
    /// Answer of a YubiKey to Yubico's version command, from its OpenPGP application or its firmware.
    pub yubikey_version: Option<[u8; 3]>,
    /// Way to a token behind a network.
    pub network: Network,
}

/// Interface of a device, which its twin has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProfileStore {
    /// OpenPGP card with APDUs.
    #[default]
    OpenpgpCard,
    /// Token behind a PKCS#11 module.
    Pkcs11,
}

/// Private-key operation of a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Service {
    /// Card time.
    pub time: ServiceTime,
    /// The published mean of the whole, host included, that the card time was derived from.
    pub published: Option<Duration>,
    /// Source of the time, if nobody measured this operation.
    pub assumed: Option<Assumed>,
}

impl Service {
    /// A measured time.
    pub const fn measured(time: ServiceTime) -> Self {
        Self {
            time,
            published: None,
            assumed: None,
        }
    }
}

/// Why a profile cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ProfileError(String);

fn unreadable(name: &str, reason: &str) -> ProfileError {
    ProfileError(format!("the profile {name} cannot be read: {reason}"))
}

impl Profile {
    /// The profiles that come with keymark.
    pub fn shipped() -> Result<Vec<Self>, ProfileError> {
        let files = SHIPPED.files();
        let texts = files.filter_map(include_dir::File::contents_utf8);
        let parse = |text| Self::parse(text, "that comes with keymark");
        texts.map(parse).collect()
    }

    /// The shipped profile of that name, or the one in that file.
    pub fn find(wanted: &str) -> Result<Self, ProfileError> {
        if wanted.ends_with(".toml") {
            let advice = "name a file that 'keymark twin make' wrote";
            let text = read::text(Path::new(wanted), read::SETTINGS);
            let text = text.map_err(|error| unreadable(wanted, &format!("{error}; {advice}")))?;
            return Self::parse(&text, wanted);
        }
        let shipped = Self::shipped()?;
        let names: Vec<_> = shipped.iter().map(|profile| profile.name.clone()).collect();
        shipped
            .into_iter()
            .find(|profile| profile.name.eq_ignore_ascii_case(wanted))
            .ok_or_else(|| {
                ProfileError(format!(
                    "unknown profile '{wanted}'; choose from {}, or give the path of a .toml file",
                    names.join(", ")
                ))
            })
    }

    /// Reads a profile.
    pub fn parse(text: &str, name: &str) -> Result<Self, ProfileError> {
        file::parse(text).map_err(|reason| unreadable(name, &reason))
    }

    /// The profile as a file.
    pub fn to_toml(&self) -> Result<String, ProfileError> {
        file::write(self).map_err(|reason| unreadable(&self.name, &reason))
    }

    /// Returns the algorithms and operations of the device.
    pub fn capabilities(&self) -> impl Iterator<Item = Capability> + '_ {
        self.services.keys().copied()
    }

    /// Returns the operations whose times nobody measured.
    pub fn assumed(&self) -> impl Iterator<Item = Assumption> + '_ {
        self.services.iter().filter_map(|(capability, service)| {
            Some(Assumption {
                capability: *capability,
                assumed: service.assumed?,
            })
        })
    }

    /// Card time of an operation.
    pub fn service(&self, algorithm: Algorithm, operation: Operation) -> Option<&Service> {
        self.services.get(&Capability::new(algorithm, operation))
    }
}

#[cfg(test)]
mod tests {
    use keymark_testkit::assert_says;

    use super::*;

    #[test]
    fn shipped_card_times_are_published_means_less_the_cpus() {
        let published = [
            ("fst-01", "cv25519", 135, 36),
            ("yubikey-4", "rsa2048", 162, 16),
            ("nitrokey-pro", "rsa2048", 610, 16),
            ("yubikey-neo", "rsa2048", 736, 16),
            ("fst-01", "rsa2048", 1265, 16),
            ("yubikey-4", "rsa4096", 875, 43),
            ("nitrokey-pro", "rsa4096", 3150, 43),
            ("fst-01", "rsa4096", 8218, 43),
        ];
        let shipped = Profile::shipped().unwrap();
        let cards = shipped
            .iter()
            .filter(|profile| profile.source.contains("LWN"));
        let services = cards.flat_map(|profile| profile.services.values());
        let measured = services.filter(|service| service.assumed.is_none());
        assert_eq!(measured.count(), published.len());
        // They sign with RSA in the time that they decrypt in.
        for profile in &shipped {
            for Assumption {
                capability,
                assumed,
            } in profile.assumed()
            {
                let time = |operation| {
                    let service = profile.service(capability.algorithm, operation);
                    service.map(|service| service.time.clone())
                };
                assert_eq!(time(capability.operation), time(assumed.operation()));
            }
        }
        for (device, algorithm, whole, host) in published {
            let profile = Profile::find(device).unwrap();
            let service = profile.service(algorithm.parse().unwrap(), Operation::Decrypt);
            let service = service.unwrap();
            assert_eq!(service.time.mean(), Duration::from_millis(whole - host));
            assert_eq!(service.published, Some(Duration::from_millis(whole)));
        }
    }

    #[test]
    fn a_profile_survives_its_file() {
        for profile in Profile::shipped().unwrap() {
            let text = profile.to_toml().unwrap();
            assert_eq!(Profile::parse(&text, "again").unwrap(), profile);
        }
    }

    #[test]
    fn an_unknown_name_gets_those_there_are() {
        let error = Profile::find("yubikey-9").unwrap_err().to_string();
        assert_says(&error, ["yubikey-neo", "'yubikey-9'"]);
        let error = Profile::find("none.toml").unwrap_err().to_string();
        assert_says(
            &error,
            ["none.toml cannot be read", "'keymark twin make' wrote"],
        );
    }
}
