//! Whether a configuration of Apache or nginx can offer ECDSA certificates at all, and which lines to change.

mod advice;
mod apache;
mod files;
mod host;
mod judge;
mod nginx;

use std::fmt;
use std::path::{Path, PathBuf};

use keymark_bench::Error;

pub use advice::{Finding, Problem};

use crate::installed::Version;
use crate::tls::servers::log::visible;

/// Whose configuration a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// Apache httpd's.
    Apache,
    /// nginx's.
    Nginx,
}

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, derive_more::Display)]
#[display("{}:{line}", visible(&file.to_string_lossy()))]
pub struct At {
    /// The file.
    pub file: PathBuf,
    /// Its line, from 1.
    pub line: u32,
}

impl At {
    fn begin(file: &Path) -> Self {
        Self {
            file: file.to_owned(),
            line: 1,
        }
    }
}

/// A directive's values, and where they stand.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Setting {
    values: Vec<String>,
    at: At,
}

impl Setting {
    fn first(&self) -> &str {
        self.values.first().map_or("", String::as_str)
    }
}

/// Who gets an ECDSA certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display)]
pub enum Verdict {
    /// Clients with TLS 1.2 as well as 1.3.
    #[strum(to_string = "offers an ECDSA certificate")]
    Offered,
    /// Only those with TLS 1.3: the cipher string has nothing for the others.
    #[strum(to_string = "offers an ECDSA certificate only to clients with TLS 1.3")]
    Tls13Only,
    /// Nobody.
    #[strum(to_string = "offers no ECDSA certificate")]
    NotOffered,
    /// A certificate could not be read, or the system's policy decides.
    #[strum(to_string = "may offer an ECDSA certificate: not everything could be judged")]
    Unknown,
}

/// One host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostReport {
    /// What it is called.
    pub name: String,
    /// Where it begins.
    pub at: At,
    /// Who gets an ECDSA certificate.
    pub verdict: Verdict,
    /// What is to be changed, or known.
    pub findings: Vec<Finding>,
}

/// All hosts of a configuration that have TLS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Whose it is.
    pub dialect: Dialect,
    /// In their order; none where no host has TLS.
    pub hosts: Vec<HostReport>,
    /// Of the files themselves.
    pub findings: Vec<Finding>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for finding in &self.findings {
            writeln!(f, "{finding}")?;
        }
        for host in &self.hosts {
            let name = visible(&host.name);
            writeln!(f, "{}: {name} {}", host.at, host.verdict)?;
            for finding in &host.findings {
                writeln!(f, "{finding}")?;
            }
        }
        if self.hosts.is_empty() {
            writeln!(f, "no host with TLS is configured here")?;
        }
        Ok(())
    }
}

/// Reads a configuration, with the files that it includes. `nginx` is the version of the nginx that it is for, if that is
/// known.
///
/// # Errors
/// When it cannot be read, or is neither Apache's nor nginx's.
pub fn file(
    path: &Path,
    dialect: Option<Dialect>,
    nginx: Option<&Version>,
) -> Result<Report, Error> {
    let text = files::read(path)?;
    let dialect = dialect.or_else(|| guessed(&text)).ok_or_else(|| {
        Error::call(
            format!("reading {}", path.display()),
            "it is not a configuration of Apache or nginx",
            "give a file with ssl_certificate or SSLCertificateFile in it",
        )
    })?;
    let mut included = files::Included::default();
    let hosts = match dialect {
        Dialect::Apache => apache::hosts(path, &text, &mut included),
        Dialect::Nginx => nginx::hosts(path, &text, &mut included)?,
    };
    let hosts = hosts.into_iter();
    let hosts = hosts.map(|host| judge::judged(host, dialect, nginx));
    Ok(Report {
        dialect,
        hosts: hosts.collect(),
        findings: included.findings,
    })
}

fn guessed(text: &str) -> Option<Dialect> {
    let lower = text.to_ascii_lowercase();
    let apache = ["<virtualhost", "sslengine", "sslcertificatefile", "include"];
    let nginx = [
        "ssl_certificate",
        "ssl_ciphers",
        "server {",
        "server{",
        "http {",
        "include ",
    ];
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    // Both have `include`; nginx ends it with a semicolon.
    if has(&nginx) && lower.contains(';') && !has(&apache[..3]) {
        Some(Dialect::Nginx)
    } else if has(&apache) {
        Some(Dialect::Apache)
    } else {
        None
    }
}

#[cfg(test)]
mod tests;
