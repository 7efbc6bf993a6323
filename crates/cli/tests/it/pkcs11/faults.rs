//! What can go wrong with a PKCS#11 module or its token in the middle of a run, and before one.

use std::process::{Output, Stdio};
use std::time::Duration;

use keymark_testkit::place::{ended, objects, said, text};
use keymark_testkit::softhsm::PIN;
use keymark_testkit::waiting::until;
use keymark_testkit::{assert_says, assert_silent};
use nix::sys::signal::Signal;
use serde_json::Value;

use super::misbehaving::Misbehaving;
use crate::{KEYMARK, tell};

/// A key signs and decrypts: what goes wrong with one is not the other's fault.
const BOTH: &str = "--operation sign,decrypt";

/// Why a row's case has failed; `null` if it has not.
fn reason(output: &Output, operation: &str) -> String {
    let rows: Vec<Value> = objects(&text(&output.stdout));
    let mut of_operation = rows.iter().filter(|row| row["operation"] == operation);
    let row = of_operation
        .next()
        .unwrap_or_else(|| panic!("{}", said(output)));
    row["reason"].to_string()
}

/// What keymark says on a terminal of 100 columns, where no line is broken within a word.
fn on_a_terminal(world: &Misbehaving, mode: &str, device: &str) -> String {
    let arguments =
        format!("bench --device {device} --pin-env PIN --operation sign --runs 6 --no-save");
    let mut command = world.keymark(mode, &arguments);
    let output = command.env("COLUMNS", "100").output().unwrap();
    assert!(!output.status.success(), "{}", said(&output));
    let message = text(&output.stderr);
    for line in message.lines() {
        // A path that is longer than the line stays in one piece.
        let fits = line.chars().count() <= 100 || !line.trim().contains(' ');
        assert!(fits, "{line}");
    }
    let lines: Vec<&str> = message.lines().map(str::trim).collect();
    lines.join(" ")
}

#[test]
fn each_process_initialises_the_module_for_itself() {
    let world = Misbehaving::new(KEYMARK);
    let only = "--operation sign --processes 1,3";
    ended(world.run("", PIN, &world.device, only), 0);
    // The look at the module, keymark, and four workers: nobody uses what a parent has initialised (PKCS#11 3.1
    // §5.4.1).
    let initialised = world.processes("C_Initialize");
    assert_eq!(initialised.len(), 2 + 4, "{initialised:?}");
    let mut different = initialised.clone();
    different.sort_unstable();
    different.dedup();
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
    for workers in ["--concurrency", "--processes"] {
        let world = Misbehaving::new(KEYMARK);
        let arguments = format!("{workers} 2 --operation sign");
        let output = ended(world.run("gone", PIN, &world.device, &arguments), 1);
        let reason = reason(&output, "sign");
        assert_says(&reason, ["CKR_DEVICE_REMOVED", "is it plugged in?"]);
        assert_silent(&said(&output), ["C_Logout"]);
        assert_eq!(world.place.leftovers(), Vec::<std::path::PathBuf>::new());
    }
}

#[test]
fn a_module_that_crashes_ends_its_case_alone() {
    for (mode, call, workers) in [
        ("crash-later", "C_Sign", "--processes 2"),
        ("crash-later", "C_Sign", "--concurrency 2"),
        ("crash-init", "C_SignInit", ""),
    ] {
        let world = Misbehaving::new(KEYMARK);
        // Another device, too: what was measured on it is not lost.
        let devices = format!("software,{}", world.device);
        let more = format!("{workers} --algorithm nistp256 --stack raw {BOTH}");
        let output = ended(world.run(mode, PIN, &devices, &more), 1);
        let rows: Vec<Value> = objects(&text(&output.stdout));
        assert_eq!(rows.len(), 4, "{rows:?}");
        for row in rows {
            let reason = row["reason"].to_string();
            if row["device"] != "software" && row["operation"] == "sign" {
                // While one thread crashes another may be in a call, too: nobody knows whose fault it is.
                let (calls, _) = reason.split_once(" of misbehaving.so").unwrap();
                let mut calls = calls.trim_start_matches('"').split(" or ");
                assert!(calls.any(|one| one == call), "{mode}: {reason}");
                assert!(
                    reason.contains("failed: it crashed (SIGSEGV)"),
                    "{mode}: {reason}"
                );
            } else {
                assert_eq!(
                    (reason.as_str(), &row["n"]),
                    ("null", &6.into()),
                    "{mode}: {row}"
                );
            }
        }
        let shown = world.place.stdout("runs --json");
        assert_says(&shown, ["\"samples\":"]);
        assert_eq!(world.place.leftovers(), Vec::<std::path::PathBuf>::new());
    }
}

