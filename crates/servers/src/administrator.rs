//! A working configuration for an administrator, with a line on each trap: by the code that configures keymark's own
//! servers.

use std::fmt;
use std::path::{Path, PathBuf};

use keymark_bench::error::Error;

use crate::configuration::openssl_conf::{self, Reach};
use crate::configuration::{
    Comments, KeyReference, Pair, Purpose, QuotedPath, Tls, apache, comment, nginx, plain, text,
};
use crate::error::{Impossible, ServerError};
use crate::handshakes::Handshakes;
use crate::identity::{TokenKey, TokenWay};
use crate::software::{Installed, Software};
use crate::spec::SecurityLevel;
use crate::token;

/// Where the administrator's key is.
#[allow(missing_debug_implementations, reason = "a token's key may hold a PIN")]
#[derive(Clone, Copy)]
pub enum Source<'k> {
    /// In a file.
    File,
    /// On a token, reached that way. No PIN is needed for the text, and none is in it.
    Token(&'k TokenKey, TokenWay),
}

/// What a section is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
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
    pub place: Place,
    /// The text; comments begin with `#`.
    pub text: String,
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
            let place = match &section.place {
                Place::Shell => "in a shell, as root".to_owned(),
                Place::File(file) => format!("the file {}", file.display()),
                Place::PartOf(file) => file.clone(),
            };
            let head = format!("--- {number}. {}: {place}", section.title);
            write!(f, "\n{}{}", comment(&head, ""), section.text)?;
        }
        Ok(())
    }
}

/// Files in the administrator's directory.
struct Files<'d> {
    directory: &'d Path,
    host: &'d str,
}

impl Files<'_> {
    fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
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

/// The steps for a server of that name (`www.example.org`), with its files in `directory`.
///
/// # Errors
/// When the server is none for TLS, the engine or provider is missing, or a name cannot stand in a configuration.
pub fn guide(
    installed: &Installed,
    source: Source<'_>,
    host: &str,
    directory: &Path,
) -> Result<Guide, ServerError> {
    let named = |letter: char| letter.is_ascii_alphanumeric() || ".-_".contains(letter);
    if host.is_empty() || host.starts_with('-') || !host.chars().all(named) {
        let reason = "it is no name of a host: letters, digits, '.' and '-'";
        return Err(Error::call("naming the server", reason, "").into());
    }
    let files = Files { directory, host };
    let (how, mut sections, reference) = match source {
        Source::File => {
            let reference = KeyReference::File(files.quoted("key.pem")?);
            (
                "with its key in a file".to_owned(),
                file_sections(&files)?,
                reference,
            )
        }
        Source::Token(key, way) => {
            let (sections, reference) = token_sections(installed, key, way, &files)?;
            let how = match way {
                TokenWay::Engine => "with its key on a PKCS#11 token, by libp11's engine",
                TokenWay::Provider => "with its key on a PKCS#11 token, by pkcs11-provider",
            };
            (how.to_owned(), sections, reference)
        }
    };
    let pair = Pair {
        certificate: files.quoted("certificate.pem")?,
        key: reference,
    };
    let handshakes = Handshakes::usual();
    let tls = Tls {
        pairs: vec![pair],
        handshakes: &handshakes,
        level: SecurityLevel::Distributions,
        purpose: Purpose::Administration,
        dh: None,
    };
    sections.extend(server_sections(installed.software, &tls, source)?);
    let way = match source {
        Source::File => "",
        Source::Token(_, TokenWay::Engine) => ", libengine-pkcs11-openssl",
        Source::Token(_, TokenWay::Provider) => ", pkcs11-provider",
    };
    Ok(Guide {
        title: format!(
            "{} {} (OpenSSL {}) {how}. It takes the packages {}, openssl{way}.",
            installed.software,
            installed.version,
            installed.openssl.version,
            installed.software.package()
        ),
        sections,
    })
}

fn file_sections(files: &Files<'_>) -> Result<Vec<Section>, Impossible> {
    let (key, request) = (files.plain("key.pem")?, files.plain("request.pem")?);
    let host = files.host;
    let directory = plain("the directory of the server's files", files.directory)?;
    let commands = format!(
        "install -d -m 700 {directory}\n\
         (umask 077; openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out {key})\n\
         openssl req -new -key {key} -subj /CN={host} \\\n    -addext subjectAltName=DNS:{host} -out {request}\n"
    );
    let title = "The key, and a request for its certificate, which comes as certificate.pem";
    Ok(vec![shell(title, commands)])
}

