//! The way in which a program comes to load keymark's module in place of another.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

const PLACEHOLDER: &str = "{module}";
const VARIABLES: [&str; 2] = ["PKCS11_MODULE_PATH", "PKCS11_PROVIDER_MODULE"];

/// Replacement of one module by another.
#[derive(Debug)]
pub(super) struct Substitution {
    names: Vec<String>,
    /// Its file, without links.
    file: Option<PathBuf>,
    own: PathBuf,
}

impl Substitution {
    /// The module as it was named, where its file is, and keymark's.
    pub(super) fn new(named: &str, module: &Path, own: &Path) -> Self {
        let whole = module.to_str().map(str::to_owned);
        let as_named = named.contains('/').then(|| named.to_owned());
        let mut names: Vec<String> = whole.into_iter().chain(as_named).collect();
        names.push(PLACEHOLDER.to_owned());
        names.sort_by_key(|name| std::cmp::Reverse(name.len()));
        names.dedup();
        Self {
            names,
            file: module.canonicalize().ok(),
            own: own.into(),
        }
    }

    /// An argument, or a value of the environment.
    pub(super) fn of(&self, text: &OsStr) -> OsString {
        let Some(text) = text.to_str() else {
            return text.to_owned();
        };
        let own = self.own.to_string_lossy();
        let replaced = self
            .names
            .iter()
            .fold(text.to_owned(), |text, name| text.replace(name, &own));
        if replaced != text {
            return replaced.into();
        }
        // By another path, as the whole of it or behind '='.
        let (before, path) = text.rsplit_once('=').unwrap_or(("", text));
        if !self.is_module(path) {
            return text.into();
        }
        let equals = if path == text { "" } else { "=" };
        format!("{before}{equals}{own}").into()
    }

    fn is_module(&self, path: &str) -> bool {
        path.contains('/')
            && self.file.is_some()
            && Path::new(path).canonicalize().ok() == self.file
    }

    /// The variables that are to be different.
    pub(super) fn environment(
        &self,
        variables: impl Iterator<Item = (OsString, OsString)>,
    ) -> Vec<(OsString, OsString)> {
        let named = variables.filter_map(|(name, value)| {
            let substituted = self.of(&value);
            (substituted != value).then_some((name, substituted))
        });
        let known = VARIABLES.map(|name| (name.into(), self.own.clone().into_os_string()));
        named.chain(known).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_module_is_found_wherever_it_stands() {
        let place = Substitution::new("./x.so", Path::new("/usr/lib/x.so"), Path::new("/own.so"));
        for (argument, expected) in [
            ("/usr/lib/x.so", "/own.so"),
            ("--provider=/usr/lib/x.so", "--provider=/own.so"),
            ("./x.so", "/own.so"),
            (
                "pkcs11:token=a?module-path={module}",
                "pkcs11:token=a?module-path=/own.so",
            ),
            ("/usr/lib/y.so", "/usr/lib/y.so"),
        ] {
            assert_eq!(place.of(OsStr::new(argument)), expected);
        }
        let directory = tempfile::tempdir().unwrap();
        let (file, link) = (directory.path().join("x.so"), directory.path().join("y.so"));
        std::fs::write(&file, "").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let linked = Substitution::new("x", &file, Path::new("/own.so"));
        let link = link.display().to_string();
        for (argument, expected) in [
            (link.clone(), "/own.so"),
            (format!("--module={link}"), "--module=/own.so"),
            (
                "--module=/nowhere/y.so".to_owned(),
                "--module=/nowhere/y.so",
            ),
        ] {
            assert_eq!(linked.of(OsStr::new(&argument)), expected);
        }
        let variables = [("A", "/usr/lib/x.so"), ("B", "b")]
            .map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let changed = place.environment(variables.into_iter());
        let names: Vec<_> = changed
            .iter()
            .map(|(name, _)| name.to_str().unwrap())
            .collect();
        assert_eq!(names, ["A", "PKCS11_MODULE_PATH", "PKCS11_PROVIDER_MODULE"]);
        assert!(changed.iter().all(|(_, value)| value == "/own.so"));
    }
}
