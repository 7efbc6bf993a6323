//! Where libkeymark_pcsc.so is.

use std::path::PathBuf;

use keymark_bench::error::Error;

const NAME: &str = "libkeymark_pcsc.so";
/// Names another place for it.
const VARIABLE: &str = "KEYMARK_PCSC_DRIVER";

/// Beside the program (cargo's target directory), or where a package puts it.
pub(super) fn driver() -> Result<PathBuf, Error> {
    if let Some(path) = std::env::var_os(VARIABLE) {
        return Ok(path.into());
    }
    let missing = |reason: String| Error::Missing {
        what: format!("{NAME}, through which scdaemon reaches a card,"),
        reason,
        advice: format!(
            "'make build' makes it (cargo build --release -p keymark-pcsc); ${VARIABLE} names another place"
        ),
    };
    let program = std::env::current_exe().map_err(|error| missing(error.to_string()))?;
    let beside = program.parent().unwrap_or(&program);
    let places = ["", "deps", "..", "../lib/keymark"].map(|place| beside.join(place).join(NAME));
    let found = places.iter().find(|path| path.is_file()).cloned();
    found.ok_or_else(|| missing(format!("it is not beside {}", program.display())))
}
