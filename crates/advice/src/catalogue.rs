//! The catalogue of tokens in `data/tokens.toml`: abilities, openness, and known weaknesses.

use std::sync::LazyLock;

use keymark_bench::shipped::shipped;
use keymark_bench::{Algorithm, Family, Operation};
use keymark_records::published::DeviceCatalogue;
use serde::Deserialize;

use crate::policy::{KeyKind, Use};

/// Tokens and weaknesses, as the file has them.
#[derive(Debug, Deserialize)]
pub struct Catalogue {
    #[serde(rename = "token")]
    pub tokens: Vec<CatalogueToken>,
    #[serde(rename = "vulnerability")]
    pub weaknesses: Vec<Weakness>,
}

/// A model.
#[derive(Debug, Deserialize)]
pub struct CatalogueToken {
    pub id: String,
    /// Name for people.
    pub name: String,
    /// True if its firmware can be read and built; `None` where no source says.
    pub open_firmware: Option<bool>,
    pub form_factor: Option<String>,
    /// Interfaces: `USB CCID`, `NFC`.
    #[serde(default)]
    pub interface: Vec<String>,
    /// Origin of its keys: made on it or imported.
    pub keys_from: Option<String>,
    /// Openness of its hardware.
    pub hardware_open: Option<String>,
    pub certification: Option<String>,
    /// Confirmation of a key's use; `false`: none.
    pub touch_openpgp: Option<toml::Value>,
    /// Id of the device in `data/devices`, if it is another one; several tokens are then firmwares of it.
    device: Option<String>,
    /// Versions of its firmware; `>=5.0,<5.2` tells tokens of one device apart.
    #[serde(default)]
    firmware: String,
    sale: Option<bool>,
    max_rsa_bits_openpgp: Option<u32>,
    rsa_sizes_openpgp: Option<Vec<u32>>,
    #[serde(default)]
    curves_openpgp: Vec<String>,
    #[serde(default)]
    pqc: Vec<String>,
}

/// A known weakness of tokens.
#[derive(Debug, Deserialize)]
pub struct Weakness {
    /// Identifier: a CVE, an advisory.
    pub id: String,
    name: Option<String>,
    holds: Option<String>,
    /// The weakness in a sentence.
    pub title: String,
    /// The version without it, or why there is none.
    #[serde(default)]
    pub fixed: String,
    /// True if owners can install firmware without it.
    #[serde(default)]
    updatable: bool,
    pub source: String,
    tokens: Vec<String>,
    /// Affected kinds of keys; every key if empty.
    #[serde(default)]
    concerns: Vec<KeyKind>,
    /// The products that have it, as they call themselves.
    #[serde(default)]
    pub devices: Vec<Affected>,
}

/// A product whose firmware is weak.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Affected {
    /// Its name, with which what it says of itself begins.
    pub product: String,
    /// Versions of its firmware like `>=5.0,<5.2`; all if empty.
    #[serde(default)]
    pub firmware: String,
    /// Kinds of affected keys, by how they sign; `None`: all.
    pub keys: Option<KeyKind>,
}

/// The catalogue that comes with keymark.
static CATALOGUE: LazyLock<Catalogue> =
    LazyLock::new(|| shipped(include_str!("../../../data/tokens.toml")));

/// RSA's usual lengths.
const RSA: [u32; 3] = [2048, 3072, 4096];

impl Catalogue {
    /// The one that comes with keymark.
    pub fn shipped() -> &'static Self {
        &CATALOGUE
    }

    /// Finds the token that is a device of `data/devices` with that firmware.
    pub fn token_of(&self, device: &str, firmware: &str) -> Option<&CatalogueToken> {
        self.tokens.iter().find(|token| match &token.device {
            None => token.id == device,
            Some(own) => own == device && is_within(firmware, &token.firmware),
        })
    }

    /// Returns the weaknesses of a token with such a key in such a use.
    pub fn against(
        &self,
        token: &str,
        algorithm: Algorithm,
        operation: Operation,
    ) -> Vec<&Weakness> {
        let kind = KeyKind::of(algorithm.into(), Use::of(operation));
        let about = |weakness: &&Weakness| {
            let concerns = &weakness.concerns;
            weakness.tokens.iter().any(|id| id == token)
                && (concerns.is_empty() || kind.is_some_and(|kind| concerns.contains(&kind)))
        };
        self.weaknesses.iter().filter(about).collect()
    }
}

/// Returns the numbers of a version, the first of which counts most.
pub(crate) fn version(text: &str) -> Option<Vec<u32>> {
    let numbers = text.split('.').map(|number| number.parse().ok());
    numbers.collect()
}

/// Returns whether a version is within a range like `>=5.0,<5.2`. An unknown version is in none.
pub fn is_within(own: &str, range: &str) -> bool {
    let within = |own: &Vec<u32>, bound: &str| match bound.strip_prefix(">=") {
        Some(least) => version(least).is_some_and(|least| *own >= least),
        None => {
            let above = bound.strip_prefix('<').and_then(version);
            above.is_some_and(|above| *own < above)
        }
    };
    version(own).is_some_and(|own| range.split(',').all(|bound| within(&own, bound)))
}

