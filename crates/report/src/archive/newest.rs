//! The newest figures of each case, over all runs: long archives are read without all of their samples.

use std::collections::HashMap;

use keymark_bench::case::CaseKey;
use keymark_bench::{Case, Record, RunState};

use super::{Archive, Result};
use crate::compare::machine_name;

impl Archive {
    /// Every run with the samples that count, the newest first. Of each case and machine, samples of the newest `most` runs
    /// count in which it did not fail. All other cases have no samples.
    ///
    /// # Errors
    /// When the archive cannot be read.
    pub fn newest_of_each(
        &self,
        most: usize,
        wanted: impl Fn(&Case) -> bool,
    ) -> Result<Vec<Record>> {
        let mut lines = self.runs()?;
        lines.retain(|line| line.state != RunState::Published && line.samples > 0);
        let mut known: HashMap<String, HashMap<CaseKey, usize>> = HashMap::new();
        let mut records = Vec::new();
        for line in lines {
            let head = self.ask(|_| self.load_some(&line.id.0, &|_| false)?.whole())?;
            let counted = known.entry(machine_name(&head.environment));
            let counted = counted.or_default();
            let is_needed = |case: &Case| {
                wanted(case) && counted.get(&case.key()).is_none_or(|runs| *runs < most)
            };
            if !head.cases.iter().any(|record| is_needed(&record.case)) {
                continue;
            }
            let record = self.ask(|_| self.load_some(&line.id.0, &is_needed)?.whole())?;
            let measured = record.cases.iter().filter(|case| {
                let has_samples = !case.blocks.is_empty() || case.server_load.is_some();
                has_samples && case.failure().is_none()
            });
            for case in measured {
                *counted.entry(case.case.key()).or_default() += 1;
            }
            records.push(record);
        }
        Ok(records)
    }
}
