//! `keymark tls`, with the distribution's Apache and nginx.

mod check;
mod connect;
mod faults;
mod key_use;
mod sessions;
mod suites;

use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use keymark_testkit::assert_says;
use keymark_testkit::place::{Ends as _, Place, assert_has};
use keymark_testkit::process::{free_port, naming};
use keymark_testkit::waiting::until;
use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::{KEYMARK, Running, end_of, number, quiet, tell, telling};

/// `keymark tls serve`, and what it tells; its authority is in that file.
fn serve(place: &Place, arguments: &str) -> (Running, Value, PathBuf) {
    let serve = format!("tls serve --format json {arguments}");
    let (child, told) = telling(&mut place.keymark(&serve));
    let authority = place.path("authority.pem");
    std::fs::write(&authority, told["authority"].as_str().unwrap()).unwrap();
    (Running(child), told, authority)
}

/// A new key, and its certificate.
pub(crate) fn certificate(place: &Place, name: &str, kind: &str) -> PathBuf {
    let key = place.path(&format!("{name}.pem"));
    let request = format!("req -x509 -nodes -days 9 -subj /CN={name} -newkey {kind}");
    let mut openssl = Command::new("openssl");
    openssl.args(request.split(' ')).arg("-keyout").arg(&key);
    openssl.arg("-out").arg(key.with_extension("crt")).ends(0);
    key
}

/// `openssl s_server` in that directory, with these keys and their certificates.
pub(crate) fn openssl_server(directory: &Path, options: &str, keys: &[&Path]) -> (Running, String) {
    let address = format!("127.0.0.1:{}", free_port());
    let mut server = Command::new("openssl");
    server.args(["s_server", "-quiet", "-accept", &address]);
    server.args(options.split_whitespace());
    for (key, names) in keys.iter().zip([["-cert", "-key"], ["-dcert", "-dkey"]]) {
        server.arg(names[0]).arg(key.with_extension("crt"));
        server.arg(names[1]).arg(key);
    }
    let server = Running(quiet(server.current_dir(directory).stdin(Stdio::null())));
    until("the server listens", || {
        TcpStream::connect(&address).is_ok()
    });
    (server, address)
}

#[test]
fn servers_are_loaded_and_siege_s_figures_stand_in_rows() {
    let place = Place::new(KEYMARK);
    let rows = place.rows(
        "tls bench --server nginx,apache --algorithm rsa2048,nistp256 --kex ecdhe-p256 --workers 1,4 --case-time \
         2s --format json",
    );
    assert_eq!(rows.len(), 8, "{rows:?}");
    for row in &rows {
        let number = |name: &str| number(row, name);
        assert_has(
            row,
            json!({"operation": "handshake", "server": row["stack"], "failed": 0, "availability": 100.0}),
        );
        assert_has(
            &row["parameters"],
            json!({"tls": "tls1.3", "kex": "ecdhe-p256"}),
        );
        assert!(number("transactions") >= 10.0, "{row}");
        assert!(number("shortest_s") <= number("p50_s") && number("p50_s") <= number("p95_s"));
        // A p99 is said only where enough transactions bound it from above.
        let tail = row["p99_s"].as_f64().unwrap_or_else(|| number("p95_s"));
        assert!(number("p95_s") <= tail, "{row}");
        assert!(tail <= number("longest_s") * 1.001, "{row}");
        assert!(
            number("concurrency_mean") <= number("users") + 0.001,
            "{row}"
        );
        assert!(
            number("server_cpu_s") > 0.0 && number("client_cpu_s") > 0.0,
            "{row}"
        );
        // Little's law: no more are under way than there are users.
        assert!(
            number("rate_per_s") * number("mean_s") <= number("users") * 1.05,
            "{row}"
        );
    }
    // The archive has it all again, and so has the file that is exchanged.
    let shown = place.rows("show last --format json");
    assert_eq!(shown, rows);
    let record = place.record();
    let load = &record["cases"][0]["server_load"];
    assert_eq!(load["server"]["session_tickets"], "off");
    let tables = place.stdout("show last --long");
    assert_says(&tables, ["as siege counts", "p95", "apache "]);
    assert_says(&tables, ["nginx tls1.3 ecdhe-p256 w=4"]);
    place.assert_gone();
}

#[test]
fn caddy_exchanges_keys_by_ml_kem_whatever_openssl_is_here() {
    let place = Place::new(KEYMARK);
    let rows = place.rows(
        "tls bench --server caddy --algorithm rsa2048,nistp256 --kex x25519mlkem768 --workers 2 --case-time 3s --format json \
         --no-save",
    );
    assert_eq!(rows.len(), 2, "{rows:?}");
    for row in &rows {
        assert_has(row, json!({"server": "caddy", "failed": 0}));
        assert_eq!(row["parameters"]["kex"], "x25519mlkem768");
        assert!(number(row, "transactions") >= 10.0, "{row}");
    }
    let on_token =
        "tls bench --server caddy --device softhsm --algorithm nistp256 --case-time 3s --no-save";
    let said = place.ends(on_token, 1).said();
    assert_says(&said, ["Caddy reads private keys from files only"]);
}

