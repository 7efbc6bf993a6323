//! Modules on this machine: those that p11-kit knows (pkcs11.conf(5)), and those of makers of tokens that
//! put them where p11-kit does not look.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use etcetera::base_strategy::{BaseStrategy as _, Xdg};
use keymark_bench::Error;
use keymark_bench::shipped::shipped;
use serde::Deserialize;

use super::ModuleFile;
use crate::places::library::{self, MULTIARCH};

/// Kryoptic's library.
pub(crate) const KRYOPTIC: &str = "libkryoptic_pkcs11.so";
/// Places relative to the program's directory: next to it, and where make puts it, which cargo's own test programs are
/// one directory further from.
const BESIDE: [&str; 3] = ["", "../kryoptic/release", "../../kryoptic/release"];

/// A module's file, and what it goes by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownModule {
    /// `softhsm2`, as p11-kit's file for it is called; or the maker's product.
    pub name: String,
    /// Expected path, with the text that p11-kit gives it in `pReserved` (`x-init-reserved`).
    pub file: ModuleFile,
}

/// Directories in which modules are looked for.
#[derive(Debug, Clone)]
pub struct Places {
    /// p11-kit's directories of registrations; what comes later counts more.
    pub registrations: Vec<PathBuf>,
    /// Directories of libraries.
    pub libraries: Vec<PathBuf>,
    /// Files of makers with a directory of their own.
    pub files: Vec<(&'static str, PathBuf)>,
}

/// A known module.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Product {
    name: String,
    /// Below a directory of libraries, or with a directory of their own.
    #[serde(default)]
    files: Vec<PathBuf>,
    /// A part of the file's name.
    part: Option<String>,
    #[serde(default)]
    variables: Vec<String>,
    /// True if it hands calls on to another one, which reads variables of its own.
    #[serde(default)]
    hands_on: bool,
    needs: Option<String>,
}

impl Product {
    /// Returns whether a file of that name is the module.
    fn is(&self, file: &str) -> bool {
        self.part.as_ref().is_some_and(|part| file.contains(part))
    }

    fn variables(&self) -> impl Iterator<Item = &str> {
        self.variables.iter().map(String::as_str)
    }
}

/// Those that are known.
static PRODUCTS: LazyLock<Vec<Product>> = LazyLock::new(|| {
    let text = include_str!("../../../../../data/pkcs11/modules.toml");
    let all: BTreeMap<String, Vec<Product>> = shipped(text);
    all.into_values().flatten().collect()
});

impl Places {
    /// Returns those of this machine and user.
    pub fn of_user() -> Self {
        let own = Xdg::new().ok();
        let own = own.map(|base| base.config_dir().join("pkcs11/modules"));
        let shared = ["/usr/share/p11-kit/modules", "/etc/pkcs11/modules"].map(PathBuf::from);
        let multiarch = format!("/usr/lib/{MULTIARCH}");
        Self {
            registrations: shared.into_iter().chain(own).collect(),
            libraries: [&multiarch, "/usr/lib64", "/usr/lib", "/usr/local/lib"]
                .map(PathBuf::from)
                .into(),
            files: files(Path::is_absolute)
                .map(|(name, file)| (name, file.clone()))
                .chain(built_kryoptic().map(|file| ("kryoptic", file)))
                .collect(),
        }
    }

    /// All that are registered, and of the others those that are there; each file once.
    pub fn modules(&self) -> Vec<KnownModule> {
        let mut modules = self.registered();
        let below = files(Path::is_relative).flat_map(|(name, file)| {
            self.libraries
                .iter()
                .map(move |directory| (name, directory.join(file)))
        });
        let usual = below.chain(self.files.iter().cloned());
        for (name, file) in usual.filter(|(_, file)| file.exists()) {
            add(&mut modules, name, ModuleFile::new(file));
        }
        modules
    }

