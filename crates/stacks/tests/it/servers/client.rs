//! The installed `openssl s_client`: code that is not keymark's.

use std::fs;
use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};

use keymark_bench::Error;
use keymark_stacks::tls::servers::{
    Certificates, Handshakes, Identity, InstalledServer, Purpose, RunningServer, SearchPath,
    ServerSpec, TokenWay, kind,
};
use keymark_stacks::tls::{KeyExchange, TlsVersion};
use keymark_testkit::place::said;

/// What it says when it has asked for the document over a connection of that kind.
pub fn s_client(address: SocketAddr, arguments: &[&str]) -> String {
    let mut child = Command::new("timeout")
        .args(["30", "openssl", "s_client", "-connect"])
        .arg(address.to_string())
        .args(["-servername", "localhost", "-ign_eof"])
        .args(arguments)
        .env("OPENSSL_CONF", "/dev/null")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    // It may have ended: a handshake that was refused.
    let _ = input.write_all(b"GET /document HTTP/1.0\r\nHost: localhost\r\n\r\n");
    drop(input);
    said(&child.wait_with_output().unwrap())
}

/// The same with the certificate verified.
pub fn verified(server: &RunningServer, arguments: &[&str]) -> String {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("authorities.pem");
    let authorities = server.spec.certificates.iter();
    let pem: Vec<u8> = authorities
        .flat_map(|identity| identity.authority.to_pem().unwrap())
        .collect();
    fs::write(&file, pem).unwrap();
    let options = ["-verify_return_error", "-verify_hostname", "localhost"];
    let trust = ["-CAfile", file.to_str().unwrap()];
    s_client(
        server.process.address,
        &[&trust[..], &options[..], arguments].concat(),
    )
}

/// Whether the document has come.
pub fn has_document(said: &str) -> bool {
    said.contains("200 OK") && said.contains("A line of what keymark downloads")
}

/// A second connection with the session of a first one: whatever the server has given is taken along.
pub fn second_connection(address: SocketAddr, arguments: &[&str]) -> String {
    let place = tempfile::tempdir().unwrap();
    let session = place.path().join("session");
    let session = session.to_str().unwrap();
    s_client(address, &[arguments, &["-sess_out", session]].concat());
    if Path::new(session).exists() {
        s_client(address, &[arguments, &["-sess_in", session]].concat())
    } else {
        s_client(address, arguments)
    }
}

/// What it says with a certificate of its own.
pub fn shown(address: SocketAddr, client: &Identity) -> String {
    let place = tempfile::tempdir().unwrap();
    let client = client.client().unwrap();
    let (certificate, key) = (place.path().join("certificate"), place.path().join("key"));
    fs::write(&certificate, client.certificate.to_pem().unwrap()).unwrap();
    fs::write(&key, client.key.private_key_to_pem_pkcs8().unwrap()).unwrap();
    let [certificate, key] = [&certificate, &key].map(|file| file.to_str().unwrap());
    s_client(address, &["-cert", certificate, "-key", key])
}

/// Those with OpenSSL, once each.
pub const BOTH: [&str; 2] = ["apache", "nginx"];
/// Every program, once each.
pub const EACH: [&str; 3] = ["apache", "nginx", "caddy"];

pub fn installed(software: &str) -> InstalledServer {
    InstalledServer::find(kind(software).unwrap(), &SearchPath::usual()).unwrap()
}

pub fn identity(word: &str) -> Identity {
    Identity::generate(word.parse().unwrap(), Purpose::Server).unwrap()
}

/// A key exchange in its usual version, or behind `1.2 `.
pub fn handshakes(kex: &str) -> Handshakes {
    let (version, word) = match kex.strip_prefix("1.2 ") {
        Some(word) => (Some(TlsVersion::V1_2), word),
        None => (None, kex),
    };
    let exchange: KeyExchange = word.parse().unwrap();
    Handshakes::of(version.unwrap_or(exchange.usual_version()), exchange).unwrap()
}

pub fn spec(word: &str, kex: &str) -> ServerSpec {
    ServerSpec::new(Certificates::one(identity(word)), handshakes(kex))
}

pub fn started(software: &str, spec: &ServerSpec) -> RunningServer {
    RunningServer::start(&installed(software), spec)
        .unwrap_or_else(|error| panic!("{software}: {error}"))
}

pub fn refused(software: &str, spec: &ServerSpec) -> Error {
    RunningServer::start(&installed(software), spec).unwrap_err()
}

/// Ways to keys on tokens: pkcs11-provider is not in every distribution yet.
pub fn ways() -> Vec<TokenWay> {
    let nginx = installed("nginx");
    let openssl = nginx.openssl().unwrap();
    let ways = [TokenWay::Engine, TokenWay::Provider].into_iter();
    let there: Vec<TokenWay> = ways.filter(|way| openssl.get(*way).is_ok()).collect();
    assert!(
        there.contains(&TokenWay::Engine),
        "libengine-pkcs11-openssl"
    );
    there
}
