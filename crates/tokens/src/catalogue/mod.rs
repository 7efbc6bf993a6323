//! Which tokens there are, and which of them a card is.

mod identify;
mod usb;

use std::ops::RangeInclusive;
use std::sync::OnceLock;

use serde::Deserialize;

pub use identify::{Evidence, Product};
pub use usb::{UsbId, usb_id_of};

/// The only version of the format so far.
const SCHEMA: u32 = 1;

const SHIPPED: &str = include_str!("../../../../data/tokens.toml");

/// Manufacturers, USB ids and tokens, each from the source that `data/tokens.toml` names.
#[derive(Debug, Clone)]
pub struct Catalogue {
    manufacturers: Vec<(RangeInclusive<u16>, String)>,
    usb: Vec<(u16, RangeInclusive<u16>, String)>,
    tokens: Vec<Token>,
}

/// A model, or the firmware versions of one that behave alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// What the catalogue calls it.
    pub id: String,
    /// Product name.
    pub name: String,
    /// Who makes it, where it is one maker.
    pub vendor: Option<String>,
    /// Firmware versions this entry is about, where it is not about all.
    pub firmware: Option<FirmwareRange>,
    /// Vulnerabilities known of the model, by id. Whether the firmware of a device is affected, the
    /// catalogue's entry of the vulnerability says.
    pub vulnerabilities: Vec<String>,
    usb: Vec<UsbId>,
    manufacturer: Option<u16>,
    card_version: Option<(u8, u8)>,
}

/// Firmware versions from one, inclusive, to another, exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FirmwareRange {
    /// The first version.
    pub from: [u8; 3],
    /// The first version behind them, if they end.
    pub below: Option<[u8; 3]>,
}

/// The catalogue cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the token catalogue cannot be read: {reason}")]
pub struct CatalogueError {
    reason: String,
}

impl Catalogue {
    /// The catalogue that comes with keymark.
    ///
    /// # Errors
    /// When it is malformed, which a test excludes.
    pub fn shipped() -> Result<&'static Self, CatalogueError> {
        static PARSED: OnceLock<Result<Catalogue, CatalogueError>> = OnceLock::new();
        PARSED
            .get_or_init(|| Self::parse(SHIPPED))
            .as_ref()
            .map_err(Clone::clone)
    }

    /// Whom a manufacturer id of the card's AID belongs to (OpenPGP card 3.4.1 §4.2.1).
    #[must_use]
    pub fn manufacturer(&self, id: u16) -> Option<&str> {
        self.manufacturers
            .iter()
            .find(|(ids, _)| ids.contains(&id))
            .map(|(_, name)| name.as_str())
    }

    /// What a USB device is, if it is one of a token.
    #[must_use]
    pub fn usb_name(&self, id: UsbId) -> Option<&str> {
        self.usb
            .iter()
            .find(|(vendor, products, _)| *vendor == id.vendor && products.contains(&id.product))
            .map(|(_, _, name)| name.as_str())
    }

    /// Every token, in the order of the file.
    #[must_use]
    pub fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    fn token(&self, id: &str) -> Option<&Token> {
        self.tokens.iter().find(|token| token.id == id)
    }

    fn parse(text: &str) -> Result<Self, CatalogueError> {
        let file: File = toml::from_str(text).map_err(|error| malformed(error.to_string()))?;
        if file.schema != SCHEMA {
            return Err(malformed(format!(
                "it is of version {}, and this keymark reads {SCHEMA}",
                file.schema
            )));
        }
        let mut manufacturers = Vec::new();
        for entry in file.manufacturer.into_iter().flat_map(|table| {
            let extra = table.extra.into_iter();
            table.ids.into_iter().chain(extra)
        }) {
            manufacturers.push((ids(&entry.id)?, entry.name));
        }
        let mut usb = Vec::new();
        for entry in file.usb.into_iter().flat_map(|table| table.ids) {
            let vendor = hex(&entry.vid)?;
            for products in entry.pid.split(',') {
                usb.push((vendor, ids(products)?, entry.name.clone()));
            }
        }
        let tokens = file.token.into_iter().map(token);
        Ok(Self {
            manufacturers,
            usb,
            tokens: tokens.collect::<Result<_, _>>()?,
        })
    }
}

