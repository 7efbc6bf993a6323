//! `make calibration`: the same case twice in one plan, 100 times over. At 95 % confidence about 5
//! of 100 pairs are called different by chance; more than 8 means that the intervals are too narrow
//! for this machine.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, ExitCode};

use keymark_overhead::Failure;

const PLANS: u32 = 100;
const LIMIT: u32 = 8;

fn main() -> ExitCode {
    match calibrate() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn calibrate() -> Result<bool, Failure> {
    let keymark = std::env::current_exe()?.with_file_name("keymark");
    let directory = tempfile::tempdir()?;
    let archive = directory.path().join("runs.sqlite3");
    let mut different: BTreeMap<String, u32> = BTreeMap::new();
    for plan in 0..PLANS {
        let seed = plan.to_string();
        let measure = [
            "bench",
            "--algorithm",
            "ed25519",
            "--operation",
            "sign",
            "--stack",
            "raw,agent,gnupg",
            "--replicas",
            "2",
            "--total-time",
            "3s",
            "--seed",
            &seed,
            "--json",
        ];
        run(&keymark, &archive, &measure)?;
        let pairs = run(&keymark, &archive, &["compare", "last", "--json"])?;
        for line in pairs.lines() {
            let pair: serde_json::Value = serde_json::from_str(line)?;
            let (Some(case), Some(verdict)) = (pair["case"].as_str(), pair["verdict"].as_str())
            else {
                return Err(format!("no pair: {line}").into());
            };
            *different.entry(case.to_owned()).or_default() +=
                u32::from(verdict != "no difference seen");
        }
    }
    for (case, count) in &different {
        let missed = if *count > LIMIT { "  MISSED" } else { "" };
        println!("{case}, pairs called different: {count} of {PLANS}, ≤ {LIMIT}{missed}");
    }
    Ok(!different.is_empty() && different.values().all(|count| *count <= LIMIT))
}

fn run(keymark: &Path, archive: &Path, arguments: &[&str]) -> Result<String, Failure> {
    let output = Command::new(keymark)
        .args(arguments)
        .arg("--archive")
        .arg(archive)
        .output()?;
    if output.status.success() {
        Ok(String::from_utf8(output.stdout)?)
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned().into())
    }
}
