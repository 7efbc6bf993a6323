//! Address of a team's archive, completed by libpq's service files, variables and password files
//! (postgresql.org/docs/15/libpq-connect.html). A password is never in the address.

use std::collections::BTreeMap;
use std::fs;
use std::net::IpAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use itertools::Itertools;
use percent_encoding::percent_decode_str;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};

use super::{ArchiveError, Result};

/// Longest silence of a server, unless the address sets `connect_timeout`. Nothing is measured while keymark waits.
const SILENCE: Duration = Duration::from_secs(10);
/// Certificates that the system trusts. The compiled-in OpenSSL does not know their place.
const AUTHORITIES: &str = "/etc/ssl/certs/ca-certificates.crt";
const SOCKETS: &str = "/var/run/postgresql";

/// CertificateCheck of the server's certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CertificateCheck {
    Nothing,
    Authority,
    AuthorityAndName,
}

#[derive(Debug)]
pub(super) struct Address {
    pub(super) config: Config,
    /// Longest time without an answer. Then the connection is lost.
    pub(super) silence: Duration,
    pub(super) check: CertificateCheck,
    pub(super) authorities: PathBuf,
}

type Settings = BTreeMap<String, String>;

/// End of a connection.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Endpoint {
    Unix(PathBuf),
    /// Name or number, which is also in the server's certificate, and port.
    Tcp(String, u16),
}

/// Beginnings of text that libpq may take for an address.
const BEGINNINGS: [&str; 9] = [
    "postgresql:",
    "postgres:",
    SERVICE,
    "host=",
    "hostaddr=",
    "port=",
    "user=",
    "dbname=",
    "password=",
];
const SERVICE: &str = "service=";

/// Tells the address of a server from the name of a file. Addresses that keymark does not understand count as such: they may have
/// a password, and must not become the name of a file.
pub(super) fn is_address(name: &Path) -> bool {
    let name = name.to_string_lossy();
    let scheme = name.split_once("://").map(|(scheme, _)| scheme);
    let may_follow = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    let is_scheme = |scheme: &str| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(may_follow)
    };
    scheme.is_some_and(is_scheme) || BEGINNINGS.iter().any(|begin| after(&name, begin).is_some())
}

/// Strips a prefix in upper or lower case.
fn after<'a>(name: &'a str, begin: &str) -> Option<&'a str> {
    let (found, rest) = name.split_at_checked(begin.len())?;
    found.eq_ignore_ascii_case(begin).then_some(rest)
}

impl Address {
    /// Completes an address or service from the environment and the home directory.
    pub(super) fn new(name: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<Self> {
        let (mut config, own) = parsed(name)?;
        let home = variable("HOME").map(PathBuf::from).unwrap_or_default();
        let service = own.get("service").cloned();
        let service = match service.or_else(|| variable("PGSERVICE")) {
            Some(service) => of_service(&service, &home, variable)?,
            None => Settings::new(),
        };
        let set = |key: &str, name: &str| {
            let given = own.get(key).or_else(|| service.get(key)).cloned();
            given.or_else(|| variable(name))
        };
        if config.get_hosts().is_empty() {
            config.host(set("host", "PGHOST").unwrap_or_else(|| SOCKETS.to_owned()));
        }
        if let (true, Some(port)) = (config.get_ports().is_empty(), set("port", "PGPORT")) {
            config.port(port.parse().map_err(|error| refused(&error))?);
        }
        let user = config
            .get_user()
            .map(str::to_owned)
            .or_else(|| set("user", "PGUSER"))
            .or_else(|| variable("USER"))
            .unwrap_or_else(|| "root".to_owned());
        let database = config
            .get_dbname()
            .map(str::to_owned)
            .or_else(|| set("dbname", "PGDATABASE"))
            .unwrap_or_else(|| user.clone());
        config
            .user(&user)
            .dbname(&database)
            .application_name("keymark");
        let silence = config.get_connect_timeout().copied().unwrap_or(SILENCE);
        config.connect_timeout(silence);
        let given = service.get("password").cloned();
        let given = given.or_else(|| variable("PGPASSWORD"));
        let file =
            set("passfile", "PGPASSFILE").map_or_else(|| home.join(".pgpass"), PathBuf::from);
        if let Some(password) = given.or_else(|| of_file(&file, &config, &user, &database)) {
            config.password(password);
        }
        let (mode, check) = secured(set("sslmode", "PGSSLMODE").as_deref(), is_local(&config))?;
        config.ssl_mode(mode);
        let authorities = set("sslrootcert", "PGSSLROOTCERT").filter(|file| file != "system");
        let own = home.join(".postgresql/root.crt");
        let own = Some(own).filter(|own| own.exists());
        let authorities = authorities.map(PathBuf::from).or(own);
        Ok(Self {
            config,
            silence,
            check,
            authorities: authorities.unwrap_or_else(|| AUTHORITIES.into()),
        })
    }

    /// Returns the places that the address names, in its order.
    pub(super) fn endpoints(&self) -> Vec<Endpoint> {
        let ports = self.config.get_ports();
        let hosts = self.config.get_hosts().iter().enumerate();
        let places = hosts.map(|(at, host)| {
            let port = ports.get(at).or_else(|| ports.first()).copied();
            let port = port.unwrap_or(5432);
            match host {
                Host::Unix(path) => Endpoint::Unix(path.join(format!(".s.PGSQL.{port}"))),
                Host::Tcp(name) => Endpoint::Tcp(name.clone(), port),
            }
        });
        places.collect()
    }
}

/// Splits an address into what tokio-postgres reads and what keymark reads.
fn parsed(name: &str) -> Result<(Config, Settings)> {
    let place = after(name, "postgresql://").or_else(|| after(name, "postgres://"));
    let (url, own) = match (after(name, SERVICE), place) {
        (Some(service), _) => ("postgresql://".to_owned(), settings([("service", service)])),
        (None, Some(place)) => split(&format!("postgresql://{place}")),
        (None, None) => return Err(refused(&"no archive has one that begins so")),
    };
    let config: Config = url
        .parse()
        .map_err(|error| refused(&super::postgresql::with_causes(&error)))?;
    if config.get_password().is_some() || own.contains_key("password") {
        let text = "a password in an archive's address is seen by everybody in 'ps'; take it out, and put it in \
                    ~/.pgpass (mode 0600), in the file that PGPASSFILE names, or in PGPASSWORD";
        return Err(ArchiveError::Address(text.to_owned()));
    }
    if config.get_target_session_attrs() != TargetSessionAttrs::Any {
        return Err(refused(&"keymark does not know target_session_attrs"));
    }
    if !config.get_hostaddrs().is_empty() {
        return Err(refused(
            &"keymark does not know hostaddr; write the number as the host",
        ));
    }
    Ok((config, own))
}

fn refused(error: &dyn std::fmt::Display) -> ArchiveError {
    let text = "write postgresql://USER@HOST:PORT/DATABASE, or service=NAME";
    ArchiveError::Address(format!(
        "the archive's address is not understood: {error}; {text}"
    ))
}

/// Reads `sslmode`. Servers on other computers are checked by default.
fn secured(mode: Option<&str>, is_local: bool) -> Result<(SslMode, CertificateCheck)> {
    let default = if is_local { "disable" } else { "verify-full" };
    Ok(match mode.unwrap_or(default) {
        "disable" => (SslMode::Disable, CertificateCheck::Nothing),
        "prefer" | "allow" => (SslMode::Prefer, CertificateCheck::Nothing),
        "require" => (SslMode::Require, CertificateCheck::Nothing),
        "verify-ca" => (SslMode::Require, CertificateCheck::Authority),
        "verify-full" => (SslMode::Require, CertificateCheck::AuthorityAndName),
        other => return Err(refused(&format!("there is no sslmode '{other}'"))),
    })
}

fn settings<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Settings {
    pairs
        .into_iter()
        .map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()))
        .collect()
}

