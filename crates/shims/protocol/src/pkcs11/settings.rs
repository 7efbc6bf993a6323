//! Settings of the library: variables of the environment, or by a file.
//!
//! Programs that clear their environment (servers, agents) load the library by a path of its own, a symbolic
//! link, with its settings next to it: `/place/module.so` has them in `/place/module.so.toml`. A variable
//! that is set goes before the file.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::FileError;

/// The module that calls go to.
pub const MODULE: &str = "KEYMARK_PKCS11_MODULE";
/// The file that takes down the calls; without it, none are.
pub const TRACE: &str = "KEYMARK_PKCS11_TRACE";
/// The profile of the device whose time is taken: a name, or a file `*.toml`.
pub const TWIN: &str = "KEYMARK_PKCS11_TWIN";
/// The file by which all that use one twin share it.
pub const DEVICE: &str = "KEYMARK_PKCS11_DEVICE";

/// Content of a settings file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The module that calls go to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub module: Option<PathBuf>,
    /// The file that takes down the calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<PathBuf>,
    /// Variables that the module reads when it is initialized.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
    /// The device whose time is taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub twin: Option<TwinSettings>,
}

/// A twin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TwinSettings {
    /// Its profile: a name, or a file `*.toml`.
    pub profile: String,
    /// The file by which all that use it share it: processes and threads. Without one, it is made where the
    /// user's files of a login session are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<PathBuf>,
    /// Number of operations it does at a time, from 1 to [`MOST_LANES`].
    #[serde(default = "one")]
    pub lanes: u16,
    /// Seed of service times that vary.
    #[serde(default = "one")]
    pub seed: u64,
}

impl Default for TwinSettings {
    fn default() -> Self {
        Self {
            profile: String::new(),
            device: None,
            lanes: one(),
            seed: one(),
        }
    }
}

/// Most operations that a device does at a time.
pub const MOST_LANES: u16 = 64;

fn one<T: From<u8>>() -> T {
    1.into()
}

impl Settings {
    /// Returns the path of the settings of a library that is loaded by that path.
    pub fn beside(library: &Path) -> PathBuf {
        let mut path = library.as_os_str().to_owned();
        path.push(".toml");
        path.into()
    }

    /// Reads the file; nothing is set where there is none.
    pub fn read(path: &Path) -> Result<Self, FileError> {
        match std::fs::read_to_string(path) {
            // Where and why, without the line: it may have a PIN.
            Ok(text) => toml::from_str(&text).map_err(|error: toml::de::Error| {
                let before = error.span().and_then(|span| text.get(..span.start));
                let line = before.map_or(1, |before| 1 + before.matches('\n').count());
                let message = error.message();
                let what = message.split('"').next().unwrap_or_default().trim_end();
                malformed(path, &format!("line {line}: {what}"))
            }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(unread(path, &error)),
        }
    }

    /// Writes the file.
    pub fn write(&self, path: &Path) -> Result<(), FileError> {
        let text = toml::to_string(self).map_err(|error| malformed(path, &error))?;
        std::fs::write(path, text).map_err(|error| unread(path, &error))
    }
}

fn malformed(path: &Path, reason: &dyn Display) -> FileError {
    FileError(format!("{}: {reason}", path.display()))
}

fn unread(path: &Path, error: &std::io::Error) -> FileError {
    FileError(format!("cannot read {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_survive_their_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = Settings::beside(&directory.path().join("module.so"));
        assert!(path.ends_with("module.so.toml"));
        assert_eq!(Settings::read(&path).unwrap(), Settings::default());
        let settings = Settings {
            module: Some("/usr/lib/module.so".into()),
            trace: None,
            environment: BTreeMap::from([("NAME".to_owned(), "value".to_owned())]),
            twin: Some(TwinSettings {
                profile: "nitrokey-hsm".to_owned(),
                device: Some("/place/device".into()),
                lanes: 2,
                seed: 7,
            }),
        };
        settings.write(&path).unwrap();
        assert_eq!(Settings::read(&path).unwrap(), settings);
    }

    #[test]
    fn mistakes_are_named() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x.toml");
        for (text, expected) in [
            ("modul = 'x'", "modul"),
            ("[twin]\nprofile = 'x'\nlanes = 'fast'", "line 3"),
        ] {
            std::fs::write(&path, text).unwrap();
            let said = Settings::read(&path).unwrap_err().to_string();
            assert!(said.contains(expected), "{said}");
        }
        std::fs::write(&path, "[twin]\nprofile = 'x'").unwrap();
        let twin = Settings::read(&path).unwrap().twin.unwrap();
        assert_eq!(twin.lanes, 1);
    }
}
