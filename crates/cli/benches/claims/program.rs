//! The keymark that was built with this program, and what its start costs.

use std::path::Path;
use std::process::{Command, Output};

use super::figure::{Failure, Figure, Limit, median, time};

const STARTS: usize = 21;

pub(crate) const PATH: &str = env!("CARGO_BIN_EXE_keymark");

/// Version with the commit.
pub(crate) fn version() -> Result<String, Failure> {
    let output = Command::new(PATH).arg("--version").output()?;
    let text = String::from_utf8(output.stdout)?;
    Ok(text.trim().trim_start_matches("keymark ").to_owned())
}

/// Returns a keymark on that archive; spaces separate its arguments.
pub(crate) fn keymark(archive: &Path, words: &str) -> Command {
    let mut command = Command::new(PATH);
    command.args(words.split(' ')).arg("--archive").arg(archive);
    command
}

/// Runs it. It ends with 0, or with 1 for an alarm; anything else is a failure.
pub(crate) fn run(keymark: &mut Command) -> Result<Output, Failure> {
    let output = keymark.output()?;
    match output.status.code() {
        Some(0 | 1) => Ok(output),
        _ => Err(String::from_utf8_lossy(&output.stderr).into_owned().into()),
    }
}

/// Time from start to end, with one operation measured, saved and shown: more than what is claimed.
pub(crate) fn start() -> Result<Figure, Failure> {
    let directory = tempfile::tempdir()?;
    let archive = directory.path().join("runs.sqlite3");
    let mut once = keymark(
        &archive,
        "bench --algorithm ed25519 --stack raw --samples 1",
    );
    let mut times = Vec::with_capacity(STARTS);
    for _ in 0..STARTS {
        let took = time::<Failure>(|| match run(&mut once)?.status {
            status if status.success() => Ok(()),
            status => Err(format!("keymark ended with {status}").into()),
        });
        times.push(took?.as_secs_f64() * 1e3);
    }
    let name = format!("whole run of one ed25519 sample, raw, median of {STARTS}");
    Ok(Figure::new(
        name,
        median(times),
        Limit::AtMost(100.0),
        " ms",
    ))
}
