//! The stack `git`, as a user has it: on keys in files, on virtual cards and twins, on a soft token, and with gits that
//! are old, absent, broken or do not sign.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use keymark_testkit::place::{Ends, Place, assert_has};
use keymark_testkit::process::write_script;
use keymark_testkit::{assert_says, assert_silent};
use serde_json::{Value, json};

use crate::{KEYMARK, assert_measured, verdict};

const ED25519: &str =
    "bench --device software --algorithm ed25519 --stack git --samples 3 --format json";

/// `ed25519 openpgp cached`
fn names(rows: &[Value]) -> BTreeSet<String> {
    let name = |row: &Value| {
        let parameters = &row["parameters"];
        let words = [
            &row["algorithm"],
            &parameters["format"],
            &parameters["protection"],
        ];
        let words: Vec<_> = words.iter().filter_map(|word| word.as_str()).collect();
        words.join(" ")
    };
    rows.iter().map(name).collect()
}

fn all<const N: usize>(names: [&str; N]) -> BTreeSet<String> {
    names.map(str::to_owned).into()
}

/// A directory with a `git` that is this script, before the directories of `PATH`.
fn path_with(place: &Place, script: &str) -> String {
    let directory = place.path("bin");
    fs::create_dir_all(&directory).unwrap();
    write_script(&directory.join("git"), script);
    format!("{}:{}", directory.display(), std::env::var("PATH").unwrap())
}

/// The real git.
fn git() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    let mut found = std::env::split_paths(&path).map(|directory| directory.join("git"));
    found.find(|git| git.is_file()).expect("git is installed")
}

#[test]
fn commits_are_signed_in_each_format_alone_and_together() {
    let place = Place::new(KEYMARK);
    let rows = place.bench(
        "--device software --algorithm ed25519,nistp256,rsa2048,brainpoolp256r1 --stack git --samples 4 --workers 1,2 \
         --protection none,cached",
    );
    assert_measured(&rows, 4);
    let mut expected = all([
        "brainpoolp256r1 unsigned",
        "brainpoolp256r1 openpgp",
        "brainpoolp256r1 openpgp cached",
    ]);
    for algorithm in ["ed25519", "nistp256", "rsa2048"] {
        let formats = ["unsigned", "openpgp", "openpgp cached", "ssh", "ssh-agent"];
        expected.extend(formats.map(|format| format!("{algorithm} {format}")));
    }
    assert_eq!(names(&rows), expected);
    assert_eq!(rows.len(), 2 * expected.len());
    place.assert_gone();
}

#[test]
fn the_verdict_has_the_cost_of_a_rebase_with_each_key() {
    let place = Place::new(KEYMARK);
    place.bench(
        "--device software --algorithm ed25519,rsa4096 --stack git --samples 6 --parameter format=unsigned,ssh,openpgp",
    );
    let verdict = &verdict(&place)["finding"];
    assert_has(verdict, json!({"kind": "commits", "rebase": 50}));
    let costs = verdict["signed"].as_array().unwrap();
    assert_eq!(costs.len(), 4, "{verdict}");
    let mean = |cost: &Value| cost["mean"]["value"].as_f64().unwrap();
    assert!(costs.is_sorted_by(|a, b| mean(a) <= mean(b)), "{verdict}");
    assert_eq!(verdict["unsigned"]["program"], "git");
    let said = ["Signing a rebase of 50 commits takes", "unsigned"];
    assert_says(&place.stdout("show last"), said);
}

#[test]
fn the_users_configuration_is_neither_read_nor_written() {
    let place = Place::new(KEYMARK);
    let home = place.path("home");
    let hooks = home.join("hooks");
    fs::create_dir_all(&hooks).unwrap();
    write_script(&hooks.join("pre-commit"), "exit 1");
    let file = home.join(".gitconfig");
    let text = format!(
        "[core]\n\thooksPath = {}\n[user]\n\tsigningkey = none\n[gpg]\n\tprogram = /bin/false\n\tformat = x509\n\
         [init]\n\ttemplateDir = /nonexistent\n\tdefaultBranch = other\n",
        hooks.display()
    );
    fs::write(&file, &text).unwrap();
    let mut keymark = place.keymark(ED25519);
    keymark
        .env("HOME", &home)
        .env("XDG_CONFIG_HOME", &home)
        .env("GIT_CONFIG_GLOBAL", &file)
        .env("GIT_DIR", "/nonexistent")
        .env("GIT_WORK_TREE", "/nonexistent")
        .env("GIT_INDEX_FILE", "/nonexistent")
        .env("SSH_AUTH_SOCK", "/nonexistent");
    let mut rows = keymark.ends(0).rows();
    rows.retain(|row| row["n"].is_u64());
    assert_measured(&rows, 3);
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
    for written in ["git", ".config", ".gnupg", ".ssh"] {
        assert!(!home.join(written).exists(), "{written}");
    }
    place.assert_gone();
}

