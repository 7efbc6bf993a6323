//! The servers that are installed.

use std::fmt;
use std::path::{Path, PathBuf};

use keymark_bench::error::Error;
use keymark_stores::places::program;

use crate::servers::linked::LinkedOpenSsl;
use crate::servers::version::Version;

/// Apache's ways to serve many clients at once (its Multi-Processing Modules).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mpm {
    /// Processes with threads, and one thread that waits for idle connections.
    Event,
    /// A process a connection.
    Prefork,
    /// Processes with a thread a connection.
    Worker,
}

impl Mpm {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Event, Self::Prefork, Self::Worker];

    /// As its module is called.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Event => "event",
            Self::Prefork => "prefork",
            Self::Worker => "worker",
        }
    }

    /// The name of its module's file.
    fn file(self) -> String {
        format!("mod_mpm_{}.so", self.name())
    }
}

/// A server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Software {
    /// Apache httpd.
    Apache(Mpm),
    /// nginx.
    Nginx,
    /// haproxy.
    Haproxy,
}

impl fmt::Display for Software {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Apache(_) => "Apache",
            Self::Nginx => "nginx",
            Self::Haproxy => "haproxy",
        })
    }
}

impl Software {
    /// What the program is called, by distributions.
    const fn programs(self) -> &'static [&'static str] {
        match self {
            Self::Apache(_) => &["apache2", "httpd"],
            Self::Nginx => &["nginx"],
            Self::Haproxy => &["haproxy"],
        }
    }

    /// Debian's package. That of Apache without the service, which would listen at port 80.
    #[must_use]
    pub const fn package(self) -> &'static str {
        match self {
            Self::Apache(_) => "apache2-bin",
            Self::Nginx => "nginx",
            Self::Haproxy => "haproxy",
        }
    }

    /// What stands before the version, and the option that has it told.
    const fn version_words(self) -> (&'static str, &'static str) {
        match self {
            Self::Apache(_) => ("-v", "Apache/"),
            Self::Nginx => ("-v", "nginx/"),
            Self::Haproxy => ("-v", "version "),
        }
    }
}

/// Where programs are looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchPath(Vec<PathBuf>);

impl SearchPath {
    /// `PATH`, and the directories of administrators' programs, which are not in everybody's.
    #[must_use]
    pub fn usual() -> Self {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let administrators = ["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from);
        Self(std::env::split_paths(&path).chain(administrators).collect())
    }

    /// That directory alone.
    #[must_use]
    pub fn only(directory: &Path) -> Self {
        Self(vec![directory.to_owned()])
    }

    fn find(&self, program: &str) -> Option<PathBuf> {
        let mut directories = self.0.iter();
        directories.find_map(|directory| program::locate(Some(directory), program))
    }
}

/// One that is installed.
#[derive(Debug, Clone)]
pub struct Installed {
    /// What it is.
    pub software: Software,
    /// Its program.
    pub program: PathBuf,
    /// Its version.
    pub version: Version,
    /// The OpenSSL that it uses.
    pub openssl: LinkedOpenSsl,
    /// Apache's: where its modules are.
    pub(crate) modules: Option<PathBuf>,
}

impl Installed {
    /// Looks for it.
    ///
    /// # Errors
    /// When it is missing, with the package that brings it.
    pub fn find(software: Software, search: &SearchPath) -> Result<Self, Error> {
        let mut programs = software.programs().iter();
        let program = programs.find_map(|program| search.find(program));
        let program = program.ok_or_else(|| missing(software, format!("not in {search}")))?;
        let (option, mark) = software.version_words();
        let said = program::command(&program)
            .arg(option)
            .output()
            .map_err(|error| missing(software, error.to_string()))?;
        // nginx tells it on its standard error.
        let said = [said.stdout, said.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        let version = Version::behind(mark, &said).ok_or_else(|| {
            missing(
                software,
                format!("'{}' contains no version", program.display()),
            )
        })?;
        let modules = match software {
            Software::Apache(mpm) => Some(apache_modules(&program, mpm)?),
            Software::Nginx | Software::Haproxy => None,
        };
        let uses_openssl = match &modules {
            Some(modules) => modules.join("mod_ssl.so"),
            None => program.clone(),
        };
        Ok(Self {
            software,
            openssl: LinkedOpenSsl::of(&uses_openssl)?,
            program,
            version,
            modules,
        })
    }

    /// Apache's MPMs that are there as modules.
    #[must_use]
    pub fn mpms(&self) -> Vec<Mpm> {
        let there = |mpm: &Mpm| {
            let modules = self.modules.as_ref();
            modules.is_some_and(|modules| modules.join(mpm.file()).is_file())
        };
        Mpm::ALL.into_iter().filter(there).collect()
    }

    /// The module's file, if it is a file: Debian builds some into the program.
    pub(crate) fn module(&self, name: &str) -> Option<PathBuf> {
        let file = self.modules.as_ref()?.join(format!("mod_{name}.so"));
        file.is_file().then_some(file)
    }
}

impl fmt::Display for SearchPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A user's PATH is long, and known to its user.
        if *self == Self::usual() {
            return f.write_str("PATH, /usr/sbin or /usr/local/sbin");
        }
        let directories: Vec<String> = self
            .0
            .iter()
            .map(|directory| directory.display().to_string())
            .collect();
        f.write_str(&directories.join(":"))
    }
}

/// Debian's, Fedora's and Arch's place.
fn apache_modules(program: &Path, mpm: Mpm) -> Result<PathBuf, Error> {
    const PLACES: [&str; 5] = [
        "/usr/lib/apache2/modules",
        "/usr/lib64/httpd/modules",
        "/usr/lib/httpd/modules",
        "/usr/lib64/apache2",
        "/usr/libexec/apache2",
    ];
    let software = Software::Apache(mpm);
    let mut places = PLACES.iter().map(Path::new);
    let place = places.find(|place| place.join("mod_ssl.so").is_file());
    let place = place.ok_or_else(|| {
        let reason = format!("{} is installed, but mod_ssl.so is not", program.display());
        missing(software, reason)
    })?;
    if place.join(mpm.file()).is_file() {
        return Ok(place.to_owned());
    }
    let reason = format!("there is no {} in {}", mpm.file(), place.display());
    Err(missing(software, reason))
}

fn missing(software: Software, reason: String) -> Error {
    Error::Missing {
        what: software.to_string(),
        reason,
        advice: format!(
            "install it with 'apt-get install {}' (Debian, Ubuntu)",
            software.package()
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_server_names_the_package_that_brings_it() {
        let nowhere = tempfile::tempdir().unwrap();
        let search = SearchPath::only(nowhere.path());
        for (software, package) in [
            (Software::Apache(Mpm::Event), "install apache2-bin brings"),
            (Software::Nginx, "install nginx brings"),
            (Software::Haproxy, "install haproxy brings"),
        ] {
            let error = Installed::find(software, &search).unwrap_err().to_string();
            assert!(
                error.contains("is missing here: not in /") && error.contains(package),
                "{error}"
            );
        }
    }
}
