//! Twins of HSMs: as devices of a run, and served to programs that are not keymark's.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use keymark_shim_protocol::pkcs11::settings::{Left, Queue, Settings};
use keymark_testkit::place::{Place, objects, text};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

const KEYMARK: &str = env!("CARGO_BIN_EXE_keymark");

/// A twin that is quick enough to be waited for.
fn profile(place: &Place) -> PathBuf {
    let path = place.path("quick.toml");
    let profile = "schema=1\nname='quick'\nstore='pkcs11'\nproduct='Quick HSM'\nsource='a test'\n\
         [[service]]\nalgorithm='rsa2048'\noperation='decrypt'\nconstant_s=0.03\n\
         [[service]]\nalgorithm='rsa2048'\noperation='sign'\nassumed='as decrypt'\n\
         [[service]]\nalgorithm='nistp256'\noperation='sign'\nconstant_s=0.02\n";
    std::fs::write(&path, profile).unwrap();
    path
}

#[test]
fn a_twin_is_measured_beside_the_library_it_stands_on_by_threads_and_processes() {
    let place = Place::new(KEYMARK);
    let twin = format!("twin:{}", profile(&place).display());
    #[rustfmt::skip]
    let rows = place.rows(&[
        "bench", "--device", &format!("softhsm,{twin}"), "--algorithm", "rsa2048,nistp256", "--operation", "sign,decrypt",
        "--stack", "raw", "--concurrency", "1,3", "--processes", "2", "--runs", "6", "--json",
    ]);
    let of_twin: Vec<&Value> = rows
        .iter()
        .filter(|row| row["device"] == "twin:quick")
        .collect();
    // It signs with both and decrypts with RSA, in three ways each.
    assert_eq!(of_twin.len(), 3 * 3, "{rows:?}");
    for row in of_twin {
        assert_eq!((&row["n"], &row["failed"]), (&6.into(), &0.into()), "{row}");
        assert_eq!(row["provenance"], "twin");
        let service = if row["algorithm"] == "rsa2048" {
            0.03
        } else {
            0.02
        };
        assert!(row["mean_s"].as_f64().unwrap() >= service, "{row}");
    }
    let shown = place.stdout(&["show", "--wide"]);
    assert!(shown.contains("twin of a Quick HSM"), "{shown}");
    assert!(
        shown.contains("rsa2048 sign is assumed, as decrypt"),
        "{shown}"
    );
    assert_eq!(place.leftovers(), [] as [PathBuf; 0]);
}

#[test]
fn what_is_measured_on_a_token_becomes_a_twin() {
    let place = Place::new(KEYMARK);
    #[rustfmt::skip]
    place.stdout(&[
        "bench", "--device", "softhsm", "--algorithm", "rsa2048", "--operation", "sign", "--stack", "raw", "--runs", "40",
    ]);
    let profile = place.stdout(&["profile", "--name", "again"]);
    assert!(
        profile.contains("store = \"pkcs11\"") && profile.contains("C_SignInit"),
        "{profile}"
    );
    // As it is, this machine may be too slow to be its own twin.
    let (head, _) = profile.split_once("quantiles_s").unwrap();
    let path = place.path("again.toml");
    std::fs::write(&path, format!("{head}constant_s = 0.02\n")).unwrap();
    let device = format!("twin:{}", path.display());
    let rows = place.rows(&[
        "bench", "--device", &device, "--stack", "raw", "--runs", "6", "--json",
    ]);
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!(rows[0]["device"], "twin:again");
}

/// A token that is served, until it is told to end.
struct Served {
    child: Child,
    told: Value,
}

impl Served {
    fn start(place: &Place, arguments: &[&str]) -> Self {
        let mut keymark =
            place.keymark(&[&["token", "serve", "--json", "--pkcs11"], arguments].concat());
        let mut child = keymark.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let stdout = child.stdout.as_mut().unwrap();
        BufReader::new(stdout).read_line(&mut line).unwrap();
        let told = objects(&line).remove(0);
        Self { child, told }
    }

    fn text(&self, name: &str) -> &str {
        self.told[name].as_str().unwrap()
    }

    /// A program that gets what is told and nothing else.
    fn program(&self, name: &str) -> Command {
        let mut program = Command::new(name);
        for (name, value) in self.told["environment"].as_object().unwrap() {
            program.env(name, value.as_str().unwrap());
        }
        program
    }

    fn end(mut self) {
        kill(Pid::from_raw(self.child.id().cast_signed()), Signal::SIGINT).unwrap();
        assert!(self.child.wait().unwrap().success());
    }
}

/// SoftHSM2 stands on OpenSSL, which has been cleaned up when the provider would finalize it.
const PROVIDER: &str = "openssl_conf = init\n[init]\nproviders = all\n[all]\npkcs11 = pkcs11\n\
    [pkcs11]\npkcs11-module-quirks = no-deinit\n";

