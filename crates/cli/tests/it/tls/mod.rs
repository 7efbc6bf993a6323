//! `keymark tls`, with the distribution's Apache and nginx.

mod check;
mod connect;
mod faults;
mod key_use;
mod sessions;
mod suites;

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use keymark_testkit::assert_says;
use keymark_testkit::place::{Place, ended, objects, said, text};
use keymark_testkit::process::naming;
use keymark_testkit::waiting::until;
use nix::sys::signal::Signal;
use serde_json::Value;

use crate::{KEYMARK, tell};

#[test]
fn servers_are_loaded_and_siege_s_figures_stand_in_rows() {
    let place = Place::new(KEYMARK);
    let rows = place.rows(
        "tls bench --server nginx,apache --algorithm rsa2048,nistp256 --kex ecdhe-p256 --workers 1,4 --case-time \
         2s --format json",
    );
    assert_eq!(rows.len(), 8, "{rows:?}");
    for row in &rows {
        let number = |name: &str| {
            row[name]
                .as_f64()
                .unwrap_or_else(|| panic!("{name}: {row}"))
        };
        assert_eq!(row["operation"], "handshake");
        assert_eq!(
            (&row["parameters"]["tls"], &row["parameters"]["kex"]),
            (&"tls1.3".into(), &"ecdhe-p256".into())
        );
        assert_eq!(row["server"], row["stack"]);
        assert_eq!(row["failed"], 0, "{row}");
        assert!(
            number("transactions") >= 10.0 && number("availability") == 100.0,
            "{row}"
        );
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
    assert_says(
        &tables,
        [
            "as siege counts",
            "p95",
            "nginx tls1.3 ecdhe-p256 w=4",
            "apache ",
        ],
    );
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
        assert_eq!(
            (&row["server"], &row["failed"]),
            (&"caddy".into(), &0.into())
        );
        assert_eq!(row["parameters"]["kex"], "x25519mlkem768");
        assert!(row["transactions"].as_f64().unwrap() >= 10.0, "{row}");
    }
    let on_token = place.output(
        "tls bench --server caddy --device softhsm --algorithm nistp256 --case-time 3s --no-save",
    );
    let said = said(&on_token);
    assert_says(&said, ["Caddy reads private keys from files only"]);
}

#[test]
fn what_cannot_be_had_is_said_and_the_others_go_on() {
    let place = Place::new(KEYMARK);
    let output = ended(place.output(
        "tls bench --server nginx --algorithm rsa1024,nistp256 --kex rsa,x25519 --workers 2 --case-time 2s --format json \
         --no-save",
    ), 1);
    let rows = objects(&text(&output.stdout));
    let reason = |algorithm: &str, kex: &str| {
        let row = rows
            .iter()
            .find(|row| row["algorithm"] == algorithm && row["parameters"]["kex"] == kex);
        row.map(|row| row["reason"].as_str().unwrap_or_default().to_owned())
    };
    // A case that came to nothing has no figures of a load.
    let reasons: Vec<&str> = rows
        .iter()
        .filter_map(|row| row["reason"].as_str())
        .collect();
    assert_eq!(reasons.len(), 3, "{rows:?}");
    assert!(
        reasons
            .iter()
            .filter(|why| why.contains("--allow-weak"))
            .count()
            == 2,
        "{reasons:?}"
    );
    assert!(
        reasons
            .iter()
            .any(|why| why.contains("no cipher for a nistp256 certificate"))
    );
    assert_eq!(reason("nistp256", "x25519").as_deref(), Some(""));
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
        let output = ended(place.output(&format!("tls bench {arguments}")), 2);
        assert!(said(&output).contains(words), "{words}: {}", said(&output));
    }
    place.assert_gone();
}

#[test]
fn a_tpm_is_refused_with_the_reason() {
    let place = Place::new(KEYMARK);
    let output = ended(
        place.output(
            "tls bench --device swtpm --algorithm rsa2048 --workers 2 --case-time 2s --no-save",
        ),
        1,
    );
    let words = "tpm2-pkcs11 does not work in workers";
    assert_says(&said(&output), [words]);
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
    let mut serve = place.keymark("tls serve --server apache --algorithm nistp256 --format json");
    let mut serve = serve.stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    let mut told = BufReader::new(serve.stdout.as_mut().unwrap());
    told.read_line(&mut line).unwrap();
    let told: Value = serde_json::from_str(&line).unwrap();
    let authority = place.path("authority.pem");
    std::fs::write(&authority, told["authority"].as_str().unwrap()).unwrap();
    let address = told["address"].as_str().unwrap();
    let mut client = Command::new("openssl");
    client.args(["s_client", "-connect", address, "-servername", "localhost"]);
    client
        .args(["-verify_return_error", "-CAfile"])
        .arg(&authority);
    let client = client.stdin(Stdio::null()).output().unwrap();
    assert_says(&text(&client.stdout), ["Verification: OK"]);
    tell(&serve, Signal::SIGINT);
    assert!(serve.wait().unwrap().success());
    place.assert_gone();
}

/// A search that is broken off has not failed.
#[test]
fn an_interrupted_search_for_users_is_told_from_a_failure() {
    let place = Place::new(KEYMARK);
    let mut bench =
        place.keymark("tls bench --server nginx --algorithm nistp256 --saturate --case-time 8s");
    let mut bench = bench
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    until("a server runs", || naming(&place.temporary()) > 0);
    std::thread::sleep(Duration::from_secs(1));
    tell(&bench, Signal::SIGINT);
    assert_eq!(bench.wait().unwrap().code(), Some(130));
    let case = &place.record()["cases"][0];
    assert_eq!(case["ending"]["stopped"], "interrupted", "{case}");
    place.assert_gone();
}

#[test]
fn a_configuration_is_written() {
    let place = Place::new(KEYMARK);
    for (server, words) in [
        (
            "apache",
            [
                "SSLCertificateKeyFile",
                "SSLSessionTickets",
                "openssl req -new",
            ],
        ),
        (
            "nginx",
            [
                "ssl_certificate_key",
                "ssl_session_tickets",
                "openssl req -new",
            ],
        ),
    ] {
        let device = "pkcs11:token=hsm;object=web?module-path=/usr/lib/softhsm/libsofthsm2.so";
        for device in ["software", device] {
            let arguments = format!("tls config --server {server} --device {device}");
            let shown = place.stdout(&arguments);
            for word in [words[0], words[2]] {
                assert!(shown.contains(word), "{word}: {shown}");
            }
            assert!(
                shown.lines().all(|line| line.chars().count() <= 130),
                "{shown}"
            );
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
    for (algorithms, words) in [
        ("rsa2048,rsa3072", "an RSA and an ECDSA one"),
        ("rsa2048,nistp256,nistp384", "one key or two"),
        ("rsa1024", "80 bits of security"),
        ("cv25519", "a certificate for cv25519 is impossible"),
    ] {
        let config = "tls config --server apache --algorithm";
        let output = place.output(&format!("{config} {algorithms}"));
        assert!(!output.status.success() && said(&output).contains(words));
    }
}