    fn registered(&self) -> Vec<KnownModule> {
        let entries = self
            .registrations
            .iter()
            .flat_map(|directory| fs::read_dir(directory).into_iter().flatten());
        let texts = entries.flatten().filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let name = name.strip_suffix(".module")?.to_owned();
            Some((name, fs::read_to_string(entry.path()).ok()?))
        });
        let mut modules = Vec::new();
        for (name, text) in texts.collect::<BTreeMap<_, _>>() {
            if let Some(path) = self.module_in(&text) {
                let reserved = value_in(&text, "x-init-reserved").map(str::to_owned);
                let file = ModuleFile::new(path);
                add(&mut modules, &name, ModuleFile { reserved, ..file });
            }
        }
        modules
    }

    /// The line `module:`. A name without a directory is in p11-kit's own below the libraries. One that is
    /// `remote:` is a program to talk to, and no file.
    fn module_in(&self, text: &str) -> Option<PathBuf> {
        let file = PathBuf::from(value_in(text, "module")?);
        if file.is_absolute() {
            return Some(file);
        }
        let mut below = self
            .libraries
            .iter()
            .map(|directory| directory.join("pkcs11").join(&file));
        let first = below.clone().next();
        below.find(|path| path.exists()).or(first)
    }

    /// A file as it is to be loaded: by p11-kit's settings, where it has any for it.
    pub fn to_load(&self, file: &Path) -> ModuleFile {
        let mut known = self.modules().into_iter();
        let known = known.find(|known| same_file(&known.file.path, file));
        ModuleFile {
            reserved: known.and_then(|known| known.file.reserved),
            ..ModuleFile::new(file)
        }
    }

    /// The file of the one that goes by that name, if it is there.
    pub(crate) fn installed(&self, name: &str) -> Option<PathBuf> {
        let file = self.named(name)?.file.path;
        file.exists().then_some(file)
    }

    /// The one that goes by that name: p11-kit's, with or without `.module`; or that of the file, whole, or as
    /// `module-name` in a URI has it, without `lib` and `.so` (RFC 7512 §2.3).
    pub fn named(&self, name: &str) -> Option<KnownModule> {
        let stem = name.strip_suffix(".module").unwrap_or(name);
        self.modules().into_iter().find(|module| {
            let whole = module.file.path.file_name().and_then(|name| name.to_str());
            let file = whole.and_then(|file| file.split(".so").next());
            let plain = file.map(|file| file.strip_prefix("lib").unwrap_or(file));
            module.name == stem || [whole, file, plain].contains(&Some(stem))
        })
    }
}

/// Adds a module, unless its file is known.
fn add(modules: &mut Vec<KnownModule>, name: &str, file: ModuleFile) {
    let is_it = |known: &KnownModule| same_file(&known.file.path, &file.path);
    if !modules.iter().any(is_it) {
        let name = name.to_owned();
        modules.push(KnownModule { name, file });
    }
}

fn value_in<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let lines = text.lines().filter_map(|line| line.split_once(':'));
    let values = lines.filter(|(known, _)| known.trim() == name);
    values.map(|(_, value)| value.trim()).next_back()
}

fn files(kind: fn(&Path) -> bool) -> impl Iterator<Item = (&'static str, &'static PathBuf)> {
    let all = PRODUCTS.iter().flat_map(|product| {
        product
            .files
            .iter()
            .map(|file| (product.name.as_str(), file))
    });
    all.filter(move |(_, file)| kind(file))
}

fn same_file(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    }
}

/// The Kryoptic that make has built for this program, or that was installed with it.
pub(crate) fn built_kryoptic() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    library::beside(&program, BESIDE, KRYOPTIC)
}

/// The variables that a module reads; none of one that is not known by its file's name, or is in front of another one.
pub(crate) fn read_by(file: &Path) -> Option<Vec<&'static str>> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let reads = |module: &&Product| module.is(&name) && !module.hands_on;
    let names = PRODUCTS.iter().filter(reads).flat_map(Product::variables);
    let names: Vec<&str> = names.collect();
    (!names.is_empty()).then_some(names)
}

/// Returns the part of this process's environment that the module reads: a server that loads it needs the same. A
/// module that is not known may read what any of them reads.
pub fn variables(file: &Path) -> Vec<(OsString, OsString)> {
    let all = || PRODUCTS.iter().flat_map(Product::variables).collect();
    let names = read_by(file).unwrap_or_else(all).into_iter();
    names
        .filter_map(|name| Some((name.into(), std::env::var_os(name)?)))
        .collect()
}

/// Not what the code means for any module: it says that the token is gone where there is no configuration.
const REASON: &str = "the module cannot be used as configured";

/// The refusal with what this module needs.
pub(crate) fn explained(file: &Path, error: Error) -> Error {
    let name = file.file_name().and_then(|name| name.to_str());
    let name = name.unwrap_or_default();
    let mut needs = PRODUCTS.iter().filter(|module| module.is(name));
    match (needs.find_map(|module| module.needs.as_deref()), error) {
        (Some(advice), Error::Refused { call, code, .. }) => {
            Error::refused(call, code, REASON, advice)
        }
        (_, error) => error,
    }
}