#[test]
fn a_served_twin_signs_for_opensc_and_openssl_in_its_time_and_is_gone_afterwards() {
    let place = Place::new(KEYMARK);
    let twin = format!("twin:{}", profile(&place).display());
    let served = Served::start(&place, &[&twin]);
    let keys: Vec<&str> = served.told["keys"]
        .as_array()
        .unwrap()
        .iter()
        .map(|key| key["algorithm"].as_str().unwrap())
        .collect();
    assert_eq!(keys, ["rsa2048", "nistp256"]);
    let (data, signature, public) = (
        place.path("data"),
        place.path("signature"),
        place.path("public"),
    );
    std::fs::write(&data, "to be signed").unwrap();
    let read = |program: &mut Command| {
        let output = program.output().unwrap();
        let said = text(&output.stderr);
        assert!(output.status.success(), "{program:?}: {said}");
        text(&output.stdout)
    };
    let tool = || {
        let mut tool = served.program("pkcs11-tool");
        tool.args([
            "--module",
            served.text("module"),
            "--login",
            "--pin",
            served.text("pin"),
        ]);
        tool
    };
    #[rustfmt::skip]
    read(tool().args(["--read-object", "--type", "pubkey", "--label", "rsa2048", "--output-file"]).arg(&public));
    // OpenSSL finds the key by its URI, and the PIN by the file in it: by libp11's engine and by pkcs11-provider.
    let provider = place.path("provider.cnf");
    std::fs::write(&provider, PROVIDER).unwrap();
    for way in [
        &["-engine", "pkcs11", "-keyform", "engine"][..],
        &["-provider", "pkcs11", "-provider", "default"],
    ] {
        let mut openssl = served.program("openssl");
        openssl.arg("dgst").args(way);
        openssl.args(["-sign", served.text("uri"), "-sha256", "-out"]);
        for module in ["PKCS11_MODULE_PATH", "PKCS11_PROVIDER_MODULE"] {
            openssl.env(module, served.text("module"));
        }
        if way[0] == "-provider" {
            openssl.env("OPENSSL_CONF", &provider);
        }
        read(openssl.arg(&signature).arg(&data));
        let mut verify = Command::new("openssl");
        verify.args(["dgst", "-sha256", "-keyform", "DER", "-verify"]);
        verify.arg(&public).arg("-signature");
        let verified = read(verify.arg(&signature).arg(&data));
        assert!(verified.contains("Verified OK"), "{way:?}: {verified}");
        std::fs::remove_file(&signature).unwrap();
    }
    // Without any environment, the settings beside the module do.
    let listed = read(tool().env_clear().arg("--list-objects"));
    assert!(listed.contains("nistp256"), "{listed}");
    served.end();
    assert_eq!(place.leftovers(), [] as [PathBuf; 0]);
}

#[test]
fn another_keymark_takes_a_served_twins_times_for_no_other_devices() {
    let place = Place::new(KEYMARK);
    let twin = format!("twin:{}", profile(&place).display());
    let served = Served::start(&place, &[&twin]);
    let read = |program: &mut Command| {
        let output = program.output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let device = format!("pkcs11:?module-path={}", served.text("module"));
    let mut other = place.keymark(&["bench", "--json", "--device", &device, "--pin-env", "PIN"]);
    other.args([
        "--algorithm",
        "nistp256",
        "--operation",
        "sign",
        "--runs",
        "3",
    ]);
    let rows = objects(&read(other.env("PIN", served.text("pin"))));
    assert_eq!(rows[0]["provenance"], "twin", "{rows:?}");
    let mut trace = place.keymark(&["trace", "--pkcs11", served.text("module"), "--"]);
    let shown = read(trace.args(["pkcs11-tool", "--module", "{module}", "--list-slots"]));
    assert!(
        shown.contains("twin") && !shown.contains("measured"),
        "{shown}"
    );
    served.end();
}

#[test]
fn the_keys_that_are_served_can_be_chosen() {
    let place = Place::new(KEYMARK);
    let served = Served::start(&place, &["softhsm", "--algorithm", "nistp384"]);
    assert_eq!(served.told["keys"].as_array().unwrap().len(), 1);
    assert_eq!(served.text("device"), "softhsm");
    served.end();
}

#[test]
fn how_a_served_twin_takes_its_callers_can_be_chosen() {
    let place = Place::new(KEYMARK);
    let twin = format!("twin:{}", profile(&place).display());
    let settings = |arguments: &[&str]| {
        let served = Served::start(&place, &[&[twin.as_str()], arguments].concat());
        let file = Settings::beside(served.text("module").as_ref());
        let twin = Settings::read(&file).unwrap().twin.unwrap();
        served.end();
        (twin.queue, twin.left, twin.lanes)
    };
    assert_eq!(settings(&[]), (Queue::Fair, Left::Skipped, 1));
    let other = ["--queue", "unfair", "--left", "served", "--lanes", "4"];
    assert_eq!(settings(&other), (Queue::Unfair, Left::Served, 4));
}

#[test]
fn what_cannot_be_served_is_said() {
    let place = Place::new(KEYMARK);
    for (arguments, expected) in [
        (&["--pkcs11", "virtual"][..], "no token that can be served"),
        (
            &["--pkcs11", "softhsm", "--algorithm", "mlkem768"],
            "mlkem768",
        ),
        (
            &["--device", "twin:nitrokey-hsm"],
            "--pkcs11 twin:nitrokey-hsm",
        ),
        (&["--pkcs11", "softhsm", "--lanes", "4"], "it is no twin"),
        (
            &["--pkcs11", "twin:nitrokey-hsm", "--lanes", "65"],
            "65 is not in 1..=64",
        ),
        (&["--queue", "unfair"], "--pkcs11"),
    ] {
        let output = place.output(&[&["token", "serve"], arguments].concat());
        assert!(!output.status.success());
        let said = text(&output.stderr).replace("\n  ", " ");
        assert!(said.contains(expected), "{said}");
    }
}
