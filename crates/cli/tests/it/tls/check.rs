//! `keymark tls check`, with `openssl s_server` and what `openssl s_client` says of the same server.

use std::path::Path;
use std::process::{Command, Stdio};

use keymark_testkit::assert_says;
use keymark_testkit::place::{Place, text};

use super::{certificate, openssl_server};
use crate::KEYMARK;

/// Cells behind the name of a row.
fn row(shown: &str, name: &str) -> Vec<String> {
    let line = shown.lines().find(|line| line.starts_with(name));
    let cells = line.and_then(|line| line.strip_prefix(name));
    let cells = cells.unwrap_or_else(|| panic!("{name}: {shown}"));
    cells.split_whitespace().map(str::to_owned).collect()
}

/// Whether `openssl s_client` gets a certificate with such a key.
fn client_gets(address: &str, options: &str, key: &str) {
    let mut client = Command::new("openssl");
    client.args(["s_client", "-connect", address]);
    client.args(options.split(' ')).stdin(Stdio::null());
    let shown = text(&client.output().unwrap().stdout);
    assert_says(&shown, [key]);
}

#[test]
fn each_client_and_key_exchange_has_its_certificate() {
    let place = Place::new(KEYMARK);
    let rsa = certificate(&place, "rsa", "rsa:2048");
    let ecdsa = certificate(&place, "ecdsa", "ec -pkeyopt ec_paramgen_curve:P-256");
    let serve = |options, keys: &[&Path]| openssl_server(place.directory(), options, keys);
    let check = |address: &str, status| place.ends(&format!("tls check {address}"), status).stdout;

    let (one, address) = serve("", &[&rsa]);
    let shown = check(&address, 1);
    assert!(shown.starts_with("Add an ECDSA certificate"), "{shown}");
    assert_eq!(row(&shown, "rsa "), ["rsa2048", "-"]);
    assert_eq!(row(&shown, "x25519 "), ["rsa2048", "rsa2048"]);
    assert_eq!(row(&shown, "ECDSA only")[0], "refused");
    drop(one);

    let (_two, address) = serve("-cipher ALL -groups P-256:X25519", &[&rsa, &ecdsa]);
    let shown = check(&address, 0);
    assert!(shown.starts_with("Nothing to do"), "{shown}");
    for (client, key) in [
        ("old: TLS 1.2, RSA only", "rsa2048"),
        ("TLS 1.2, RSA or ECDSA", "nistp256"),
        ("modern: TLS 1.3, RSA or ECDSA", "nistp256"),
    ] {
        assert_eq!(row(&shown, client)[0], key, "{shown}");
    }
    assert_eq!(row(&shown, "ecdhe-p384 "), ["-", "-"]);
    assert_eq!(row(&shown, "ecdhe-p256 "), ["nistp256", "nistp256"]);
    client_gets(&address, "-tls1_2 -cipher aRSA", "RSA");
    client_gets(&address, "-tls1_3", "ECDSA");

    let (_modern, address) = serve("-tls1_3", &[&ecdsa]);
    assert!(check(&address, 0).contains("TLS 1.3 only"));
    let nobody = place.refused("tls check 127.0.0.1:1", 3);
    assert_says(&nobody, ["asking 127.0.0.1:1"]);
}
