//! Which tokens there are, and which of them a card is.

mod identify;
mod usb;

use std::ops::RangeInclusive;
use std::sync::OnceLock;

use keymark_bench::algorithm::{Algorithm, Family};
use serde::Deserialize;

pub use identify::{Evidence, Product};
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
    /// The longest RSA modulus of its OpenPGP application, in bits; `None` when unknown.
    pub max_rsa_bits: Option<u32>,
    /// The RSA moduli of its OpenPGP application, in bits; `None` when unknown.
    pub rsa_sizes: Option<Vec<u32>>,
    /// The curves of its OpenPGP application, experimental ones included. None at all is something
    /// else than `None`, which is unknown.
    pub curves: Option<Vec<Algorithm>>,
    /// Version of the OpenPGP card specification in its AID (3.4.1 §4.2.1), where it is known.
    pub card_version: Option<(u8, u8)>,
    /// Where all this was read.
    pub sources: Vec<String>,
    usb: Vec<UsbId>,
    manufacturer: Option<u16>,
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

    /// Every token, in the order of the file.
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

impl FirmwareRange {
    /// Whether it is one of them.
    pub fn contains(&self, version: [u8; 3]) -> bool {
        self.from <= version && self.below.is_none_or(|below| version < below)
    }

    /// `4.x`, `>=5.7` or `>=5.0,<5.2`.
    fn parse(text: &str) -> Result<Self, CatalogueError> {
        let wrong = || malformed(format!("'{text}' is not a range of firmware versions"));
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
    max_rsa_bits_openpgp: Option<u32>,
    rsa_sizes_openpgp: Option<Vec<u32>>,
    curves_openpgp: Option<Vec<String>>,
    sources: Vec<String>,
}

fn token(entry: TokenEntry) -> Result<Token, CatalogueError> {
    let firmware = entry.firmware.as_deref().map(FirmwareRange::parse);
    let usb = entry.usb.iter().map(|id| usb_id(id));
    let manufacturer = entry.openpgp_manufacturer_id.as_deref().map(hex);
    let curves = entry
        .curves_openpgp
        .map(|names| names.iter().map(|name| curve(name)).collect());
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
        max_rsa_bits: entry.max_rsa_bits_openpgp,
        rsa_sizes: entry.rsa_sizes_openpgp,
        curves: curves.transpose()?,
        sources: entry.sources,
    })
}

/// What stands before a remark: `P-256 (experimental)`.
fn without_remark(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}

/// `20A0:42B2`, a remark behind it or not.
fn usb_id(text: &str) -> Result<UsbId, CatalogueError> {
    without_remark(text)
        .parse()
        .map_err(|error: NotAUsbId| malformed(error.to_string()))
}

/// `P-256` or `X25519`, a remark behind it or not.
fn curve(text: &str) -> Result<Algorithm, CatalogueError> {
    use Family::{Cv448, Cv25519, Ed448, Ed25519, Weierstrass};
    let name = without_remark(text).replacen("P-", "P", 1);
    name.parse()
        .ok()
        .filter(|algorithm: &Algorithm| {
            let family = algorithm.family();
            matches!(family, Weierstrass(_) | Cv25519 | Ed25519 | Cv448 | Ed448)
        })
        .ok_or_else(|| malformed(format!("'{text}' is not a curve")))
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

    #[test]
    fn every_token_has_what_the_file_says_of_it() {
        let catalogue = Catalogue::shipped().unwrap();
        let file: toml::Table = toml::from_str(SHIPPED).unwrap();
        for (token, entry) in catalogue
            .tokens()
            .iter()
            .zip(file["token"].as_array().unwrap())
        {
            let length = |key| entry.get(key).map(|list| list.as_array().unwrap().len());
            assert_eq!(token.id, entry["id"].as_str().unwrap());
            assert!(!token.sources.is_empty(), "{}", token.id);
            let bits = entry.get("max_rsa_bits_openpgp");
            assert_eq!(
                token.max_rsa_bits.map(i64::from),
                bits.and_then(toml::Value::as_integer)
            );
            let (sizes, curves) = (token.rsa_sizes.as_ref(), token.curves.as_ref());
            assert_eq!(sizes.map(Vec::len), length("rsa_sizes_openpgp"));
            assert_eq!(curves.map(Vec::len), length("curves_openpgp"));
            if let (Some(sizes), Some(longest)) = (sizes, token.max_rsa_bits) {
                assert_eq!(sizes.iter().max(), Some(&longest), "{}", token.id);
            }
        }
    }

    #[test]
    fn curves_are_algorithms_and_none_is_not_unknown() {
        let catalogue = Catalogue::shipped().unwrap();
        let curves = |id| {
            let curves = catalogue.token(id).unwrap().curves.as_ref()?;
            Some(curves.iter().map(Algorithm::to_string).collect::<Vec<_>>())
        };
        let gnuk = ["ed25519", "cv25519", "nistp256", "secp256k1"].map(str::to_owned);
        assert_eq!(curves("fst-01"), Some(gnuk.to_vec()));
        assert_eq!(curves("yubikey-4"), Some(Vec::new()));
        assert_eq!(curves("openpgp-card-3.4"), None);
        for wrong in ["P-257", "rsa2048", ""] {
            assert!(curve(wrong).is_err(), "{wrong}");
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
