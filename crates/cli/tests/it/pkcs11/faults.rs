//! Faults of a PKCS#11 module or its token in the middle of a run, and before one.

use std::collections::BTreeSet;
use std::process::Command;
use std::time::Duration;

use keymark_testkit::place::{Ends, Transcript, assert_has};
use keymark_testkit::softhsm::PIN;
use keymark_testkit::waiting::until;
use keymark_testkit::{assert_says, assert_silent};
use nix::sys::signal::Signal;
use serde_json::json;

use super::misbehaving::Misbehaving;
use crate::{KEYMARK, captured, end_of, tell};

/// A key signs and decrypts: what goes wrong with one is not the other's fault.
const BOTH: &str = "--operation sign,decrypt";

/// The reason why signing has failed.
fn reason(output: &Transcript) -> String {
    let rows = output.rows();
    let row = rows.iter().find(|row| row["operation"] == "sign");
    row.unwrap()["reason"].to_string()
}

#[test]
fn each_process_initialises_the_module_for_itself() {
    let world = Misbehaving::new(KEYMARK);
    let only = "--operation sign --processes 1,3";
    world.run("", PIN, &world.device, only, 0);
    // The look at the module, keymark, and four workers: nobody uses what a parent has initialized (PKCS#11 3.1
    // §5.4.1).
    let initialised = world.processes("C_Initialize");
    assert_eq!(initialised.len(), 2 + 4, "{initialised:?}");
    let different: BTreeSet<_> = initialised.iter().collect();
    assert_eq!(different.len(), initialised.len(), "{initialised:?}");
    let signed = world.processes("C_Sign");
    assert_eq!(signed.len(), 4, "{signed:?}");
    assert!(
        signed
            .iter()
            .all(|process| initialised[2..].contains(process))
    );
}

#[test]
fn a_token_that_is_pulled_out_ends_its_cases_and_nothing_else_goes_wrong() {
    for workers in ["--workers", "--processes"] {
        let world = Misbehaving::new(KEYMARK);
        let arguments = format!("{workers} 2 --operation sign");
        let output = world.run("gone", PIN, &world.device, &arguments, 1);
        assert_says(&reason(&output), ["CKR_DEVICE_REMOVED"]);
        assert_silent(&output.said(), ["C_Logout"]);
        world.place.assert_gone();
    }
}

#[test]
fn a_module_that_crashes_ends_its_case_alone() {
    for (mode, call, workers) in [
        ("crash-later", "C_Sign", "--processes 2"),
        ("crash-later", "C_Sign", "--workers 2"),
        ("crash-init", "C_SignInit", ""),
    ] {
        let world = Misbehaving::new(KEYMARK);
        // Also another device: what was measured on it is not lost.
        let devices = format!("software,{}", world.device);
        let more = format!("{workers} --algorithm nistp256 --stack raw {BOTH}");
        let output = world.run(mode, PIN, &devices, &more, 1);
        let rows = output.rows();
        assert_eq!(rows.len(), 4, "{rows:?}");
        for row in rows {
            if row["device"] == "software" || row["operation"] != "sign" {
                assert_has(&row, json!({"reason": null, "n": 6}));
                continue;
            }
            // While one thread crashes another may also be in a call: nobody knows whose fault it is.
            assert_says(&row["reason"], [call, "(SIGSEGV)"]);
        }
        world.place.assert_gone();
    }
}

#[test]
fn a_module_that_hangs_is_ended_when_its_time_is_up_and_told_of_before() {
    let world = Misbehaving::new(KEYMARK);
    for (limit, told) in [("2s", false), ("12s", true)] {
        let arguments = format!(
            "bench --device {} --pin-env PIN --format json --case-time {limit} {BOTH}",
            world.device
        );
        let output = world.keymark("hang-later", &arguments).ends(1);
        let hung = reason(&output);
        assert_says(&hung, ["C_Sign of misbehaving.so failed"]);
        // It is said after ten seconds, and ended when its own time is up.
        assert_silent(&hung, ["for 10 s"]);
        assert_eq!(output.stderr.contains("for 10 s"), told, "{output:?}");
        world.place.assert_gone();
    }
}

