//! Published figures: tables with one figure per row ([`PublishedRow`]), and the catalogue of their devices.
//!
//! A table with other columns (loads, ratios) is only shown.

pub mod catalogue;
pub mod row;

use std::collections::HashSet;
use std::path::Path;
use std::sync::LazyLock;

use csv::{ReaderBuilder, StringRecord, Trim};
use include_dir::{Dir, File, include_dir};
use itertools::Itertools;
use keymark_bench::outside::read;
use keymark_bench::outside::visible::excerpt;
use keymark_bench::{Environment, Plan, Record, RunId, RunState, SCHEMA, Settings};

use crate::exchange::{ImportError, ImportFault, limits};
use row::RowText;

pub use catalogue::{CatalogueDevice, Certification, DeviceCatalogue, DeviceKind};
pub use row::{COLUMNS, Grade, PublishedRow, PublishedSpeed, RateOf, Term, Timed};

/// Reads such a table as a run of published figures.
///
/// The run is named after the file, `published-` and its stem, and dated to the beginning of the first year in its rows (1970
/// if there is none): importing it twice must yield the same run. It has the rows that are mean times of operations which keymark
/// measures; of several rows of one case, the first.
///
/// # Errors
/// When the columns are others, or a row makes no sense.
pub fn parse(path: &Path, content: &[u8]) -> Result<Record, ImportError> {
    let rows = rows(content).map_err(|fault| fault.of(path))?;
    Ok(record(path, &rows))
}

fn reader(content: &[u8]) -> csv::Reader<&[u8]> {
    ReaderBuilder::new()
        .trim(Trim::All)
        .comment(Some(b'#'))
        .from_reader(content)
}

/// Columns that do not say which figure it is.
const FIGURE: [&str; 3] = ["mean_s", "ops_per_s", "n"];

/// Reads the rows of a table.
fn rows(content: &[u8]) -> Result<Vec<PublishedRow>, ImportFault> {
    let mut reader = reader(content);
    let header = reader.headers()?.clone();
    check(&header)?;
    let mut rows: Vec<PublishedRow> = Vec::new();
    let mut known = HashSet::new();
    for record in reader.into_records() {
        let record = record?;
        let line = record.position().map_or(0, csv::Position::line);
        let refused = |reason: String| ImportFault::line(line, &reason);
        let longest = record.iter().map(str::len).max().unwrap_or(0);
        limits::text(longest).map_or(Ok(()), |reason| Err(refused(reason)))?;
        if record.iter().any(|cell| cell.contains('\0')) {
            return Err(refused("it has the character NUL".to_owned()));
        }
        let named = header.iter().zip(&record);
        let named = named.filter(|(column, _)| !FIGURE.contains(column));
        let identity = named.map(|(_, cell)| cell).join("\0");
        let text: RowText<'_> = record.deserialize(Some(&header))?;
        let row = text.row().map_err(refused)?;
        if !known.insert(identity) {
            return Err(refused(
                "the same figure is also in an earlier line".to_owned(),
            ));
        }
        rows.push(row);
        ImportFault::excess(limits::cases(rows.len()))?;
    }
    if rows.is_empty() {
        return Err(ImportFault::empty());
    }
    Ok(rows)
}

/// Compares the header with [`COLUMNS`] in any order.
fn check(header: &StringRecord) -> Result<(), ImportFault> {
    if !header.iter().any(|name| COLUMNS.contains(&name)) {
        // Other content may be private.
        return Err(ImportFault::Content(format!(
            " is neither a run exported by keymark ('keymark export' writes these) nor a table of published figures with \
             the columns {}",
            COLUMNS.join(", ")
        )));
    }
    let complete = |column: &&str| header.iter().any(|name| name == *column);
    if header.len() == COLUMNS.len() && COLUMNS.iter().all(complete) {
        return Ok(());
    }
    let found = excerpt(&header.iter().join(", "));
    Err(ImportFault::Content(format!(
        " has the columns {found}, but a table of published figures needs {}: rename or convert them",
        COLUMNS.join(", ")
    )))
}

fn record(path: &Path, rows: &[PublishedRow]) -> Record {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let stem = stem.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let cases = rows.iter().filter_map(PublishedRow::case);
    let (stores, cases): (Vec<_>, Vec<_>) = cases.unique_by(|(_, case)| case.case.key()).unzip();
    let stores = stores.into_iter().unique_by(|store| store.device.clone());
    let planned = cases.iter().map(|record| record.case.clone()).collect();
    Record {
        schema: SCHEMA,
        started: beginning_of_year(rows),
        id: RunId(format!("published-{stem}")),
        state: RunState::Published,
        series: None,
        plan: Plan {
            cases: planned,
            settings: Settings::default(),
        },
        environment: Environment::default(),
        harness: None,
        stores: stores.collect(),
        cases,
    }
}

/// Returns the beginning of the first year in the rows.
fn beginning_of_year(rows: &[PublishedRow]) -> jiff::Timestamp {
    let mut years = rows.iter().filter_map(|row| row.date.get(..4));
    years
        .find(|digits| ("1970".."2100").contains(digits))
        .and_then(|digits| format!("{digits}-01-01T00:00:00Z").parse().ok())
        .unwrap_or(jiff::Timestamp::UNIX_EPOCH)
}

