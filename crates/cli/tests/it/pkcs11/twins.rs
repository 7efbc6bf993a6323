//! Twins of HSMs: as devices of a run, and served to programs that are not keymark's.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use keymark_shim_protocol::pkcs11::settings::Settings;
use keymark_testkit::place::{Ends as _, Place, ended, text};
use keymark_testkit::softhsm::SoftHsmToken;
use keymark_testkit::waiting::until;
use keymark_testkit::{assert_says, assert_silent};
use nix::sys::signal::Signal;
use serde_json::Value;

use crate::{KEYMARK, assert_measured, interrupt, kill_at_work, number, quiet, tell, telling};

const QUICK: &str = "schema=1\nname='quick'\nstore='pkcs11'\nproduct='Quick HSM'\nsource='a test'\n\
     [[service]]\nalgorithm='rsa2048'\noperation='decrypt'\nconstant_s=0.03\n\
     [[service]]\nalgorithm='rsa2048'\noperation='sign'\nassumed='as decrypt'\n\
     [[service]]\nalgorithm='nistp256'\noperation='sign'\nconstant_s=0.02\n";

/// The twin of that profile, as a device.
fn twin_of(place: &Place, profile: &str) -> String {
    let path = place.path("profile.toml");
    std::fs::write(&path, profile).unwrap();
    format!("twin:{}", path.display())
}

/// A twin that is quick enough to be waited for.
fn quick(place: &Place) -> String {
    twin_of(place, QUICK)
}

#[test]
fn a_twin_is_measured_beside_the_library_it_stands_on_by_threads_and_processes() {
    let place = Place::new(KEYMARK);
    let twin = quick(&place);
    let rows = place.rows(
        &format!(
            "bench --device softhsm,{twin} --algorithm rsa2048,nistp256 --operation sign,decrypt --stack raw \
             --workers 1,3 --processes 2 --samples 6 --format json"
        ),
    );
    let of_twin: Vec<&Value> = rows
        .iter()
        .filter(|row| row["device"] == "twin:quick")
        .collect();
    // It signs with both and decrypts with RSA, in three ways each.
    assert_eq!(of_twin.len(), 3 * 3, "{rows:?}");
    for row in of_twin {
        assert_measured(std::slice::from_ref(row), 6);
        assert_eq!(row["provenance"], "twin");
        let is_rsa = row["algorithm"] == "rsa2048";
        let service = if is_rsa { 0.03 } else { 0.02 };
        assert!(number(row, "mean_s") >= service, "{row}");
    }
    let assumed = "rsa2048 sign is assumed (as decrypt)";
    assert_says(
        &place.stdout("show --long"),
        ["twin of a Quick HSM", assumed],
    );
    assert_eq!(place.leftovers(), [] as [PathBuf; 0]);
}

/// Refusals by a limit end their case with the device's code, and are no samples.
#[test]
fn a_twin_behind_a_network_refuses_what_exceeds_its_sessions_and_its_quota() {
    let place = Place::new(KEYMARK);
    let measure = |network: &str, load: &str| {
        let twin = twin_of(&place, &format!("{QUICK}[network]\n{network}\n"));
        let bench = "bench --format json --algorithm rsa2048 --operation sign --stack raw";
        place
            .ends(&format!("{bench} --device {twin} {load}"), 1)
            .rows()
    };
    let few = "round_trip_s = 0.01\nsessions = 3";
    let rows = measure(few, "--workers 1,2,3 --samples 6");
    assert_eq!(rows.len(), 3, "{rows:?}");
    for row in rows {
        if row["workers"] == 3 {
            assert_says(&row["reason"], ["CKR_SESSION_COUNT", "--workers 2"]);
        } else {
            assert_measured(std::slice::from_ref(&row), 6);
            assert!(number(&row, "mean_s") >= 0.04, "{row}");
        }
    }
    let slow = "quota_per_s = 0.5\nquota_burst = 5\nquota_error = 'CKR_FUNCTION_REJECTED'";
    let rows = measure(slow, "--samples 20");
    assert_says(&rows[0]["reason"], ["C_Sign", "CKR_FUNCTION_REJECTED"]);
    assert!(rows[0]["n"].as_u64().unwrap_or(0) <= 5, "{rows:?}");
    assert_eq!(place.leftovers(), [] as [PathBuf; 0]);
}

