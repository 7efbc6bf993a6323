//! `keymark mcu` as its users call it.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_keymark"))
            .args(arguments)
            .env("KEYMARK_ARCHIVE", self.path("runs.sqlite3"))
            .env("PCSCLITE_CSOCK_NAME", "/nonexistent")
            .output()
            .unwrap()
    }

    /// Runs it to success.
    fn stdout(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {said}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs it to this exit status; gives what it said.
    fn refused(&self, arguments: &[&str], status: i32) -> String {
        let output = self.run(arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {said}");
        said
    }
}

fn objects(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn kernel(name: &str) -> String {
    let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).join("../mcu/kernels/elf");
    kernels.join(name).to_str().unwrap().to_owned()
}

#[test]
fn predictions_are_shown_streamed_and_saved() {
    let place = Place::new();
    let selection = [
        "mcu",
        "predict",
        "--kernel",
        "x25519,ed25519",
        "--option",
        "umaal=on,off",
    ];
    let rows = objects(&place.stdout(&[&selection[..], &["--json"]].concat()));
    // The Cortex-M3 has no UMAAL: one variant there, two on the other parts.
    assert_eq!(rows.len(), 2 * (1 + 2 + 2));
    for row in &rows {
        for key in [
            "mcu",
            "kernel",
            "options",
            "provenance",
            "classes",
            "stalls",
        ] {
            assert!(!row[key].is_null(), "{key}: {row}");
        }
        let number = |key: &str| row[key].as_f64().unwrap();
        assert!(number("low_seconds") <= number("seconds"), "{row}");
        assert!(number("seconds") <= number("high_seconds"), "{row}");
        assert!(number("cycles") >= number("instructions"), "{row}");
        assert_eq!(row["provenance"], "predicted");
        let options = row["options"].as_object().unwrap();
        assert!(
            options.contains_key("window") && options["crt"].is_null(),
            "{row}"
        );
    }
    let cycles = |mcu: &str, umaal: &str| {
        let row = rows.iter().find(|row| {
            (&row["mcu"], &row["kernel"], &row["options"]["umaal"])
                == (&mcu.into(), &"x25519".into(), &umaal.into())
        });
        row.unwrap()["cycles"].as_u64().unwrap()
    };
    assert!(cycles("stm32l432", "on") < cycles("stm32l432", "off"));

    let table = place.stdout(&selection);
    assert!(
        table.contains("x25519 (predicted") && table.contains("stm32l432:umaal=off"),
        "{table}"
    );
    let shown = place.stdout(&["show", "last"]);
    assert!(
        shown.contains("predicted") && shown.contains("no device was measured"),
        "{shown}"
    );
    let saved = objects(&place.stdout(&["show", "last", "--json"]));
    assert_eq!(saved.len(), rows.len());
    assert!(saved.iter().all(|row| row["provenance"] == "predicted"));
}

/// A shipped part's file with something replaced.
fn own_part(place: &Place, name: &str, from: &str, to: &str) -> String {
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/mcu/stm32f103.toml");
    let text = std::fs::read_to_string(shipped).unwrap();
    assert!(text.contains(from), "{from}");
    let file = place.path(name);
    std::fs::write(&file, text.replace(from, to)).unwrap();
    file.to_str().unwrap().to_owned()
}

#[test]
fn a_prediction_that_fails_does_not_cost_the_others() {
    let place = Place::new();
    let small = own_part(&place, "small.toml", "ram-kib = 20", "ram-kib = 4");
    std::fs::write(
        &small,
        std::fs::read_to_string(&small)
            .unwrap()
            .replace("\"stm32f103\"", "\"small\""),
    )
    .unwrap();
    let output = place.run(&[
        "mcu",
        "predict",
        "--mcu",
        &small,
        "--kernel",
        "x25519,rsa4096",
        "--json",
    ]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("rsa4096 on small"), "{said}");
    let rows = objects(std::str::from_utf8(&output.stdout).unwrap());
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0]["kernel"], "x25519");
}

#[test]
fn two_parts_of_one_name_are_refused() {
    let place = Place::new();
    let other = own_part(&place, "other.toml", "clock-mhz = 72", "clock-mhz = 48");
    let parts = format!("stm32f103,{other}");
    let said = place.refused(&["mcu", "predict", "--mcu", &parts], 2);
    assert!(said.contains("two different parts"), "{said}");
}

#[test]
fn repeated_arguments_are_one() {
    let place = Place::new();
    let rows = objects(&place.stdout(&[
        "mcu",
        "predict",
        "--mcu",
        "stm32f405,stm32f405",
        "--kernel",
        "x25519,cv25519",
        "--option",
        "umaal=on",
        "--option",
        "umaal=off",
        "--json",
    ]));
    let options: Vec<_> = rows.iter().map(|row| &row["options"]["umaal"]).collect();
    assert_eq!(options, ["on", "off"]);
}

