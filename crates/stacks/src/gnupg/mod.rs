//! GnuPG: the installed programs, private homes with one key each, and the stacks `agent` and
//! `gpg` on them.

pub mod agent;
pub mod assuan;
pub mod card_home;
pub(crate) mod certificate;
pub mod home;
pub mod homes;
pub mod key_home;
pub mod listing;
pub mod process;
mod provider;
pub mod scdaemon;
pub mod signatures;
pub mod status;
pub mod testing;
mod token_home;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use keymark_bench::{Algorithm, Composite, Error, Family};

use crate::installed::Version;
use crate::program;

pub use provider::{FAMILY, PROTECTION, Protection, reachable};
pub(crate) use provider::{libgcrypt, offered};

const INSTALL: &str = "install it with 'apt-get install gnupg gpg-agent' (Debian, Ubuntu)";

/// The installed GnuPG.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gnupg {
    directory: Option<PathBuf>,
    /// Version of gpg.
    pub version: String,
    /// Version of libgcrypt, which does the arithmetic.
    pub libgcrypt: Option<String>,
    /// Algorithms of which it can make keys.
    pub algorithms: BTreeSet<Algorithm>,
    /// The administrator's configuration files, with the names of the options that they set.
    settings: BTreeMap<PathBuf, String>,
}

/// Configurations that GnuPG's programs read for every home.
const CONFIGURATIONS: [&str; 4] = ["common.conf", "gpg.conf", "gpg-agent.conf", "scdaemon.conf"];

/// Returns the configuration files of a directory, with the names of the options that they set.
fn settings(directory: &Path) -> BTreeMap<PathBuf, String> {
    let files = CONFIGURATIONS.iter().map(|name| directory.join(name));
    let set = files.filter_map(|file| {
        let text = std::fs::read(&file).ok()?;
        let text = String::from_utf8_lossy(&text).into_owned();
        let words = text
            .lines()
            .filter_map(|line| line.split_whitespace().next());
        let options: Vec<&str> = words.filter(|word| !word.starts_with('#')).collect();
        (!options.is_empty()).then(|| (file, options.join(", ")))
    });
    set.collect()
}

impl Gnupg {
    /// Its version and that of the library that does the arithmetic.
    pub fn versions(&self) -> BTreeMap<String, String> {
        let libgcrypt = self
            .libgcrypt
            .iter()
            .map(|version| ("libgcrypt".to_owned(), version.clone()));
        let gnupg = ("gnupg".to_owned(), self.version.clone());
        let agent = (
            "gpg-agent.conf".to_owned(),
            home::EXPANDING_MEMORY.to_owned(),
        );
        let settings = self
            .settings
            .iter()
            .map(|(file, options)| (file.display().to_string(), options.clone()));
        libgcrypt.chain([gnupg, agent]).chain(settings).collect()
    }

    /// Names the administrator's settings, which GnuPG reads for every home: they may be why it failed.
    pub(crate) fn advice(&self) -> String {
        let files: Vec<_> = self
            .settings
            .keys()
            .map(|file| file.display().to_string())
            .collect();
        if files.is_empty() {
            return String::new();
        }
        let files = files.join(", ");
        format!("GnuPG reads {files} for every home, also for keymark's: try without its settings")
    }

    /// Asks the installed gpg; programs are looked for in `directory`, or along `PATH`.
    pub fn find(directory: Option<&Path>) -> Result<Self, Error> {
        let directory = directory.map(Path::to_owned);
        let mut gnupg = Self {
            directory,
            version: String::new(),
            libgcrypt: None,
            algorithms: BTreeSet::new(),
            settings: BTreeMap::new(),
        };
        let config = gnupg.ask("gpg", &["--list-config", "--with-colons"])?;
        gnupg.version = status::configured(&config, "version")
            .unwrap_or("unknown")
            .to_owned();
        // The oldest whose key files and status lines keymark reads.
        let version = Version::read(&gnupg.version);
        if !version.is_some_and(|version| version.is_at_least(2, 2, 0)) {
            return Err(Error::Missing {
                what: "GnuPG 2.2 or newer".to_owned(),
                reason: format!("gpg is version {}", gnupg.version),
                advice: INSTALL.to_owned(),
            });
        }
        gnupg.ask("gpg-agent", &["--version"])?;
        let banner = gnupg.ask("gpg", &["--version"])?;
        gnupg.libgcrypt = banner
            .lines()
            .find_map(|line| line.strip_prefix("libgcrypt "))
            .map(|v| v.trim().to_owned());
        let administrators = gnupg.ask("gpgconf", &["--list-dirs", "sysconfdir"])?;
        gnupg.settings = settings(&home::listed_path(administrators.as_bytes()));
        gnupg.algorithms = made_here(&config);
        Ok(gnupg)
    }

    /// A command that runs one of GnuPG's programs.
    pub fn command(&self, program: &str) -> Command {
        // One that is not there fails when it is started, and is never replaced with that of another place.
        let absent = || self.directory.clone().unwrap_or_default().join(program);
        let path = program::locate(self.directory.as_deref(), program);
        program::command(&path.unwrap_or_else(absent))
    }

    /// Returns a command in the home of its owner.
    fn command_in_owners_home(&self, program: &str) -> Command {
        let mut command = self.command(program);
        if let Some(home) = std::env::var_os("GNUPGHOME") {
            command.env("GNUPGHOME", home);
        }
        command
    }