#[test]
fn what_is_measured_on_a_token_becomes_a_twin() {
    let place = Place::new(KEYMARK);
    place.stdout(
        "bench --device softhsm --algorithm rsa2048 --operation sign --stack raw --samples 40",
    );
    let profile = place.stdout("twin make --name again");
    assert_says(&profile, ["store = \"pkcs11\"", "C_SignInit"]);
    // As it is, this machine may be too slow to be its own twin.
    let (head, _) = profile.split_once("quantiles_s").unwrap();
    let twin = twin_of(&place, &format!("{head}constant_s = 0.02\n"));
    let rows = place.bench(&format!("--device {twin} --stack raw --samples 6"));
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!(rows[0]["device"], "twin:again");
}

/// A token that is served, until it is told to end.
struct Served {
    child: Child,
    told: Value,
}

impl Served {
    fn start(place: &Place, arguments: &str) -> Self {
        let serve = format!("twin serve --format json --pkcs11 {arguments}");
        let (child, told) = telling(&mut place.keymark(&serve));
        Self { child, told }
    }

    fn text(&self, name: &str) -> &str {
        self.told[name].as_str().unwrap()
    }

    /// OpenSC's tool, logged in.
    fn pkcs11_tool(&self) -> Command {
        let mut tool = Command::new("pkcs11-tool");
        tool.args(["--module", self.text("module"), "--login"]);
        tool.args(["--pin", self.text("pin")]);
        tool
    }

    fn end(self) {
        interrupt(self.child);
    }
}

#[test]
fn a_program_that_hangs_at_a_served_twin_is_named_and_nobody_waits_for_it_for_ever() {
    let place = Place::new(KEYMARK);
    let twin = quick(&place);
    let served = Served::start(&place, &twin);
    let settings = Settings::read(&Settings::beside(served.text("module").as_ref())).unwrap();
    let hanging = SoftHsmToken::new();
    let mut first = served.pkcs11_tool();
    first
        .env("KEYMARK_PKCS11_MODULE", hanging.misbehaving_module())
        .env("KEYMARK_TEST_MODULE", "hang-login")
        .env("KEYMARK_TEST_LOGINS", hanging.path("logins"))
        .envs(settings.environment)
        .arg("--list-objects");
    let first = quiet(&mut first);
    until("the first program logs in", || {
        hanging.path("logins").exists()
    });
    let listed = |status| served.pkcs11_tool().arg("--list-objects").ends(status);
    // It is not done by its own end: a process that is stopped keeps its locks.
    tell(&first, Signal::SIGSTOP);
    let process = first.id();
    let waiting = format!("waiting for process {process}, which is logging in");
    let given_up = format!("process {process} has been logging in for 10 s");
    assert_says(&listed(1).stderr, [waiting, given_up]);
    kill_at_work(first);
    listed(0);
    served.end();
}

/// OpenSSL asks its first provider for random numbers, and SoftHSM2 asks OpenSSL for some while it logs in.
#[test]
fn openssl_that_hands_a_twin_its_own_cryptography_is_refused_and_does_not_hang() {
    let place = Place::new(KEYMARK);
    let twin = quick(&place);
    let served = Served::start(&place, &twin);
    let data = place.path("data");
    std::fs::write(&data, "to be signed").unwrap();
    let mut openssl = Command::new("timeout");
    openssl.args("--signal=KILL 120 openssl pkeyutl -sign".split(' '));
    openssl.args("-provider pkcs11 -provider default".split(' '));
    openssl
        .args(["-inkey", served.text("uri"), "-in"])
        .arg(&data);
    openssl.env("PKCS11_PROVIDER_MODULE", served.text("module"));
    let said = text(&openssl.output().unwrap().stderr);
    assert_says(&said, ["calls the module while the module is at work"]);
    served.end();
}

