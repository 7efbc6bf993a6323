//! Catalogue of devices, `data/devices`: the names by which one device goes, and facts about it.

use std::collections::HashMap;
use std::sync::LazyLock;

use include_dir::{Dir, include_dir};
use itertools::Itertools;
use keymark_bench::shipped::shipped;
use keymark_bench::words;
use serde::Deserialize;

words! {
    /// Kind of a device.
    pub enum DeviceKind("kind of device") {
        /// Token with an OpenPGP application.
        Keycard = "keycard",
        /// Card in a reader.
        SmartCard = "smart-card",
        /// HSM at a USB port.
        UsbHsm = "usb-hsm",
        /// HSM at a network.
        NetworkHsm = "network-hsm",
        /// HSM of a cloud provider.
        CloudHsm = "cloud-hsm",
        /// Key service of a cloud provider.
        CloudKms = "cloud-kms",
        /// Trusted platform module.
        Tpm = "tpm",
        /// Chip behind a microcontroller.
        SecureElement = "secure-element",
        /// Processor of a computer.
        Cpu = "cpu",
        /// Microcontroller.
        Mcu = "mcu",
        /// Token in software.
        Software = "software",
    }
}

words! {
    /// Certification of a device. Certificates of FIPS 140-2 are historical since 21 September 2026.
    pub enum Certification("certification") {
        /// FIPS 140-2, level 2.
        Fips140v2Level2 = "fips-140-2-level-2",
        /// FIPS 140-2, level 3.
        Fips140v2Level3 = "fips-140-2-level-3",
        /// FIPS 140-3, level 3.
        Fips140v3Level3 = "fips-140-3-level-3",
        /// Common Criteria, evaluation assurance level 5, augmented.
        CommonCriteriaEal5 = "cc-eal5+",
    }
}

/// Device of the catalogue.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CatalogueDevice {
    /// Part of addresses; never changes.
    pub id: String,
    /// Kind of device.
    pub kind: DeviceKind,
    /// Name for people.
    pub name: String,
    /// Company or author.
    pub maker: String,
    /// True if its firmware can be read and built; none where no source says.
    pub open: Option<bool>,
    /// True if it is sold new; none where no source says.
    pub sale: Option<bool>,
    /// Source of [`sale`](Self::sale).
    pub sale_source: Option<String>,
    /// Certification; none where no source says.
    pub certification: Option<Certification>,
    /// Source of [`certification`](Self::certification).
    pub certification_source: Option<String>,
    /// Known weakness with its versions.
    pub known: Option<String>,
    #[serde(default)]
    names: Vec<String>,
    #[serde(default)]
    begins: Vec<String>,
    #[serde(default)]
    processors: Vec<String>,
}

/// All devices, and names that mean no device in particular.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DeviceCatalogue {
    /// Devices by kind.
    #[serde(rename = "device")]
    pub devices: Vec<CatalogueDevice>,
    nameless: Vec<String>,
    /// Places in [`devices`](Self::devices) by whole name: each published row is looked up.
    #[serde(skip)]
    places: HashMap<String, usize>,
}

static FILES: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../data/devices");

static CATALOGUE: LazyLock<DeviceCatalogue> = LazyLock::new(|| {
    let mut all = DeviceCatalogue::default();
    let texts = FILES.files().filter(|file| {
        let ending = file.path().extension();
        ending.is_some_and(|ending| ending == "toml")
    });
    for text in texts.filter_map(include_dir::File::contents_utf8) {
        let file: DeviceCatalogue = shipped(text);
        all.devices.extend(file.devices);
        all.nameless.extend(file.nameless);
    }
    all.devices
        .sort_by(|a, b| (a.kind, &a.id).cmp(&(b.kind, &b.id)));
    for (place, device) in all.devices.iter().enumerate() {
        all.places.extend(device.names().map(|name| (name, place)));
    }
    all
});

/// Joins a name's words with single spaces.
pub fn normal(name: &str) -> String {
    name.split_whitespace().join(" ")
}

