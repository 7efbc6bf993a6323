//! `keymark tls suite` and `--saturate`, with the distribution's nginx and haproxy.

use keymark_testkit::place::Place;
use keymark_testkit::{assert_says, assert_silent};

use crate::{KEYMARK, number};

#[test]
fn the_best_rate_is_looked_for_and_then_measured() {
    let place = Place::new(KEYMARK);
    let rows = place.rows(
        "tls bench --server nginx --algorithm nistp256 --saturate --most-workers 4 --case-time 4s --format json",
    );
    let [row] = rows.as_slice() else {
        panic!("{rows:?}")
    };
    assert!((1.0..=4.0).contains(&number(row, "users")), "{row}");
    assert!(number(row, "knee_users") <= number(row, "users"), "{row}");
    // A minute more would find the rate within a limit of latency; nobody asked for one.
    assert!(row["limit_rate_per_s"].is_null(), "{row}");
    let record = place.record();
    let found = &record["cases"][0]["server_load"]["saturation"];
    let tried = found["tried"].as_array().unwrap();
    let users: Vec<u64> = tried
        .iter()
        .filter_map(|tried| tried["demand"]["users"].as_u64())
        .collect();
    assert_eq!(&users[..2], [1, 2], "doubled: {tried:?}");
    assert!(users.iter().all(|users| *users <= 4), "{users:?}");
    let tables = place.stdout("show last --long");
    assert_says(&tables, ["limits of servers"]);
    place.assert_gone();
}

#[test]
fn each_client_gets_its_certificate_of_two() {
    let place = Place::new(KEYMARK);
    let rows = place.rows("tls suite dual --server nginx --case-time 2s --format json");
    let told: Vec<(&str, &str, &str)> = rows
        .iter()
        .map(|row| {
            let word = |name: &str| row["parameters"][name].as_str().unwrap_or_default();
            let algorithm = row["algorithm"].as_str().unwrap_or_default();
            (algorithm, word("tls"), word("second-certificate"))
        })
        .collect();
    assert_eq!(
        told,
        [
            ("rsa2048", "tls1.2", ""),
            ("rsa2048", "tls1.2", "nistp256"),
            ("nistp256", "tls1.3", ""),
            ("nistp256", "tls1.3", "rsa2048"),
        ]
    );
    // A handshake with the other certificate would have failed.
    for row in &rows {
        assert!(number(row, "transactions") > 10.0, "{row}");
        assert_eq!(row["failed"], 0, "{row}");
    }
    let record = place.record();
    let server = &record["cases"][1]["server_load"]["server"];
    let certificates = server["certificates"].as_str().unwrap();
    assert_says(&certificates, ["rsa2048", "nistp256"]);
    let tables = place.stdout("show last --long");
    assert_says(&tables, ["what a second certificate costs"]);
    place.assert_gone();
}

#[test]
fn a_cluster_loses_a_server_and_goes_on() {
    let place = Place::new(KEYMARK);
    let rows = place
        .rows("tls suite cluster --server nginx --device software --case-time 4s --format json");
    assert_eq!(rows.len(), 8, "{rows:?}");
    let mut killed = 0;
    for row in &rows {
        assert!(number(row, "transactions") > 10.0, "{row}");
        if row["parameters"]["fate"] == "one-killed" {
            killed += 1;
        } else {
            assert_eq!(row["failed"], 0, "{row}");
        }
    }
    assert_eq!(killed, 2);
    let record = place.record();
    let cases = record["cases"].as_array().unwrap().iter();
    let loads = cases.map(|case| &case["server_load"]);
    let killed_at: Vec<f64> = loads
        .filter_map(|load| load["killed_ns"].as_f64())
        .collect();
    assert_eq!(killed_at.len(), 2);
    assert!(
        killed_at.iter().all(|at| (2e9..3.5e9).contains(at)),
        "{killed_at:?}"
    );
    let titles = [
        "throughput of several servers",
        "a server is killed during the load",
    ];
    assert_says(&place.stdout("show last --long"), titles);
    place.assert_gone();
}

#[test]
fn a_suite_says_what_it_leaves_out_and_what_it_takes() {
    let place = Place::new(KEYMARK);
    let dry = |arguments: &str| {
        let planned = place.ends(&format!("tls suite {arguments} --dry-run"), 0);
        (planned.stdout, planned.stderr)
    };
    let (cases, notes) = dry("key-exchange");
    assert_says(&notes, ["--allow-weak"]);
    assert_silent(&cases, ["weak"]);
    let (all, _) = dry("key-exchange --allow-weak --plan complete");
    let of = |text: &str, server: &str| text.lines().filter(|line| line.contains(server)).count();
    // 4 lengths by 3 key exchanges, 2 with old DHE, 3 curves, and in TLS 1.3 two certificates by 3 groups, of which older
    // OpenSSL lacks one; then Caddy has them.
    let (without, with) = (2 * 2, 2 * 3);
    let hybrid = if notes.contains("leaving out: x25519mlkem768") {
        assert_says(&notes, ["it needs OpenSSL 3.5"]);
        assert_eq!((of(&cases, " caddy "), of(&all, " caddy ")), (with, with));
        without
    } else {
        with
    };
    let number = 4 * 3 + 2 + 3 + hybrid;
    assert_eq!(
        (of(&all, " apache "), of(&all, " nginx ")),
        (number, number),
        "{all}"
    );
    assert_eq!(
        (of(&cases, " apache "), of(&cases, " nginx ")),
        (number - 5, 0)
    );
    assert_silent(&cases, ["most-users"]);
    // The article's device has no elliptic curves, and the maker's figures no RSA-1024.
    let (cases, notes) = dry("hsm --allow-weak");
    assert_says(&notes, ["nistp256 on twin:nitrokey-hsm"]);
    assert_eq!(of(&cases, "think≤5s"), 3 * of(&cases, "w=60"), "{cases}");
    assert_eq!(place.ends("tls suite hsm --device nothing", 2).stdout, "");
    place.assert_gone();
}
