//! Which device a case is of, and the address of its page.
//!
//! Both follow from the record alone, so that they stay what they are when others are added. A name that [`Catalogue`] knows
//! leads to the id that stands there. Any other gets an address of its own, with a hash of all that tells it from others; and a
//! name that says of no device which one it is, is told apart by its run as well.

use std::collections::HashMap;
use std::fmt;
use std::sync::OnceLock;

use itertools::Itertools;
use keymark_bench::case::{Case, Provenance, StoreKind};
use keymark_bench::record::Record;
use serde::Deserialize;

use super::address;

/// The only version of the format so far.
const SCHEMA: u32 = 1;
const SHIPPED: &str = include_str!("../../../../data/devices.toml");

/// Address of a device's page: lower-case letters, digits and hyphens.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceId(String);

impl DeviceId {
    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for DeviceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// A device as the site knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identified {
    /// Of its page.
    pub id: DeviceId,
    /// What it is called there.
    pub name: String,
}

/// Names that mean the same device.
#[derive(Debug)]
pub struct Catalogue {
    names: HashMap<String, Identified>,
    begins: Vec<(String, Identified)>,
    processors: HashMap<String, Identified>,
    nameless: Vec<String>,
}

/// The list of devices makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the list of devices cannot be read: {reason}")]
pub struct CatalogueError {
    reason: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    schema: u32,
    nameless: Vec<String>,
    device: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    id: String,
    name: String,
    #[serde(default)]
    names: Vec<String>,
    #[serde(default)]
    begins: Vec<String>,
    #[serde(default)]
    processors: Vec<String>,
}

/// What a record calls a device, before anybody looks whether it is known.
enum Named<'r> {
    Processor(Option<&'r str>),
    Device(&'r str),
}

impl Catalogue {
    /// The list that comes with keymark (`data/devices.toml`).
    pub fn shipped() -> Result<&'static Self, CatalogueError> {
        static PARSED: OnceLock<Result<Catalogue, CatalogueError>> = OnceLock::new();
        PARSED
            .get_or_init(|| Self::parse(SHIPPED))
            .as_ref()
            .map_err(Clone::clone)
    }

    fn parse(text: &str) -> Result<Self, CatalogueError> {
        let wrong = |reason: String| CatalogueError { reason };
        let file: File = toml::from_str(text).map_err(|error| wrong(error.to_string()))?;
        if file.schema != SCHEMA {
            return Err(wrong(format!("it has version {}", file.schema)));
        }
        let mut catalogue = Self {
            names: HashMap::new(),
            begins: Vec::new(),
            processors: HashMap::new(),
            nameless: file.nameless.iter().map(|name| normal(name)).collect(),
        };
        let mut ids: Vec<String> = Vec::new();
        for entry in file.device {
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            if entry.id.is_empty() || !entry.id.chars().all(plain) || ids.contains(&entry.id) {
                return Err(wrong(format!(
                    "'{}' is not an id, or is given twice",
                    entry.id
                )));
            }
            // So that no name from a record ever leads to it.
            if address::may_be_unique(&entry.id) {
                return Err(wrong(format!("'{}' looks like a generated id", entry.id)));
            }
            ids.push(entry.id.clone());
            catalogue.add(entry)?;
        }
        Ok(catalogue)
    }

    fn add(&mut self, entry: Entry) -> Result<(), CatalogueError> {
        let identified = Identified {
            id: DeviceId(entry.id),
            name: entry.name,
        };
        let own = [identified.name.clone(), identified.id.0.clone()];
        // The name for people may be one of the others once more.
        let names = own.iter().chain(&entry.names).map(|name| normal(name));
        let names = names.sorted_unstable().dedup().collect_vec();
        let processors = entry.processors.iter().map(|name| normal(name));
        let sets = [
            (names, &mut self.names),
            (processors.collect(), &mut self.processors),
        ];
        for (names, known) in sets {
            for name in names {
                let twice = format!("'{name}' means two devices");
                if known.insert(name, identified.clone()).is_some() {
                    return Err(CatalogueError { reason: twice });
                }
            }
        }
        for begin in entry.begins {
            self.begins.push((begin, identified.clone()));
        }
        Ok(())
    }

    /// Which device a case of a record is of.
    pub fn identify(&self, record: &Record, case: &Case) -> Identified {
        let (class, name, known) = match named(record, case) {
            Named::Processor(model) => {
                let name = normal(model.unwrap_or_default());
                let known = self.processors.get(&name);
                ("processor", name, known)
            }
            Named::Device(name) => {
                let name = normal(name);
                let begins = || {
                    self.begins
                        .iter()
                        .find(|(begin, _)| name.starts_with(begin))
                };
                let known = self.names.get(&name);
                let known = known.or_else(|| begins().map(|(_, known)| known));
                ("device", name, known)
            }
        };
        if let Some(known) = known {
            return known.clone();
        }
        let nameless = name.is_empty() || self.nameless.contains(&name);
        let (run, device) = if nameless {
            (record.id.0.as_str(), case.device.as_str())
        } else {
            ("", "")
        };
        let shown = match (name.as_str(), class) {
            ("", "processor") => "a processor without a name".to_owned(),
            ("", _) => format!("{device} without a product name"),
            (name, _) => name.to_owned(),
        };
        Identified {
            id: DeviceId(address::unique(&name, class, &[class, &name, run, device])),
            name: if nameless {
                format!("{shown} (run {run})")
            } else {
                shown
            },
        }
    }
}

/// White space tells no names apart.
fn normal(name: &str) -> String {
    name.split_whitespace().join(" ")
}

/// What the record calls the device itself, without its label, and without words for how the figure was had.
fn named<'r>(record: &'r Record, case: &'r Case) -> Named<'r> {
    let mut stores = record.stores.iter();
    let store = stores.find(|store| store.device == case.device);
    let product = store.map_or("", |store| store.product.as_str());
    let product = product
        .split_once(", token '")
        .map_or(product, |(product, _)| product);
    match case.provenance {
        Provenance::Measured | Provenance::Virtual => {
            if case.store == StoreKind::SOFTWARE {
                Named::Processor(record.environment.cpu_model.as_deref())
            } else {
                Named::Device(product)
            }
        }
        // `twin of a YubiKey 4`, or `twin:yubikey-4` where it stands behind a reader.
        Provenance::Twin => {
            let of = product.strip_prefix("twin of a ");
            Named::Device(
                of.or_else(|| product.strip_prefix("twin:"))
                    .unwrap_or(product),
            )
        }
        Provenance::Predicted => {
            Named::Device(product.strip_suffix(", simulated").unwrap_or(product))
        }
        Provenance::Published => Named::Device(case.device.as_str()),
    }
}

#[cfg(test)]
mod tests;
