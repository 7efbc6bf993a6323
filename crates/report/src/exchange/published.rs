//! Tables of published figures: `device,algorithm,operation,stack,mean_s,n,note`, one mean a line
//! (`data/published/README.md`).

use std::collections::HashSet;
use std::path::Path;
use std::str::FromStr;

use csv::{ReaderBuilder, StringRecord, Trim};
use keymark_bench::case::{Case, DeviceName, Load, Parameters, Provenance, StackName, StoreKind};
use keymark_bench::environment::Environment;
use keymark_bench::operation::Operation;
use keymark_bench::plan::{Plan, Settings, default_input_bytes};
use keymark_bench::record::{CaseRecord, PublishedMean, Record, RunId, RunState, SCHEMA};
use keymark_bench::store::StoreIdentity;
use keymark_stats::Seconds;

use super::{ImportError, limits, source_table, too_large};
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
    let mut reader = ReaderBuilder::new()
        .trim(Trim::All)
        .comment(Some(b'#'))
        .from_reader(content);
    let header = reader.headers().map_err(|error| of_csv(path, &error))?;
    if source_table::has_columns(header) {
        let rows = reader.into_records();
        let cases = source_table::cases(
            path,
            rows.map(|row| row.map_err(|error| of_csv(path, &error))),
        )?;
        return if cases.is_empty() {
            Err(ImportError::Empty(path.into()))
        } else {
            Ok(record(path, cases))
        };
    }
    let places = places(
        path,
        reader.headers().map_err(|error| of_csv(path, &error))?,
    )?;
    let mut cases: Vec<CaseRecord> = Vec::new();
    let mut known = HashSet::new();
    for row in reader.into_records() {
        let row = row.map_err(|error| of_csv(path, &error))?;
        let line = row.position().map_or(0, csv::Position::line);
        let refused = |reason| ImportError::Line {
            path: path.into(),
            line,
            reason,
        };
        let case = case(&Line {
            row: &row,
            places: &places,
        })
        .map_err(refused)?;
        if !known.insert(case.case.key()) {
            return Err(refused(format!(
                "{} is also in an earlier line",
                excerpt(&case.case.to_string())
            )));
        }
        cases.push(case);
        limits::cases(cases.len()).map_or(Ok(()), |reason| Err(too_large(path, reason)))?;
    }
    if cases.is_empty() {
        return Err(ImportError::Empty(path.into()));
    }
    Ok(record(path, cases))
}

/// Where each of [`COLUMNS`] stands.
fn places(path: &Path, header: &StringRecord) -> Result<[usize; COLUMNS.len()], ImportError> {
    let path = || path.into();
    let refused = || {
        let wanted = COLUMNS.join(", ");
        if !header.iter().any(|name| COLUMNS.contains(&name)) {
            // What else it is stays between it and its owner.
            return ImportError::Neither {
                path: path(),
                wanted,
            };
        }
        let found = excerpt(&header.iter().collect::<Vec<_>>().join(", "));
        ImportError::Columns {
            path: path(),
            found,
            wanted,
        }
    };
    if header.len() != COLUMNS.len() {
        return Err(refused());
    }
    let mut places = [0; COLUMNS.len()];
    for (place, column) in places.iter_mut().zip(COLUMNS) {
        *place = header
            .iter()
            .position(|name| name == column)
            .ok_or_else(refused)?;
    }
    Ok(places)
}

#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "another library's, to which more may come"
)]
fn of_csv(path: &Path, error: &csv::Error) -> ImportError {
    let line = error.position().map_or(1, csv::Position::line);
    let reason = match error.kind() {
        csv::ErrorKind::UnequalLengths {
            expected_len, len, ..
        } => {
            format!("it has {len} fields, not {expected_len}")
        }
        csv::ErrorKind::Utf8 { .. } => "it is not UTF-8 text".to_owned(),
        _ => excerpt(&error.to_string()),
    };
    ImportError::Line {
        path: path.into(),
        line,
        reason,
    }
}

struct Line<'a> {
    row: &'a StringRecord,
    places: &'a [usize; COLUMNS.len()],
}

impl Line<'_> {
    fn get(&self, column: &str) -> &str {
        let place = COLUMNS.iter().position(|name| *name == column);
        place
            .and_then(|place| self.row.get(self.places[place]))
            .unwrap_or_default()
    }

    fn parse<T: FromStr<Err: ToString>>(&self, column: &str) -> Result<T, String> {
        // So long a word is none, and what is said of words repeats them.
        excerpt(self.get(column))
            .parse()
            .map_err(|error: T::Err| error.to_string())
    }
}

fn case(line: &Line<'_>) -> Result<CaseRecord, String> {
    let device = line.get("device");
    if device.is_empty() {
        return Err("the device has no name".to_owned());
    }
    let longest = line.row.iter().map(str::len).max().unwrap_or(0);
    let excess = limits::name("a device", device).or_else(|| limits::text(longest));
    excess.map_or(Ok(()), Err)?;
    let operation = match line.get("operation") {
        "tls-handshake" => Operation::Handshake,
        _ => line.parse("operation")?,
    };
    let note = line.get("note");
    let stack = stack(line)?;
    let case = Case {
        device: DeviceName::new(device),
        store: StoreKind::REPORTED,
        provenance: Provenance::Published,
        algorithm: line.parse("algorithm")?,
        operation,
        stack,
        parameters: parameters(stack, note),
        load: Load::single(),
        input_bytes: default_input_bytes(operation),
        replica: 0,
        strength: None,
    };
    let published = PublishedMean {
        mean: mean(line)?,
        n: number(line)?,
        note: note.to_owned(),
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

fn stack(line: &Line<'_>) -> Result<StackName, String> {
    let stack: StackName = line.parse("stack")?;
    if STACKS.contains(&stack) {
        return Ok(stack);
    }
    let known: Vec<_> = STACKS.iter().map(StackName::word).collect();
    Err(format!(
        "unknown stack '{stack}'; choose from {}",
        known.join(", ")
    ))
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

fn mean(line: &Line<'_>) -> Result<Seconds, String> {
    let text = line.get("mean_s");
    let seconds = text
        .parse()
        .ok()
        .filter(|mean: &f64| mean.is_finite() && *mean > 0.0);
    seconds.map(Seconds).ok_or_else(|| {
        let text = excerpt(text);
        format!("mean_s '{text}' must be a number of seconds above 0")
    })
}

fn number(line: &Line<'_>) -> Result<Option<u64>, String> {
    let text = line.get("n");
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
    let mut stores: Vec<StoreIdentity> = Vec::new();
    let mut known = HashSet::new();
    for Case { device, .. } in cases.iter().map(|record| &record.case) {
        if known.insert(device) {
            stores.push(StoreIdentity {
                device: device.clone(),
                kind: StoreKind::REPORTED,
                provenance: Provenance::Published,
                product: device.to_string(),
                serial: None,
                versions: std::collections::BTreeMap::new(),
                assumed: Vec::new(),
            });
        }
    }
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