#[test]
fn what_cannot_be_had_is_said_and_the_others_go_on() {
    let place = Place::new(KEYMARK);
    let bench = "tls bench --server nginx --algorithm rsa1024,nistp256 --kex rsa,x25519 --workers 2 --case-time 2s \
                 --format json --no-save";
    let rows = place.ends(bench, 1).rows();
    assert_eq!(rows.len(), 4, "{rows:?}");
    for row in rows {
        let reason = &row["reason"];
        match (row["algorithm"].as_str(), row["parameters"]["kex"].as_str()) {
            (Some("rsa1024"), _) => assert_says(reason, ["--allow-weak"]),
            (_, Some("rsa")) => assert_says(reason, ["no cipher for a nistp256 certificate"]),
            _ => assert!(reason.is_null(), "{row}"),
        }
    }
    let weak = place.stdout(
        "tls bench --server apache --algorithm rsa1024 --kex dhe-1024 --workers 2 --case-time 2s --allow-weak \
         --no-save",
    );
    assert_says(&weak, ["apache, tls1.2, dhe-1024", " weak"]);
    for (arguments, words) in [
        ("--server lighttpd", "choose from apache, apache-prefork"),
        ("--kex ecdhe", "ecdhe-p256"),
        ("--device nowhere", "nowhere"),
        ("--rate 5 --think 5s", "cannot be used with"),
    ] {
        assert_says(
            &place.refused(&format!("tls bench {arguments}"), 2),
            [words],
        );
    }
    place.assert_gone();
}

#[test]
fn a_tpm_is_refused_with_the_reason() {
    let place = Place::new(KEYMARK);
    let bench = "tls bench --device swtpm --algorithm rsa2048 --workers 2 --case-time 2s --no-save";
    let words = "tpm2-pkcs11 does not work in workers";
    assert_says(&place.ends(bench, 1).said(), [words]);
    place.assert_gone();
}

#[test]
fn an_open_loop_and_users_who_think_are_loads_too() {
    let place = Place::new(KEYMARK);
    // A shared machine may stop for seconds: then once more.
    let forty_a_second = |more: &str| {
        let command = format!(
            "tls bench --server nginx --algorithm nistp256 --case-time 4s --format json --no-save {more}"
        );
        let mut rows = std::iter::repeat_with(|| place.rows(&command).remove(0)).take(3);
        let near = |row: &Value| {
            let rate = row["rate_per_s"].as_f64();
            rate.is_some_and(|rate| (20.0..60.0).contains(&rate))
        };
        rows.find(near)
            .expect("forty a second in one of three runs")
    };
    let open = forty_a_second("--rate 40");
    assert_eq!(open["rate"], 40.0, "{open}");
    // Twenty users who pause half a second on average.
    let thinking = forty_a_second("--users 20 --think 1s");
    assert_eq!(thinking["delay_s"], 1.0, "{thinking}");
    place.assert_gone();
}

#[test]
fn a_server_that_is_left_running_answers_others_and_is_gone_after_ctrl_c() {
    let place = Place::new(KEYMARK);
    let (mut serving, told, authority) = serve(&place, "--server apache --algorithm nistp256");
    let address = told["address"].as_str().unwrap();
    let mut client = Command::new("openssl");
    client.args(["s_client", "-connect", address, "-servername", "localhost"]);
    client
        .args(["-verify_return_error", "-CAfile"])
        .arg(&authority);
    let shown = client.stdin(Stdio::null()).ends(0).stdout;
    assert_says(&shown, ["Verification: OK"]);
    tell(&serving.0, Signal::SIGINT);
    assert!(serving.0.wait().unwrap().success());
    place.assert_gone();
}

/// A search that is broken off has not failed.
#[test]
fn an_interrupted_search_for_users_is_told_from_a_failure() {
    let place = Place::new(KEYMARK);
    let bench = "tls bench --server nginx --algorithm nistp256 --saturate --case-time 8s";
    let bench = quiet(&mut place.keymark(bench));
    until("a server runs", || naming(&place.temporary()) > 0);
    std::thread::sleep(Duration::from_secs(1));
    tell(&bench, Signal::SIGINT);
    end_of(bench, 130);
    let case = &place.record()["cases"][0];
    assert_eq!(case["ending"]["stopped"], "interrupted", "{case}");
    place.assert_gone();
}

#[test]
fn a_configuration_is_written() {
    let place = Place::new(KEYMARK);
    for (server, key) in [
        ("apache", "SSLCertificateKeyFile"),
        ("nginx", "ssl_certificate_key"),
    ] {
        let device = "pkcs11:token=hsm;object=web?module-path=/usr/lib/softhsm/libsofthsm2.so";
        for device in ["software", device] {
            let shown = place.stdout(&format!("tls config --server {server} --device {device}"));
            assert_says(&shown, [key, "openssl req -new"]);
            let wide = shown.lines().find(|line| line.chars().count() > 130);
            assert_eq!(wide, None);
        }
    }
    let shown = place.stdout("tls config --server nginx --algorithm rsa2048,nistp256");
    assert_says(
        &shown,
        [
            "rsa_keygen_bits:2048",
            "P-256 -out /etc/keymark-tls/key-2.pem",
            "ssl_certificate \"/etc/keymark-tls/certificate-2.pem\"",
        ],
    );
    for (algorithms, status, words) in [
        ("rsa2048,rsa3072", 3, "an RSA and an ECDSA one"),
        ("rsa2048,nistp256,nistp384", 2, "one key or two"),
        ("rsa1024", 3, "80 bits of security"),
        ("cv25519", 3, "a certificate for cv25519 is impossible"),
    ] {
        let config = format!("tls config --server apache --algorithm {algorithms}");
        assert_says(&place.refused(&config, status), [words]);
    }
}
