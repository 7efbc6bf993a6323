//! Known tokens, and the recognition of a card as one of them.

mod identify;
mod usb;

use std::ops::RangeInclusive;
use std::sync::LazyLock;

use keymark_bench::shipped::shipped;
use serde::{Deserialize, Deserializer};

pub use identify::Evidence;
pub use usb::{UsbId, usb_id_of};

const SHIPPED: &str = include_str!("../../../../../data/tokens.toml");

/// Manufacturers, USB ids and tokens, each from the source that `data/tokens.toml` names.
#[derive(Debug, Clone, Deserialize)]
pub struct Catalogue {
    #[serde(rename = "manufacturer")]
    manufacturers: Vec<Manufacturers>,
    usb: Vec<UsbDevices>,
    #[serde(rename = "token")]
    tokens: Vec<Token>,
}

#[derive(Debug, Clone, Deserialize)]
struct Manufacturers {
    ids: Vec<Manufacturer>,
    #[serde(default)]
    extra: Vec<Manufacturer>,
}

#[derive(Debug, Clone, Deserialize)]
struct Manufacturer {
    id: Ids,
    name: String,
}

#[derive(Debug, Clone, Deserialize)]
struct UsbDevices {
    ids: Vec<UsbDevice>,
}

#[derive(Debug, Clone, Deserialize)]
struct UsbDevice {
    vid: Ids,
    pid: Ids,
    name: String,
}

/// A model, as far as cards are told by it.
#[derive(Debug, Clone, Deserialize)]
struct Token {
    id: String,
    /// Version of the OpenPGP card specification in its AID (3.4.1 §4.2.1), where it is known.
    #[serde(rename = "openpgp_card_version", default, deserialize_with = "version")]
    card_version: Option<(u8, u8)>,
    #[serde(default)]
    usb: Vec<UsbId>,
    #[serde(rename = "openpgp_manufacturer_id")]
    manufacturer: Option<Ids>,
}

/// `0005`, `FF00-FFFE`, or several of them with commas between.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
struct Ids(Vec<RangeInclusive<u16>>);

impl Ids {
    fn contains(&self, id: u16) -> bool {
        self.0.iter().any(|ids| ids.contains(&id))
    }
}

impl TryFrom<String> for Ids {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let hex = |text: &str| {
            usb::four_digits(text)
                .ok_or_else(|| format!("'{text}' must be four hexadecimal digits"))
        };
        let ids = |text: &str| {
            let (first, last) = text.split_once('-').unwrap_or((text, text));
            Ok(hex(first)?..=hex(last)?)
        };
        text.split(',').map(ids).collect::<Result<_, _>>().map(Self)
    }
}

impl Catalogue {
    /// The catalogue that comes with keymark.
    pub fn shipped() -> &'static Self {
        static READ: LazyLock<Catalogue> = LazyLock::new(|| shipped(SHIPPED));
        &READ
    }

    /// Whom a manufacturer id of the card's AID belongs to (OpenPGP card 3.4.1 §4.2.1).
    pub fn manufacturer(&self, id: u16) -> Option<&str> {
        let mut known = self
            .manufacturers
            .iter()
            .flat_map(|table| table.ids.iter().chain(&table.extra));
        let found = known.find(|known| known.id.contains(id));
        found.map(|known| known.name.as_str())
    }

    /// Returns the token's name of a USB device, if it is one.
    pub fn usb_name(&self, id: UsbId) -> Option<&str> {
        let mut known = self.usb.iter().flat_map(|table| &table.ids);
        let found =
            known.find(|known| known.vid.contains(id.vendor) && known.pid.contains(id.product));
        found.map(|known| known.name.as_str())
    }
}

/// `3.4` or `3.4.1`, of which the first two numbers count: the AID has two. `3.x protocol` says nothing about them.
fn version<'de, D: Deserializer<'de>>(text: D) -> Result<Option<(u8, u8)>, D::Error> {
    let text = String::deserialize(text)?;
    let mut numbers = text.split('.').map(|number| number.parse().ok());
    let (major, minor) = (numbers.next().flatten(), numbers.next().flatten());
    Ok(major.zip(minor))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(entry: &toml::Value) -> Ids {
        Ids::try_from(entry.as_str().unwrap().to_owned()).unwrap()
    }

    #[test]
    fn every_id_of_the_file_has_its_name() {
        let catalogue = Catalogue::shipped();
        let file: toml::Table = toml::from_str(SHIPPED).unwrap();
        assert_eq!(
            catalogue.tokens.len(),
            file["token"].as_array().unwrap().len()
        );
        for entry in file["manufacturer"][0]["ids"].as_array().unwrap() {
            let Ids(ids) = ids(&entry["id"]);
            for id in [*ids[0].start(), *ids[0].end()] {
                assert_eq!(catalogue.manufacturer(id), entry["name"].as_str());
            }
        }
        assert_eq!(catalogue.manufacturer(0xFEFF), None);
        for entry in file["usb"][0]["ids"].as_array().unwrap() {
            let vendor = *ids(&entry["vid"]).0[0].start();
            for product in ids(&entry["pid"]).0.into_iter().flatten() {
                let name = catalogue.usb_name(UsbId { vendor, product });
                assert_eq!(name, entry["name"].as_str());
            }
        }
        for product in [0x0012, 0x0017, 0x0022, 0x0207] {
            let vendor = 0x349E;
            assert_eq!(catalogue.usb_name(UsbId { vendor, product }), None);
        }
    }

    /// A token names its vulnerabilities, and a vulnerability its tokens: the same.
    #[test]
    fn tokens_and_vulnerabilities_refer_to_each_other() {
        let file: toml::Table = toml::from_str(SHIPPED).unwrap();
        let pairs = |table: &str, list: &str| {
            let mut pairs = Vec::new();
            for entry in file[table].as_array().unwrap() {
                let id = entry["id"].as_str().unwrap();
                let others = entry.get(list).and_then(toml::Value::as_array);
                for other in others.into_iter().flatten() {
                    pairs.push((id, other.as_str().unwrap()));
                }
            }
            pairs
        };
        let mut named = pairs("token", "vulnerabilities");
        let known = pairs("vulnerability", "tokens").into_iter();
        let mut known: Vec<_> = known.map(|(id, token)| (token, id)).collect();
        named.sort_unstable();
        known.sort_unstable();
        assert_eq!(named, known);
        let mut tokens = file["token"].as_array().unwrap().iter();
        assert!(tokens.all(|token| !token["sources"].as_array().unwrap().is_empty()));
    }
}