fn token_sections(
    installed: &Installed,
    key: &TokenKey,
    way: TokenWay,
    files: &Files<'_>,
) -> Result<(Vec<Section>, KeyReference), ServerError> {
    let pin_file = files.path("pin");
    let loadable = installed.openssl.loadable(way)?;
    let lines = openssl_conf::lines(Reach {
        way,
        loadable: &loadable,
        module: key.module(),
        pin_file: Some(&pin_file),
    })?;
    let uri = token::uri(key, way, Some(&pin_file));
    let directory = plain("the directory of the server's files", files.directory)?;
    let pin = files.plain("pin")?;
    let mut sections = vec![
        shell(
            "The PIN, in a file of root's",
            format!(
                "install -d -m 700 {directory}\ninstall -m 600 /dev/null {pin}\n\
                 # Not as an argument, which everybody can see.\nread -rs PIN && printf %s \"$PIN\" > {pin}; unset PIN\n"
            ),
        ),
        Section {
            title: "OpenSSL's way to the token".to_owned(),
            place: Place::File(files.path("openssl.cnf")),
            text: text(&lines, Comments::Written, ""),
        },
        shell(
            "A request for the certificate of the key in the HSM, which comes as certificate.pem",
            request(key, way, &uri, files)?,
        ),
    ];
    let reference = match way {
        TokenWay::Engine => KeyReference::Engine { uri },
        TokenWay::Provider => {
            sections.push(Section {
                title: "The key's URI (with type=private: otherwise the public key may be found first), in the form of \
                        a key's file"
                    .to_owned(),
                place: Place::File(files.path("key-uri.pem")),
                text: token::uri_pem(&uri),
            });
            KeyReference::Provider(files.quoted("key-uri.pem")?)
        }
    };
    sections.push(environment(installed.software, key, files)?);
    Ok((sections, reference))
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
    let own = key.environment().iter().filter_map(|(name, value)| {
        let name = name.to_str().filter(|name| name.chars().all(word))?;
        Some((name.to_owned(), PathBuf::from(value)))
    });
    let mut all = vec![("OPENSSL_CONF".to_owned(), files.plain("openssl.cnf")?)];
    for (name, value) in own {
        let value = plain("a variable of the module", &value)?;
        all.push((name, value.to_owned()));
    }
    Ok(all)
}

fn environment(
    software: Software,
    key: &TokenKey,
    files: &Files<'_>,
) -> Result<Section, ServerError> {
    let assignments = assignments(key, files)?;
    let mut lines = comment(
        "Each worker loads the module again, as its own user: that one has to be able to use the token's files (of \
         SoftHSM2: adduser www-data softhsm).",
        "",
    );
    let (place, open) = match software {
        Software::Apache(_) => ("at the end of /etc/apache2/envvars", "export "),
        Software::Nginx | Software::Haproxy => {
            lines += "[Service]\n";
            ("what 'systemctl edit nginx' opens", "Environment=")
        }
    };
    for (name, value) in assignments {
        lines += &format!("{open}{name}={value}\n");
    }
    Ok(Section {
        title: "The server's environment".to_owned(),
        place: Place::PartOf(place.to_owned()),
        text: lines,
    })
}

fn server_sections(
    software: Software,
    tls: &Tls<'_>,
    source: Source<'_>,
) -> Result<Vec<Section>, Impossible> {
    let part = |title: &str, place: &str, lines: &[_]| Section {
        title: title.to_owned(),
        place: Place::PartOf(place.to_owned()),
        text: text(lines, Comments::Written, ""),
    };
    let (outside, inside) = match software {
        Software::Apache(_) => (
            part(
                "mod_ssl ('a2enmod ssl')",
                "outside all virtual hosts, in /etc/apache2/mods-available/ssl.conf",
                &apache::global_part(tls),
            ),
            part(
                "The virtual host",
                "within <VirtualHost *:443>",
                &apache::host_part(tls),
            ),
        ),
        Software::Nginx => {
            let mut names = vec!["OPENSSL_CONF".to_owned()];
            match source {
                Source::File => names.clear(),
                Source::Token(key, _) => {
                    let own = key.environment().iter();
                    names.extend(own.filter_map(|(name, _)| name.to_str().map(str::to_owned)));
                }
            }
            (
                part(
                    "What workers need",
                    "outside all blocks, in /etc/nginx/nginx.conf",
                    &nginx::main_part(tls, &names),
                ),
                part(
                    "The server",
                    "in the block server { listen 443 ssl; … }",
                    &nginx::host_part(tls),
                ),
            )
        }
        Software::Haproxy => return Err(Impossible::NoTlsServer(software)),
    };
    let sections = [outside, inside].into_iter();
    Ok(sections
        .filter(|section| !section.text.is_empty())
        .collect())
}

fn shell(title: &str, text: String) -> Section {
    Section {
        title: title.to_owned(),
        place: Place::Shell,
        text,
    }
}
