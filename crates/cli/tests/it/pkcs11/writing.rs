//! Test keys on a token of the user's (`--write-to`): there while a run lasts, and gone after it, however it ends.

use std::process::{Command, Output, Stdio};

use keymark_testkit::assert_says;
use keymark_testkit::place::{Place, ended, objects, said, text};
use keymark_testkit::softhsm::{SoftHsmToken, URI};
use keymark_testkit::waiting::until;

use super::{bench, keymark, rows};
use crate::KEYMARK;

/// A token of the user's that may be written to, with a key of theirs that is called as keymark's are.
struct Writable {
    place: Place,
    token: SoftHsmToken,
    serial: String,
}

impl Writable {
    fn new() -> Self {
        let (place, token) = (Place::new(KEYMARK), SoftHsmToken::new());
        token.make_key("EC:prime256v1", "01", "keymark test key");
        let devices = keymark(&place, &token, "devices --json").output();
        let serial = serial_in(&text(&devices.unwrap().stdout));
        Self {
            place,
            token,
            serial,
        }
    }

    fn bench(&self, device: &str, more: &str) -> Command {
        let mut command = bench(&self.place, &self.token, device, more);
        command.args(["--write-to", &self.serial]);
        command
    }

    fn keymark(&self, arguments: &str) -> Output {
        let mut command = keymark(&self.place, &self.token, arguments);
        command.output().unwrap()
    }

    /// What OpenSC's tool finds on the token.
    fn objects(&self) -> String {
        let mut list = self.token.pkcs11_tool();
        text(&self.token.run(list.arg("--list-objects")).stdout)
    }

    fn journals(&self) -> Vec<std::path::PathBuf> {
        let journals = std::fs::read_dir(self.place.path("state/keymark/journal"));
        let journals = journals.into_iter().flatten().flatten();
        journals.map(|entry| entry.path()).collect()
    }

    /// A run that is killed once it has written all its test keys.
    fn killed(&self) {
        let arguments = format!(
            "bench --device {URI} --pin-env PIN --stack raw --write-to {} --algorithm nistp256 --precision 0.001% \
             --max-time 60s",
            self.serial
        );
        let mut command = keymark(&self.place, &self.token, &arguments);
        let command = command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut run = command.spawn().unwrap();
        let written = || {
            let texts = self.journals().into_iter().map(std::fs::read_to_string);
            let texts = texts.filter_map(Result::ok);
            texts
                .map(|text| text.matches("\"written\"").count())
                .sum::<usize>()
        };
        until("two test keys are written", || written() == 2);
        assert!(run.try_wait().unwrap().is_none(), "it still measures");
        run.kill().unwrap();
        run.wait().unwrap();
    }
}

#[test]
fn test_keys_are_on_the_token_that_is_named_while_a_run_lasts() {
    let user = Writable::new();
    let before = user.objects();
    let workers = "--algorithm rsa2048,nistp256 --concurrency 2 --processes 2";
    let rows = rows(&mut user.bench(URI, workers));
    assert_eq!(rows.len(), 8, "{rows:?}");
    assert!(rows.iter().all(|row| row["failed"] == 0), "{rows:?}");
    assert_eq!(user.objects(), before);
    assert_eq!(user.journals(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn programs_reach_test_keys_on_the_token_that_is_named() {
    let user = Writable::new();
    let before = user.objects();
    let arguments = format!(
        "bench --device {URI} --json --pin-env PIN --write-to {} --runs 3 --algorithm rsa2048,nistp256 --operation \
         sign,decrypt,authenticate --stack ssh,openssl,gnupg",
        user.serial
    );
    let mut command = keymark(&user.place, &user.token, &arguments);
    let rows = rows(&mut command);
    assert!(rows.iter().all(|row| row["failed"] == 0), "{rows:?}");
    // Both ways of openssl for four capabilities, gpg for RSA's two, ssh for one of each algorithm.
    assert_eq!(rows.len(), 8 + 2 + 2, "{rows:?}");
    assert_eq!(user.objects(), before);
    assert_eq!(user.journals(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn what_a_killed_run_has_written_is_removed_by_the_next_and_nothing_else() {
    let user = Writable::new();
    let before = user.objects();
    user.killed();
    let left = user.objects();
    assert_eq!(left.matches("Private Key Object").count(), 3, "{left}");
    // Whoever does not write to it is told, and changes nothing.
    let only = "--algorithm nistp256 --operation sign";
    for told in [
        user.keymark("devices"),
        bench(&user.place, &user.token, URI, only).output().unwrap(),
    ] {
        assert_says(&said(&told), ["still has a test key"]);
    }
    assert_eq!(user.objects(), left);
    let next = ended(user.bench(URI, only).output().unwrap(), 0);
    assert_says(&said(&next), ["removing what run"]);
    assert_eq!(user.objects(), before);
    assert_eq!(user.journals(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn what_a_killed_run_has_written_is_removed_on_request() {
    let user = Writable::new();
    let before = user.objects();
    user.killed();
    let restore = format!("token restore {} --pin-env PIN", user.serial);
    let wrong = keymark(&user.place, &user.token, &restore)
        .env("PIN", "000000")
        .output();
    let wrong = said(&wrong.unwrap());
    assert_eq!(wrong.matches("CKR_PIN_INCORRECT").count(), 1, "{wrong}");
    assert_ne!(user.objects(), before);
    ended(user.keymark(&restore), 0);
    assert_eq!(user.objects(), before);
    assert_eq!(
        user.keymark(&restore).status.code(),
        Some(3),
        "nothing is left"
    );
}

#[test]
fn a_write_that_is_cut_short_is_undone() {
    let user = Writable::new();
    let before = user.objects();
    let module = user.token.misbehaving_module();
    let only = "--algorithm nistp256 --operation sign";
    for mode in ["die-before-write", "die-after-write"] {
        let mut run = user.bench(module.to_str().unwrap(), only);
        let died = run.env("KEYMARK_TEST_MODULE", mode).output().unwrap();
        assert_eq!(died.status.code(), Some(1), "{mode}: {}", said(&died));
        assert_says(&said(&died), ["C_CreateObject of misbehaving.so failed"]);
        assert_eq!(
            user.objects(),
            before,
            "{mode}: another process has removed it"
        );
        let restored = user.keymark(&format!("token restore {} --pin-env PIN", user.serial));
        assert_eq!(
            restored.status.code(),
            Some(3),
            "{mode}: {}",
            said(&restored)
        );
    }
}

#[test]
fn keys_that_a_token_makes_on_itself_are_reached_by_processes() {
    let user = Writable::new();
    let before = user.objects();
    let module = user.token.misbehaving_module();
    let workers = "--algorithm rsa2048,nistp256 --operation sign --processes 2";
    let mut run = user.bench(module.to_str().unwrap(), workers);
    let rows = rows(run.env("KEYMARK_TEST_MODULE", "no-import"));
    assert_eq!(rows.len(), 2, "{rows:?}");
    assert!(rows.iter().all(|row| row["failed"] == 0), "{rows:?}");
    assert_eq!(user.objects(), before, "both halves are gone");
}

/// The serial number of the user's token, by what 'keymark devices' says.
fn serial_in(devices: &str) -> String {
    let rows = objects(devices);
    let is_token = |row: &&serde_json::Value| row["store"] == "pkcs11" && row["serial"].is_string();
    let row = rows
        .iter()
        .find(is_token)
        .unwrap_or_else(|| panic!("{devices}"));
    row["serial"].as_str().unwrap().to_owned()
}
