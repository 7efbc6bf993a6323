//! Tables of published figures: `device,algorithm,operation,stack,mean_s,n,note`, one mean a line
//! (`data/published/README.md`).

use std::collections::HashSet;
use std::path::Path;
use std::str::FromStr;

use csv::{ReaderBuilder, StringRecord, Trim};
use itertools::Itertools;
use keymark_bench::case::{Case, DeviceName, Parameters, Provenance, StackName, StoreKind};
use keymark_bench::environment::Environment;
use keymark_bench::operation::Operation;
use keymark_bench::plan::{Plan, Settings};
use keymark_bench::record::{CaseRecord, PublishedMean, Record, RunId, RunState, SCHEMA};
use keymark_bench::store::{Capability, StoreIdentity};
use keymark_stats::Seconds;
use serde::Deserialize;

use super::{Fault, ImportError, limits, source_table};
use crate::visible::excerpt;

/// The columns, in any order.
pub const COLUMNS: [&str; 7] = [
    "device",
    "algorithm",
    "operation",
    "stack",
    "mean_s",
    "n",
    "note",
];

/// Reads such a table as a run of published figures.
///
/// The run is named after the file, `published-` and its stem, and dated to the beginning of the
/// year in that name (1970 if there is none): the table says no more, and importing it twice must
/// yield the same run. What it says nothing about is filled in with what its sources have in
/// common: one worker, a message as long as keymark's own for that operation, and a key in the
/// clear, unless a line's note says that a cached passphrase protected it.
///
/// # Errors
/// When the columns are others, or a line makes no sense.
pub fn parse(path: &Path, content: &[u8]) -> Result<Record, ImportError> {
    let cases = cases(content).map_err(|fault| fault.of(path))?;
    Ok(record(path, cases))
}

fn cases(content: &[u8]) -> Result<Vec<CaseRecord>, Fault> {
    let mut reader = ReaderBuilder::new()
        .trim(Trim::All)
        .comment(Some(b'#'))
        .from_reader(content);
    let header = reader.headers()?.clone();
    let of_sources = source_table::has_columns(&header);
    if !of_sources {
        check(&header)?;
    }
    let mut cases: Vec<CaseRecord> = Vec::new();
    let mut known = HashSet::new();
    for row in reader.into_records() {
        let row = row?;
        let line = row.position().map_or(0, csv::Position::line);
        let refused = |reason| Fault::Line { line, reason };
        let longest = row.iter().map(str::len).max().unwrap_or(0);
        limits::text(longest).map_or(Ok(()), |reason| Err(refused(reason)))?;
        if of_sources {
            let found = source_table::of_row(&row.deserialize(Some(&header))?).map_err(refused)?;
            // Of several figures of one case the first counts.
            let new = |case: &CaseRecord| known.insert(case.case.key());
            cases.extend(found.into_iter().filter(new));
        } else {
            let case = case(&row.deserialize(Some(&header))?).map_err(refused)?;
            if !known.insert(case.case.key()) {
                let name = excerpt(&case.case.to_string());
                return Err(refused(format!("{name} is also in an earlier line")));
            }
            cases.push(case);
        }
        Fault::excess(limits::cases(cases.len()))?;
    }
    if cases.is_empty() {
        return Err(Fault::Empty);
    }
    Ok(cases)
}

/// Whether the header is [`COLUMNS`], in whatever order.
fn check(header: &StringRecord) -> Result<(), Fault> {
    if !header.iter().any(|name| COLUMNS.contains(&name)) {
        // What else it is stays between it and its owner.
        return Err(Fault::Neither);
    }
    let complete = |column: &&str| header.iter().any(|name| name == *column);
    if header.len() == COLUMNS.len() && COLUMNS.iter().all(complete) {
        return Ok(());
    }
    let found = excerpt(&header.iter().join(", "));
    Err(Fault::Columns { found })
}

#[derive(Deserialize)]
struct Line<'r> {
    device: &'r str,
    algorithm: &'r str,
    operation: &'r str,
    stack: &'r str,
    mean_s: &'r str,
    n: &'r str,
    note: &'r str,
}

