//! PKCS#11 URIs (RFC 7512): which module, token and object, and where the PIN is.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

pub(crate) const SCHEME: &str = "pkcs11:";

/// A URI. What it does not say matches everything.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Pkcs11Uri {
    pub library: LibraryPart,
    pub slot: SlotPart,
    pub token: TokenPart,
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

/// Description of the module (`CK_INFO`).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LibraryPart {
    pub manufacturer: Option<String>,
    pub description: Option<String>,
    /// Major and minor number.
    pub version: Option<(u8, u8)>,
}

/// Description of the slot (`CK_SLOT_INFO`).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SlotPart {
    pub id: Option<u64>,
    pub description: Option<String>,
    pub manufacturer: Option<String>,
}

/// Description of the token (`CK_TOKEN_INFO`).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TokenPart {
    pub label: Option<String>,
    pub manufacturer: Option<String>,
    pub model: Option<String>,
    pub serial: Option<String>,
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
    NotText(&'static str),
    #[error("'{value}' is not a value for '{name}'")]
    BadValue { name: &'static str, value: String },
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

enum PathAttribute {
    Text(fn(&mut Pkcs11Uri) -> &mut Option<String>),
    LibraryVersion,
    SlotId,
    Id,
    Type,
}

/// All of them (§2.3), in the order in which they are written.
const PATH: [(&str, PathAttribute); 13] = {
    use PathAttribute::{Id, LibraryVersion, SlotId, Text, Type};
    [
        (
            "library-manufacturer",
            Text(|uri| &mut uri.library.manufacturer),
        ),
        (
            "library-description",
            Text(|uri| &mut uri.library.description),
        ),
        ("library-version", LibraryVersion),
        ("slot-id", SlotId),
        ("slot-description", Text(|uri| &mut uri.slot.description)),
        ("slot-manufacturer", Text(|uri| &mut uri.slot.manufacturer)),
        ("token", Text(|uri| &mut uri.token.label)),
        ("manufacturer", Text(|uri| &mut uri.token.manufacturer)),
        ("model", Text(|uri| &mut uri.token.model)),
        ("serial", Text(|uri| &mut uri.token.serial)),
        ("object", Text(|uri| &mut uri.object.label)),
        ("id", Id),
        ("type", Type),
    ]
};

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

fn once<T>(place: &mut Option<T>, name: &str, value: T) -> Result<(), UriError> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(UriError::Twice(name.to_owned())),
    }
}

impl Pkcs11Uri {
    fn path_attribute(&mut self, attribute: &str) -> Result<(), UriError> {
        let (name, value) = pair(attribute)?;
        if name == "pin-value" {
            return Err(UriError::PinValue);
        }
        let known = PATH.iter().find(|(known, _)| *known == name);
        let (name, of) = known.ok_or_else(|| UriError::Unknown(name.to_owned()))?;
        match of {
            PathAttribute::Text(field) => once(field(self), name, text(name, value)?),
            PathAttribute::Id => once(&mut self.object.id, name, octets(value)?),
            PathAttribute::LibraryVersion => {
                once(&mut self.library.version, name, read(name, value, version)?)
            }
            PathAttribute::SlotId => {
                let id = read(name, value, |id| id.parse().ok())?;
                once(&mut self.slot.id, name, id)
            }
            PathAttribute::Type => {
                let kind = read(name, value, |kind| kind.parse().ok())?;
                once(&mut self.object.kind, name, kind)
            }
        }
    }

    fn query_attribute(&mut self, attribute: &str) -> Result<(), UriError> {
        let (name, value) = pair(attribute)?;
        match name {
            "module-path" => {
                let value = text("module-path", value)?;
                once(&mut self.module_path, name, value.into())
            }
            "module-name" => once(&mut self.module_name, name, text("module-name", value)?),
            "x-init-reserved" => once(&mut self.reserved, name, text("x-init-reserved", value)?),
            "pin-source" => {
                let value = text("pin-source", value)?;
                if value.starts_with('|') {
                    return Err(UriError::PinProgram);
                }
                let path = value
                    .strip_prefix("file://")
                    .or(value.strip_prefix("file:"));
                let path = path.unwrap_or(&value).to_owned();
                once(&mut self.pin_file, name, path.into())
            }
            "pin-value" => Err(UriError::PinValue),
            _ => Ok(()),
        }
    }
}

/// `2.6`; without a minor number it is 0 (§2.3).
fn version(text: &str) -> Option<(u8, u8)> {
    let (major, minor) = text.split_once('.').unwrap_or((text, "0"));
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// A value that has a form of its own.
fn read<T>(
    name: &'static str,
    value: &str,
    form: impl FnOnce(&str) -> Option<T>,
) -> Result<T, UriError> {
    let value = text(name, value)?;
    form(&value).ok_or(UriError::BadValue { name, value })
}

fn text(name: &'static str, value: &str) -> Result<String, UriError> {
    String::from_utf8(octets(value)?).map_err(|_| UriError::NotText(name))
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
        let mut uri = self.clone();
        let text = |value: &Option<String>| value.as_ref().map(|text| encoded(text.as_bytes()));
        let version = |(major, minor)| format!("{major}.{minor}");
        // An identifier is binary: all of it is encoded, as p11-kit does.
        let id = |id: &Vec<u8>| id.iter().map(|octet| format!("%{octet:02X}")).collect();
        let path = PATH.each_ref().map(|(name, of)| {
            let value = match of {
                PathAttribute::Text(field) => text(field(&mut uri)),
                PathAttribute::LibraryVersion => self.library.version.map(version),
                PathAttribute::SlotId => self.slot.id.map(|id| id.to_string()),
                PathAttribute::Id => self.object.id.as_ref().map(id),
                PathAttribute::Type => self.object.kind.map(|kind| kind.to_string()),
            };
            (*name, value)
        });
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

fn joined(attributes: &[(&str, Option<String>)], between: &str) -> String {
    let set = attributes
        .iter()
        .filter_map(|(name, value)| Some(format!("{name}={}", value.as_ref()?)));
    set.collect::<Vec<_>>().join(between)
}

#[cfg(test)]
mod tests;
