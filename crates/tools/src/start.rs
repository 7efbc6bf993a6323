//! From the start of keymark to its first sample.

use std::path::Path;
use std::process::{Command, Stdio};

use keymark_bench::clock::{Clock, MonotonicClock};

use crate::{Failure, Figure, Limit, median};

const STARTS: usize = 21;

/// The whole process, with one operation measured, saved and shown: more than what is claimed.
///
/// # Errors
/// When keymark cannot be run.
pub fn measure(keymark: &Path) -> Result<Figure, Failure> {
    let directory = tempfile::tempdir()?;
    let clock = MonotonicClock::new();
    let mut times = Vec::with_capacity(STARTS);
    for _ in 0..STARTS {
        let start = clock.now();
        let status = Command::new(keymark)
            .args([
                "bench",
                "--algorithm",
                "ed25519",
                "--stack",
                "raw",
                "--runs",
                "1",
                "--archive",
            ])
            .arg(directory.path().join("runs.sqlite3"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()?;
        if !status.success() {
            return Err(format!("{} ended with {status}", keymark.display()).into());
        }
        times.push(clock.now().since(start).as_secs_f64() * 1e3);
    }
    Ok(Figure {
        name: format!("start to end of a run of one ed25519 sample, raw, median of {STARTS}"),
        value: median(times),
        limit: Limit::AtMost(100.0),
        unit: " ms",
    })
}