/// Takes the options out of an address that tokio-postgres does not know.
fn split(url: &str) -> (String, Settings) {
    const OURS: [&str; 5] = ["service", "passfile", "password", "sslmode", "sslrootcert"];
    let Some((place, query)) = url.split_once('?') else {
        return (url.to_owned(), Settings::new());
    };
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let (ours, others): (Vec<_>, Vec<_>) = pairs.partition(|(key, _)| OURS.contains(key));
    let mut others = others.iter().map(|(key, value)| format!("{key}={value}"));
    let decoded = |(key, value): (&str, &str)| {
        let value = percent_decode_str(value).decode_utf8_lossy();
        (key.to_owned(), value.into_owned())
    };
    let ours = ours.into_iter().map(decoded).collect();
    (format!("{place}?{}", others.join("&")), ours)
}

/// Reads a service from the file of the user, or else of the system (libpq-pgservice.html).
fn of_service(
    service: &str,
    home: &Path,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Settings> {
    let own =
        variable("PGSERVICEFILE").map_or_else(|| home.join(".pg_service.conf"), PathBuf::from);
    let system = variable("PGSYSCONFDIR").unwrap_or_else(|| "/etc/postgresql-common".to_owned());
    let system = Path::new(&system).join("pg_service.conf");
    for file in [&own, &system] {
        let text = fs::read_to_string(file).unwrap_or_default();
        let lines = text.lines().map(str::trim);
        let mut lines = lines.skip_while(|line| *line != format!("[{service}]"));
        if lines.next().is_some() {
            let its = lines.take_while(|line| !line.starts_with('['));
            return Ok(settings(its.filter_map(|line| line.split_once('='))));
        }
    }
    Err(ArchiveError::Address(format!(
        "there is no service '{service}' in {} or {}; add it there, or write postgresql://USER@HOST:PORT/DATABASE",
        own.display(),
        system.display()
    )))
}

/// Finds the first matching line `host:port:database:user:password` (libpq-pgpass.html). Like libpq, it ignores files that others
/// can read.
fn of_file(file: &Path, config: &Config, user: &str, database: &str) -> Option<String> {
    let mode = fs::metadata(file).ok()?.permissions().mode();
    if mode & 0o077 != 0 {
        return None;
    }
    let host = match config.get_hosts().first()? {
        Host::Tcp(name) => name.clone(),
        Host::Unix(path) if path == Path::new(SOCKETS) => "localhost".to_owned(),
        Host::Unix(path) => path.display().to_string(),
    };
    let port = config.get_ports().first().unwrap_or(&5432).to_string();
    let text = fs::read_to_string(file).ok()?;
    text.lines().find_map(|line| {
        let fields = fields(line);
        let (wanted, password) = (fields.get(..4)?, fields.get(4)?);
        let has = [host.as_str(), &port, database, user];
        let mut both = wanted.iter().zip(has);
        let fits = both.all(|(field, has)| field == "*" || field == has);
        fits.then(|| password.clone())
    })
}

/// Splits a line at its colons. A backslash escapes the next character.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        let last = fields.len() - 1;
        match letter {
            ':' => fields.push(String::new()),
            '\\' => fields[last].extend(letters.next()),
            other => fields[last].push(other),
        }
    }
    fields
}

/// Tells servers on this computer.
fn is_local(config: &Config) -> bool {
    config.get_hosts().iter().all(|host| match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => {
            let number = name.parse::<IpAddr>();
            name == "localhost" || number.is_ok_and(|number| number.is_loopback())
        }
    })
}

#[cfg(test)]
#[path = "tests/address.rs"]
mod tests;
