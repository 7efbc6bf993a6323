//! Twins of HSMs: as devices of a run, and served to programs that are not keymark's.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use keymark_shim_protocol::pkcs11::settings::Settings;
use keymark_testkit::place::{Place, ended, objects, text};
use keymark_testkit::softhsm::SoftHsmToken;
use keymark_testkit::waiting::until;
use keymark_testkit::{assert_says, assert_silent};
use nix::sys::signal::Signal;
use serde_json::Value;

use crate::{KEYMARK, tell};

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
        assert_eq!((&row["n"], &row["failed"]), (&6.into(), &0.into()), "{row}");
        assert_eq!(row["provenance"], "twin");
        let service = if row["algorithm"] == "rsa2048" {
            0.03
        } else {
            0.02
        };
        assert!(row["mean_s"].as_f64().unwrap() >= service, "{row}");
    }
    let shown = place.stdout("show --long");
    assert_says(&shown, ["twin of a Quick HSM"]);
    assert_says(&shown, ["rsa2048 sign is assumed (as decrypt)"]);
    assert_eq!(place.leftovers(), [] as [PathBuf; 0]);
}

/// Refusals by a limit end their case with the device's code, and are no samples.
#[test]
fn a_twin_behind_a_network_refuses_what_exceeds_its_sessions_and_its_quota() {
    let place = Place::new(KEYMARK);
    let twin = |name: &str, network: &str| {
        let text = std::fs::read_to_string(profile(&place)).unwrap();
        let path = place.path(&format!("{name}.toml"));
        std::fs::write(&path, format!("{text}[network]\n{network}\n")).unwrap();
        format!("twin:{}", path.display())
    };
    let measure = |twin: &str, load: &str, code| {
        let bench = "bench --format json --algorithm rsa2048 --operation sign --stack raw";
        place
            .ends(&format!("{bench} --device {twin} {load}"), code)
            .rows()
    };
    let few = twin("few", "round_trip_s = 0.01\nsessions = 3");
    let rows = measure(&few, "--workers 1,2,3 --samples 6", 1);
    assert_eq!(rows.len(), 3, "{rows:?}");
    for row in rows {
        if row["workers"] == 3 {
            assert_says(&row["reason"], ["CKR_SESSION_COUNT", "--workers 2"]);
        } else {
            assert_eq!((&row["n"], &row["failed"]), (&6.into(), &0.into()), "{row}");
            assert!(row["mean_s"].as_f64().unwrap() >= 0.04, "{row}");
        }
    }
    let slow = twin(
        "slow",
        "quota_per_s = 0.5\nquota_burst = 5\nquota_error = 'CKR_FUNCTION_REJECTED'",
    );
    let rows = measure(&slow, "--samples 20", 1);
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
    let path = place.path("again.toml");
    std::fs::write(&path, format!("{head}constant_s = 0.02\n")).unwrap();
    let device = format!("twin:{}", path.display());
    let rows = place.rows(&format!(
        "bench --device {device} --stack raw --samples 6 --format json"
    ));
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
        let mut keymark = place.keymark(&format!("twin serve --format json --pkcs11 {arguments}"));
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

    /// OpenSC's tool, logged in.
    fn pkcs11_tool(&self) -> Command {
        let mut tool = Command::new("pkcs11-tool");
        tool.args(["--module", self.text("module"), "--login"]);
        tool.args(["--pin", self.text("pin")]);
        tool
    }

    fn end(mut self) {
        tell(&self.child, Signal::SIGINT);
        assert!(self.child.wait().unwrap().success());
    }
}

#[test]
fn a_program_that_hangs_at_a_served_twin_is_named_and_nobody_waits_for_it_for_ever() {
    let place = Place::new(KEYMARK);
    let twin = format!("twin:{}", profile(&place).display());
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
    let mut first = first.stdout(Stdio::null()).spawn().unwrap();
    until("the first program logs in", || {
        hanging.path("logins").exists()
    });
    let listed = || served.pkcs11_tool().arg("--list-objects").output().unwrap();
    // It is not done by its own end: a process that is stopped keeps its locks.
    tell(&first, Signal::SIGSTOP);
    let second = listed();
    assert!(!second.status.success());
    let (said, process) = (text(&second.stderr), first.id());
    for expected in [
        format!("waiting for process {process}, which is logging in"),
        format!("process {process} has been logging in for 10 s"),
    ] {
        assert_says(&said, [&expected]);
    }
    first.kill().unwrap();
    first.wait().unwrap();
    ended(listed(), 0);
    served.end();
}