#[test]
fn a_module_that_hangs_is_ended_when_its_time_is_up_and_told_of_before() {
    let world = Misbehaving::new(KEYMARK);
    for (limit, told) in [("2s", false), ("12s", true)] {
        let arguments = format!(
            "bench --device {} --pin-env PIN --json --max-time {limit} {BOTH}",
            world.device
        );
        let output = ended(world.keymark("hang-later", &arguments).output().unwrap(), 1);
        let hung = reason(&output, "sign");
        assert_says(
            &hung,
            ["C_Sign of misbehaving.so failed: it has not answered for"],
        );
        // It is said after ten seconds, and ended when its own time is up.
        assert!(!hung.contains("for 10 s"), "{hung}");
        let notice = "misbehaving.so has not answered C_Sign for 10 s";
        assert_eq!(
            text(&output.stderr).contains(notice),
            told,
            "{}",
            said(&output)
        );
        assert_eq!(world.place.leftovers(), Vec::<std::path::PathBuf>::new());
    }
}

#[test]
fn the_first_signal_ends_a_run_whose_module_hangs() {
    let world = Misbehaving::new(KEYMARK);
    let mut command = world.keymark(
        "hang-later",
        &format!("bench --json --device {}", world.device),
    );
    command.args(format!("--pin-env PIN --runs 6 {BOTH}").split(' '));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let keymark = command.spawn().unwrap();
    // Three signatures are made, the fourth does not return.
    until("it signs", || world.processes("C_Sign").len() == 1);
    std::thread::sleep(Duration::from_millis(500));
    tell(&keymark, Signal::SIGINT);
    ended(keymark.wait_with_output().unwrap(), 130);
    assert_eq!(world.place.leftovers(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn what_a_module_prints_goes_nowhere_and_the_last_of_it_is_told_when_it_fails() {
    let world = Misbehaving::new(KEYMARK);
    for workers in ["--processes 1", ""] {
        let only = "--operation sign";
        let fine = ended(
            world.run("prints", PIN, &world.device, &format!("{only} {workers}")),
            0,
        );
        assert_eq!(objects(&text(&fine.stdout)).len(), 1, "{}", said(&fine));
        assert!(!said(&fine).contains(['\x1b', '\x07']), "{}", said(&fine));
        let failed = world.run("prints-and-crashes", PIN, &world.device, only);
        let reason = reason(&failed, "sign");
        assert_says(&reason, ["it crashed (SIGABRT); the last it printed: "]);
        assert_says(&reason, ["the module's title"]);
        assert!(
            !said(&failed).contains(['\x1b', '\x07']),
            "{}",
            said(&failed)
        );
    }
}

#[test]
fn a_token_with_few_sessions_ends_the_case_that_wants_more_and_no_other() {
    let world = Misbehaving::new(KEYMARK);
    // Four workers and keymark's own: cases that wait for their turn hold none.
    let levels = format!("--concurrency 1,2,4,5 {BOTH}");
    let output = ended(world.run("sessions=5", PIN, &world.device, &levels), 1);
    let rows = objects(&text(&output.stdout));
    assert_eq!(rows.len(), 2 * 4, "{rows:?}");
    for row in rows {
        let reason = row["reason"].to_string();
        if row["concurrency"] == 5 {
            for part in [
                "CKR_SESSION_COUNT",
                "5 sessions at a time",
                "--concurrency 4 at most",
            ] {
                assert_says(&reason, [part]);
            }
        } else {
            assert_eq!(reason, "null", "{row}");
        }
    }
    let shown = world.place.stdout("show --long");
    assert_says(
        &shown,
        ["the device's sessions are the limit: 5 workers were refused, 4 could"],
    );
}

/// What is said to limit threads and processes. Each level waits for long enough to be believed, and does not calculate:
/// what other tests leave of the cores decides nothing.
fn limits(mode: &str) -> [String; 2] {
    let world = Misbehaving::new(KEYMARK);
    let arguments = format!(
        "bench --long --device {} --pin-env PIN --operation sign --concurrency 1,2 --processes 1,2 --runs 60",
        world.device
    );
    let output = ended(world.keymark(mode, &arguments).output().unwrap(), 0);
    let shown = text(&output.stdout);
    let section = shown
        .lines()
        .skip_while(|line| !line.starts_with("in parallel"));
    let rows = section.filter(|line| line.starts_with("nistp256") && line.contains('×'));
    let rows: Vec<&str> = rows.filter(|line| line.ends_with("virtual")).collect();
    assert!(!rows.is_empty(), "{shown}");
    let limit = |row: &&str| row.split_whitespace().rev().nth(1).unwrap().to_owned();
    let by = |processes: bool| {
        let row = rows
            .iter()
            .find(|row| row.contains(" processes ") == processes);
        // On a busy machine one process may be done before the other begins: they have no rate together, and no row.
        row.map_or("?".to_owned(), limit)
    };
    [by(false), by(true)]
}

#[test]
fn a_device_that_does_one_at_a_time_is_taken_for_nothing_else() {
    for limit in limits("serial=5000") {
        assert!(["device", "?"].contains(&limit.as_str()), "{limit}");
    }
}

#[test]
fn a_library_that_locks_is_taken_for_nothing_else() {
    let [threads, processes] = limits("lock=5000");
    assert!(["library", "?"].contains(&threads.as_str()), "{threads}");
    assert!(["yet", "?"].contains(&processes.as_str()), "{processes}");
}

#[test]
fn a_code_of_the_module_has_its_name_and_what_to_do_on_a_terminal() {
    let world = Misbehaving::new(KEYMARK);
    for (code, name, advice) in [
        ("0x30", "CKR_DEVICE_ERROR", "own log"),
        ("0x101", "CKR_USER_NOT_LOGGED_IN", "--pin-env VARIABLE"),
        ("0x91", "CKR_OPERATION_NOT_INITIALIZED", "--processes"),
        ("0x21", "CKR_DATA_LEN_RANGE", "a newer module"),
        ("0x80000123", "CKR_VENDOR_DEFINED+0x123", "manual"),
    ] {
        let message = on_a_terminal(&world, &format!("code={code}"), &world.device);
        assert_says(&message, ["C_Sign failed", name, advice]);
    }
}

#[test]
fn a_file_that_is_no_module_says_what_it_is_and_what_to_do() {
    let world = Misbehaving::new(KEYMARK);
    let file = |name: &str, content: &[u8]| {
        let file = world.token.path(name);
        std::fs::write(&file, content).unwrap();
        file.display().to_string()
    };
    // An ELF header of 32 bits, for a machine that does not matter.
    let mut short = b"\x7fELF\x01\x01\x01".to_vec();
    short.resize(256, 0);
    let away = world.token.path("away.so").display().to_string();
    let own = world.token.path("misbehaving.so").display().to_string();
    let libm = world.token.path("libm.so");
    world.token.run(
        std::process::Command::new("cc")
            .args(["-shared", "-o"])
            .arg(&libm)
            .args("-x c /dev/null".split(' ')),
    );
    for (mode, file, what, advice) in [
        ("", away, "there is no such file", "installed?"),
        (
            "",
            file("text.so", "hello, world\n".repeat(40).as_bytes()),
            "it is not a library",
            "keymark devices",
        ),
        ("", file("short.so", &short), "32-bit", "64-bit"),
        (
            "",
            libm.display().to_string(),
            "not a PKCS#11 module",
            "keymark devices",
        ),
        ("crash", own.clone(), "it crashed (SIGSEGV)", "its maker"),
        ("exit", own.clone(), "exit status: 7", "its maker"),
        (
            "hang-load",
            own,
            "not answered for 10 s",
            "device behind it",
        ),
    ] {
        let message = on_a_terminal(&world, mode, &file);
        assert_says(&message, [what, advice]);
    }
    assert_eq!(world.logins(), "");
}