#[test]
fn the_first_signal_ends_a_run_whose_module_hangs() {
    let world = Misbehaving::new(KEYMARK);
    let bench = format!(
        "bench --device {} --pin-env PIN --samples 6 {BOTH}",
        world.device
    );
    let keymark = captured(&mut world.keymark("hang-later", &bench));
    // Three signatures are made, the fourth does not return.
    until("it signs", || world.processes("C_Sign").len() == 1);
    std::thread::sleep(Duration::from_millis(500));
    tell(&keymark, Signal::SIGINT);
    end_of(keymark, 130);
    world.place.assert_gone();
}

#[test]
fn what_a_module_prints_goes_nowhere_and_the_last_of_it_is_told_when_it_fails() {
    let world = Misbehaving::new(KEYMARK);
    for workers in ["--processes 1", ""] {
        let only = "--operation sign";
        let fine = world.run(
            "prints",
            PIN,
            &world.device,
            &format!("{only} {workers}"),
            0,
        );
        assert_eq!(fine.rows().len(), 1, "{fine:?}");
        let failed = world.run("prints-and-crashes", PIN, &world.device, only, 1);
        assert_says(&reason(&failed), ["(SIGABRT)", "the module's title"]);
        for said in [fine.said(), failed.said()] {
            assert!(!said.contains(['\x1b', '\x07']), "{said}");
        }
    }
}

#[test]
fn a_token_with_few_sessions_ends_the_case_that_wants_more_and_no_other() {
    let world = Misbehaving::new(KEYMARK);
    // Four workers and keymark's own: cases that wait for their turn hold none.
    let levels = format!("--workers 1,2,4,5 {BOTH}");
    let output = world.run("sessions=5", PIN, &world.device, &levels, 1);
    let rows = output.rows();
    assert_eq!(rows.len(), 2 * 4, "{rows:?}");
    for row in rows {
        if row["workers"] == 5 {
            assert_says(&row["reason"], ["CKR_SESSION_COUNT", "--workers 4"]);
        } else {
            assert!(row["reason"].is_null(), "{row}");
        }
    }
}

#[test]
fn a_file_that_is_no_module_says_what_it_is_on_a_terminal() {
    let world = Misbehaving::new(KEYMARK);
    let path = |name: &str| world.token.path(name);
    // An ELF header of 32 bits, for a machine that does not matter.
    let mut short = b"\x7fELF\x01\x01\x01".to_vec();
    short.resize(256, 0);
    std::fs::write(path("short.so"), &short).unwrap();
    std::fs::write(path("text.so"), "hello, world\n".repeat(40)).unwrap();
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-x", "c", "/dev/null", "-o"]);
    world.token.run(compiler.arg(path("libm.so")));
    for (mode, file, what) in [
        ("", "away.so", "no such file"),
        ("", "text.so", "not a library"),
        ("", "short.so", "32-bit"),
        ("", "libm.so", "PKCS#11 module"),
        ("crash", "misbehaving.so", "SIGSEGV"),
        ("exit", "misbehaving.so", "exit status: 7"),
        ("hang-load", "misbehaving.so", "for 10 s"),
    ] {
        let bench = "bench --pin-env PIN --operation sign --samples 6 --no-save --device";
        let mut keymark = world.keymark(mode, &format!("{bench} {}", path(file).display()));
        let message = keymark.env("COLUMNS", "100").ends(3).stderr;
        for line in message.lines() {
            // A path that is longer than the line stays in one piece.
            let fits = line.chars().count() <= 100 || !line.trim().contains(' ');
            assert!(fits, "{line}");
        }
        let lines: Vec<&str> = message.lines().map(str::trim).collect();
        assert_says(&lines.join(" "), [what]);
    }
    assert_eq!(world.logins(), "");
}