    /// Returns the socket of the agent of the owner's `GNUPGHOME`.
    pub(crate) fn owners_socket(&self) -> Option<PathBuf> {
        let mut command = self.command_in_owners_home("gpgconf");
        let command = command.args(["--list-dirs", "agent-socket"]);
        let listed = program::run(command, program::QUESTION).ok()?;
        Some(home::listed_path(&listed.stdout))
    }

    /// Returns a command for one of GnuPG's internal programs.
    pub fn libexec(&self, program: &str) -> Result<Command, Error> {
        let directory = self.ask("gpgconf", &["--list-dirs", "libexecdir"])?;
        let directory = home::listed_path(directory.as_bytes());
        Ok(program::command(&directory.join(program)))
    }

    fn ask(&self, name: &str, arguments: &[&str]) -> Result<String, Error> {
        let missing = |reason: String| Error::Missing {
            what: format!("{name} (GnuPG)"),
            reason,
            advice: INSTALL.to_owned(),
        };
        let mut command = self.command(name);
        let output = program::run(command.args(arguments), program::QUESTION)
            .map_err(|error| missing(error.to_string()))?;
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        } else {
            let said = String::from_utf8_lossy(&output.stderr);
            Err(missing(format!(
                "{name} {} ended with {}: {}",
                arguments.join(" "),
                output.status,
                status::complaint(&said)
            )))
        }
    }
}

/// The algorithms behind `cfg:pubkey` and `cfg:curve`; lengths are those gpg makes keys of.
fn made_here(config: &str) -> BTreeSet<Algorithm> {
    let list = |name| {
        status::configured(config, name)
            .unwrap_or_default()
            .split(';')
            .collect::<BTreeSet<_>>()
    };
    let (numbers, curves) = (list("pubkey"), list("curve"));
    let has = |number: &str| numbers.contains(number);
    let curve = |name: &str| curves.iter().any(|curve| curve.eq_ignore_ascii_case(name));
    let offered = |algorithm: &Algorithm| match algorithm.family() {
        Family::Rsa(_) => has("1"),
        Family::Elgamal(_) => has("16"),
        Family::Dsa(_) => has("17"),
        // Algorithms on one curve have its name.
        Family::Weierstrass(_) => has("18") && has("19") && curve(algorithm.name()),
        Family::Cv25519 | Family::Cv448 => has("18") && curve(algorithm.name()),
        Family::Ed25519 | Family::Ed448 => has("22") && curve(algorithm.name()),
        Family::Composite(composite) => has("8") && composite_curve(composite).is_some_and(curve),
        Family::MlKem(_) | Family::MlDsa(_) | Family::SlhDsa(..) => false,
    };
    Algorithm::all().filter(offered).collect()
}

/// Returns GnuPG's name of the curve with ML-KEM; none of a composite that GnuPG lacks.
const fn composite_curve(composite: Composite) -> Option<&'static str> {
    match composite {
        Composite::Ky768Cv25519 => Some("cv25519"),
        Composite::Ky1024Cv448 => Some("cv448"),
        Composite::Ky768Bp256 => Some("brainpoolP256r1"),
        Composite::Ky1024Bp384 => Some("brainpoolP384r1"),
        Composite::MlKem768X25519 | Composite::MlDsa65Ed25519 => None,
    }
}

#[cfg(test)]
mod tests {
    use keymark_testkit::assert_says;

    use super::*;

    #[test]
    fn the_administrators_settings_are_named_without_their_values() {
        let dir = tempfile::tempdir().unwrap();
        let text = "# none\n\n  encrypt-to 0xDEADBEEF\nno-greeting\n";
        std::fs::write(dir.path().join("gpg.conf"), text).unwrap();
        std::fs::write(dir.path().join("scdaemon.conf"), "#\n").unwrap();
        let found = settings(dir.path());
        assert_eq!(
            found.into_iter().collect::<Vec<_>>(),
            [(
                dir.path().join("gpg.conf"),
                "encrypt-to, no-greeting".to_owned()
            )]
        );
    }

    #[test]
    fn algorithms_are_those_of_its_numbers_and_curves() {
        for (config, offered, others) in [
            (
                "cfg:pubkey:1;16;17;18;19;22\ncfg:curve:cv25519;ed25519;nistp256;brainpoolP512r1;secp256k1\n",
                "rsa1024 rsa4096 dsa3072 elg2048 cv25519 ed25519 brainpoolp512r1",
                "cv448 ed448 nistp384 ky768_cv25519 mlkem768",
            ),
            (
                "cfg:pubkey:1;8;18;22\ncfg:curve:cv25519;cv448;ed448;brainpoolP256r1\n",
                "ky768_cv25519 ky1024_cv448 ky768_bp256 ed448 cv448",
                "ky1024_bp384 dsa3072",
            ),
        ] {
            let made = made_here(config);
            let has = |name: &str| made.contains(&name.parse().unwrap());
            assert!(offered.split(' ').all(has), "{made:?}");
            assert!(!others.split(' ').any(has), "{made:?}");
        }
    }

    #[test]
    fn an_old_gpg_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let gpg = dir.path().join("gpg");
        std::fs::write(&gpg, "#!/bin/sh\necho cfg:version:1.4.23\n").unwrap();
        std::fs::set_permissions(&gpg, std::fs::Permissions::from_mode(0o755)).unwrap();
        let error = Gnupg::find(Some(dir.path())).unwrap_err().to_string();
        assert_says(&error, ["gpg is version 1.4.23"]);
    }
}
