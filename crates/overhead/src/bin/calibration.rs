//! `make calibration`: the same case twice in one plan, 100 times over. At 95 % confidence the intervals of
//! about 5 of 100 ratios miss 1 by chance; more than 8 means that they are too narrow for this machine. Then
//! the same program against itself across runs: at most 5 % of comparisons may raise any alarm.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, ExitCode};

use keymark_overhead::{Failure, Figure, across};

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
            // Not the verdict, which allows for the number of cases.
            let bounds = (pair["ratio_low"].as_f64(), pair["ratio_high"].as_f64());
            let (Some(case), (Some(low), Some(high))) = (pair["case"].as_str(), bounds) else {
                return Err(format!("no pair: {line}").into());
            };
            *different.entry(case.to_owned()).or_default() += u32::from(low > 1.0 || high < 1.0);
        }
    }
    for (case, count) in &different {
        let missed = if *count > LIMIT { "  MISSED" } else { "" };
        println!("{case}, pairs called different: {count} of {PLANS}, ≤ {LIMIT}{missed}");
    }
    let figures = across::measure(&keymark, &directory.path().join("series.sqlite3"))?;
    for figure in &figures {
        println!("{figure}");
    }
    let narrow = different.is_empty() || different.values().any(|count| *count > LIMIT);
    Ok(!narrow && figures.iter().all(Figure::is_kept))
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