#[test]
fn predictions_that_cannot_be_kept_are_shown_and_said_to_be_lost() {
    let place = Place::new();
    let archive = place.path("no/runs.sqlite3");
    std::fs::write(place.path("no"), "a file").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_keymark"))
        .args(["mcu", "predict", "--kernel", "x25519", "--archive"])
        .arg(archive)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("not saved"), "{said}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("x25519 (predicted"));
}

#[test]
fn the_same_question_has_the_same_answer() {
    let place = Place::new();
    let ask = [
        "mcu",
        "predict",
        "--mcu",
        "stm32f407,nrf52840",
        "--kernel",
        "x25519",
        "--json",
    ];
    let answer = place.stdout(&ask);
    assert_eq!(answer, place.stdout(&ask));
    assert_eq!(
        objects(&answer)[0]["mcu"],
        "stm32f407",
        "the name that was asked for"
    );
}

#[test]
fn a_slower_clock_takes_longer_in_fewer_cycles() {
    let place = Place::new();
    let ask = [
        "mcu",
        "predict",
        "--mcu",
        "stm32f103,stm32f103@24",
        "--kernel",
        "x25519",
        "--json",
    ];
    let rows = objects(&place.stdout(&ask));
    let number = |row: usize, key: &str| rows[row][key].as_f64().unwrap();
    assert!(
        number(1, "cycles") < number(0, "cycles"),
        "no wait states at 24 MHz"
    );
    assert!(number(1, "seconds") > number(0, "seconds"));
}

#[test]
fn differences_are_explained_by_class_and_cause() {
    let place = Place::new();
    let said = place.stdout(&[
        "mcu",
        "explain",
        "stm32f405:umaal=off",
        "stm32f405",
        "--kernel",
        "x25519",
    ]);
    for part in [
        "UMAAL",
        "ADC/SBC",
        "cycles in all",
        "times as fast",
        "cycles saved:",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn firmware_is_run_with_phases_and_a_profile_by_function() {
    let place = Place::new();
    let folded = place.path("stacks.txt");
    let elf = kernel("ed25519-umull-o2.elf");
    let said = place.stdout(&["mcu", "run", &elf, "--folded", folded.to_str().unwrap()]);
    for part in ["phase", "fe25519_mul", "instructions", "flash wait"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let stacks = std::fs::read_to_string(folded).unwrap();
    assert!(
        stacks.contains("reset;kernel;ed25519_sign;fe25519_add "),
        "{stacks}"
    );
    let all: u64 = stacks
        .lines()
        .map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap())
        .sum();
    assert!(all > 900_000, "{all} cycles");
}

#[test]
fn explanations_and_profiles_add_up_as_json() {
    let place = Place::new();
    let sum = |rows: &Value, key: &str| -> u64 {
        let rows = rows.as_array().unwrap().iter();
        rows.map(|row| row[key].as_u64().unwrap()).sum()
    };
    let explain = ["mcu", "explain", "stm32f405:umaal=off", "stm32f405"];
    let explained =
        objects(&place.stdout(&[&explain[..], &["--kernel", "x25519", "--json"]].concat()));
    for side in ["first", "second"] {
        assert_eq!(
            sum(&explained[0]["differences"], side),
            explained[0][side]["cycles"]
        );
    }

    let elf = kernel("x25519-umaal-o2.elf");
    let run = objects(&place.stdout(&["mcu", "run", &elf, "--mcu", "nrf52840", "--json"]));
    let (run, whole) = (&run[0], run[0]["cycles"].as_u64().unwrap());
    assert_eq!(sum(&run["phases"], "cycles"), whole);
    assert_eq!(sum(&run["functions"], "cycles"), whole);
    assert_eq!(
        run["seconds"].as_f64().unwrap(),
        whole as f64 / 64e6,
        "at 64 MHz"
    );
    assert!(
        run["output"].as_str().unwrap().len() > 60,
        "the kernel prints its result: {run}"
    );
}

#[test]
fn what_cannot_be_run_is_refused_with_the_reason() {
    let place = Place::new();
    let elf = kernel("x25519-umull-o2.elf");
    let file = place.path("not.elf");
    std::fs::write(&file, "not a program").unwrap();
    assert!(
        place
            .refused(&["mcu", "run", file.to_str().unwrap()], 1)
            .contains("ELF")
    );
    let own = env!("CARGO_BIN_EXE_keymark");
    assert!(
        place
            .refused(&["mcu", "run", own], 1)
            .contains("arm-none-eabi-gcc")
    );
    let endless = place.refused(&["mcu", "run", &elf, "--limit", "1000"], 1);
    assert!(
        endless.contains("1000 instructions and no end"),
        "{endless}"
    );
    let umaal = place.refused(
        &[
            "mcu",
            "run",
            &kernel("x25519-umaal-o2.elf"),
            "--mcu",
            "stm32f103",
        ],
        1,
    );
    assert!(
        umaal.contains("cannot go on") && umaal.contains("DSP"),
        "{umaal}"
    );
    for (arguments, reason) in [
        (&["mcu", "predict", "--mcu", "z80"][..], "stm32f103"),
        (&["mcu", "predict", "--mcu", "stm32f103@1000"], "72 MHz"),
        (&["mcu", "predict", "--option", "window=9"], "4, 5, 6"),
        (&["mcu", "predict", "--kernel", "rsa512"], "rsa2048"),
        (
            &["mcu", "explain", "stm32f103:umaal=on", "stm32f103"],
            "UMAAL",
        ),
        (&["mcu", "storage", "--geometry", "floppy"], "stm32l432"),
    ] {
        let said = place.refused(arguments, 2);
        assert!(said.contains(reason), "{arguments:?}: {said}");
    }
    let nothing = place.refused(
        &[
            "mcu",
            "predict",
            "--mcu",
            "stm32f103",
            "--option",
            "umaal=on",
        ],
        3,
    );
    assert!(nothing.contains("no UMAAL"), "{nothing}");
}

#[test]
fn a_prediction_becomes_a_twin() {
    let place = Place::new();
    let profile = place.stdout(&[
        "mcu",
        "profile",
        "stm32f405",
        "--kernel",
        "x25519",
        "--transport",
        "400ms",
        "--name",
        "f405",
    ]);
    assert!(profile.contains("no device was measured"), "{profile}");
    place.refused(
        &[
            "mcu",
            "profile",
            "stm32f405",
            "--kernel",
            "x25519",
            "--name",
            "a b",
        ],
        2,
    );
    let file = place.path("f405.toml");
    std::fs::write(&file, &profile).unwrap();
    let device = format!("twin:{}", file.display());
    let rows = objects(&place.stdout(&[
        "bench",
        "--device",
        &device,
        "--stack",
        "raw",
        "--algorithm",
        "cv25519",
        "--operation",
        "decrypt",
        "--runs",
        "3",
        "--json",
    ]));
    assert_eq!(rows.len(), 1);
    assert_eq!(
        (&rows[0]["provenance"], &rows[0]["failed"]),
        (&"twin".into(), &0.into())
    );
    assert!(
        rows[0]["median_s"].as_f64().unwrap() >= 0.400,
        "the transport alone takes that long"
    );
}

#[test]
fn predictions_can_be_compared_and_guarded() {
    let place = Place::new();
    for clock in ["72", "48"] {
        let part = own_part(
            &place,
            "part.toml",
            "clock-mhz = 72",
            &format!("clock-mhz = {clock}"),
        );
        place.stdout(&["mcu", "predict", "--mcu", &part, "--kernel", "x25519"]);
    }
    let said = place.refused(&["compare", "last~1", "last", "--fail-above", "5%"], 1);
    assert!(said.contains("slower by more than 5 %"), "{said}");
    place.stdout(&["compare", "last", "last~1", "--fail-above", "5%"]);
    place.stdout(&["compare", "last", "last", "--fail-above", "0%"]);
    let shown = place.stdout(&["show", "last"]);
    assert!(shown.contains("with one assumption varied"), "{shown}");
}

#[test]
fn storage_says_what_fits_and_what_it_costs() {
    let place = Place::new();
    let rows = objects(&place.stdout(&[
        "mcu",
        "storage",
        "--geometry",
        "stm32l432",
        "--workload",
        "signatures",
        "--operations",
        "5000",
        "--json",
    ]));
    assert_eq!(rows.len(), 3);
    for row in &rows {
        assert!(
            row["lifetime_signatures"].as_u64().unwrap() > 10_000,
            "{row}"
        );
        assert!(row["worst_s"].as_f64() >= row["mean_s"].as_f64(), "{row}");
        assert!(
            row["used_bytes"].as_u64() <= row["reserved_bytes"].as_u64(),
            "{row}"
        );
    }
    let refused = place.refused(
        &[
            "mcu",
            "storage",
            "--geometry",
            "stm32f405",
            "--design",
            "separate-pages",
            "--operations",
            "10",
        ],
        1,
    );
    assert!(refused.contains("needs 8 sectors and has 4"), "{refused}");
    let answers = objects(&place.stdout(&[
        "mcu",
        "storage",
        "--geometry",
        "stm32f405",
        "--workload",
        "mixed",
        "--operations",
        "10",
        "--json",
    ]));
    assert_eq!(answers.len(), 3);
    assert_eq!(answers[0]["settled"], false);
    assert_eq!(answers[2]["design"], "separate-pages");
    assert!(answers[2]["refused"].as_str().unwrap().contains("sectors"));
}

#[test]
fn every_part_says_what_it_rests_on() {
    let place = Place::new();
    let parts = objects(&place.stdout(&["mcu", "list", "--json"]));
    assert!(parts.len() >= 5);
    for part in &parts {
        assert!(!part["sources"].as_array().unwrap().is_empty(), "{part}");
    }
    assert!(place.stdout(&["mcu", "list"]).contains("assumed:"));
}