fn parsed<T: FromStr<Err: ToString>>(word: &str) -> Result<T, String> {
    // So long a word is none, and what is said of words repeats them.
    excerpt(word)
        .parse()
        .map_err(|error: T::Err| error.to_string())
}

/// The device of a line, of which no more is known than its name.
pub(super) fn reported(device: &str) -> Result<StoreIdentity, String> {
    if device.is_empty() {
        return Err("the device has no name".to_owned());
    }
    limits::name("a device", device).map_or(Ok(()), Err)?;
    let (kind, provenance) = (StoreKind::REPORTED, Provenance::Published);
    let name = DeviceName::new(device);
    Ok(StoreIdentity::new(name, kind, provenance, device))
}

fn case(line: &Line<'_>) -> Result<CaseRecord, String> {
    let device = reported(line.device)?;
    let operation = match line.operation {
        "tls-handshake" => Operation::Handshake,
        word => parsed(word)?,
    };
    let stack = stack(line.stack)?;
    let algorithm = parsed(line.algorithm)?;
    let case = Case {
        stack,
        parameters: parameters(stack, line.note),
        ..device.case(Capability {
            algorithm,
            operation,
        })
    };
    let published = PublishedMean {
        mean: mean(line.mean_s)?,
        n: number(line.n)?,
        note: line.note.to_owned(),
        band: None,
    };
    Ok(CaseRecord {
        published: Some(published),
        ..CaseRecord::new(case)
    })
}

/// The stacks that articles have figures of.
const STACKS: [StackName; 4] = [
    StackName::RAW,
    StackName::AGENT,
    StackName::GNUPG,
    StackName::APACHE,
];

fn stack(word: &str) -> Result<StackName, String> {
    let stack: StackName = parsed(word)?;
    if STACKS.contains(&stack) {
        return Ok(stack);
    }
    let known = STACKS.iter().format(", ");
    Err(format!("unknown stack '{stack}'; choose from {known}"))
}

/// GnuPG's: the key is in the clear, unless the note says otherwise.
fn parameters(stack: StackName, note: &str) -> Parameters {
    if ![StackName::AGENT, StackName::GNUPG].contains(&stack) {
        return Parameters::NONE;
    }
    let note = note.to_ascii_lowercase();
    let cached = note.contains("cached passphrase") || note.contains("passphrase cached");
    if cached {
        Parameters::from([("protection", "cached")])
    } else {
        Parameters::NONE
    }
}

fn mean(text: &str) -> Result<Seconds, String> {
    let seconds = text
        .parse()
        .ok()
        .filter(|mean: &f64| mean.is_finite() && *mean > 0.0);
    seconds.map(Seconds).ok_or_else(|| {
        let text = excerpt(text);
        format!("mean_s '{text}' must be a number of seconds above 0")
    })
}

fn number(text: &str) -> Result<Option<u64>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    // As u32, so that whatever keeps it has room.
    let number = text.parse::<u32>().ok().filter(|n| *n > 0);
    number
        .map(|n| Some(n.into()))
        .ok_or_else(|| format!("n '{}' must be a number of operations", excerpt(text)))
}

fn record(path: &Path, cases: Vec<CaseRecord>) -> Record {
    let stem = path
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let mut known = HashSet::new();
    let devices = cases.iter().map(|record| record.case.device.as_str());
    let devices = devices.filter(|device| known.insert(*device));
    let stores = devices.filter_map(|device| reported(device).ok()).collect();
    let planned = cases.iter().map(|record| record.case.clone()).collect();
    Record {
        schema: SCHEMA,
        started: beginning_of_year(&stem),
        id: RunId(format!("published-{stem}")),
        state: RunState::Published,
        series: None,
        plan: Plan {
            cases: planned,
            settings: Settings::default(),
        },
        environment: Environment::default(),
        harness: None,
        stores,
        cases,
    }
}

/// The first number of four digits in the name that is a year of computers.
fn beginning_of_year(stem: &str) -> jiff::Timestamp {
    stem.split(|c: char| !c.is_ascii_digit())
        .filter(|digits| digits.len() == 4)
        .filter(|digits| ("1970".."2100").contains(digits))
        .find_map(|year| format!("{year}-01-01T00:00:00Z").parse().ok())
        .unwrap_or(jiff::Timestamp::UNIX_EPOCH)
}
