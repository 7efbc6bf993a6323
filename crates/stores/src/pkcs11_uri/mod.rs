//! PKCS#11 URIs (RFC 7512): which module, token and object, and where the PIN is.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

pub(crate) const SCHEME: &str = "pkcs11:";

/// A URI. What it does not say matches everything.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Pkcs11Uri {
    /// Description of module, slot and token.
    pub described: BTreeMap<Described, String>,
    pub object: ObjectPart,
    /// File of the module.
    pub module_path: Option<PathBuf>,
    /// Name of the module, without `lib` before or `.so` behind it.
    pub module_name: Option<String>,
    /// The file whose first line is the PIN.
    pub pin_file: Option<PathBuf>,
    /// Text for the module in `pReserved`, by the name that p11-kit has for it.
    pub reserved: Option<String>,
}

/// Attributes that describe module, slot and token (§2.3), in the order in which they are written.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    strum::Display,
    strum::EnumString,
)]
#[strum(serialize_all = "kebab-case")]
pub enum Described {
    LibraryManufacturer,
    LibraryDescription,
    LibraryVersion,
    SlotId,
    SlotDescription,
    SlotManufacturer,
    /// Label of the token.
    Token,
    Manufacturer,
    Model,
    Serial,
}

/// An object: `CKA_LABEL`, `CKA_ID` and `CKA_CLASS`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ObjectPart {
    pub label: Option<String>,
    pub id: Option<Vec<u8>>,
    pub kind: Option<ObjectKind>,
}

impl ObjectPart {
    /// The object of that identifier.
    pub(crate) fn with_id(id: Vec<u8>) -> Self {
        Self {
            id: Some(id),
            ..Self::default()
        }
    }

    /// The private key of that name: without a type pkcs11-provider comes to the public key first, by chance.
    pub(crate) fn private(self) -> Self {
        Self {
            kind: Some(ObjectKind::Private),
            ..self
        }
    }

    /// Returns whether it names an object, and not only what kind it is.
    pub const fn names_one(&self) -> bool {
        self.label.is_some() || self.id.is_some()
    }
}

/// The values of `type` (§2.3).
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, strum::Display, strum::EnumString,
)]
#[strum(serialize_all = "kebab-case")]
pub enum ObjectKind {
    Public,
    Private,
    #[strum(serialize = "cert")]
    Certificate,
    SecretKey,
    Data,
}

/// Why text is no PKCS#11 URI that keymark takes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UriError {
    #[error("it does not begin with 'pkcs11:'")]
    Scheme,
    #[error("'{0}' is not of the form name=value")]
    NoValue(String),
    #[error("'{0}' is given twice")]
    Twice(String),
    #[error(
        "a pkcs11: URI has no attribute '{0}' (RFC 7512); a misspelt one would match any token"
    )]
    Unknown(String),
    #[error("'%{0}' is not a byte: write '%' and two hexadecimal digits")]
    Percent(String),
    #[error("the value of '{0}' is not UTF-8 text")]
    NotText(String),
    #[error("'{value}' is not a value for '{name}'")]
    BadValue { name: String, value: String },
    #[error(
        "'pin-value' would show the PIN to every user of this machine; \
         use pin-source=file:/PATH, --pin-env VARIABLE or --pin-fd N"
    )]
    PinValue,
    #[error(
        "'pin-source' names a program to run, which keymark does not do; use --pin-env or --pin-fd"
    )]
    PinProgram,
}

impl FromStr for Pkcs11Uri {
    type Err = UriError;

    fn from_str(text: &str) -> Result<Self, UriError> {
        let rest = text.strip_prefix(SCHEME).ok_or(UriError::Scheme)?;
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        let mut uri = Self::default();
        for attribute in path.split(';').filter(|attribute| !attribute.is_empty()) {
            uri.path_attribute(attribute)?;
        }
        for attribute in query.split('&').filter(|attribute| !attribute.is_empty()) {
            uri.query_attribute(attribute)?;
        }
        Ok(uri)
    }
}

fn pair(attribute: &str) -> Result<(&str, &str), UriError> {
    let pair = attribute.split_once('=');
    pair.ok_or_else(|| UriError::NoValue(attribute.to_owned()))
}

/// Checks whether nothing was in the attribute's place.
fn once<T>(before: Option<T>, name: &str) -> Result<(), UriError> {
    match before {
        None => Ok(()),
        Some(_) => Err(UriError::Twice(name.to_owned())),
    }
}

impl Pkcs11Uri {
    fn path_attribute(&mut self, attribute: &str) -> Result<(), UriError> {
        let (name, value) = pair(attribute)?;
        match name {
            "object" => once(self.object.label.replace(text(name, value)?), name),
            "id" => once(self.object.id.replace(octets(value)?), name),
            "type" => {
                let kind = read(name, value, |kind| kind.parse().ok())?;
                once(self.object.kind.replace(kind), name)
            }
            "pin-value" => Err(UriError::PinValue),
            _ => {
                let unknown = |_| UriError::Unknown(name.to_owned());
                let attribute = name.parse().map_err(unknown)?;
                let value = if attribute == Described::LibraryVersion {
                    read(name, value, version)?
                } else if attribute == Described::SlotId {
                    read(name, value, |id| Some(id.parse::<u64>().ok()?.to_string()))?
                } else {
                    text(name, value)?
                };
                once(self.described.insert(attribute, value), name)
            }
        }
    }

