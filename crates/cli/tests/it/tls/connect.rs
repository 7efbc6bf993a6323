//! `keymark tls bench --connect`, with servers that keymark has not started.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::Duration;

use keymark_testkit::assert_says;
use keymark_testkit::place::{Place, assert_has, text};
use keymark_testkit::process::free_port;
use nix::sys::signal::Signal;
use serde_json::{Value, json};

use super::{certificate, openssl_server, serve};
use crate::{KEYMARK, Running, captured, end_of, number, tell};

/// Asserts that a load is refused with that status and these words.
#[track_caller]
fn assert_refused(place: &Place, arguments: &str, status: i32, words: &str) {
    let bench = format!("tls bench --workers 2 --case-time 2s --no-save {arguments}");
    assert_says(&place.ends(&bench, status).said(), [words]);
}

/// Each with its reason and status.
fn what_it_is_not_is_said(place: &Place, address: &str, path: &str, authority: &str) {
    let other = format!("{path} --authority {authority} --server-name www.example.org");
    for (arguments, status, words) in [
        ("/nothing", 3, "status 404"),
        (&other, 3, "mismatch"),
        (
            &format!("{path} --kex ecdhe-p384"),
            3,
            "alert handshake_failure",
        ),
        (&format!("{path} --trace"), 2, "cannot be used with"),
        ("document", 2, "begin with '/'"),
    ] {
        let arguments = format!("--connect {address} --path {arguments}");
        assert_refused(place, &arguments, status, words);
    }
}

#[test]
fn a_server_of_keymark_s_is_measured_from_outside() {
    let place = Place::new(KEYMARK);
    let (server, told, authority) = serve(&place, "--server nginx --algorithm nistp256");
    let authority = authority.display().to_string();
    let address = told["address"].as_str().unwrap();
    let path = told["path"].as_str().unwrap();
    let rows = place.rows(
        &format!(
            "tls bench --connect {address} --path {path} --server-name localhost --authority {authority} \
             --workers 2 --case-time 2s --format json"
        ),
    );
    assert_eq!(rows.len(), 1);
    let row = &rows[0];
    let measured = json!({"stack": "connect", "algorithm": "nistp256", "provenance": "measured"});
    assert_has(row, measured);
    // The server's time is not known, and not none.
    let outside = json!({"device": address, "failed": 0, "server_cpu_s": null});
    assert_has(row, outside);
    for figure in ["transactions", "client_cpu_s"] {
        assert!(number(row, figure) > 0.0, "{row}");
    }
    let record = place.record();
    let load = &record["cases"][0]["server_load"];
    let trust = load["server"]["trust"].as_str().unwrap();
    assert!(trust.starts_with("certified by"), "{load}");
    assert_has(load, json!({"server_cpu_ns": null, "drained_ns": null}));
    what_it_is_not_is_said(&place, address, path, &authority);
    drop(server);
    assert_refused(&place, &format!("--connect {address}"), 3, "refused");
}

/// A client's report of its load, as its distributor notes it, with the transactions of each second.
fn told(place: &Place, client: &str, load: &str) -> (String, u64) {
    let printed = place.stdout(&format!("{load} --tell"));
    let mut lines = String::new();
    let mut transactions = 0;
    for (at, line) in (1_u64..).zip(printed.lines()) {
        let told: Value = serde_json::from_str(line).unwrap();
        let whole = told["second"]["second"]["whole"].as_array();
        let counts = whole.into_iter().flatten().map(|one| one[1].as_u64());
        transactions += counts.sum::<Option<u64>>().unwrap();
        let at_ns = at * 1_000_000_000;
        lines += &format!("{{\"client\":\"{client}\",\"at_ns\":{at_ns},\"told\":{line}}}\n");
    }
    assert!(printed.lines().last().unwrap().starts_with("{\"end\""));
    (lines, transactions)
}

#[test]
fn what_several_clients_tell_is_one_run() {
    let place = Place::new(KEYMARK);
    let (_server, serving, _) = serve(&place, "--server nginx --algorithm nistp256");
    let (address, path) = (&serving["address"], &serving["path"]);
    let connect = format!(
        "tls bench --connect {} --path {}",
        address.as_str().unwrap(),
        path.as_str().unwrap()
    );
    let load = format!("{connect} --workers 2 --case-time 3s --ramp 500ms");
    let (first, of_first) = told(&place, "one", &load);
    let (second, of_second) = told(&place, "other", &load);
    assert!(place.stdout("runs").is_empty(), "telling saves nothing");
    let file = place.path("told.jsonl");
    let lost = r#"{"client":"third","at_ns":1,"told":{"lost":"its worker was lost"}}"#;
    fs::write(&file, format!("{first}{second}{lost}\n")).unwrap();
    let joined = format!("{connect} --workers 4 --told {}", file.display());
    let shown = place.ends(&format!("{joined} --long"), 0).said();
    let lost = "third did not load to the end (its worker was lost";
    assert_says(&shown, [lost, "4"]);
    let load = &place.record()["cases"][0]["server_load"];
    assert_eq!(
        load["totals"]["transactions"].as_u64(),
        Some(of_first + of_second)
    );
    let clients: Vec<&String> = load["clients"].as_object().unwrap().keys().collect();
    assert_eq!(clients, ["one", "other", "third"]);
    assert!(load["steady"].is_object(), "{load}");

    let unknown = r#"{"client":"one","at_ns":1,"told":{"run":"rm"}}"#;
    fs::write(&file, format!("{unknown}\n")).unwrap();
    let refused = place.refused(&joined, 3);
    assert_says(&refused, ["line 1 of the clients' reports cannot be read"]);
    place.refused(&format!("{connect} --workers 1,2 --tell"), 2);
}