impl FirmwareRange {
    /// Whether it is one of them.
    #[must_use]
    pub fn contains(&self, version: [u8; 3]) -> bool {
        self.from <= version && self.below.is_none_or(|below| version < below)
    }

    /// `4.x`, `>=5.7` or `>=5.0,<5.2`.
    fn parse(text: &str) -> Result<Self, CatalogueError> {
        let wrong = || malformed(format!("'{text}' is no range of firmware versions"));
        if let Some(major) = text.strip_suffix(".x") {
            let major: u8 = major.parse().map_err(|_| wrong())?;
            return Ok(Self {
                from: [major, 0, 0],
                below: major.checked_add(1).map(|next| [next, 0, 0]),
            });
        }
        let (from, below) = match text.split_once(',') {
            Some((from, below)) => (from, Some(below)),
            None => (text, None),
        };
        let behind = |text: &str, sign| text.strip_prefix(sign).and_then(version);
        Ok(Self {
            from: behind(from, ">=").ok_or_else(wrong)?,
            below: below
                .map(|below| behind(below, "<").ok_or_else(wrong))
                .transpose()?,
        })
    }
}

#[derive(Deserialize)]
struct File {
    schema: u32,
    manufacturer: Vec<ManufacturerTable>,
    usb: Vec<UsbTable>,
    token: Vec<TokenEntry>,
}

#[derive(Deserialize)]
struct ManufacturerTable {
    ids: Vec<ManufacturerEntry>,
    #[serde(default)]
    extra: Vec<ManufacturerEntry>,
}

#[derive(Deserialize)]
struct ManufacturerEntry {
    id: String,
    name: String,
}

#[derive(Deserialize)]
struct UsbTable {
    ids: Vec<UsbEntry>,
}

#[derive(Deserialize)]
struct UsbEntry {
    vid: String,
    pid: String,
    name: String,
}

#[derive(Deserialize)]
struct TokenEntry {
    id: String,
    name: String,
    vendor: Option<String>,
    firmware: Option<String>,
    #[serde(default)]
    vulnerabilities: Vec<String>,
    #[serde(default)]
    usb: Vec<String>,
    openpgp_manufacturer_id: Option<String>,
    openpgp_card_version: Option<String>,
}

fn token(entry: TokenEntry) -> Result<Token, CatalogueError> {
    let firmware = entry.firmware.as_deref().map(FirmwareRange::parse);
    let usb = entry.usb.iter().map(|id| usb_id(id));
    let manufacturer = entry.openpgp_manufacturer_id.as_deref().map(hex);
    Ok(Token {
        firmware: firmware.transpose()?,
        usb: usb.collect::<Result<_, _>>()?,
        manufacturer: manufacturer.transpose()?,
        // The AID has two numbers. `3.x protocol` says nothing about them.
        card_version: entry
            .openpgp_card_version
            .as_deref()
            .and_then(version)
            .map(|[major, minor, _]| (major, minor)),
        id: entry.id,
        name: entry.name,
        vendor: entry.vendor,
        vulnerabilities: entry.vulnerabilities,
    })
}

/// `20A0:42B2`, a remark behind it or not.
fn usb_id(text: &str) -> Result<UsbId, CatalogueError> {
    let id = text.split_whitespace().next().unwrap_or_default();
    let (vendor, product) = id
        .split_once(':')
        .ok_or_else(|| malformed(format!("'{text}' is no USB id")))?;
    Ok(UsbId {
        vendor: hex(vendor)?,
        product: hex(product)?,
    })
}

/// `0005` or `FF00-FFFE`.
fn ids(text: &str) -> Result<RangeInclusive<u16>, CatalogueError> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    Ok(hex(first)?..=hex(last)?)
}

fn hex(text: &str) -> Result<u16, CatalogueError> {
    Some(text)
        .filter(|text| text.len() == 4 && !text.starts_with('+'))
        .and_then(|text| u16::from_str_radix(text, 16).ok())
        .ok_or_else(|| malformed(format!("'{text}' is no four hexadecimal digits")))
}

/// `5.7` or `5.2.3`.
fn version(text: &str) -> Option<[u8; 3]> {
    let mut version = [0; 3];
    let mut given = 0;
    for (at, number) in text.split('.').enumerate() {
        *version.get_mut(at)? = number.parse().ok()?;
        given += 1;
    }
    (given >= 2).then_some(version)
}

