//! Which tokens there are, and which of them a card is.

mod identify;
mod usb;

use std::ops::RangeInclusive;
use std::sync::OnceLock;

use serde::Deserialize;

pub use identify::Evidence;
pub use usb::{NotAUsbId, UsbId, usb_id_of};

/// The only version of the format so far.
const SCHEMA: u32 = 1;

const SHIPPED: &str = include_str!("../../../../../data/tokens.toml");

/// Manufacturers, USB ids and tokens, each from the source that `data/tokens.toml` names.
#[derive(Debug, Clone)]
pub struct Catalogue {
    manufacturers: Vec<(RangeInclusive<u16>, String)>,
    usb: Vec<(u16, RangeInclusive<u16>, String)>,
    tokens: Vec<Token>,
}

/// A model, as far as cards are told by it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Token {
    /// What the catalogue calls it.
    id: String,
    /// Version of the OpenPGP card specification in its AID (3.4.1 §4.2.1), where it is known.
    card_version: Option<(u8, u8)>,
    usb: Vec<UsbId>,
    manufacturer: Option<u16>,
}

/// The catalogue cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot read the token catalogue: {reason}")]
pub struct CatalogueError {
    reason: String,
}

impl Catalogue {
    /// The catalogue that comes with keymark.
    pub fn shipped() -> Result<&'static Self, CatalogueError> {
        static PARSED: OnceLock<Result<Catalogue, CatalogueError>> = OnceLock::new();
        PARSED
            .get_or_init(|| Self::parse(SHIPPED))
            .as_ref()
            .map_err(Clone::clone)
    }

    /// Whom a manufacturer id of the card's AID belongs to (OpenPGP card 3.4.1 §4.2.1).
    pub fn manufacturer(&self, id: u16) -> Option<&str> {
        self.manufacturers
            .iter()
            .find(|(ids, _)| ids.contains(&id))
            .map(|(_, name)| name.as_str())
    }

    /// What a USB device is, if it is one of a token.
    pub fn usb_name(&self, id: UsbId) -> Option<&str> {
        self.usb
            .iter()
            .find(|(vendor, products, _)| *vendor == id.vendor && products.contains(&id.product))
            .map(|(_, _, name)| name.as_str())
    }

    fn parse(text: &str) -> Result<Self, CatalogueError> {
        let file: File = toml::from_str(text).map_err(|error| malformed(error.to_string()))?;
        if file.schema != SCHEMA {
            return Err(malformed(format!(
                "it has version {}, but this keymark reads {SCHEMA}",
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
    #[serde(default)]
    usb: Vec<String>,
    openpgp_manufacturer_id: Option<String>,
    openpgp_card_version: Option<String>,
}

fn token(entry: TokenEntry) -> Result<Token, CatalogueError> {
    let usb = entry.usb.iter().map(|id| usb_id(id));
    let manufacturer = entry.openpgp_manufacturer_id.as_deref().map(hex);
    Ok(Token {
        id: entry.id,
        usb: usb.collect::<Result<_, _>>()?,
        manufacturer: manufacturer.transpose()?,
        // The AID has two numbers. `3.x protocol` says nothing about them.
        card_version: entry.openpgp_card_version.as_deref().and_then(version),
    })
}

/// An id, behind which a remark may stand.
fn usb_id(text: &str) -> Result<UsbId, CatalogueError> {
    let id = text.split_whitespace().next().unwrap_or_default();
    id.parse()
        .map_err(|error: NotAUsbId| malformed(error.to_string()))
}

/// `0005` or `FF00-FFFE`.
fn ids(text: &str) -> Result<RangeInclusive<u16>, CatalogueError> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    Ok(hex(first)?..=hex(last)?)
}

fn hex(text: &str) -> Result<u16, CatalogueError> {
    usb::four_digits(text)
        .ok_or_else(|| malformed(format!("'{text}' must be four hexadecimal digits")))
}

/// `3.4` or `3.4.1`, of which the first two numbers count.
fn version(text: &str) -> Option<(u8, u8)> {
    let mut numbers = text.split('.').map(|number| number.parse().ok());
    Some((numbers.next()??, numbers.next()??))
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
            catalogue.tokens.len(),
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