#[test]
fn another_keymark_takes_a_served_twins_times_for_no_other_devices() {
    let place = Place::new(KEYMARK);
    let twin = quick(&place);
    let served = Served::start(&place, &twin);
    let module = served.text("module");
    let mut other = place.keymark(&format!(
        "bench --format json --device pkcs11:?module-path={module} --pin-env PIN --algorithm nistp256 \
         --operation sign --samples 3"
    ));
    let rows = other.env("PIN", served.text("pin")).ends(0).rows();
    assert_eq!(rows[0]["provenance"], "twin", "{rows:?}");
    let list = "pkcs11-tool --module {module} --list-slots";
    let shown = place.stdout(&format!("trace --pkcs11 {module} -- {list}"));
    assert_says(&shown, ["twin"]);
    assert_silent(&shown, ["measured"]);
    served.end();
}

#[test]
fn the_keys_that_are_served_can_be_chosen_and_are_kept_as_an_hsm_keeps_them() {
    let place = Place::new(KEYMARK);
    for token in ["softhsm", "kryoptic"] {
        let served = Served::start(&place, &format!("{token} --algorithm nistp384"));
        assert_eq!(served.told["keys"].as_array().unwrap().len(), 1);
        assert_eq!(served.text("device"), token);
        // It needs nothing in its environment, whatever token that is.
        let mut tool = served.pkcs11_tool();
        tool.env_clear()
            .args("--list-objects --type privkey".split(' '));
        let listed = tool.ends(0).said();
        let access = listed.lines().find(|line| line.contains("Access:"));
        let access = access.unwrap_or_else(|| panic!("{listed}"));
        assert_says(&access, ["sensitive"]);
        assert_silent(&access, ["extract"]);
        served.end();
    }
}

/// The commands of the page, in directories of their own.
#[test]
fn what_the_page_says_to_type_works_in_every_program() {
    let page = include_str!("../../../../../docs/your-program.md");
    let lines = page
        .split("```sh\n")
        .skip(1)
        .map(|rest| rest.split_once("```").unwrap().0);
    let place = Place::new(KEYMARK);
    let twin = quick(&place);
    let served = Served::start(&place, &format!("{twin} --algorithm rsa2048"));
    let module = Path::new(served.text("module"));
    let programs = Path::new(KEYMARK).parent().unwrap();
    let path = format!("/usr/sbin:/usr/bin:/sbin:/bin:{}", programs.display());
    let mut seen = 0;
    for (nth, lines) in lines.enumerate() {
        let directory = place.path(&format!("program-{nth}"));
        std::fs::create_dir(&directory).unwrap();
        std::fs::write(directory.join("data"), "to be signed").unwrap();
        let mut shell = Command::new("timeout");
        shell
            .args(["120", "sh", "-euc", lines])
            .env_clear()
            .envs([("PATH", path.as_str()), ("KEY", served.text("uri"))])
            .envs([("D", module.parent().unwrap()), ("HOME", &directory)])
            .current_dir(&directory);
        assert_silent(&shell.ends(0).said(), ["keymark's PKCS#11 module"]);
        seen += 1;
    }
    assert_eq!(seen, 10);
    served.end();
    assert_eq!(place.leftovers(), [] as [PathBuf; 0]);
}

/// The short form, on the terminal.
#[test]
fn what_token_serve_says_to_type_works() {
    let place = Place::new(KEYMARK);
    let twin = quick(&place);
    let mut keymark = place.keymark(&format!("twin serve --pkcs11 {twin}"));
    let mut serving = keymark.stdout(Stdio::piped()).spawn().unwrap();
    let said = BufReader::new(serving.stdout.as_mut().unwrap()).lines();
    let said: Vec<String> = said
        .map(Result::unwrap)
        .take_while(|line| !line.starts_with("  and more"))
        .collect();
    let of = |name: &str| {
        let mut entries = said.iter().filter_map(|line| line.strip_prefix("  "));
        let entry = entries.find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        entry.unwrap_or_else(|| panic!("{said:?}")).trim()
    };
    let directory = Path::new(of("module")).parent().unwrap();
    std::fs::write(place.path("data"), "to be signed").unwrap();
    // What the programs ask for, and placeholders of a key and a file.
    let run = |name: &str, more: &str| {
        let line = of(name)
            .replace("'URI'", "\"$KEY\"")
            .replace("FILE", "data");
        let line = line.split("; never").next().unwrap();
        let mut shell = Command::new("sh");
        shell.args(["-euc", &format!("{line} {more}")]).env_clear();
        shell.env("PATH", "/usr/bin:/bin").env("D", directory);
        shell.env("KEY", of("rsa2048")).env("GNUTLS_PIN", of("PIN"));
        let output = shell.current_dir(place.path("")).output().unwrap();
        ended(output, 0).stdout
    };
    for (name, more) in [
        ("pkcs11-tool", "--pin env:GNUTLS_PIN"),
        ("p11tool", ""),
        ("Java", "-storepass:env GNUTLS_PIN"),
    ] {
        let listed = text(&run(name, more));
        assert!(listed.contains("rsa2048"), "{name}: {listed}");
    }
    for name in ["openssl", "or"] {
        assert_eq!(run(name, "").len(), 256, "{name}");
    }
    interrupt(serving);
}