/// OpenSSL asks its first provider for random numbers, and SoftHSM2 asks OpenSSL for some while it logs in.
#[test]
fn openssl_that_hands_a_twin_its_own_cryptography_is_refused_and_does_not_hang() {
    let place = Place::new(KEYMARK);
    let twin = format!("twin:{}", profile(&place).display());
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
    let output = openssl.output().unwrap();
    let said = text(&output.stderr);
    assert_says(&said, ["calls the module while the module is at work"]);
    served.end();
}

#[test]
fn another_keymark_takes_a_served_twins_times_for_no_other_devices() {
    let place = Place::new(KEYMARK);
    let twin = format!("twin:{}", profile(&place).display());
    let served = Served::start(&place, &twin);
    let read = |program: &mut Command| {
        let output = ended(program.output().unwrap(), 0);
        text(&output.stdout)
    };
    let device = format!("pkcs11:?module-path={}", served.text("module"));
    let mut other = place.keymark(&format!(
        "bench --format json --device {device} --pin-env PIN"
    ));
    other.args("--algorithm nistp256 --operation sign --samples 3".split(' '));
    let rows = objects(&read(other.env("PIN", served.text("pin"))));
    assert_eq!(rows[0]["provenance"], "twin", "{rows:?}");
    let mut trace = place.keymark(&["trace", "--pkcs11", served.text("module"), "--"]);
    let shown = read(trace.args("pkcs11-tool --module {module} --list-slots".split(' ')));
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
        let output = tool.output().unwrap();
        let (listed, said) = (text(&output.stdout), text(&output.stderr));
        let access = listed.lines().find(|line| line.contains("Access:"));
        let access = access.unwrap_or_else(|| panic!("{listed}{said}"));
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
    let twin = format!("twin:{}", profile(&place).display());
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
        let output = shell.output().unwrap();
        let said = text(&output.stdout) + &text(&output.stderr);
        assert!(output.status.success(), "{lines}\n{said}");
        assert_silent(&said, ["keymark's PKCS#11 module"]);
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
    let twin = format!("twin:{}", profile(&place).display());
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
        assert!(output.status.success(), "{line}: {}", text(&output.stderr));
        output.stdout
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
    tell(&serving, Signal::SIGINT);
    assert!(serving.wait().unwrap().success());
}

#[test]
fn eight_threads_of_java_sign_with_nothing_in_their_environment() {
    let place = Place::new(KEYMARK);
    let twin = format!("twin:{}", profile(&place).display());
    let served = Served::start(&place, &format!("{twin} --algorithm rsa2048"));
    let module = Path::new(served.text("module"));
    let program = place.path("Sign.java");
    std::fs::write(&program, SIGN).unwrap();
    let mut java = Command::new("java");
    java.env_clear().env("PATH", "/usr/bin:/bin").arg(&program);
    java.arg(module.with_file_name("java.cfg"));
    let output = java.arg(served.text("pin_file")).output().unwrap();
    let (signed, said) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{said}");
    assert_eq!(signed.lines().collect::<Vec<_>>(), ["256"; 16], "{said}");
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
    let twin = format!("twin:{}", profile(&place).display());
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
    for (arguments, expected) in [
        ("--pkcs11 virtual", "cannot be served"),
        ("--pkcs11 softhsm --algorithm mlkem768", "mlkem768"),
        ("--device twin:nitrokey-hsm", "--pkcs11 twin:nitrokey-hsm"),
        ("--pkcs11 softhsm --lanes 4", "it is not a twin"),
        (
            "--pkcs11 twin:nitrokey-hsm --lanes 65",
            "65 is not in 1..=64",
        ),
        ("--lanes 4", "--pkcs11"),
    ] {
        let output = place.output(&format!("twin serve {arguments}"));
        assert!(!output.status.success());
        let said = text(&output.stderr).replace("\n  ", " ");
        assert_says(&said, [expected]);
    }
}
