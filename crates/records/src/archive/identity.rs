//! Whose a run is. A server's archive is read by many: serial numbers, names of machines and people are not in the tables that
//! all of them read. Who wants them kept has them in a table of their own, of which a writer sees their own rows.

use std::borrow::Cow;
use std::mem;

use keymark_bench::{CaseRecord, Record};
use rusqlite::types::Type;
use serde::de::DeserializeOwned;

use super::rows::text;
use super::{Archive, Fault};
use crate::exchange::share::{Personal, share};

/// What a server's archive is told of whose a run is. A file is its owner's, and has records as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Identity {
    /// Nothing.
    #[default]
    Hidden,
    /// All, to be kept apart.
    Told,
}

/// What is taken out of the records that an archive is given.
#[derive(Debug, Clone, Default)]
pub(super) struct Redaction {
    identity: Identity,
    names: Vec<Personal>,
}

/// The part that stands for the record without its cases; others have the numbers of these.
const HEAD: i64 = -1;

/// A record in two.
#[derive(Debug)]
pub(super) struct Redacted<'a> {
    /// What everybody reads.
    pub(super) common: Cow<'a, Record>,
    /// Parts as they were, in JSON, if they are to be kept.
    pub(super) own: Vec<(i64, String)>,
}

impl Archive {
    /// What is told of whose runs are that are written from now on; these names are known to belong to this computer and
    /// its users. Without effect where records are kept whole.
    pub fn tell(&mut self, identity: Identity, names: impl FnOnce() -> Vec<Personal>) {
        if let Some(redaction) = &mut self.redaction {
            let names = names();
            *redaction = Redaction { identity, names };
        }
    }

    pub(super) fn redacted<'a>(&self, record: &'a Record) -> Result<Redacted<'a>, Fault> {
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
    fn shared(&self, record: &Record) -> Result<Record, Fault> {
        let shared = share(record, &self.names);
        let refused = |error| rusqlite::Error::ToSqlConversionFailure(Box::new(error));
        Ok(shared.map_err(refused)?.record)
    }

    /// Each case by itself, so that a run that is written case by case is taken apart in the same way.
    fn redact(&self, mut record: Record) -> Result<Redacted<'static>, Fault> {
        let cases = mem::take(&mut record.cases);
        let mut own = vec![(HEAD, text(&record)?)];
        // The label is what its owner wants others to call the machine.
        let machine = record.environment.machine.take();
        let mut common = self.shared(&record)?;
        common.id.clone_from(&record.id);
        common.environment.machine = machine;
        record.plan.cases.clear();
        for (number, mut case) in (0..).zip(cases) {
            let blocks = mem::take(&mut case.blocks);
            own.push((number, text(&case)?));
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
    /// The record as it was.
    pub(super) fn whole(self) -> Result<Record, Fault> {
        let mut record = self.common.into_owned();
        for (part, whole) in &self.own {
            let number = usize::try_from(*part).ok();
            if let Some(case) = number.and_then(|number| record.cases.get_mut(number)) {
                let blocks = mem::take(&mut case.blocks);
                *case = CaseRecord {
                    blocks,
                    ..read(whole)?
                };
            } else if *part == HEAD {
                record = Record {
                    state: record.state,
                    harness: record.harness,
                    cases: record.cases,
                    ..read(whole)?
                };
            }
        }
        Ok(record)
    }
}

fn read<T: DeserializeOwned>(whole: &str) -> Result<T, Fault> {
    serde_json::from_slice(whole.as_bytes()).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(2, Type::Text, Box::new(error)).into()
    })
}
