//! Exports of whole runs: one JSON document per run, with every sample. `schema/record-1.json` describes it.

use std::io::{self, Write};
use std::path::Path;

use keymark_bench::{
    Block, CaseRecord, Record, RunState, SCHEMA, Sample, ServerLoad, Tried, TriedDemand,
};
use keymark_stats::Band;
use serde::Deserialize;
use serde_json::error::Category;

use super::{ImportError, ImportFault, limits};
use crate::visible::write_json;
use keymark_bench::outside::visible::excerpt;

/// Writes the record on one line. The writer should be buffered.
///
/// # Errors
/// When writing fails, or no keymark would import what is written.
pub fn write(record: &Record, mut to: impl Write) -> io::Result<()> {
    if let Some(reason) = limits::excess(record).or(limits::text(longest_text(record)?)) {
        let id = &record.id;
        let reason = format!("run {id} is too large to be imported anywhere: {reason}");
        return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
    }
    write_json(record, &mut to)?;
    to.write_all(b"\n")?;
    to.flush()
}

/// Returns the bytes of the longest text. Blocks have none.
fn longest_text(record: &Record) -> io::Result<usize> {
    let mut longest = limits::LongestText::default();
    let Record {
        schema: _,
        id,
        started: _,
        state: _,
        series,
        plan,
        environment,
        harness: _,
        stores,
        cases,
    } = record;
    write_json(&(id, series, plan, environment, stores), &mut longest)?;
    for record in cases {
        let CaseRecord {
            case,
            ending,
            blocks: _,
            published,
            parts,
            server_load,
        } = record;
        write_json(&(case, ending, published, parts, server_load), &mut longest)?;
    }
    Ok(longest.bytes)
}

/// Reads the output of [`write`], whose size was checked before. `path` is for messages.
///
/// # Errors
/// When the content ends too early, is no record, follows a newer schema, or contradicts itself.
pub fn parse(path: &Path, content: &[u8]) -> Result<Record, ImportError> {
    record(content).map_err(|fault| fault.of(path))
}

fn record(content: &[u8]) -> Result<Record, ImportFault> {
    let parsed: serde_json::Result<Record> = serde_json::from_slice(content);
    if let Some(newer) = schema(&parsed, content).filter(|found| *found > SCHEMA.into()) {
        return Err(ImportFault::Content(format!(
            " follows schema {newer}, but this keymark reads up to {SCHEMA}; update keymark"
        )));
    }
    let record = parsed.map_err(|error| refused(content, &error))?;
    if limits::has_nul(content) {
        return Err(ImportFault::inconsistent("a text has the character NUL"));
    }
    ImportFault::excess(limits::excess(&record))?;
    match contradiction(&record) {
        Some(reason) => Err(ImportFault::inconsistent(&reason)),
        None => Ok(record),
    }
}

/// The field that every schema has.
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

#[allow(clippy::wildcard_enum_match_arm, reason = "another library's")]
fn refused(content: &[u8], error: &serde_json::Error) -> ImportFault {
    let reason = excerpt(&error.to_string());
    let head: serde_json::Result<Head> = serde_json::from_slice(content);
    match error.classify() {
        Category::Eof => ImportFault::Content(format!(
            " ends too early, at line {}, column {}; copy or export it again",
            error.line(),
            error.column()
        )),
        // It has a schema, but other fields than a record.
        Category::Data if head.is_ok() => ImportFault::inconsistent(&reason),
        // A missing schema says more than an unknown field.
        _ => {
            ImportFault::foreign(&head.map_or_else(|error| excerpt(&error.to_string()), |_| reason))
        }
    }
}

