//! `keymark service`: zeitgitterd as `make zeitgitterd` installs it, and timestamping authorities of the tests' own, which
//! OpenSSL signs for. It takes the packages git and openssl.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use keymark_testkit::place::{Ends as _, Place, assert_has, objects, said, text};
use keymark_testkit::waiting::found;
use keymark_testkit::{assert_says, assert_silent};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

use crate::{KEYMARK, assert_under_load, captured, number, tell};

const CONFIGURATION: &str = "[tsa]\ndefault_tsa = own\n[own]\nserial = serial\nsigner_digest = sha256\ndigests = sha256\n\
                             default_policy = 1.2.3.4\ness_cert_id_alg = sha256\n";

/// OpenSSL as an authority, in a directory with its keys: `tsa`, and `other`, whom nobody asked.
#[derive(Clone)]
struct Authority(PathBuf);

impl Authority {
    fn new(place: &Place) -> Self {
        let own = Self(place.path("authority"));
        fs::create_dir(&own.0).unwrap();
        fs::write(own.0.join("tsa.cnf"), CONFIGURATION).unwrap();
        own.openssl(
            "req -x509 -newkey rsa:2048 -nodes -subj /CN=top -days 2 -keyout top.key -out top.pem",
        );
        for name in ["tsa", "other"] {
            own.openssl(&format!(
                "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN={name} -days 2 -CA top.pem -CAkey \
                 top.key -addext extendedKeyUsage=critical,timeStamping -addext basicConstraints=critical,CA:FALSE \
                 -keyout {name}.key -out {name}.pem"
            ));
        }
        own
    }

    fn openssl(&self, arguments: &str) -> bool {
        let mut openssl = Command::new("openssl");
        let openssl = openssl
            .args(arguments.split_whitespace())
            .current_dir(&self.0);
        let output = openssl.stdin(Stdio::null()).output().unwrap();
        if !output.status.success() {
            eprintln!("openssl {arguments}: {}", said(&output));
        }
        output.status.success()
    }

    fn sign(&self, query: &str, name: &str) -> Vec<u8> {
        let answer = format!("{query}.answer");
        assert!(self.openssl(&format!(
            "ts -reply -config tsa.cnf -queryfile {query} -signer {name}.pem -inkey {name}.key -out {answer}"
        )));
        fs::read(self.0.join(answer)).unwrap()
    }

    /// Answers the first request rightly, and others as it is told; the address and the queries so far.
    fn serve(self, wrong: Wrong) -> (String, PathBuf) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let directory = self.0.clone();
        std::thread::spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                let wrong = if number == 0 { Wrong::Nothing } else { wrong };
                // Who has given up hears no more.
                let _ = self.answer(stream.unwrap(), &format!("{wrong:?}{number}"), wrong);
            }
        });
        (address, directory)
    }

    fn answer(&self, stream: TcpStream, name: &str, wrong: Wrong) -> std::io::Result<()> {
        let mut reader = BufReader::new(&stream);
        let (mut line, mut length) = (String::new(), 0);
        while line != "\r\n" {
            line.clear();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            if let Some(told) = line.strip_prefix("Content-Length: ") {
                length = told.trim().parse().unwrap();
            }
        }
        let mut query = vec![0; length];
        reader.read_exact(&mut query)?;
        fs::write(self.0.join(name), &query)?;
        let signer = if wrong == Wrong::Key { "other" } else { "tsa" };
        let mut body = match wrong {
            Wrong::Nonce => {
                // SHA-256 follows its 19 octets of algorithm, and before the nonce.
                let from = query.windows(2).position(|two| two == [4, 32]).unwrap() + 2;
                let digest = query[from..from + 32].iter();
                let digest: String = digest.map(|octet| format!("{octet:02x}")).collect();
                let other = format!("{name}.other");
                self.openssl(&format!(
                    "ts -query -digest {digest} -sha256 -cert -out {other}"
                ));
                self.sign(&other, signer)
            }
            Wrong::Nothing | Wrong::Key | Wrong::Signature => self.sign(name, signer),
        };
        if wrong == Wrong::Signature {
            *body.last_mut().unwrap() ^= 1;
        }
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
        (&stream).write_all(&[head.as_bytes(), &body].concat())
    }
}

/// What is wrong with an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wrong {
    Nothing,
    Nonce,
    Key,
    Signature,
}

#[test]
fn what_keymark_takes_from_an_authority_openssl_verifies_too() {
    let place = Place::new(KEYMARK);
    let (address, directory) = Authority::new(&place).serve(Wrong::Nothing);
    let top = directory.join("top.pem").display().to_string();
    let rows = place.rows(&format!(
        "service bench --connect {address} --path /tsr --authority {top} --workers 1,3 --case-time 3s --format json"
    ));
    assert_eq!(rows.len(), 2);
    for row in &rows {
        assert_under_load(row);
        assert_has(row, json!({"stack": "rfc3161", "algorithm": "nistp256"}));
    }
    let answers = fs::read_dir(&directory).unwrap();
    let answers = answers.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let answers: Vec<String> = answers.filter(|name| name.ends_with(".answer")).collect();
    // Those that count, and those at the ends of loads.
    let counted: f64 = rows.iter().map(|row| number(row, "transactions")).sum();
    assert!(answers.len() as f64 >= counted, "{counted}: {answers:?}");
    let authority = Authority(directory);
    for answer in answers.iter().take(20) {
        let query = answer.trim_end_matches(".answer");
        assert!(authority.openssl(&format!(
            "ts -verify -queryfile {query} -in {answer} -CAfile top.pem"
        )));
    }
    let shown = place.stdout("show last");
    assert_says(&shown, ["timestamps per second", "one client"]);
    assert_silent(&shown, ["handshake"]);
    place.record();
    place.assert_gone();
}