/// A server by `openssl s_server` whose answer has no end.
fn without_end(place: &Place) -> (Running, String) {
    let key = certificate(place, "localhost", "ec -pkeyopt ec_paramgen_curve:P-256");
    // It sends a file as it is: here a head, and a tebibyte of which there is nothing on the disk.
    let mut answer = fs::File::create(place.path("answer")).unwrap();
    answer.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
    answer.set_len(1 << 40).unwrap();
    openssl_server(place.directory(), "-HTTP", &[&key])
}

#[test]
fn an_answer_without_end_is_refused() {
    let place = Place::new(KEYMARK);
    let (_server, address) = without_end(&place);
    let endless = format!("--connect {address} --path /answer");
    assert_refused(&place, &endless, 3, "a body of more than 16 MiB");
}

#[test]
fn the_first_signal_ends_the_wait_for_an_answer() {
    let place = Place::new(KEYMARK);
    // Connections are made, and nobody ever takes them.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap().to_string();
    let mut bench = captured(&mut place.keymark(&format!("tls bench --connect {address}")));
    std::mem::forget(silent.accept().unwrap());
    tell(&bench, Signal::SIGTERM);
    let ended = (0..50).any(|_| {
        std::thread::sleep(Duration::from_millis(100));
        bench.try_wait().unwrap().is_some()
    });
    if !ended {
        bench.kill().unwrap();
    }
    assert!(ended, "it goes on for 5 s");
    assert_says(&end_of(bench, 130).said(), ["nothing was measured"]);
}

#[test]
fn others_servers_are_not_loaded() {
    let place = Place::new(KEYMARK);
    for (address, status, words) in [
        ("192.0.2.7:443", 2, "--i-own-this-server"),
        ("[2001:db8::7]:443", 2, "--i-own-this-server"),
        ("nowhere.invalid:443", 3, "looking up nowhere.invalid"),
        ("localhost", 2, "HOST:PORT"),
    ] {
        assert_refused(&place, &format!("--connect {address}"), status, words);
    }
}

/// One that an administrator has configured.
pub(super) fn nginx_with_tickets(place: &Place, tickets: &str) -> (Running, u16) {
    let port = free_port();
    let file = |name: &str| place.path(name).display().to_string();
    certificate(place, "localhost", "rsa:2048");
    fs::create_dir_all(place.path("served")).unwrap();
    fs::write(place.path("served/index.html"), "a file").unwrap();
    // The workers of root's nginx are nobody's.
    for directory in place.path("served").ancestors().take(3) {
        let open = fs::Permissions::from_mode(0o755);
        let _ = fs::set_permissions(directory, open);
    }
    let cache = if tickets == "on" {
        "shared:s:1m"
    } else {
        "off"
    };
    let configuration = format!(
        "daemon off; pid {}; error_log {}; events {{}} http {{ log_format s '$ssl_session_reused $ssl_protocol'; access_log {} s; \
         server {{ listen 127.0.0.1:{port} ssl; ssl_certificate {}; ssl_certificate_key {}; ssl_protocols TLSv1.2 \
         TLSv1.3; ssl_session_tickets {tickets}; ssl_session_cache {cache}; root {}; }} }}",
        file("pid"),
        file("error.log"),
        file("access.log"),
        file("localhost.crt"),
        file("localhost.pem"),
        file("served")
    );
    fs::write(place.path("nginx.conf"), configuration).unwrap();
    let nginx = Command::new("/usr/sbin/nginx")
        .args(["-c", &file("nginx.conf"), "-e", &file("error.log")])
        .spawn()
        .unwrap();
    let nginx = Running(nginx);
    let listens = (0..500).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        std::net::TcpStream::connect(("127.0.0.1", port)).is_ok()
    });
    assert!(
        listens,
        "{}",
        fs::read_to_string(place.path("error.log")).unwrap_or_default()
    );
    (nginx, port)
}

/// With tickets and a cache, which this client never takes.
#[test]
fn a_server_that_would_resume_makes_full_handshakes() {
    let place = Place::new(KEYMARK);
    let (nginx, port) = nginx_with_tickets(&place, "on");
    let address = format!("127.0.0.1:{port}");
    let rows = place.rows(&format!(
        "tls bench --connect {address} --kex x25519,rsa --workers 2 --case-time 2s --format json --no-save"
    ));
    drop(nginx);
    let done: f64 = rows.iter().map(|row| number(row, "transactions")).sum();
    let log = fs::read(place.path("access.log")).unwrap();
    let log = text(&log);
    let requests: Vec<&str> = log.lines().collect();
    assert!(rows.len() == 2 && done > 0.0);
    assert!(
        requests.len() as f64 >= done,
        "{} of {done}",
        requests.len()
    );
    let kinds: BTreeSet<&str> = requests.into_iter().collect();
    let full = BTreeSet::from([". TLSv1.2", ". TLSv1.3"]);
    assert_eq!(kinds, full, "r is a session that was resumed");
}