#[test]
fn cards_sign_by_gpg_and_tokens_by_an_agent() {
    let place = Place::new(KEYMARK);
    let rows = place.bench(
        "--device virtual,twin:yubikey-4 --algorithm rsa2048 --stack git --samples 2 --parameter format=openpgp,unsigned",
    );
    assert_measured(&rows, 2);
    assert_eq!(names(&rows), all(["rsa2048 openpgp", "rsa2048 unsigned"]));
    assert_eq!(rows.len(), 4);
    let time = |device: &str, format: &str| {
        let is_it = |row: &&Value| row["device"] == device && row["parameters"]["format"] == format;
        rows.iter().find(is_it).unwrap()["mean_s"].as_f64().unwrap()
    };
    // Its published signature takes 0.14 s.
    assert!(time("twin:yubikey-4", "openpgp") > 0.1);
    place.assert_gone();
    let rows = place.bench(
        "--device softhsm --algorithm rsa2048,nistp256 --stack git --samples 3 --parameter format=ssh-agent,unsigned",
    );
    assert_measured(&rows, 3);
    let expected = ["rsa2048", "nistp256"].into_iter();
    let expected: BTreeSet<String> = expected
        .flat_map(|key| ["ssh-agent", "unsigned"].map(|format| format!("{key} {format}")))
        .collect();
    assert_eq!(names(&rows), expected);
    place.assert_gone();
}

#[test]
fn git_is_measured_only_on_request() {
    let place = Place::new(KEYMARK);
    for plan in ["default", "complete"] {
        let planned = place.stdout(&format!("bench --plan {plan} --dry-run"));
        assert_silent(&planned, [" git "]);
    }
}

#[test]
fn an_old_an_absent_and_a_failing_git_are_named_with_what_to_do() {
    let place = Place::new(KEYMARK);
    let real = git().display().to_string();
    // Signs with gpg all the same.
    let says = "[ \"$1\" = --version ] && exec echo git version";
    let old = path_with(&place, &format!("{says} 2.30.2\nexec {real} \"$@\""));
    let with = |path: &str, arguments: &str, status| {
        let mut keymark = place.keymark(arguments);
        keymark.env("PATH", path).ends(status)
    };
    let mut rows = with(&old, ED25519, 0).rows();
    rows.retain(|row| row["n"].is_u64());
    assert_eq!(names(&rows), all(["ed25519 unsigned", "ed25519 openpgp"]));
    let refused = with(&old, &format!("{ED25519} --parameter format=ssh"), 3).said();
    assert_says(&refused, ["ed25519"]);
    assert_says(&with(&old, "devices", 0).said(), ["git 2.34", "2.30.2"]);
    let fails = "echo fatal: no space left >&2\nexit 128";
    let failing = path_with(&place, &format!("{says} 2.39.5\n{fails}"));
    let said = with(&failing, ED25519, 1).said();
    assert_says(&said, ["git init", "no space left"]);
    let broken = path_with(&place, "exit 1");
    with(&broken, ED25519, 3);
    assert_says(&with(&broken, "devices", 0).said(), ["no version"]);
    let absent = with("/nonexistent", "devices", 0).said();
    assert_says(&absent, ["apt-get install git"]);
    place.assert_gone();
}

/// Runs a git that does something else where a commit is to be signed; the run fails and says that.
#[track_caller]
fn deceived(instead: &str, said: &str) {
    let place = Place::new(KEYMARK);
    let real = git().display().to_string();
    let script =
        format!("for last; do :; done\n[ \"$last\" = -S ] || exec {real} \"$@\"\n{instead}");
    let path = path_with(&place, &script);
    let mut keymark = place.keymark(&format!("{ED25519} --parameter format=ssh"));
    let ended = keymark.env("PATH", path).ends(1);
    assert_says(&ended.said(), [said]);
    place.assert_gone();
}

#[test]
fn a_commit_that_is_missing_or_unsigned_is_no_sample() {
    deceived("exit 0", "no new commit");
    let unsigned = "exec $REAL -C \"$2\" commit --quiet --allow-empty -mkeymark --no-gpg-sign";
    // The program's environment is not the user's.
    let unsigned = unsigned.replace("$REAL", &git().display().to_string());
    deceived(&unsigned, "the commit does not verify");
}