#[test]
fn wrong_answers_are_failures_by_class_and_never_samples() {
    let place = Place::new(KEYMARK);
    let authority = Authority::new(&place);
    for (wrong, class) in [
        (Wrong::Nonce, "not as expected: the nonce"),
        (Wrong::Key, "not as expected: the key"),
        (Wrong::Signature, "not as expected: a valid signature"),
    ] {
        let (address, _) = authority.clone().serve(wrong);
        let bench =
            format!("service bench --connect {address} --workers 1 --case-time 2s --format json");
        let ended = place.ends(&bench, 1);
        let rows = ended.rows();
        assert_eq!(rows.len(), 1, "{wrong:?}");
        assert_eq!(rows[0]["transactions"], 0, "{wrong:?}");
        assert!(number(&rows[0], "failed") > 0.0, "{wrong:?}");
        assert_says(&ended.said(), [class]);
    }
}

#[test]
fn somebody_else_s_service_is_not_loaded() {
    let place = Place::new(KEYMARK);
    let said = place.refused("service bench --connect 192.0.2.1:80 --workers 1", 2);
    assert_says(&said, ["--i-own-this-server"]);
    let said = place.refused("service bench --connect 127.0.0.1:9 --path /tsr", 3);
    let question = "is a timestamping authority (RFC 3161) running there";
    assert_says(&said, ["refused", question]);
    let said = place.refused("service bench --service notary", 2);
    assert_says(&said, ["zeitgitterd, relic, rfc3161"]);
}

#[test]
fn zeitgitterd_signs_by_one_agent_and_by_two() {
    let place = Place::new(KEYMARK);
    let home = place.path("home");
    fs::create_dir(&home).unwrap();
    let mut bench = place.keymark(
        "service bench --service zeitgitterd --algorithm ed25519 --workers 2 --parameter agents=1,2 --case-time 4s \
         --seed 1 --format json",
    );
    let rows = bench.env("HOME", &home).ends(0).rows();
    let agents = rows.iter().map(|row| row["parameters"]["agents"].as_str());
    assert!(agents.clone().any(|agents| agents == Some("2")));
    assert_eq!(agents.count(), 2);
    rows.iter().for_each(assert_under_load);
    assert_eq!(
        fs::read_dir(&home).unwrap().count(),
        0,
        "in the user's home"
    );
    let record = place.record();
    for case in record["cases"].as_array().unwrap() {
        let load = &case["server_load"];
        assert_eq!(load["server"]["server"], "zeitgitterd");
        assert!(load["service_cpu"]["agent_ns"].as_u64() > Some(0), "{load}");
        assert!(load["server_cpu_ns"].as_u64() > Some(0), "{load}");
    }
    assert_says(
        &place.stdout("show last"),
        ["timestamps per second", "zeitgitterd 2 agents w=2"],
    );
    place.assert_gone();
}

#[test]
fn zeitgitterd_signs_with_a_card() {
    let place = Place::new(KEYMARK);
    let rows = place.rows(
        "service bench --device virtual,twin:yubikey-4 --algorithm rsa2048 --workers 2 --case-time 3s --format json",
    );
    assert_eq!(rows.len(), 2);
    rows.iter().for_each(assert_under_load);
    let two =
        "service bench --device virtual --algorithm rsa2048 --parameter agents=2 --case-time 2s";
    let said = place.ends(two, 1).said();
    assert_says(&said, ["2 agents each need a copy of the key"]);
    place.assert_gone();
}

fn named(name: &str) -> Option<u32> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let line = |process: &Path| fs::read_to_string(process.join("cmdline")).unwrap_or_default();
    let numbers = processes.filter(|entry| {
        let line = line(&entry.path());
        line.contains("bin/zeitgitterd") && line.contains(name)
    });
    let mut numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.next()
}

#[test]
fn a_service_that_dies_under_load_ends_its_case_with_what_it_had() {
    let place = Place::new(KEYMARK);
    let bench = "service bench --algorithm ed25519 --workers 2 --case-time 60s --format json";
    let bench = captured(&mut place.keymark(bench));
    let temporary = place.temporary().display().to_string();
    let service = found("zeitgitterd", || named(&temporary));
    // It is asked once before it is loaded.
    std::thread::sleep(std::time::Duration::from_secs(3));
    kill(Pid::from_raw(service.cast_signed()), Signal::SIGKILL).unwrap();
    // Nobody waits for the rest of the minute.
    std::thread::sleep(std::time::Duration::from_secs(1));
    tell(&bench, Signal::SIGINT);
    let rows = objects(&text(&bench.wait_with_output().unwrap().stdout));
    assert!(number(&rows[0], "failed") > 0.0, "{}", rows[0]);
    assert!(rows[0]["mean_s"].is_null(), "{}", rows[0]);
    place.assert_gone();
}
