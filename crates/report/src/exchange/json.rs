//! The export: one JSON document a run, with every sample. `schema/record-1.json` describes it.

use std::io::{self, Write};
use std::path::Path;

use keymark_bench::record::{CaseRecord, Record, SCHEMA};
use keymark_stats::Band;
use serde::Deserialize;
use serde_json::error::Category;

use super::{ImportError, limits, too_large};
use crate::visible::write_json;

/// Writes the record on one line; give a buffered writer.
///
/// # Errors
/// When writing fails.
pub fn write(record: &Record, mut to: impl Write) -> io::Result<()> {
    write_json(record, &mut to)?;
    to.write_all(b"\n")?;
    to.flush()
}

/// Reads what [`write`] wrote; `path` is for messages.
///
/// # Errors
/// When the content breaks off, is something else, follows a newer schema, or contradicts itself.
pub fn parse(path: &Path, content: &[u8]) -> Result<Record, ImportError> {
    let excess = |reason| too_large(path, reason);
    limits::text(limits::longest_text(content)).map_or(Ok(()), |reason| Err(excess(reason)))?;
    let parsed: serde_json::Result<Record> = serde_json::from_slice(content);
    if let Some(found) = schema(&parsed, content).filter(|found| *found > SCHEMA.into()) {
        return Err(ImportError::Newer {
            path: path.into(),
            found,
            known: SCHEMA,
        });
    }
    let record = parsed.map_err(|error| refused(path, content, &error))?;
    limits::excess(&record).map_or(Ok(()), |reason| Err(excess(reason)))?;
    match contradiction(&record) {
        Some(reason) => Err(ImportError::Inconsistent {
            path: path.into(),
            reason,
        }),
        None => Ok(record),
    }
}

/// All that is certain to stay in every schema.
#[derive(Deserialize)]
struct Head {
    schema: u64,
}

fn schema(parsed: &serde_json::Result<Record>, content: &[u8]) -> Option<u64> {
    match parsed {
        Ok(record) => Some(record.schema.into()),
        Err(_) => serde_json::from_slice(content)
            .ok()
            .map(|head: Head| head.schema),
    }
}

#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "another library's, to which more may come"
)]
fn refused(path: &Path, content: &[u8], error: &serde_json::Error) -> ImportError {
    let reason = error.to_string();
    match error.classify() {
        Category::Eof => ImportError::Truncated {
            path: path.into(),
            line: error.line(),
            column: error.column(),
        },
        // Said to be one of ours, but not what ours look like.
        Category::Data if serde_json::from_slice::<Head>(content).is_ok() => {
            ImportError::Inconsistent {
                path: path.into(),
                reason,
            }
        }
        _ => ImportError::Foreign {
            path: path.into(),
            reason,
        },
    }
}

/// What the types alone do not rule out.
fn contradiction(record: &Record) -> Option<String> {
    let Record {
        schema,
        plan,
        cases,
        id,
        ..
    } = record;
    if *schema == 0 {
        return Some("there is no schema 0".to_owned());
    }
    if id.0.trim().is_empty() {
        return Some("the run has no name".to_owned());
    }
    if cases.len() != plan.cases.len() {
        return Some(format!(
            "its plan has {} cases, but it holds {}",
            plan.cases.len(),
            cases.len()
        ));
    }
    (1..)
        .zip(cases)
        .zip(&plan.cases)
        .find_map(|((number, case), planned)| {
            let reason = if case.case == *planned {
                case_contradiction(case)
            } else {
                Some(format!(
                    "the plan has {planned} in the place of {}",
                    case.case
                ))
            };
            reason.map(|reason| format!("case {number}: {reason}"))
        })
}

fn case_contradiction(record: &CaseRecord) -> Option<String> {
    if let Some(published) = &record.published {
        if published.mean.0 <= 0.0 {
            return Some(format!("a mean of {} s", published.mean.0));
        }
        if let Some(Band { low, high }) = published.band
            && (low.0 <= 0.0 || high.0 <= 0.0)
        {
            return Some(format!("a band from {} to {} s", low.0, high.0));
        }
        if !record.blocks.is_empty() {
            return Some("a published mean beside samples".to_owned());
        }
    }
    if let Some(load) = &record.server_load {
        if !record.blocks.is_empty() {
            return Some("a load on a server beside samples".to_owned());
        }
        if let Some(steady) = &load.steady
            && !(steady.from_s < steady.to_s && steady.to_s <= load.seconds.len() as u64)
        {
            return Some("a steady stretch outside the load".to_owned());
        }
    }
    let workers = record.case.concurrency();
    record.samples().find_map(|sample| {
        if sample.worker >= workers {
            return Some(format!(
                "a sample of worker {}, of {workers} from 0",
                sample.worker
            ));
        }
        // 292 years: what an archive can hold.
        i64::try_from(sample.end.0)
            .is_err()
            .then(|| "a sample ends after centuries".to_owned())
    })
}