#[test]
fn eight_threads_of_java_sign_with_nothing_in_their_environment() {
    let place = Place::new(KEYMARK);
    let twin = quick(&place);
    let served = Served::start(&place, &format!("{twin} --algorithm rsa2048"));
    let module = Path::new(served.text("module"));
    let program = place.path("Sign.java");
    std::fs::write(&program, SIGN).unwrap();
    let mut java = Command::new("java");
    java.env_clear().env("PATH", "/usr/bin:/bin").arg(&program);
    java.arg(module.with_file_name("java.cfg"));
    let signed = java.arg(served.text("pin_file")).ends(0);
    let lengths: Vec<&str> = signed.stdout.lines().collect();
    assert_eq!(lengths, ["256"; 16], "{}", signed.stderr);
    served.end();
}

/// Two signatures by each thread.
const SIGN: &str = r#"
import java.nio.file.*; import java.security.*; import java.util.stream.*;
class Sign {
    public static void main(String[] given) throws Exception {
        Provider provider = Security.getProvider("SunPKCS11").configure(given[0]);
        KeyStore store = KeyStore.getInstance("PKCS11", provider);
        store.load(null, Files.readString(Path.of(given[1])).toCharArray());
        PrivateKey key = (PrivateKey) store.getKey("rsa2048", null);
        Runnable twice = () -> IntStream.range(0, 2).forEach(nth -> {
            try {
                Signature signature = Signature.getInstance("SHA256withRSA", provider);
                signature.initSign(key);
                signature.update("data".getBytes());
                System.out.println(signature.sign().length);
            } catch (Exception error) { error.printStackTrace(); System.exit(1); }
        });
        var threads = Stream.generate(() -> new Thread(twice)).limit(8).toList();
        threads.forEach(Thread::start);
        for (Thread thread : threads) thread.join();
    }
}
"#;

#[test]
fn a_served_twin_has_as_many_lanes_as_were_asked_for() {
    let place = Place::new(KEYMARK);
    let twin = quick(&place);
    let settings = |arguments: &str| {
        let served = Served::start(&place, &format!("{twin} {arguments}"));
        let file = Settings::beside(served.text("module").as_ref());
        let twin = Settings::read(&file).unwrap().twin.unwrap();
        served.end();
        twin.lanes
    };
    assert_eq!((settings(""), settings("--lanes 4")), (1, 4));
}

#[test]
fn what_cannot_be_served_is_said() {
    let place = Place::new(KEYMARK);
    for (arguments, status, expected) in [
        ("--pkcs11 virtual", 2, "cannot be served"),
        ("--pkcs11 softhsm --algorithm mlkem768", 3, "mlkem768"),
        ("--device twin:aws-kms", 2, "--pkcs11 twin:aws-kms"),
        ("--pkcs11 softhsm --lanes 4", 2, "it is not a twin"),
        ("--pkcs11 twin:aws-kms --lanes 65", 2, "65 is not in 1..=64"),
        ("--lanes 4", 2, "--pkcs11"),
    ] {
        let said = place.refused(&format!("twin serve {arguments}"), status);
        assert_says(&said.replace("\n  ", " "), [expected]);
    }
}
