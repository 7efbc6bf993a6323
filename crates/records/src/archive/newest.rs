//! The newest figures of each case. Long archives are read without most of their samples.

use std::collections::HashMap;

use keymark_bench::case::CaseKey;
use keymark_bench::{Case, Environment, Record, RunState};

use super::{Archive, ArchiveError, Result};

impl Archive {
    /// Returns runs with samples, the newest first. Each case has samples from the newest `most` runs of a machine in which it did
    /// not fail, and none in older runs.
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
            let Some(head) = self.some_readable(&line.id.0, &|_| false)? else {
                continue;
            };
            let counted = known.entry(machine(&head.environment));
            let counted = counted.or_default();
            let is_needed = |case: &Case| {
                wanted(case) && counted.get(&case.key()).is_none_or(|runs| *runs < most)
            };
            if !head.cases.iter().any(|record| is_needed(&record.case)) {
                continue;
            }
            let Some(record) = self.some_readable(&line.id.0, &is_needed)? else {
                continue;
            };
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

    /// Returns the run with the samples of wanted cases. Notes a damaged run.
    fn some_readable(&self, id: &str, wanted: &dyn Fn(&Case) -> bool) -> Result<Option<Record>> {
        match self.load_cases(id, wanted) {
            Err(ArchiveError::DamagedRun { run, reason, .. }) => {
                self.note_unreadable(run, reason);
                Ok(None)
            }
            read => read.map(Some),
        }
    }
}

/// Returns text that is the same for all runs of a machine. Memory counts in GiB: the kernel's own part differs from start to
/// start.
fn machine(environment: &Environment) -> String {
    let gibibytes = environment.memory_kib.map(|kib| (kib + (1 << 19)) >> 20);
    format!(
        "{:?}",
        (
            &environment.machine,
            &environment.cpu_model,
            environment.cores,
            &environment.virtualization,
            &environment.emulated_on,
            gibibytes,
        )
    )
}
