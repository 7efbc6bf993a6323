//! A working configuration for an administrator, with a line on each trap: by the code that configures keymark's own
//! servers.

use std::fmt;
use std::path::{Path, PathBuf};

use keymark_bench::algorithm::{Algorithm, Curve, Family};
use keymark_bench::error::Error;

use crate::tls::servers::error::{Impossible, ServerError};
use crate::tls::servers::identity::{Certificates, TokenKey, TokenWay};
use crate::tls::servers::kind::Installed;
use crate::tls::servers::openssl::{self, Reach};
use crate::tls::servers::program::BroughtBy;
use crate::tls::servers::spec::{Handshakes, SecurityLevel, is_weak};
use crate::tls::servers::text::{
    Comments, Directive, KeyReference, Pair, Purpose, QuotedPath, Tls, comment, plain, text,
};
use crate::tls::servers::{certificate, token};

/// Where the administrator's key is.
#[allow(missing_debug_implementations, reason = "a token's key may hold a PIN")]
#[derive(Clone, Copy)]
pub enum Source<'k> {
    /// In a file, made for that algorithm.
    File(Algorithm),
    /// On a token, reached that way. No PIN is needed for the text, and none is in it.
    Token(&'k TokenKey, TokenWay),
}

/// Where a section's text goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    /// To be typed.
    Shell,
    /// A whole file.
    File(PathBuf),
    /// Part of a file, named in words.
    PartOf(String),
}

/// A step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// What it is for.
    pub title: String,
    /// Where its text goes.
    pub destination: Destination,
    /// The text; comments begin with `#`.
    pub text: String,
}

impl Section {
    /// Part of a file.
    pub(crate) fn part(title: &str, file: &str, lines: &[Directive]) -> Self {
        Self {
            title: title.to_owned(),
            destination: Destination::PartOf(file.to_owned()),
            text: text(lines, Comments::Written, ""),
        }
    }
}

/// Where a kind of server has what it reads from the environment.
#[derive(Debug, Clone, Copy)]
pub struct EnvironmentPlace {
    /// The file, in words.
    pub file: &'static str,
    /// What stands before the first variable.
    pub heading: &'static str,
    /// And before each.
    pub assignment: &'static str,
}

/// All steps, from the packages to the server. `Display` writes them one after another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guide {
    /// What it makes.
    pub title: String,
    /// The steps.
    pub sections: Vec<Section>,
}

impl fmt::Display for Guide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&comment(&self.title, ""))?;
        for (number, section) in (1..).zip(&self.sections) {
            let place = match &section.destination {
                Destination::Shell => "in a shell, as root".to_owned(),
                Destination::File(file) => format!("the file {}", file.display()),
                Destination::PartOf(file) => file.clone(),
            };
            let head = format!("--- {number}. {}: {place}", section.title);
            write!(f, "\n{}{}", comment(&head, ""), section.text)?;
        }
        Ok(())
    }
}

/// Files in the administrator's directory.
#[derive(Clone, Copy)]
struct Files<'d> {
    directory: &'d Path,
    host: &'d str,
    /// What tells a second key's files from the first one's.
    which: &'static str,
}

impl<'d> Files<'d> {
    const fn of(directory: &'d Path, host: &'d str, which: &'static str) -> Self {
        Self {
            directory,
            host,
            which,
        }
    }

    /// The token's and OpenSSL's, which both keys share.
    fn shared(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// The key's own.
    fn path(&self, name: &str) -> PathBuf {
        match name.split_once('.') {
            Some((stem, end)) => self.shared(&format!("{stem}{}.{end}", self.which)),
            None => self.shared(&format!("{name}{}", self.which)),
        }
    }

    /// For a line of shell.
    fn plain(&self, name: &str) -> Result<String, Impossible> {
        let path = self.path(name);
        plain("the directory of the server's files", &path).map(str::to_owned)
    }

    fn quoted(&self, name: &str) -> Result<QuotedPath, Impossible> {
        QuotedPath::new("the directory of the server's files", &self.path(name))
    }
}

/// The steps for a server of that name (`www.example.org`), with its files in `directory`. Two keys are an RSA and an ECDSA
/// one, each with a certificate.
///
/// # Errors
/// When the server is none for TLS, the engine or provider is missing, two keys cannot be had together, or a name cannot stand in
/// a configuration.
pub fn guide(
    installed: &Installed,
    (source, second): (Source<'_>, Option<Source<'_>>),
    host: &str,
    directory: &Path,
) -> Result<Guide, ServerError> {
    let named = |letter: char| letter.is_ascii_alphanumeric() || ".-_".contains(letter);
    if host.is_empty() || host.starts_with('-') || !host.chars().all(named) {
        let reason = "a host name may have only letters, digits, '.' and '-'";
        return Err(Error::call("naming the server", reason, "").into());
    }
    if let Some(second) = second {
        check_two(installed, source, second)?;
    }
    let sources: Vec<Source<'_>> = [source].into_iter().chain(second).collect();
    let (mut sections, mut pairs) = (Vec::new(), Vec::new());
    if let Some((key, way)) = token_of(&sources) {
        let files = Files::of(directory, host, "");
        sections.extend(shared_sections(installed, key, way, &files)?);
    }
    for (source, which) in sources.iter().zip(["", "-2"]) {
        let files = Files::of(directory, host, which);
        let (own, key) = match source {
            Source::File(algorithm) => (
                vec![made_in_file(*algorithm, &files)?],
                KeyReference::File(files.quoted("key.pem")?),
            ),
            Source::Token(key, way) => token_sections(key, *way, &files)?,
        };
        sections.extend(own);
        pairs.push(Pair {
            certificate: files.quoted("certificate.pem")?,
            key,
        });
    }
    if let Some((key, _)) = token_of(&sources) {
        let files = Files::of(directory, host, "");
        sections.push(environment(installed, key, &files)?);
    }
    let handshakes = Handshakes::usual();
    let tls = Tls {
        pairs,
        handshakes: &handshakes,
        level: SecurityLevel::Distributions,
        purpose: Purpose::Administration,
        dh: None,
    };
    let mut variables = Vec::new();
    if let Some((key, _)) = token_of(&sources) {
        variables.push("OPENSSL_CONF".to_owned());
        let own = key.environment.iter();
        variables.extend(own.filter_map(|(name, _)| name.to_str().map(str::to_owned)));
    }
    let own = installed.kind.guide(&tls, &variables).into_iter();
    sections.extend(own.filter(|section| !section.text.is_empty()));
    Ok(Guide {
        title: title(installed, &sources),
        sections,
    })
}

/// The first key on a token. All of them share module, way and PIN.
fn token_of<'k>(sources: &[Source<'k>]) -> Option<(&'k TokenKey, TokenWay)> {
    sources.iter().find_map(|source| match source {
        Source::File(_) => None,
        Source::Token(key, way) => Some((*key, *way)),
    })
}