/// Files of `data/published`.
static FILES: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../data/published");

/// A table: a file of `data/published`, or the user's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublishedTable {
    /// Name of the file without its ending.
    pub name: &'static str,
    /// Source of the figures: the comment in the first line.
    pub source: &'static str,
    content: &'static str,
}

/// All tables in the order of their names.
static SHIPPED: LazyLock<Vec<PublishedTable>> = LazyLock::new(|| {
    let mut shipped: Vec<PublishedTable> = FILES.files().filter_map(of_file).collect();
    shipped.sort_unstable_by_key(|each| each.name);
    shipped
});

/// All rows of all tables.
static COLLECTION: LazyLock<Vec<(PublishedTable, PublishedRow)>> = LazyLock::new(|| {
    let rows = |table: &'static PublishedTable| {
        // A test reads each of them.
        let rows = table.rows().unwrap_or_default();
        rows.into_iter().map(move |row| (*table, row))
    };
    PublishedTable::of_times().flat_map(rows).collect()
});

fn of_file(file: &'static File<'static>) -> Option<PublishedTable> {
    let name = file.path().to_str()?.strip_suffix(".csv")?;
    let content = file.contents_utf8()?;
    let source = content.lines().next()?.strip_prefix("# ")?;
    Some(PublishedTable {
        name,
        source,
        content,
    })
}

impl PublishedTable {
    /// Returns tables of [`PublishedRow`]s. Other tables have loads or ratios.
    pub fn of_times() -> impl Iterator<Item = &'static Self> {
        SHIPPED.iter().filter(|shipped| shipped.cells().is_none())
    }

    /// Returns all figures that come with keymark, each with its table.
    pub fn collection() -> &'static [(Self, PublishedRow)] {
        &COLLECTION
    }

    /// Finds a table by its name or a unique prefix, or reads a `.csv` file.
    ///
    /// # Errors
    /// When no table or several begin so, or the file is no valid table.
    pub fn named(wanted: &str) -> Result<Self, String> {
        if wanted.ends_with(".csv") {
            return Self::of_path(wanted);
        }
        let fitting = || SHIPPED.iter().filter(|each| each.name.starts_with(wanted));
        let exactly = fitting().find(|each| each.name == wanted);
        let only = exactly.or_else(|| fitting().next().filter(|_| fitting().count() == 1));
        let only = only.filter(|_| !wanted.is_empty());
        only.copied().ok_or_else(|| {
            let known = SHIPPED.iter().map(|each| each.name).join(", ");
            format!("unknown published figures '{wanted}'; choose from {known}, or give the path of a .csv file")
        })
    }

    /// Reads the user's own table, which then lives as long as the program.
    fn of_path(file: &str) -> Result<Self, String> {
        let path = Path::new(file);
        let content = read::text(path, limits::TABLE as u64);
        let content = content.map_err(|error| format!("cannot read {}: {error}", excerpt(file)))?;
        rows(content.as_bytes()).map_err(|fault| fault.of(path).to_string())?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let first = content.lines().next().unwrap_or_default();
        let source = first.strip_prefix("# ").unwrap_or(file).to_owned();
        Ok(Self {
            name: stem.into_owned().leak(),
            source: source.leak(),
            content: content.leak(),
        })
    }

    /// Returns the columns and rows of a table with loads or ratios; none for times of operations.
    pub fn cells(self) -> Option<(Vec<String>, Vec<Vec<String>>)> {
        let mut reader = reader(self.content.as_bytes());
        let words = |record: &StringRecord| record.iter().map(str::to_owned).collect::<Vec<_>>();
        let columns = words(reader.headers().ok()?);
        let of_times = |name: &String| name == "mean_s";
        if columns.iter().any(of_times) {
            return None;
        }
        let rows = reader.records().filter_map(Result::ok);
        let rows = rows.map(|row| words(&row)).collect();
        Some((columns, rows))
    }

    /// Returns the rows of a table of times and rates.
    ///
    /// # Errors
    /// When a row is invalid, which tests rule out for those that come with keymark.
    pub fn rows(self) -> Result<Vec<PublishedRow>, ImportError> {
        let path = format!("{}.csv", self.name);
        rows(self.content.as_bytes()).map_err(|fault| fault.of(Path::new(&path)))
    }

    /// Returns chosen rows of all tables as a run of that name, with the catalogue's names of devices.
    pub fn selection(name: &str, wanted: impl Fn(&PublishedRow) -> bool) -> Record {
        let rows = Self::collection().iter().map(|(_, row)| row);
        let chosen = rows.filter(|row| wanted(row)).map(|row| PublishedRow {
            name: row.device.map_or(&row.name, |device| &device.name).clone(),
            ..row.clone()
        });
        record(Path::new(name), &chosen.collect::<Vec<_>>())
    }

    /// Returns the same record as an import of the file.
    ///
    /// # Errors
    /// When a row is invalid.
    pub fn record(self) -> Result<Record, ImportError> {
        let path = format!("{}.csv", self.name);
        parse(Path::new(&path), self.content.as_bytes())
    }
}

#[cfg(test)]
mod tests;