#[cfg(test)]
mod tests {
    use cryptoki::context::Function;
    use cryptoki::error::{Error as CryptokiError, RvError};

    use super::*;
    use crate::pkcs11::module::codes::failed;

    #[test]
    fn what_is_known_of_products_can_be_read() {
        let names: Vec<&str> = PRODUCTS
            .iter()
            .map(|product| product.name.as_str())
            .collect();
        assert!(names.contains(&"softhsm2") && names.contains(&"cloudhsm"));
        for product in PRODUCTS.iter() {
            let is_told = product.part.is_some();
            let needs_to_be = !product.variables.is_empty() || product.needs.is_some();
            assert!(is_told || !needs_to_be, "{}", product.name);
        }
        // The first that fits is taken: of two names the longer one comes first.
        let of_azure = PRODUCTS
            .iter()
            .find(|product| product.is("libazcloudhsm_pkcs11.so"));
        assert_eq!(of_azure.unwrap().name, "azure-cloudhsm");
    }

    #[test]
    fn registrations_and_usual_places_are_found_once_each() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        for directory in ["package", "user", "lib/softhsm", "lib/pkcs11"] {
            fs::create_dir_all(path(directory)).unwrap();
        }
        let write = |name: &str, text: &str| fs::write(path(name), text).unwrap();
        for library in [
            "lib/softhsm/libsofthsm2.so",
            "lib/pkcs11/yubihsm_pkcs11.so",
            "lib/pkcs11/own.so",
        ] {
            write(library, "");
        }
        let softhsm = path("lib/softhsm/libsofthsm2.so");
        write(
            "package/softhsm2.module",
            &format!("# a comment: x\nmodule: {}\n", softhsm.display()),
        );
        write(
            "package/own.module",
            "module: other.so\nx-init-reserved: other\n",
        );
        write(
            "user/own.module",
            "priority: 1\nmodule:own.so\nx-init-reserved: configdir='sql:/keys' flags=readOnly\n",
        );
        write("user/away.module", "remote: ssh host p11-kit remote\n");
        write("user/gone.module", "module: gone.so\n");
        write("user/notes.txt", "module: notes.so\n");
        let places = Places {
            registrations: vec![path("nowhere"), path("package"), path("user")],
            libraries: vec![path("lib")],
            files: vec![("luna", path("luna.so"))],
        };
        let found: Vec<_> = places.modules();
        let expected = [
            ("gone", "lib/pkcs11/gone.so"),
            ("own", "lib/pkcs11/own.so"),
            ("softhsm2", "lib/softhsm/libsofthsm2.so"),
            ("yubihsm", "lib/pkcs11/yubihsm_pkcs11.so"),
        ];
        let expected = expected.map(|(name, file)| KnownModule {
            name: name.to_owned(),
            file: ModuleFile {
                reserved: (name == "own")
                    .then(|| "configdir='sql:/keys' flags=readOnly".to_owned()),
                ..ModuleFile::new(path(file))
            },
        });
        assert_eq!(found, expected);
        let reserved = |file: &str| places.to_load(&path(file)).reserved;
        assert_eq!(reserved("lib/pkcs11/own.so"), expected[1].file.reserved);
        assert_eq!(reserved("lib/pkcs11/yubihsm_pkcs11.so"), None);
        for name in [
            "softhsm2",
            "softhsm2.module",
            "libsofthsm2",
            "libsofthsm2.so",
        ] {
            assert_eq!(places.named(name).unwrap().file.path, softhsm, "{name}");
        }
        assert_eq!(places.named("luna"), None);
    }

    #[test]
    fn a_refusal_says_what_the_module_needs() {
        for (file, needs) in [
            ("/usr/lib/libsoftokn3.so", "configdir"),
            ("/opt/lib64/libazcloudhsm_pkcs11.so", "azcloudhsm_client"),
            ("/usr/lib/libother.so", "see its own log"),
        ] {
            let refused = CryptokiError::Pkcs11(RvError::GeneralError, Function::Initialize);
            let said = explained(Path::new(file), failed(refused)).to_string();
            assert!(
                said.contains("CKR_GENERAL_ERROR") && said.contains(needs),
                "{said}"
            );
        }
    }
}