/// Whether a host can have both, as far as is known without asking a token.
fn check_two(
    installed: &Installed,
    first: Source<'_>,
    second: Source<'_>,
) -> Result<(), Impossible> {
    installed.kind.check_two(&installed.version)?;
    match (first, second) {
        (Source::File(one), Source::File(other)) => Certificates::check_two(one, other),
        (Source::Token(one, way), Source::Token(other, other_way)) => {
            let together = way == other_way && one.is_beside(other);
            together.then_some(()).ok_or(Impossible::TwoModules)
        }
        (Source::File(_), Source::Token(..)) | (Source::Token(..), Source::File(_)) => Ok(()),
    }
}

fn title(installed: &Installed, sources: &[Source<'_>]) -> String {
    let (keys, files) = match sources {
        [_] => ("its key", "in a file"),
        _ => ("two keys, one RSA and one ECDSA,", "in files"),
    };
    let in_files = |source: &Source<'_>| matches!(source, Source::File(_));
    let (place, package) = match token_of(sources) {
        None => (files, ""),
        Some((_, TokenWay::Engine)) => (
            "on a PKCS#11 token, by libp11's engine",
            ", libengine-pkcs11-openssl",
        ),
        Some((_, TokenWay::Provider)) => (
            "on a PKCS#11 token, by pkcs11-provider",
            ", pkcs11-provider",
        ),
    };
    let other = if sources.iter().any(in_files) && !package.is_empty() {
        ", and in a file"
    } else {
        ""
    };
    let library = match installed.library.name {
        "openssl" => "OpenSSL",
        name => name,
    };
    format!(
        "{} {} ({library} {}) with {keys} {place}{other}. {}",
        installed.name(),
        installed.version,
        installed.library.version,
        match installed.kind.program().brought_by {
            BroughtBy::Package(own) => format!("It needs the packages {own}, openssl{package}."),
            BroughtBy::Other(how) => format!("{how}; the commands need the package openssl."),
        }
    )
}

fn made_in_file(algorithm: Algorithm, files: &Files<'_>) -> Result<Section, ServerError> {
    let (key, request) = (files.plain("key.pem")?, files.plain("request.pem")?);
    let certificate = file_name(&files.path("certificate.pem"));
    let host = files.host;
    let directory = plain("the directory of the server's files", files.directory)?;
    let options = genpkey(algorithm)?;
    let commands = format!(
        "install -d -m 700 {directory}\n\
         (umask 077; openssl genpkey {options} -out {key})\n\
         openssl req -new -key {key} -subj /CN={host} \\\n    -addext subjectAltName=DNS:{host} -out {request}\n"
    );
    let title = format!(
        "The key, and a request for its certificate; store the certificate as {certificate}"
    );
    Ok(shell(title, commands))
}

/// What `openssl genpkey` is told to make it.
fn genpkey(algorithm: Algorithm) -> Result<String, ServerError> {
    certificate::check(algorithm)?;
    if is_weak(algorithm) {
        let reason = format!("{algorithm} is weak: it has 80 bits of security or less");
        return Err(Error::call("making a key", reason, "rsa2048 is not").into());
    }
    const KINDS: [(Family, &str); 3] = [
        (
            Family::Weierstrass(Curve::NistP256),
            "EC -pkeyopt ec_paramgen_curve:P-256",
        ),
        (
            Family::Weierstrass(Curve::NistP384),
            "EC -pkeyopt ec_paramgen_curve:P-384",
        ),
        (Family::Ed25519, "ED25519"),
    ];
    if let Family::Rsa(bits) = algorithm.family() {
        return Ok(format!("-algorithm RSA -pkeyopt rsa_keygen_bits:{bits}"));
    }
    let kind = KINDS
        .iter()
        .find(|(family, _)| *family == algorithm.family());
    let (_, kind) = kind.ok_or(Impossible::NoCertificate(algorithm))?;
    Ok(format!("-algorithm {kind}"))
}

/// What all keys on the token need.
fn shared_sections(
    installed: &Installed,
    key: &TokenKey,
    way: TokenWay,
    files: &Files<'_>,
) -> Result<Vec<Section>, ServerError> {
    let pin_file = files.shared("pin");
    let loadable = installed.openssl()?.loadable(way)?;
    let lines = openssl::configuration(Reach {
        way,
        loadable: &loadable,
        module: &key.module,
        pin_file: Some(&pin_file),
    })?;
    let directory = plain("the directory of the server's files", files.directory)?;
    let pin = plain("the directory of the server's files", &pin_file)?;
    Ok(vec![
        shell(
            "The PIN, in a file that only root can read",
            format!(
                "install -d -m 700 {directory}\ninstall -m 600 /dev/null {pin}\n\
                 # Not as an argument, which everybody can see.\nread -rs PIN && printf %s \"$PIN\" > {pin}; unset PIN\n"
            ),
        ),
        Section {
            title: "OpenSSL's way to the token".to_owned(),
            destination: Destination::File(files.shared("openssl.cnf")),
            text: text(&lines, Comments::Written, ""),
        },
    ])
}

fn token_sections(
    key: &TokenKey,
    way: TokenWay,
    files: &Files<'_>,
) -> Result<(Vec<Section>, KeyReference), ServerError> {
    let uri = token::uri(key, way, Some(&files.shared("pin")));
    let certificate = file_name(&files.path("certificate.pem"));
    let title = format!(
        "A request for the certificate of the key in the HSM; store the certificate as {certificate}"
    );
    let mut sections = vec![shell(title, request(key, way, &uri, files)?)];
    let reference = match way {
        TokenWay::Engine => KeyReference::Engine { uri },
        TokenWay::Provider => {
            sections.push(Section {
                title: "The key's URI (with type=private: otherwise the public key may be found first), in the form of \
                        a key's file"
                    .to_owned(),
                destination: Destination::File(files.path("key-uri.pem")),
                text: token::uri_pem(&uri),
            });
            KeyReference::Provider(files.quoted("key-uri.pem")?)
        }
    };
    Ok((sections, reference))
}

fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

fn request(
    key: &TokenKey,
    way: TokenWay,
    uri: &str,
    files: &Files<'_>,
) -> Result<String, ServerError> {
    let mut command = String::new();
    for (name, value) in assignments(key, files)? {
        command += &format!("{name}={value} ");
    }
    let by = match way {
        TokenWay::Engine => " -engine pkcs11 -keyform engine",
        TokenWay::Provider => "",
    };
    let host = files.host;
    let out = files.plain("request.pem")?;
    command += &format!(
        "\\\nopenssl req -new{by} \\\n    -key '{uri}' \\\n    -subj /CN={host} -addext subjectAltName=DNS:{host} -out {out}\n"
    );
    Ok(command)
}

/// What modules and OpenSSL read, which has to stand in a line of shell.
fn assignments(key: &TokenKey, files: &Files<'_>) -> Result<Vec<(String, String)>, ServerError> {
    let word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let own = key.environment.iter().filter_map(|(name, value)| {
        let name = name.to_str().filter(|name| name.chars().all(word))?;
        Some((name.to_owned(), PathBuf::from(value)))
    });
    let configuration = files.shared("openssl.cnf");
    let configuration = plain("the directory of the server's files", &configuration)?;
    let mut all = vec![("OPENSSL_CONF".to_owned(), configuration.to_owned())];
    for (name, value) in own {
        let value = plain("a variable of the module", &value)?;
        all.push((name, value.to_owned()));
    }
    Ok(all)
}

fn environment(
    installed: &Installed,
    key: &TokenKey,
    files: &Files<'_>,
) -> Result<Section, ServerError> {
    let place = installed.kind.environment();
    let place = place.ok_or(Impossible::KeysInFilesAlone(installed.name()))?;
    let mut lines = comment(
        "Each worker loads the module again, as its own user, who must be allowed to use the token's files (with \
         SoftHSM2: adduser www-data softhsm).",
        "",
    );
    lines += place.heading;
    for (name, value) in assignments(key, files)? {
        lines += &format!("{}{name}={value}\n", place.assignment);
    }
    Ok(Section {
        title: "The server's environment".to_owned(),
        destination: Destination::PartOf(place.file.to_owned()),
        text: lines,
    })
}

fn shell(title: impl Into<String>, text: String) -> Section {
    Section {
        title: title.into(),
        destination: Destination::Shell,
        text,
    }
}
