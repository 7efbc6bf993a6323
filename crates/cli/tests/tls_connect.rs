//! `keymark tls bench --connect`, with servers that somebody else has started.

#![cfg(feature = "tls")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};

use keymark_testkit::place::{Place, said, text};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

const KEYMARK: &str = env!("CARGO_BIN_EXE_keymark");

/// A program that ends with the value.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = kill(Pid::from_raw(self.0.id() as i32), Signal::SIGTERM);
        let _ = self.0.wait();
    }
}

/// `keymark tls serve`, and what it tells.
fn serve(place: &Place, arguments: &[&str]) -> (Running, Value) {
    let mut serve = place.keymark(&[&["tls", "serve", "--json"], arguments].concat());
    let mut serve = Running(serve.stdout(Stdio::piped()).spawn().unwrap());
    let mut line = String::new();
    let mut told = BufReader::new(serve.0.stdout.as_mut().unwrap());
    told.read_line(&mut line).unwrap();
    drop(told);
    (serve, serde_json::from_str(&line).unwrap())
}

fn refused(place: &Place, arguments: &[&str]) -> (i32, String) {
    let usual = [
        "tls",
        "bench",
        "--users",
        "2",
        "--duration",
        "2s",
        "--no-save",
    ];
    let output = place.output(&[&usual, arguments].concat());
    (output.status.code().unwrap(), said(&output))
}

/// Each with its reason and status.
fn what_it_is_not_is_said(place: &Place, address: &str, path: &str, authority: &str) {
    for (arguments, status, words) in [
        (
            &["--connect", address, "--path", "/nothing"][..],
            3,
            "status 404",
        ),
        (
            &[
                "--connect",
                address,
                "--path",
                path,
                "--authority",
                authority,
                "--server-name",
                "www.example.org",
            ],
            3,
            "mismatch",
        ),
        (
            &["--connect", address, "--path", path, "--kex", "ecdhe-p384"],
            3,
            "alert handshake_failure",
        ),
        (
            &["--connect", address, "--path", path, "--trace"],
            2,
            "cannot be used with",
        ),
        (
            &["--connect", address, "--path", "document"],
            2,
            "begins with '/'",
        ),
    ] {
        let (code, said) = refused(place, arguments);
        assert_eq!(code, status, "{arguments:?}: {said}");
        assert!(said.contains(words), "{words}: {said}");
    }
}

#[test]
fn a_server_of_keymark_s_is_measured_from_outside() {
    let place = Place::new(KEYMARK);
    let (server, told) = serve(&place, &["--server", "nginx", "--algorithm", "nistp256"]);
    let authority = place.path("authority.pem");
    fs::write(&authority, told["authority"].as_str().unwrap()).unwrap();
    let authority = authority.display().to_string();
    let address = told["address"].as_str().unwrap();
    let path = told["path"].as_str().unwrap();
    #[rustfmt::skip]
    let rows = place.rows(&[
        "tls", "bench", "--connect", address, "--path", path, "--server-name", "localhost", "--authority", &authority,
        "--users", "2", "--duration", "2s", "--json",
    ]);
    assert_eq!(rows.len(), 1);
    let row = &rows[0];
    assert_eq!(
        (
            &row["device"],
            &row["stack"],
            &row["algorithm"],
            &row["provenance"]
        ),
        (
            &address.into(),
            &"connect".into(),
            &"nistp256".into(),
            &"measured".into()
        )
    );
    assert!(row["transactions"].as_u64().unwrap() > 0, "{row}");
    assert_eq!(
        (&row["failed"], &row["server_cpu_s"]),
        (&0.into(), &Value::Null),
        "not known, and not none"
    );
    assert!(row["client_cpu_s"].as_f64().unwrap() > 0.0);
    let record = place.record();
    let load = &record["cases"][0]["server_load"];
    assert!(
        load["server"]["trust"]
            .as_str()
            .unwrap()
            .starts_with("certified by"),
        "{load}"
    );
    assert!(load["server_cpu_ns"].is_null() && load["drained_ns"].is_null());
    what_it_is_not_is_said(&place, address, path, &authority);
    drop(server);
    let (code, said) = refused(&place, &["--connect", address]);
    assert!(code == 3 && said.contains("refused"), "{said}");
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
        let (code, said) = refused(&place, &["--connect", address]);
        assert_eq!(code, status, "{address}: {said}");
        assert!(said.contains(words), "{words}: {said}");
    }
}

/// One that an administrator has configured.
fn nginx_with_tickets(place: &Place) -> (Running, u16) {
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let file = |name: &str| place.path(name).display().to_string();
    let made = Command::new("openssl")
        .args([
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-subj",
            "/CN=localhost",
            "-days",
            "2",
        ])
        .args([
            "-keyout",
            &file("key.pem"),
            "-out",
            &file("certificate.pem"),
        ])
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", said(&made));
    fs::create_dir(place.path("served")).unwrap();
    fs::write(place.path("served/index.html"), "a file").unwrap();
    // The workers of root's nginx are nobody's.
    for directory in place.path("served").ancestors().take(3) {
        let open = fs::Permissions::from_mode(0o755);
        let _ = fs::set_permissions(directory, open);
    }
    let configuration = format!(
        "daemon off; pid {}; error_log {}; events {{}} http {{ log_format s '$ssl_session_reused'; access_log {} s; \
         server {{ listen 127.0.0.1:{port} ssl; ssl_certificate {}; ssl_certificate_key {}; ssl_protocols TLSv1.2 \
         TLSv1.3; ssl_session_tickets on; ssl_session_cache shared:s:1m; root {}; }} }}",
        file("pid"),
        file("error.log"),
        file("access.log"),
        file("certificate.pem"),
        file("key.pem"),
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
    let (nginx, port) = nginx_with_tickets(&place);
    let address = format!("127.0.0.1:{port}");
    #[rustfmt::skip]
    let rows = place.rows(&[
        "tls", "bench", "--connect", &address, "--kex", "x25519,rsa", "--users", "2", "--duration", "2s", "--json",
        "--no-save",
    ]);
    drop(nginx);
    let done: u64 = rows
        .iter()
        .map(|row| row["transactions"].as_u64().unwrap())
        .sum();
    let log = fs::read(place.path("access.log")).unwrap();
    let reused: Vec<String> = text(&log).lines().map(str::to_owned).collect();
    assert!(rows.len() == 2 && done > 0);
    assert!(reused.len() as u64 >= done, "{} of {done}", reused.len());
    assert!(
        reused.iter().all(|line| line == "."),
        "r is a session that was resumed"
    );
}
