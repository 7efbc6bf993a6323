//! Workers that are processes, as a user has them.

use std::process::Command;

use keymark_testkit::place::{Place, assert_has, text};
use keymark_testkit::waiting;
use keymark_testkit::{assert_says, assert_silent};
use serde_json::json;

use crate::{KEYMARK, kill_at_work};

#[test]
fn each_process_opens_the_key_for_itself_and_every_kind_of_key_travels() {
    let place = Place::new(KEYMARK);
    let rows = place.bench(
        "--device software --processes 1,2 --samples 6 --algorithm \
         rsa2048,dsa2048,elg2048,nistp256,cv25519,ed25519,ed448,mlkem768,mldsa65,slhdsa128f",
    );
    // RSA signs and decrypts, the curves of NIST sign and derive.
    assert_eq!(rows.len(), 2 * 12, "{rows:?}");
    for row in &rows {
        let expected = json!({"worker": "process", "stack": "raw", "n": 6, "failed": 0});
        assert_has(row, expected);
    }
    place.record();
}

#[test]
fn where_no_other_process_can_open_the_key_it_is_said_at_once() {
    let place = Place::new(KEYMARK);
    for where_from in [
        "--stack gpg --device software",
        "--stack raw --device virtual",
    ] {
        let bench = format!("bench --processes 2 --algorithm ed25519 {where_from}");
        assert_says(&place.refused(&bench, 2), ["each process"]);
    }
}

#[test]
fn no_worker_has_the_variable_of_a_pin_or_outlives_keymark() {
    let place = Place::new(KEYMARK);
    let bench = "bench --algorithm ed25519 --operation sign --stack raw --processes 3 --case-time 60s --no-save";
    let mut keymark = place.keymark(bench);
    let keymark = keymark.env("USER_PIN", "123456").spawn().unwrap();
    let id = keymark.id().to_string();
    let workers = || {
        let mut list = Command::new("ps");
        list.args(["--no-headers", "-o", "pid=", "--ppid", &id]);
        let children = text(&list.output().unwrap().stdout);
        let children = children.split_whitespace().map(|pid| pid.parse().unwrap());
        // One that is only just being started is still keymark itself.
        let workers = children.filter(|pid| of_process(*pid, "cmdline").ends_with(b"\0worker\0"));
        <[u32; 3]>::try_from(workers.collect::<Vec<_>>()).ok()
    };
    let started = waiting::found("three workers", workers);
    let environments = started.map(|pid| text(&of_process(pid, "environ")));
    kill_at_work(keymark);
    let gone = |pid: &u32| !std::path::Path::new(&format!("/proc/{pid}")).exists();
    waiting::until("they are gone", || started.iter().all(gone));
    for environment in environments {
        assert_says(&environment, ["TMPDIR="]);
        assert_silent(&environment, ["USER_PIN="]);
    }
}

/// An agent with a token's key, its shell and the helper that loads the module: what they need of the environment, and no
/// secret. ssh-agent keeps its own to itself.
#[test]
fn no_program_at_a_token_has_a_secret_of_the_environment() {
    use keymark_stores::places::process::Process;
    use keymark_testkit::softhsm::{CONFIGURATION, PIN, SoftHsmToken, URI};

    let (place, token) = (Place::new(KEYMARK), SoftHsmToken::new());
    token.make_key("rsa:2048", "01", "web");
    let device = format!("{URI};object=web");
    let line = "bench --operation authenticate --stack ssh --parameter agent=openssh --case-time 60s --no-save";
    let keymark = place
        .keymark(&format!("{line} --pin-env USER_PIN --device {device}"))
        .env("USER_PIN", PIN)
        .env("PGPASSWORD", "secret")
        .env("CI_JOB_TOKEN", "secret")
        .env(CONFIGURATION, token.configuration())
        .spawn()
        .unwrap();
    let id = keymark.id();
    let others = || {
        let all = Process::with_descendants(id).into_iter();
        all.map(|process| process.number)
            .filter(move |number| *number != id)
    };
    let helper = waiting::found("the module is loaded", || {
        others().find(|number| text(&of_process(*number, "cmdline")).contains("ssh-pkcs11-helper"))
    });
    let environments: Vec<String> = others()
        .map(|number| text(&of_process(number, "environ")))
        .collect();
    let of_helper = text(&of_process(helper, "environ"));
    kill_at_work(keymark);
    waiting::until("they are gone", || Process::of(helper).is_none());
    assert!(environments.len() >= 3, "{environments:?}");
    assert_says(&of_helper, ["SOFTHSM2_CONF=", "PATH="]);
    for environment in environments {
        assert_silent(&environment, ["USER_PIN=", "PGPASSWORD=", "CI_JOB_TOKEN="]);
    }
}

fn of_process(id: u32, what: &str) -> Vec<u8> {
    std::fs::read(format!("/proc/{id}/{what}")).unwrap_or_default()
}
