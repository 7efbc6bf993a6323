//! Tables of published figures, `device,algorithm,operation,stack,mean_s,n,note`, one mean per line
//! (`data/published/README.md`), and the tables included in keymark.

use std::collections::HashSet;
use std::path::Path;
use std::str::FromStr;
use std::sync::LazyLock;

use csv::{ReaderBuilder, StringRecord, Trim};
use include_dir::{Dir, File, include_dir};
use itertools::Itertools;
use keymark_bench::outside::visible::excerpt;
use keymark_bench::store::Capability;
use keymark_bench::{
    Case, CaseRecord, DeviceName, Environment, Operation, Parameters, Plan, Provenance,
    PublishedMean, Record, RunId, RunState, SCHEMA, Settings, StackName, StoreIdentity, StoreKind,
};
use keymark_stats::Seconds;
use serde::Deserialize;

use super::{ImportError, ImportFault, limits};

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

fn reader(content: &[u8]) -> csv::Reader<&[u8]> {
    ReaderBuilder::new()
        .trim(Trim::All)
        .comment(Some(b'#'))
        .from_reader(content)
}

fn cases(content: &[u8]) -> Result<Vec<CaseRecord>, ImportFault> {
    let mut reader = reader(content);
    let header = reader.headers()?.clone();
    check(&header)?;
    let mut cases: Vec<CaseRecord> = Vec::new();
    let mut known = HashSet::new();
    for row in reader.into_records() {
        let row = row?;
        let line = row.position().map_or(0, csv::Position::line);
        let refused = |reason| ImportFault::Line { line, reason };
        let longest = row.iter().map(str::len).max().unwrap_or(0);
        limits::text(longest).map_or(Ok(()), |reason| Err(refused(reason)))?;
        if row.iter().any(|cell| cell.contains('\0')) {
            return Err(refused("it has the character NUL".to_owned()));
        }
        let case = case(&row.deserialize(Some(&header))?).map_err(refused)?;
        if !known.insert(case.case.key()) {
            let name = excerpt(&case.case.to_string());
            return Err(refused(format!("{name} is also in an earlier line")));
        }
        cases.push(case);
        ImportFault::excess(limits::cases(cases.len()))?;
    }
    if cases.is_empty() {
        return Err(ImportFault::Empty);
    }
    Ok(cases)
}

/// Compares the header with [`COLUMNS`] in any order.
fn check(header: &StringRecord) -> Result<(), ImportFault> {
    if !header.iter().any(|name| COLUMNS.contains(&name)) {
        // Other content may be private.
        return Err(ImportFault::Neither);
    }
    let complete = |column: &&str| header.iter().any(|name| name == *column);
    if header.len() == COLUMNS.len() && COLUMNS.iter().all(complete) {
        return Ok(());
    }
    let found = excerpt(&header.iter().join(", "));
    Err(ImportFault::Columns { found })
}

#[derive(Deserialize)]
struct FigureLine<'r> {
    device: &'r str,
    algorithm: &'r str,
    operation: &'r str,
    stack: &'r str,
    mean_s: &'r str,
    n: &'r str,
    note: &'r str,
}

fn parsed<T: FromStr<Err: ToString>>(word: &str) -> Result<T, String> {
    // Errors repeat the word, which may be long.
    excerpt(word)
        .parse()
        .map_err(|error: T::Err| error.to_string())
}

/// Returns a device of which only the name is known.
fn reported(device: &str) -> Result<StoreIdentity, String> {
    if device.is_empty() {
        return Err("the device has no name".to_owned());
    }
    limits::name("a device", device).map_or(Ok(()), Err)?;
    let (kind, provenance) = (StoreKind::REPORTED, Provenance::Published);
    let name = DeviceName::new(device);
    Ok(StoreIdentity::new(name, kind, provenance, device))
}

fn case(line: &FigureLine<'_>) -> Result<CaseRecord, String> {
    let device = reported(line.device)?;
    let operation = match line.operation {
        "tls-handshake" => Operation::Handshake,
        word => parsed(word)?,
    };
    let (word, scheme) = line.stack.split_once(' ').unwrap_or((line.stack, ""));
    let stack = stack(word)?;
    let algorithm = parsed(line.algorithm)?;
    let case = Case {
        stack,
        parameters: parameters(stack, scheme, line.note)?,
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
        waiting: None,
    };
    Ok(CaseRecord {
        published: Some(published),
        ..CaseRecord::new(case)
    })
}

