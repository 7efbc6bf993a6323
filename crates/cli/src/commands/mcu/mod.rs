//! `keymark mcu`

mod explain;
mod firmware;
mod list;
pub(super) mod predict;
pub(super) mod record;
mod storage;

use std::path::PathBuf;

use crate::args::McuCommand;
use crate::exit::Outcome;

/// Carries out the subcommand.
pub(super) fn run(command: &McuCommand, archive: Option<&PathBuf>) -> Outcome {
    match command {
        McuCommand::List(own) => list::run(own),
        McuCommand::Predict(own) => predict::run(own, archive),
        McuCommand::Explain(own) => explain::run(own),
        McuCommand::Run(own) => firmware::run(own, archive),
        McuCommand::Compare(own) => firmware::compare(own, archive),
        McuCommand::Storage(own) => storage::run(own),
    }
}

/// `282.5 M`, of instructions and cycles.
fn count(number: u64) -> String {
    let millions = number as f64 / 1e6;
    match number {
        0..10_000 => number.to_string(),
        10_000..1_000_000 => format!("{:.1} k", number as f64 / 1e3),
        _ => format!("{millions:.1} M"),
    }
}

#[cfg(test)]
mod tests {
    use super::count;

    #[test]
    fn counts_are_rounded_by_their_size() {
        assert_eq!(count(9_999), "9999");
        assert_eq!(count(12_345), "12.3 k");
        assert_eq!(count(282_494_401), "282.5 M");
    }
}
