//! `make calibration`: the same case twice in one plan, 100 times over. At 95 % confidence the intervals of
//! about 5 of 100 ratios miss 1 by chance; more than 8 means that they are too narrow for this machine. Then
//! the same program against itself across runs: at most 5 % of comparisons may raise any alarm.
//! `--markdown FILE` also writes the figures into their section of the page.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, ExitCode};

use keymark_tools::setting::{Setting, keymark};
use keymark_tools::{Failure, Figure, Limit, across, markdown};

const PLANS: u32 = 100;
const LIMIT: f64 = 8.0;

fn main() -> ExitCode {
    match run(std::env::args_os().skip(1).collect()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether every limit is kept.
fn run(arguments: Vec<OsString>) -> Result<bool, Failure> {
    let page = match arguments.as_slice() {
        [] => None,
        [option, file] if option == "--markdown" => Some(file),
        _ => return Err("usage: calibration [--markdown FILE]".into()),
    };
    let figures = calibrate(&keymark()?)?;
    if let Some(file) = page {
        markdown::write(
            file.as_ref(),
            &markdown::CALIBRATION,
            &figures,
            &Setting::here()?,
        )?;
    }
    Ok(figures.iter().all(Figure::is_kept))
}

/// Each is printed as soon as it is there.
fn calibrate(keymark: &Path) -> Result<Vec<Figure>, Failure> {
    let directory = tempfile::tempdir()?;
    let mut figures = within_plans(keymark, directory.path())?;
    figures.iter().for_each(|figure| println!("{figure}"));
    for figure in across::measure(keymark, &directory.path().join("series.sqlite3"))? {
        println!("{figure}");
        figures.push(figure);
    }
    Ok(figures)
}

/// How many pairs of copies are called different.
fn within_plans(keymark: &Path, directory: &Path) -> Result<Vec<Figure>, Failure> {
    let archive = directory.join("runs.sqlite3");
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
        output(keymark, &archive, &measure)?;
        let pairs = output(keymark, &archive, &["compare", "last", "--json"])?;
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
    if different.is_empty() {
        return Err("nothing was compared".into());
    }
    let figure = |(case, count): (String, u32)| Figure {
        name: format!("{case}: copies called different, of {PLANS}"),
        value: count.into(),
        limit: Limit::AtMost(LIMIT),
        unit: "",
    };
    Ok(different.into_iter().map(figure).collect())
}

fn output(keymark: &Path, archive: &Path, arguments: &[&str]) -> Result<String, Failure> {
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