/// Stacks of published figures.
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

/// Reads the scheme after the stack. GnuPG's keys have no passphrase, unless the note mentions a cached one.
fn parameters(stack: StackName, scheme: &str, note: &str) -> Result<Parameters, String> {
    if stack == StackName::RAW && scheme == "pss" {
        return Ok(Parameters::from([("scheme", scheme)]));
    }
    if !scheme.is_empty() {
        return Err(format!(
            "unknown scheme '{}'; choose from pss",
            excerpt(scheme)
        ));
    }
    if ![StackName::AGENT, StackName::GNUPG].contains(&stack) {
        return Ok(Parameters::NONE);
    }
    let note = note.to_ascii_lowercase();
    let cached = note.contains("cached passphrase") || note.contains("passphrase cached");
    Ok(if cached {
        Parameters::from([("protection", "cached")])
    } else {
        Parameters::NONE
    })
}

fn mean(text: &str) -> Result<Seconds, String> {
    let seconds: Option<f64> = text.parse().ok();
    let seconds = seconds.filter(|seconds| seconds.is_finite() && *seconds > 0.0);
    seconds.map(Seconds).ok_or_else(|| {
        let text = excerpt(text);
        format!("mean_s '{text}' must be a number of seconds above 0")
    })
}

fn number(text: &str) -> Result<Option<u64>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    // Every database has room for 32 bits.
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
        .replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let devices = cases.iter().map(|record| record.case.device.as_str());
    let devices = devices.unique();
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

/// Finds a year from 1970 to 2099 in the name.
fn beginning_of_year(stem: &str) -> jiff::Timestamp {
    stem.split(|c: char| !c.is_ascii_digit())
        .filter(|digits| digits.len() == 4)
        .filter(|digits| ("1970".."2100").contains(digits))
        .find_map(|year| format!("{year}-01-01T00:00:00Z").parse().ok())
        .unwrap_or(jiff::Timestamp::UNIX_EPOCH)
}

/// Files of `data/published`.
static FILES: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../data/published");

/// A file of `data/published`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shipped {
    /// Name of the file without its ending.
    pub name: &'static str,
    /// Source of the figures: the comment in the first line.
    pub source: &'static str,
    content: &'static str,
}

/// Content of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cells {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Rows with a cell per column.
    pub rows: Vec<Vec<String>>,
}

/// All tables in the order of their names.
static SHIPPED: LazyLock<Vec<Shipped>> = LazyLock::new(|| {
    let mut shipped: Vec<Shipped> = FILES.files().filter_map(of_file).collect();
    shipped.sort_unstable_by_key(|each| each.name);
    shipped
});

fn of_file(file: &'static File<'static>) -> Option<Shipped> {
    let name = file.path().to_str()?.strip_suffix(".csv")?;
    let content = file.contents_utf8()?;
    let source = content.lines().next()?.strip_prefix("# ")?;
    Some(Shipped {
        name,
        source,
        content,
    })
}

/// Text that names no table, or more than one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown published figures '{wanted}'; choose from {}", .known.join(", "))]
pub struct UnknownFigures {
    wanted: String,
    known: Vec<&'static str>,
}