/// Finds contradictions that the types permit.
fn contradiction(record: &Record) -> Option<String> {
    let (plan, cases, series) = (&record.plan, &record.cases, record.series.as_ref());
    let early = record.started < jiff::Timestamp::UNIX_EPOCH;
    let against = series.and_then(|series| series.against.as_ref());
    let series_ids = series.map(|series| &series.id).into_iter().chain(against);
    let names = std::iter::once(&record.id.0).chain(series_ids.map(|id| &id.0));
    let odd = { names }.any(|name| !name.trim().is_empty() && !limits::is_name(name));
    // The machine of published figures is unknown.
    let no_cores = record.environment.cores == 0 && record.state != RunState::Published;
    let nameless = series.is_some_and(|series| series.id.0.is_empty());
    let no_runs = series.is_some_and(|series| series.runs == 0);
    let plain = [
        (record.schema == 0, "there is no schema 0"),
        (record.id.0.trim().is_empty(), "the run has no name"),
        (
            odd,
            "the name of its run or series has other characters than A-Z, a-z, 0-9 and '-'",
        ),
        (early, "it started before 1970"),
        (no_cores, "a processor without cores"),
        (nameless, "the series has no name"),
        (no_runs, "a series without runs"),
    ];
    if let Some((_, reason)) = plain.into_iter().find(|(is, _)| *is) {
        return Some(reason.to_owned());
    }
    if cases.len() != plan.cases.len() {
        return Some(format!(
            "its plan has {} cases, but it has {}",
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
                    "the plan has {} instead of {}",
                    excerpt(&planned.to_string()),
                    excerpt(&case.case.to_string())
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
            return Some(format!("an invalid band from {} to {} s", low.0, high.0));
        }
        if !record.blocks.is_empty() {
            return Some("a published mean with samples".to_owned());
        }
    }
    let mut parts = record.parts.iter().flat_map(|parts| parts.0.values());
    if parts.any(|part| part.n == 0) {
        return Some("a mean part without operations".to_owned());
    }
    if let Some(load) = &record.server_load {
        if !record.blocks.is_empty() {
            return Some("a load on a server with samples".to_owned());
        }
        if let Some(reason) = load_contradiction(load) {
            return Some(reason.to_owned());
        }
    }
    let workers = record.case.workers();
    let stranger = record.samples().find(|sample| sample.worker >= workers);
    if let Some(Sample { worker, .. }) = stranger {
        return Some(format!("a sample of worker {worker}, of {workers} from 0"));
    }
    // An archive can hold 292 years.
    let centuries = |ns: u64| i64::try_from(ns).is_err();
    if record.samples().any(|sample| centuries(sample.end.0)) {
        return Some("a sample ends after centuries".to_owned());
    }
    let unstorable = |block: &Block| {
        let queue = block.queue.map(|queue| [queue.length_ns, queue.waiting]);
        let figures = queue.into_iter().flatten().chain(block.reference_ns);
        { figures }.any(centuries)
    };
    let block = record.blocks.iter().any(unstorable);
    block.then(|| "a block's queue or reference lasts centuries".to_owned())
}

fn load_contradiction(load: &ServerLoad) -> Option<&'static str> {
    let outside = |(from, to): &(u64, u64)| from >= to || *to > load.seconds.len() as u64;
    let mut stretches = load.steady.iter().flat_map(|steady| &steady.stretches);
    if stretches.any(outside) {
        return Some("a steady stretch outside the load");
    }
    let found = load.saturation.as_ref()?;
    let nobody = |tried: &Tried| match tried.demand {
        TriedDemand::Users(users) => users == 0,
        TriedDemand::Rate(rate) => rate <= 0.0,
    };
    let possible = |tried: &Tried| {
        let share = |share: f64| (0.0..=1.0).contains(&share);
        tried.rate >= 0.0 && share(tried.failed) && share(tried.unfinished)
    };
    if found.tried.iter().any(nobody) || found.best_users == 0 || found.knee_users == 0 {
        return Some("a load without users");
    }
    let within = found.rate_within_limit.is_none_or(|rate| rate > 0.0);
    (!within || !found.tried.iter().all(possible)).then_some("an impossible rate or share")
}