impl Weakness {
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.id)
    }

    /// Returns whether it stays in the devices that have it: no owner can install firmware without it.
    pub const fn is_open(&self) -> bool {
        !self.updatable
    }

    /// Returns the weakness with its versions.
    pub fn at_length(&self) -> String {
        let holds = self.holds.as_ref();
        let holds = holds.map(|versions| format!(", {versions}"));
        format!("{}{}", self.name(), holds.unwrap_or_default())
    }
}

impl CatalogueToken {
    /// Keys that its OpenPGP application takes, and its post-quantum ones.
    pub fn algorithms(&self) -> Vec<Algorithm> {
        let most = self.max_rsa_bits_openpgp.unwrap_or(0);
        let listed = self.rsa_sizes_openpgp.as_deref();
        let lengths = listed.unwrap_or(&RSA).iter().copied();
        let rsa = lengths
            .filter(|bits| RSA.contains(bits) && *bits <= most)
            .filter_map(|bits| Algorithm::of(Family::Rsa(bits)));
        // `P-256 (experimental)`, `ML-DSA-65 (PIV)`: the rest is for people.
        let named = self.curves_openpgp.iter().chain(&self.pqc);
        let named = named.filter_map(|words| {
            let word = words.split_whitespace().next()?.to_ascii_lowercase();
            word.replace("p-", "p").parse().ok()
        });
        rsa.chain(named).collect()
    }

    /// Returns whether it is sold new; none where no source says.
    pub fn sale(&self) -> Option<bool> {
        let device = self.device.as_ref().unwrap_or(&self.id);
        let device = || DeviceCatalogue::shipped().named(device);
        self.sale.or_else(|| device()?.sale)
    }

    /// Enough of its name to tell it from the others.
    pub fn short_name(&self) -> &str {
        let name = self.name.split(" / ").next().unwrap_or(&self.name);
        match name.split_once(" (") {
            // Of one product, the firmware says what a token does.
            Some((_, remark)) if remark.starts_with("firmware") => name,
            Some((product, _)) => product,
            None => name,
        }
    }

    pub fn touch(&self) -> Option<&str> {
        let touch = self.touch_openpgp.as_ref()?;
        let none = (touch.as_bool() == Some(false)).then_some("none");
        none.or_else(|| touch.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(id: &str) -> &'static CatalogueToken {
        let mut tokens = Catalogue::shipped().tokens.iter();
        tokens.find(|token| token.id == id).unwrap()
    }

    #[test]
    fn keys_of_a_token_are_those_that_its_sources_name() {
        let names = |id| {
            let all = token(id).algorithms();
            all.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(names("yubikey-neo"), ["rsa2048"]);
        assert_eq!(names("yubikey-4"), ["rsa2048", "rsa3072", "rsa4096"]);
        assert!(names("fst-01").contains(&"cv25519".to_owned()));
        assert!(names("fst-01").contains(&"nistp256".to_owned()));
        assert!(names("canokey").contains(&"mlkem768".to_owned()));
        assert_eq!(token("fst-01").open_firmware, Some(true));
        assert_eq!(token("yubikey-5-57").open_firmware, None);
    }

    #[test]
    fn firmware_tells_which_token_a_device_is() {
        let found = |device: &str, firmware: &str| {
            let token = Catalogue::shipped().token_of(device, firmware)?;
            Some((token.id.as_str(), token.sale()))
        };
        for (device, firmware, expected) in [
            ("yubikey-5", "5.1.2", Some(("yubikey-5-pre52", Some(false)))),
            ("yubikey-5", "5.4.3", Some(("yubikey-5-52", Some(false)))),
            ("yubikey-5", "5.7.1", Some(("yubikey-5-57", Some(true)))),
            ("yubikey-5", "", None),
            ("nitrokey-3", "1.8.2", Some(("nitrokey-3", Some(true)))),
            ("yubikey-4", "", Some(("yubikey-4", Some(false)))),
        ] {
            assert_eq!(found(device, firmware), expected, "{device} {firmware}");
        }
    }

    #[test]
    fn weaknesses_concern_some_keys() {
        let against = |token: &str, key: &str, operation| {
            let found = Catalogue::shipped().against(token, key.parse().unwrap(), operation);
            found.iter().map(|one| one.id.clone()).collect::<Vec<_>>()
        };
        let roca = "CVE-2017-15361";
        assert!(against("yubikey-4", "rsa4096", Operation::Decrypt).contains(&roca.to_owned()));
        assert!(against("yubikey-neo", "rsa2048", Operation::Decrypt) == ["YSA-2015-1"]);
        assert!(against("yubikey-5-52", "cv25519", Operation::Decrypt).is_empty());
        let signs = against("yubikey-5-52", "nistp256", Operation::Sign);
        assert_eq!(signs, ["CVE-2024-45678"]);
        assert!(against("yubikey-5-57", "nistp256", Operation::Sign).is_empty());
    }
}
