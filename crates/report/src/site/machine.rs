//! On which machine a record was made, as far as it says.

use keymark_bench::case::Provenance;
use keymark_bench::record::{Record, RunState};

use super::address;
use crate::history;

/// A machine, or several of which records say the same.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Machine {
    /// In words: processor, cores, virtual machine, memory.
    pub words: String,
    /// Its place on the page of machines.
    pub id: String,
}

impl Machine {
    /// The machine of a record; none of what was not run.
    pub fn of(record: &Record) -> Option<Self> {
        let ran = |provenance| match provenance {
            Provenance::Measured | Provenance::Virtual | Provenance::Twin => true,
            Provenance::Predicted | Provenance::Published => false,
        };
        let mut cases = record.cases.iter();
        if record.state == RunState::Published || !cases.any(|each| ran(each.case.provenance)) {
            return None;
        }
        let environment = &record.environment;
        let mut words = history::machine(environment);
        if environment.cpu_model.is_none() {
            words = format!("a processor without a name, {words}");
        }
        Some(Self {
            id: address::unique(&words, "machine", &["machine", &words]),
            words,
        })
    }
}
