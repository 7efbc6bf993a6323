//! Test keys on a token of the user's (`--write-to`): there while a run lasts, and gone after it, however it ends.

use std::path::PathBuf;
use std::process::Command;

use keymark_testkit::assert_says;
use keymark_testkit::place::{Ends, Place, Transcript, said, text};
use keymark_testkit::softhsm::{SoftHsmToken, URI};
use keymark_testkit::waiting::until;
use serde_json::Value;

use super::{keymark, rows};
use crate::{KEYMARK, assert_measured, kill_at_work, quiet};

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
        let rows = keymark(&place, &token, "devices --format json")
            .ends(0)
            .rows();
        let is_token = |row: &&Value| row["store"] == "pkcs11" && row["serial"].is_string();
        let serial = rows.iter().find(is_token).unwrap()["serial"].as_str();
        Self {
            serial: serial.unwrap().to_owned(),
            place,
            token,
        }
    }

    fn bench(&self, device: &str, more: &str) -> Command {
        let line = format!("bench --format json --device {device} --pin-env PIN {more}");
        let mut command = keymark(&self.place, &self.token, &line);
        command.args(["--write-to", &self.serial]);
        command
    }

    #[track_caller]
    fn ends(&self, arguments: &str, status: i32) -> Transcript {
        keymark(&self.place, &self.token, arguments).ends(status)
    }

    /// The token has these objects only, and no journal is left.
    #[track_caller]
    fn assert_restored(&self, before: &str) {
        assert_eq!(self.objects(), before);
        assert_eq!(self.journals(), Vec::<PathBuf>::new());
    }

    fn objects(&self) -> String {
        let mut list = self.token.pkcs11_tool();
        text(&self.token.run(list.arg("--list-objects")).stdout)
    }

    fn journals(&self) -> Vec<PathBuf> {
        let journals = std::fs::read_dir(self.place.path("state/keymark/journal"));
        let journals = journals.into_iter().flatten().flatten();
        journals.map(|entry| entry.path()).collect()
    }

    /// A run that is killed once it has written all its test keys.
    fn killed(&self) {
        let long = "--stack raw --algorithm nistp256 --precision 0.001% --case-time 60s";
        let run = quiet(&mut self.bench(URI, long));
        let written = || {
            let texts = self.journals().into_iter().map(std::fs::read_to_string);
            let written = texts
                .flatten()
                .map(|text| text.matches("\"written\"").count());
            written.sum::<usize>()
        };
        until("two test keys are written", || written() == 2);
        kill_at_work(run);
    }
}

#[test]
fn test_keys_are_on_the_token_that_is_named_while_a_run_lasts() {
    let user = Writable::new();
    let before = user.objects();
    let workers = "--samples 6 --algorithm rsa2048,nistp256 --workers 2 --processes 2";
    let rows = rows(&mut user.bench(URI, workers));
    assert_eq!(rows.len(), 8);
    assert_measured(&rows, 6);
    user.assert_restored(&before);
}

#[test]
fn programs_reach_test_keys_on_the_token_that_is_named() {
    let user = Writable::new();
    let before = user.objects();
    let programs = "--samples 3 --algorithm rsa2048,nistp256 --operation sign,decrypt,authenticate --stack \
                    ssh,openssl,gpg";
    let rows = rows(&mut user.bench(URI, programs));
    assert_measured(&rows, 3);
    // Both ways of openssl for four capabilities, gpg for RSA's two, ssh for one of each algorithm.
    assert_eq!(rows.len(), 8 + 2 + 2, "{rows:?}");
    user.assert_restored(&before);
}

/// By one that may write to the token, and by nobody else.
#[test]
fn what_a_killed_run_has_written_is_removed_by_the_next_and_nothing_else() {
    let user = Writable::new();
    let before = user.objects();
    user.killed();
    let left = user.objects();
    assert_eq!(left.matches("Private Key Object").count(), 3, "{left}");
    let only = "--samples 6 --algorithm nistp256 --operation sign";
    let reading = format!("bench --device {URI} --pin-env PIN {only}");
    for command in ["devices", &reading] {
        assert_says(&user.ends(command, 0).stderr, ["devices restore"]);
    }
    assert_eq!(user.objects(), left);
    let next = user.bench(URI, only).ends(0);
    assert_says(&next.stderr, ["removing what run"]);
    user.assert_restored(&before);
}

#[test]
fn what_a_killed_run_has_written_is_removed_on_request() {
    let user = Writable::new();
    let before = user.objects();
    user.killed();
    let restore = format!("devices restore {} --pin-env PIN", user.serial);
    let mut wrong = keymark(&user.place, &user.token, &restore);
    let wrong = said(&wrong.env("PIN", "000000").output().unwrap());
    assert_eq!(wrong.matches("CKR_PIN_INCORRECT").count(), 1, "{wrong}");
    assert_ne!(user.objects(), before);
    user.ends(&restore, 0);
    user.assert_restored(&before);
    user.ends(&restore, 3);
}

#[test]
fn a_write_that_is_cut_short_is_undone() {
    let user = Writable::new();
    let before = user.objects();
    let module = user.token.misbehaving_module().display().to_string();
    for mode in ["die-before-write", "die-after-write"] {
        let mut run = user.bench(&module, "--samples 6 --algorithm nistp256 --operation sign");
        let died = run.env("KEYMARK_TEST_MODULE", mode).ends(1);
        assert_says(&died.said(), ["C_CreateObject"]);
        // Another process has removed it.
        assert_eq!(user.objects(), before, "{mode}");
        user.ends(&format!("devices restore {} --pin-env PIN", user.serial), 3);
    }
}

#[test]
fn keys_that_a_token_makes_on_itself_are_reached_by_processes() {
    let user = Writable::new();
    let before = user.objects();
    let module = user.token.misbehaving_module().display().to_string();
    let workers = "--samples 6 --algorithm rsa2048,nistp256 --operation sign --processes 2";
    let mut run = user.bench(&module, workers);
    let rows = rows(run.env("KEYMARK_TEST_MODULE", "no-import"));
    assert_eq!(rows.len(), 2, "{rows:?}");
    assert_measured(&rows, 6);
    assert_eq!(user.objects(), before);
}