fn malformed(reason: String) -> CatalogueError {
    CatalogueError { reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_file_is_read() {
        let catalogue = Catalogue::shipped().unwrap();
        let file: toml::Table = toml::from_str(SHIPPED).unwrap();
        assert_eq!(
            catalogue.tokens().len(),
            file["token"].as_array().unwrap().len()
        );
        for entry in file["manufacturer"][0]["ids"].as_array().unwrap() {
            let id = ids(entry["id"].as_str().unwrap()).unwrap();
            for id in [*id.start(), *id.end()] {
                assert_eq!(catalogue.manufacturer(id), entry["name"].as_str());
            }
        }
        assert_eq!(catalogue.manufacturer(0x000F), Some("Nitrokey"));
        assert!(
            catalogue
                .manufacturer(0xAFAF)
                .unwrap()
                .starts_with("SmartPGP")
        );
        assert!(catalogue.manufacturer(0xFF7E).unwrap().contains("random"));
        assert_eq!(catalogue.manufacturer(0xFEFF), None);
    }

    #[test]
    fn every_usb_id_has_its_name() {
        let catalogue = Catalogue::shipped().unwrap();
        let file: toml::Table = toml::from_str(SHIPPED).unwrap();
        for entry in file["usb"][0]["ids"].as_array().unwrap() {
            let vendor = hex(entry["vid"].as_str().unwrap()).unwrap();
            for products in entry["pid"].as_str().unwrap().split(',') {
                for product in ids(products).unwrap() {
                    let name = catalogue.usb_name(UsbId { vendor, product });
                    assert_eq!(name, entry["name"].as_str());
                }
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
        let catalogue = Catalogue::shipped().unwrap();
        let file: toml::Table = toml::from_str(SHIPPED).unwrap();
        let strings = |value: &toml::Value| -> Vec<String> {
            let values = value.as_array().unwrap().iter();
            values.map(|v| v.as_str().unwrap().to_owned()).collect()
        };
        let mut known = Vec::new();
        for entry in file["vulnerability"].as_array().unwrap() {
            for token in strings(&entry["tokens"]) {
                known.push((token, entry["id"].as_str().unwrap().to_owned()));
            }
        }
        let mut named: Vec<_> = catalogue
            .tokens()
            .iter()
            .flat_map(|token| {
                let ids = token.vulnerabilities.iter();
                ids.map(|id| (token.id.clone(), id.clone()))
            })
            .collect();
        known.sort();
        named.sort();
        assert_eq!(named, known);
    }

    #[test]
    fn firmware_ranges_end_before_their_upper_bound() {
        let range = |text| FirmwareRange::parse(text).unwrap();
        assert!(range("4.x").contains([4, 255, 255]));
        assert!(!range("4.x").contains([5, 0, 0]));
        assert!(range(">=5.2.3,<5.7").contains([5, 2, 3]));
        assert!(!range(">=5.2.3,<5.7").contains([5, 2, 2]));
        assert!(!range(">=5.2.3,<5.7").contains([5, 7, 0]));
        assert!(range(">=5.7").contains([5, 7, 0]));
        for wrong in [
            "",
            "x",
            ".x",
            "5",
            ">5.0",
            ">=5.0,>5.2",
            ">=5.0.0.0",
            "999.x",
        ] {
            assert!(FirmwareRange::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_malformed_catalogue_is_an_error() {
        let file = |id: &str| {
            let ids = format!("[{{ id = '{id}', name = 'x' }}]");
            format!("schema = 1\nusb = []\ntoken = []\n[[manufacturer]]\nids = {ids}\n")
        };
        assert!(Catalogue::parse(&file("0001")).is_ok());
        for wrong in ["1", "00G1", "+001", "0001-", "0001-002"] {
            let error = Catalogue::parse(&file(wrong)).map(|_| ()).unwrap_err();
            assert!(error.to_string().contains("hexadecimal"), "{error}");
        }
        let error = Catalogue::parse("schema = 2\nmanufacturer = []\nusb = []\ntoken = []");
        assert!(error.unwrap_err().to_string().contains("version 2"));
    }
}
