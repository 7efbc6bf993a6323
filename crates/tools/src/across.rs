//! The same program against itself across runs: how many comparisons raise any alarm?

use std::path::Path;
use std::process::Command;

use crate::{Failure, Figure, Limit};

/// Series at different times; each is compared with each other one, both ways.
const SERIES: u32 = 12;
const RUNS: &str = "5";
/// Calls of `bench --against`, each compared both ways.
const ALTERNATING: u32 = 10;
const PAIRS: &str = "3";
/// What is measured, by each run.
const CASES: [&str; 9] = [
    "bench",
    "--algorithm",
    "rsa2048,nistp256,ed25519",
    "--operation",
    "sign",
    "--stack",
    "raw,agent,gnupg",
    "--total-time",
    "2s",
];
const ABOVE: &str = "5%";

/// Share of comparisons with any alarm: of series apart, and of series that alternated.
///
/// # Errors
/// When keymark cannot measure or compare.
pub fn measure(keymark: &Path, archive: &Path) -> Result<[Figure; 2], Failure> {
    for seed in 0..SERIES {
        let seed = seed.to_string();
        let series = ["--repeat", RUNS, "--pause", "2s", "--seed", &seed];
        status(keymark, archive, &[&CASES[..], &series].concat())?;
    }
    let mut apart = Alarms::default();
    for old in 0..SERIES {
        for new in (0..SERIES).filter(|new| *new != old) {
            apart.count(keymark, archive, old, new)?;
        }
    }
    let own = keymark.to_string_lossy();
    let mut alternating = Alarms::default();
    for seed in 0..ALTERNATING {
        let seed = seed.to_string();
        let against = [
            "--against",
            &own,
            "--repeat",
            PAIRS,
            "--pause",
            "1s",
            "--seed",
            &seed,
        ];
        status(keymark, archive, &[&CASES[..], &against].concat())?;
        alternating.count(keymark, archive, 0, 1)?;
        alternating.count(keymark, archive, 1, 0)?;
    }
    Ok([
        apart.figure("series at different times"),
        alternating.figure("series that alternated"),
    ])
}

/// Comparisons, and those with any alarm.
#[derive(Default)]
struct Alarms {
    raised: u32,
    comparisons: u32,
}

impl Alarms {
    /// Compares the series that are so far back.
    fn count(&mut self, keymark: &Path, archive: &Path, old: u32, new: u32) -> Result<(), Failure> {
        let [old, new] = [old, new].map(|back| format!("series:last~{back}"));
        let compare = ["compare", &old, &new, "--fail-above", ABOVE];
        self.comparisons += 1;
        self.raised += u32::from(status(keymark, archive, &compare)? == 1);
        Ok(())
    }

    fn figure(&self, what: &str) -> Figure {
        let Self {
            raised,
            comparisons,
        } = self;
        Figure {
            name: format!(
                "{what}, comparisons with any alarm above {ABOVE} ({raised} of {comparisons})"
            ),
            value: f64::from(*raised) / f64::from(*comparisons) * 100.0,
            limit: Limit::AtMost(5.0),
            unit: " %",
        }
    }
}

/// 0, or 1 for an alarm; anything else is a failure.
fn status(keymark: &Path, archive: &Path, arguments: &[&str]) -> Result<i32, Failure> {
    let mut command = Command::new(keymark);
    let output = command
        .args(arguments)
        .arg("--archive")
        .arg(archive)
        .output()?;
    match output.status.code() {
        Some(code @ (0 | 1)) => Ok(code),
        _ => Err(String::from_utf8_lossy(&output.stderr).into_owned().into()),
    }
}