    /// The label of the token, where it names one.
    pub fn token_label(&self) -> Option<&str> {
        self.described.get(&Described::Token).map(String::as_str)
    }

    /// Returns what it says of the token alone.
    pub fn of_token(&self) -> Self {
        use Described::{Manufacturer, Model, Serial, Token};
        let mut described = self.described.clone();
        described.retain(|attribute, _| matches!(attribute, Token | Manufacturer | Model | Serial));
        Self {
            described,
            ..Self::default()
        }
    }

    fn query_attribute(&mut self, attribute: &str) -> Result<(), UriError> {
        let (name, value) = pair(attribute)?;
        match name {
            "module-path" => once(self.module_path.replace(text(name, value)?.into()), name),
            "module-name" => once(self.module_name.replace(text(name, value)?), name),
            "x-init-reserved" => once(self.reserved.replace(text(name, value)?), name),
            "pin-source" => {
                let value = text(name, value)?;
                if value.starts_with('|') {
                    return Err(UriError::PinProgram);
                }
                let path = value
                    .strip_prefix("file://")
                    .or(value.strip_prefix("file:"));
                let path = path.unwrap_or(&value).to_owned();
                once(self.pin_file.replace(path.into()), name)
            }
            "pin-value" => Err(UriError::PinValue),
            _ => Ok(()),
        }
    }
}

/// `2.6`; without a minor number it is 0 (§2.3).
fn version(text: &str) -> Option<String> {
    let (major, minor) = text.split_once('.').unwrap_or((text, "0"));
    let (major, minor): (u8, u8) = (major.parse().ok()?, minor.parse().ok()?);
    Some(format!("{major}.{minor}"))
}

/// A value that has a form of its own.
fn read<T>(name: &str, value: &str, form: impl FnOnce(&str) -> Option<T>) -> Result<T, UriError> {
    let value = text(name, value)?;
    let name = name.to_owned();
    form(&value).ok_or(UriError::BadValue { name, value })
}

fn text(name: &str, value: &str) -> Result<String, UriError> {
    String::from_utf8(octets(value)?).map_err(|_| UriError::NotText(name.to_owned()))
}

/// Percent-decoded (RFC 3986 §2.1).
fn octets(value: &str) -> Result<Vec<u8>, UriError> {
    let mut parts = value.split('%');
    let mut decoded = Vec::from(parts.next().unwrap_or_default());
    for part in parts {
        let octet = part.get(..2).and_then(|digits| hex::decode(digits).ok());
        let digits = || UriError::Percent(part.chars().take(2).collect());
        decoded.extend(octet.ok_or_else(digits)?);
        decoded.extend(part[2..].bytes());
    }
    Ok(decoded)
}

fn stands_for_itself(octet: u8) -> bool {
    octet.is_ascii_alphanumeric() || b"-._~:/@+()[]!$'*".contains(&octet)
}

fn encoded(value: &[u8]) -> String {
    let octet = |octet: &u8| match stands_for_itself(*octet) {
        true => char::from(*octet).to_string(),
        false => format!("%{octet:02X}"),
    };
    value.iter().map(octet).collect()
}

impl fmt::Display for Pkcs11Uri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |value: &Option<String>| value.as_ref().map(|text| encoded(text.as_bytes()));
        let mut path: Vec<_> = self
            .described
            .iter()
            .map(|(name, value)| (name.to_string(), Some(encoded(value.as_bytes()))))
            .collect();
        // An identifier is binary: all of it is encoded, as p11-kit does.
        let id = |id: &Vec<u8>| id.iter().map(|octet| format!("%{octet:02X}")).collect();
        let object = &self.object;
        path.extend([
            ("object".to_owned(), text(&object.label)),
            ("id".to_owned(), object.id.as_ref().map(id)),
            ("type".to_owned(), object.kind.map(|kind| kind.to_string())),
        ]);
        let path_of = |path: &Option<PathBuf>| {
            let path = path.as_ref()?;
            Some(encoded(path.as_os_str().as_encoded_bytes()))
        };
        // Behind a scheme two slashes would begin the name of a host (RFC 8089 §2).
        let pin = path_of(&self.pin_file).map(|path| match path.starts_with("//") {
            true => path,
            false => format!("file:{path}"),
        });
        let query = [
            ("module-name", text(&self.module_name)),
            ("module-path", path_of(&self.module_path)),
            ("pin-source", pin),
            ("x-init-reserved", text(&self.reserved)),
        ];
        let query = joined(&query, "&");
        let before = if query.is_empty() { "" } else { "?" };
        write!(f, "{SCHEME}{}{before}{query}", joined(&path, ";"))
    }
}

fn joined(attributes: &[(impl fmt::Display, Option<String>)], between: &str) -> String {
    let set = attributes
        .iter()
        .filter_map(|(name, value)| Some(format!("{name}={}", value.as_ref()?)));
    set.collect::<Vec<_>>().join(between)
}

#[cfg(test)]
mod tests;