impl CatalogueDevice {
    /// Returns the whole names of the device, without [`processors`](Self::processors).
    pub fn names(&self) -> impl Iterator<Item = String> {
        let own = [&self.name, &self.id].into_iter();
        own.chain(&self.names).map(|name| normal(name))
    }

    /// Returns its names in `/proc/cpuinfo`.
    pub fn processors(&self) -> impl Iterator<Item = String> {
        self.processors.iter().map(|name| normal(name))
    }

    /// Returns whether it is sold new, in words.
    pub fn sale_words(&self) -> &'static str {
        in_words(self.sale, ["in sale", "discontinued"])
    }

    /// Returns whether its firmware is open, in words.
    pub fn firmware_words(&self) -> &'static str {
        in_words(self.open, ["open", "closed"])
    }
}

/// Returns the first word for yes, the second for no.
pub fn in_words(known: Option<bool>, [yes, no]: [&'static str; 2]) -> &'static str {
    known.map_or("not known", |known| if known { yes } else { no })
}

impl DeviceCatalogue {
    /// Returns the catalogue that comes with keymark.
    pub fn shipped() -> &'static Self {
        &CATALOGUE
    }

    /// Finds a device by one of its names, else by the beginning of one.
    pub fn named(&self, name: &str) -> Option<&CatalogueDevice> {
        let name = normal(name);
        let begins =
            |device: &&CatalogueDevice| device.begins.iter().any(|begin| name.starts_with(begin));
        let exactly = self.places.get(&name).map(|place| &self.devices[*place]);
        exactly.or_else(|| self.devices.iter().find(begins))
    }

    /// Finds a processor by its name in `/proc/cpuinfo`.
    pub fn processor(&self, name: &str) -> Option<&CatalogueDevice> {
        let name = normal(name);
        self.devices
            .iter()
            .find(|device| device.processors().contains(&name))
    }

    /// Returns whether a name does not say which device it is.
    pub fn is_nameless(&self, name: &str) -> bool {
        let name = normal(name);
        name.is_empty() || self.nameless.contains(&name)
    }

    /// Finds devices by id or name, else by a part of it in any case.
    pub fn search(&self, wanted: &str) -> Vec<&CatalogueDevice> {
        let plain = |name: &str| name.to_lowercase().replace([' ', '-', '_'], "");
        let wanted_word = plain(wanted);
        let exactly = self.named(wanted);
        let part = |device: &&CatalogueDevice| {
            device
                .names()
                .any(|name| plain(&name).contains(&wanted_word))
        };
        exactly.map_or_else(
            || self.devices.iter().filter(part).collect(),
            |device| vec![device],
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_means_two_devices() {
        let devices = &DeviceCatalogue::shipped().devices;
        assert!(devices.iter().map(|device| &device.id).all_unique());
        // The name for people may be one of the others once more.
        let names = devices.iter().flat_map(|device| device.names().unique());
        assert_eq!(names.duplicates().collect_vec(), Vec::<String>::new());
        let processors = devices.iter().flat_map(CatalogueDevice::processors);
        assert!(processors.collect_vec().iter().all_unique());
        for device in devices {
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            assert!(device.id.chars().all(plain), "{}", device.id);
            assert_eq!(device.sale.is_some(), device.sale_source.is_some());
            let sourced = device.certification_source.is_some();
            assert_eq!(device.certification.is_some(), sourced, "{}", device.id);
        }
    }

    #[test]
    fn a_device_is_found_by_what_one_calls_it() {
        let found = |wanted: &str| {
            let devices = DeviceCatalogue::shipped().search(wanted);
            devices
                .iter()
                .map(|device| device.id.as_str())
                .collect_vec()
        };
        assert_eq!(found("yubikey-5"), ["yubikey-5"]);
        assert_eq!(found("YubiKey 5 (firmware 5.4.3)"), ["yubikey-5"]);
        assert_eq!(found("certum"), ["certum"]);
        assert!(found("luna").len() > 1);
        assert!(found("nobody's").is_empty());
    }
}
