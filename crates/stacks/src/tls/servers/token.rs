//! A token's key, loaded once by the program `openssl` as the server will load it: for its public half, and so that a PIN
//! is tried once and no server tries it.

use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::Path;

use ::openssl::pkey::{PKey, Public};
use ::openssl::rsa::Rsa;
use keymark_bench::error::Error;
use keymark_stores::places::memory_file::{self, STANDARD_INPUT};
use keymark_stores::places::private_dir::PrivateDir;
use keymark_stores::places::program;

use crate::openssl::words::{complaint, refuse_pin};
use crate::tls::servers::directory::write_private;
use crate::tls::servers::error::ServerError;
use crate::tls::servers::identity::{TokenKey, TokenWay};
use crate::tls::servers::kind::Installed;
use crate::tls::servers::log::visible;
use crate::tls::servers::openssl::{self, Reach};
use crate::tls::servers::text::{Comments, text};

/// What OpenSSL needs for a token's key, in a directory.
pub(crate) struct TokenFiles {
    /// The name of its configuration.
    pub(crate) configuration: std::path::PathBuf,
    /// The key's URI, as the way wants it.
    pub(crate) uri: String,
    /// What the program finds the PIN in, if it is its standard input.
    pub(crate) pin: Option<File>,
}

/// Writes the configuration there. The PIN is in no file of the directory: engine and provider open the program's standard
/// input by its name.
pub(crate) fn write(
    server: &Installed,
    key: &TokenKey,
    way: TokenWay,
    directory: &Path,
) -> Result<TokenFiles, ServerError> {
    let pin = key
        .pin
        .as_ref()
        .map(|pin| memory_file::holding(pin.expose().as_bytes()));
    let pin = pin.transpose()?;
    let pin_file = pin.as_ref().map(|_| Path::new(STANDARD_INPUT));
    let loadable = server.openssl()?.loadable(way)?;
    let lines = openssl::configuration(Reach {
        way,
        loadable: &loadable,
        module: &key.module,
        pin_file,
    })?;
    let configuration = directory.join("openssl.cnf");
    write_private(&configuration, text(&lines, Comments::Left, "").as_bytes())?;
    Ok(TokenFiles {
        configuration,
        uri: uri(key, way, pin_file),
        pin,
    })
}

/// The engine finds the PIN by the URI, the provider by its configuration.
pub(crate) fn uri(key: &TokenKey, way: TokenWay, pin_file: Option<&Path>) -> String {
    match way {
        TokenWay::Engine => key.uri(pin_file),
        TokenWay::Provider => key.uri(None),
    }
}

/// The key's public half.
pub(crate) fn public_key(
    server: &Installed,
    key: &TokenKey,
    way: TokenWay,
) -> Result<PKey<Public>, ServerError> {
    const CALL: &str = "openssl pkey -pubout";
    let program = program::locate(None, "openssl").ok_or_else(|| Error::Missing {
        what: "openssl".to_owned(),
        reason: "not in PATH".to_owned(),
        advice: "install it with 'apt-get install openssl' (Debian, Ubuntu)".to_owned(),
    })?;
    let directory = PrivateDir::new()?;
    let files = write(server, key, way, directory.path())?;
    let mut command = program::command(&program);
    if let Some(pin) = files.pin {
        command.stdin(pin);
    }
    let environment = key.environment.iter();
    command
        .envs(environment.map(|(name, value)| (name, value)))
        .env("LC_ALL", "C")
        .env("OPENSSL_CONF", &files.configuration)
        .args(["pkey", "-pubout"]);
    match way {
        TokenWay::Engine => command.args(["-engine", "pkcs11", "-inform", "engine"]),
        TokenWay::Provider => &mut command,
    };
    let done = command
        .args(["-in", &files.uri])
        // Ctrl-C is keymark's to handle.
        .process_group(0)
        .output()
        .map_err(|error| Error::call(CALL, error, ""))?;
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr);
        return Err(refused(CALL, &said).into());
    }
    let read = PKey::public_key_from_pem(&done.stdout).or_else(|_| {
        // pkcs11-provider 1.0 writes RSA keys in the form of PKCS#1.
        Rsa::public_key_from_pem_pkcs1(&done.stdout).and_then(PKey::from_rsa)
    });
    Ok(read.map_err(|error| Error::call(CALL, error, ""))?)
}

fn refused(call: &str, said: &str) -> Error {
    let advice = if refuse_pin(said) {
        "the token refused the PIN, which was tried once; no server was started"
    } else {
        "no server was started"
    };
    Error::call(call, visible(complaint(said)), advice)
}

/// The file by which the provider passes for a key's file: PEM around `SEQUENCE { VisibleString, UTF8String }`
/// (pkcs11-provider's `uri2pem`).
pub(crate) fn uri_pem(uri: &str) -> String {
    const DESCRIPTION: &str = "PKCS#11 Provider URI v1.0";
    const LABEL: &str = "PKCS#11 PROVIDER URI";
    let description = der(0x1A, DESCRIPTION.as_bytes());
    let content = der(0x30, &[description, der(0x0C, uri.as_bytes())].concat());
    let mut text = format!("-----BEGIN {LABEL}-----\n");
    let base64 = ::openssl::base64::encode_block(&content);
    let mut rest = base64.as_str();
    while !rest.is_empty() {
        let (line, behind) = rest.split_at(rest.len().min(64));
        text += line;
        text.push('\n');
        rest = behind;
    }
    text + &format!("-----END {LABEL}-----\n")
}

/// A value of DER (X.690 §8.1).
fn der(tag: u8, content: &[u8]) -> Vec<u8> {
    let length = content.len();
    let mut octets = vec![tag];
    match u8::try_from(length) {
        Ok(short) if short < 0x80 => octets.push(short),
        Ok(long) => octets.extend([0x81, long]),
        Err(_) => {
            octets.push(0x82);
            // A URI of 64 KiB is none.
            octets.extend(u16::try_from(length).unwrap_or(u16::MAX).to_be_bytes());
        }
    }
    octets.extend(content);
    octets
}

#[cfg(test)]
mod tests {
    use keymark_testkit::{assert_says, assert_silent};

    use super::*;

    #[test]
    fn lengths_are_ders() {
        assert_eq!(der(4, &[1, 2]), [4, 2, 1, 2]);
        assert_eq!(der(4, &[0; 200])[..3], [4, 0x81, 200]);
        assert_eq!(der(4, &[0; 300])[..4], [4, 0x82, 1, 44]);
        let pem = uri_pem("pkcs11:token=t;object=r");
        assert!(pem.lines().all(|line| line.len() <= 64), "{pem}");
    }

    #[test]
    fn a_refused_pin_is_told_apart() {
        let pin = refused("x", "Engine \"pkcs11\" set.\nLogin failed\n").to_string();
        assert_says(&pin, ["Login failed", "tried once"]);
        let other = refused("x", "The private key was not found\n").to_string();
        assert_silent(&other, ["PIN"]);
    }
}
