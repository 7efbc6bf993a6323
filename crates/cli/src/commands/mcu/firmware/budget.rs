//! Budgets of cycles, for continuous integration.

use keymark_report::formats::ci::Test;

use super::simulate::FirmwareRun;
use crate::args::Budget;
use crate::exit::Failure;

/// Returns the cycles of a budget's subject: the longest stretch of a phase, a function with its callees, or the
/// whole.
fn cycles(run: &FirmwareRun, name: &str) -> Option<u64> {
    let phases = run.phases();
    let phase = phases.iter().find(|(known, _)| known == name);
    let longest = phase.map(|(_, phase)| phase.longest);
    longest.or_else(|| match name {
        "total" => Some(run.cycles()),
        name => {
            let mut functions = run.profiler.flat().into_iter();
            functions
                .find(|(known, _)| known == name)
                .map(|(_, spent)| spent.inclusive)
        }
    })
}

/// A test for each budget; more by this share is still fine.
pub(super) fn judge(
    run: &FirmwareRun,
    budgets: &[Budget],
    above: f64,
) -> Result<Vec<Test>, Failure> {
    let test = |budget: &Budget| {
        let name = &budget.name;
        let taken = cycles(run, name).ok_or_else(|| {
            let phases = run.phases();
            let phases: Vec<&str> = phases.iter().map(|(name, _)| name.as_str()).collect();
            Failure::usage(format!(
                "--budget {name}: no such phase or function was executed; phases are {}",
                phases.join(", ")
            ))
        })?;
        let most = budget.cycles as f64 * (1.0 + above);
        Ok(Test {
            class: format!("keymark.mcu.{}", run.mcu.name),
            name: format!("budget {name}"),
            failure: (taken as f64 > most).then(|| {
                format!(
                    "{name} takes {taken} cycles, more than its budget of {}",
                    budget.cycles
                )
            }),
        })
    };
    budgets.iter().map(test).collect()
}