impl Shipped {
    /// Returns tables with times of operations, which can be records. Other tables have loads or ratios.
    pub fn of_times() -> impl Iterator<Item = &'static Self> {
        SHIPPED.iter().filter(|shipped| shipped.cells().is_none())
    }

    /// Finds a table by its name or a unique prefix.
    ///
    /// # Errors
    /// When no table or several begin so.
    pub fn named(wanted: &str) -> Result<Self, UnknownFigures> {
        let fitting = || SHIPPED.iter().filter(|each| each.name.starts_with(wanted));
        let exactly = fitting().find(|each| each.name == wanted);
        let only = exactly.or_else(|| fitting().next().filter(|_| fitting().count() == 1));
        only.filter(|_| !wanted.is_empty())
            .copied()
            .ok_or_else(|| UnknownFigures {
                wanted: wanted.to_owned(),
                known: SHIPPED.iter().map(|each| each.name).collect(),
            })
    }

    /// Returns the content of a table with loads or ratios; none for times of operations.
    pub fn cells(self) -> Option<Cells> {
        let mut reader = reader(self.content.as_bytes());
        let words = |record: &StringRecord| record.iter().map(str::to_owned).collect::<Vec<_>>();
        let columns = words(reader.headers().ok()?);
        let of_times = |name: &String| name == "mean_s";
        if columns.iter().any(of_times) {
            return None;
        }
        let rows = reader.records().filter_map(Result::ok);
        let rows = rows.map(|row| words(&row)).collect();
        Some(Cells { columns, rows })
    }

    /// Returns the same record as an import of the file.
    ///
    /// # Errors
    /// When a line is invalid, which tests rule out.
    pub fn record(self) -> Result<Record, ImportError> {
        let path = format!("{}.csv", self.name);
        parse(Path::new(&path), self.content.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use keymark_testkit::assert_says;

    use super::*;
    use crate::exchange::Shipped;

    #[test]
    fn rows_become_cases_where_they_say_which_one() {
        let record = Shipped::named("tokens").unwrap().record().unwrap();
        let found = |device: &str, case: &str| {
            let found = record.cases.iter().find(|each| {
                let words = format!(
                    "{} {} {}",
                    each.case.algorithm,
                    each.case.operation,
                    each.case.way()
                );
                each.case.device.as_str() == device && words == case
            })?;
            Some(found.published.as_ref().unwrap().mean.0)
        };
        let tpm = "TPM 2.0 STM  fw 73.4.17568.4452";
        let signs = found(tpm, "rsa2048 sign raw").unwrap();
        assert!((0.01..1.0).contains(&signs), "{signs}");
        assert!(found(tpm, "rsa2048 sign raw pss").is_some());
        assert!(found(tpm, "nistp256 sign raw").is_some());
        // Sixty thousand milliseconds over a hundred a minute.
        assert_eq!(
            found("Nitrokey HSM (SmartCard-HSM)", "rsa2048 sign raw"),
            Some(0.6)
        );
        // Which curve of 256 bits is not said there.
        assert_eq!(
            found("Nitrokey HSM (SmartCard-HSM)", "nistp256 sign raw"),
            None
        );
        assert_eq!(
            found(
                "Pico OpenPGP (Raspberry Pi Pico RP2040)",
                "rsa4096 decrypt raw"
            ),
            Some(15.0)
        );
        // "~1.5" is no number.
        assert_eq!(found("Gnuk 1.2.19 on STM32F103", "rsa2048 sign raw"), None);
        let notes = record
            .cases
            .iter()
            .map(|case| &case.published.as_ref().unwrap().note);
        assert!(
            notes.clone().all(|note| note.contains("http")),
            "every row has its source"
        );
        assert_eq!(record.cases.len(), 122);
    }

    #[test]
    fn each_is_found_by_its_beginning_and_makes_sense() {
        assert_eq!(
            Shipped::named("lwn-2017").unwrap().name,
            "lwn-2017-keycards"
        );
        for wanted in ["", "x", "lwn-2018"] {
            let refused = Shipped::named(wanted).unwrap_err().to_string();
            assert_says(&refused, ["zeitgitter-2019-sign"]);
        }
        let readme = include_str!("../../../../data/published/README.md");
        for shipped in SHIPPED.iter() {
            assert!(readme.contains(shipped.source), "{}", shipped.source);
            if let Some(cells) = shipped.cells() {
                assert!(cells.rows.len() > 1, "{}", shipped.name);
                assert!(shipped.record().is_err());
                continue;
            }
            let record = shipped.record().unwrap();
            let mut cases = record.cases.iter();
            assert!(cases.len() > 1, "{}", shipped.name);
            assert!(cases.all(|case| case.case.provenance == Provenance::Published));
        }
    }

    #[test]
    fn all_files_say_where_they_are_from() {
        let tables = FILES.files().map(|file| file.path().display().to_string());
        let tables = tables.filter(|name| name.ends_with(".csv"));
        assert_eq!(tables.count(), SHIPPED.len());
    }
}
