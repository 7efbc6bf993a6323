//! Redaction of runs for a server, which many people read: its common tables have no serial numbers, and no names of machines and
//! people. With `--identify` these are also kept, in a table in which writers see only their own rows.

use std::borrow::Cow;
use std::mem;

use keymark_bench::{CaseRecord, Record};

use super::database::{json, parsed};
use super::{Archive, ArchiveError, Result};
use crate::exchange::share::{Personal, share};

/// Treatment of names and serial numbers in a server's archive. Files keep records as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Identity {
    /// Left out.
    #[default]
    Hidden,
    /// Kept in a separate table.
    Kept,
}

/// Settings for the redaction of an archive's records.
#[derive(Debug, Clone, Default)]
pub(super) struct Redaction {
    identity: Identity,
    names: Vec<Personal>,
}

/// Number of the part with the record without its cases. Other parts have the numbers of their cases.
const HEAD: i64 = -1;

/// A record after redaction.
#[derive(Debug)]
pub(super) struct Redacted<'a> {
    /// The record that everybody reads.
    pub(super) common: Cow<'a, Record>,
    /// Parts before redaction in JSON, if they are kept.
    pub(super) own: Vec<(i64, String)>,
}

impl Archive {
    /// Sets the redaction of runs written from now on. `names` are those of this computer and its users. Files keep records
    /// as they are.
    pub fn set_identity(&mut self, identity: Identity, names: impl FnOnce() -> Vec<Personal>) {
        if let Some(redaction) = &mut self.redaction {
            let names = names();
            *redaction = Redaction { identity, names };
        }
    }

    pub(super) fn redacted<'a>(&self, record: &'a Record) -> Result<Redacted<'a>> {
        match &self.redaction {
            Some(redaction) => redaction.redact(record.clone()),
            None => Ok(Redacted {
                common: Cow::Borrowed(record),
                own: Vec::new(),
            }),
        }
    }
}

impl Redaction {
    fn shared(&self, record: &Record) -> Result<Record> {
        let shared = share(record, &self.names).map_err(ArchiveError::damaged)?;
        Ok(shared.record)
    }

    /// Redacts each case separately, as for a run that is written case by case.
    fn redact(&self, mut record: Record) -> Result<Redacted<'static>> {
        let cases = mem::take(&mut record.cases);
        let mut own = vec![(HEAD, json(&record)?)];
        // The label is what its owner wants others to call the machine.
        let machine = record.environment.machine.take();
        let mut common = self.shared(&record)?;
        common.id.clone_from(&record.id);
        common.environment.machine = machine;
        record.plan.cases.clear();
        for (number, mut case) in (0..).zip(cases) {
            let blocks = mem::take(&mut case.blocks);
            own.push((number, json(&case)?));
            record.cases = vec![case];
            common.cases.extend(self.shared(&record)?.cases);
            if let Some(case) = common.cases.last_mut() {
                case.blocks = blocks;
            }
        }
        if self.identity == Identity::Hidden {
            own.clear();
        }
        Ok(Redacted {
            common: Cow::Owned(common),
            own,
        })
    }
}

impl Redacted<'_> {
    /// Returns the record as it was before redaction.
    pub(super) fn whole(self) -> Result<Record> {
        let mut record = self.common.into_owned();
        for (part, whole) in &self.own {
            let number = usize::try_from(*part).ok();
            if let Some(case) = number.and_then(|number| record.cases.get_mut(number)) {
                let blocks = mem::take(&mut case.blocks);
                *case = CaseRecord {
                    blocks,
                    ..parsed(whole)?
                };
            } else if *part == HEAD {
                record = Record {
                    state: record.state,
                    harness: record.harness,
                    cases: record.cases,
                    ..parsed(whole)?
                };
            }
        }
        Ok(record)
    }
}
