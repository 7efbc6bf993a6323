//! Cost of the progress bar for the samples.

use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use keymark::view::{RunView, view};
use keymark_bench::case::Case;
use keymark_bench::environment::View;
use keymark_bench::plan::{Plan, Settings};
use keymark_stacks::raw::RawStack;
use keymark_stores::software::SoftwareStore;

use super::figure::{Failure, Figure, Limit, in_turn};
use super::raw::watched;

/// Argument with which the binary calls itself, on a terminal.
pub(crate) const ARGUMENT: &str = "view";
const PAIRS: usize = 100;
/// Two drawings at least.
const HALF: Duration = Duration::from_millis(600);

/// Median of the ratios of mean times, in a process that has a terminal.
pub(crate) fn measure() -> Result<Figure, Failure> {
    let program = std::env::current_exe()?;
    // script(1) of util-linux gives it one.
    let output = Command::new("script")
        .args(["--quiet", "--return", "--command"])
        .arg(format!("'{}' {ARGUMENT}", program.display()))
        .arg("/dev/null")
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    // The drawing comes before it.
    let ratio = text.rsplit_once("ratio ");
    let Some(Ok(value)) = ratio.map(|(_, value)| value.trim().parse()) else {
        return Err(format!("the run on a terminal ended with {}", output.status).into());
    };
    let name = format!(
        "time of an operation with progress display over one without, rsa2048 sign, median of {PAIRS} pairs"
    );
    Ok(Figure::new(name, value, Limit::AtMost(1.005), ""))
}

/// The process's part: the ratio.
pub(crate) fn compare(case: &Case) -> Result<f64, Failure> {
    if view() == View::None {
        return Err("stderr is no terminal".into());
    }
    let stack = RawStack::new(Arc::new(SoftwareStore::default()), 0);
    let plan = Plan {
        cases: vec![case.clone()],
        settings: Settings {
            time_limit: Some(HALF),
            ..Settings::default()
        },
    };
    let seen = || watched(case, &stack, HALF, &mut RunView::of(&plan, &|_| HALF));
    let unseen = || watched(case, &stack, HALF, &mut ());
    in_turn(PAIRS, |_| unseen(), |_| seen())
}
