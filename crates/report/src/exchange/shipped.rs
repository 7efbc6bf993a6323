//! The published figures that keymark brings along (`data/published`), by name.

use std::path::Path;
use std::sync::LazyLock;

use csv::{ReaderBuilder, StringRecord, Trim};
use include_dir::{Dir, File, include_dir};
use keymark_bench::case::{DeviceName, Provenance};
use keymark_bench::record::Record;

use crate::document::{Block, Column, Narrow, RemarkKind, Section, TableOf};

use super::{ImportError, published};

/// All of them; a new one needs no line here.
static FILES: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../data/published");

/// A file of `data/published`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shipped {
    /// Its name without the ending.
    pub name: &'static str,
    /// Where the figures were published: the comment in its first line.
    pub source: &'static str,
    content: &'static str,
}

/// A table as it stands in its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cells {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Of as many cells each.
    pub rows: Vec<Vec<String>>,
}

/// All there are, by their names.
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

/// Text that names none of them, or more than one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown published figures '{wanted}'; choose from {}", names(.known))]
pub struct UnknownFigures {
    wanted: String,
    known: Vec<&'static str>,
}

fn names(known: &[&str]) -> String {
    known.join(", ")
}

impl Shipped {
    /// Those with times of operations, which are records as well; the others have loads or ratios.
    pub fn of_times() -> impl Iterator<Item = &'static Self> {
        SHIPPED.iter().filter(|shipped| shipped.cells().is_none())
    }

    /// By its name, or enough of its beginning.
    ///
    /// # Errors
    /// When that is the beginning of none, or of several.
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

    /// Its rows as they stand, if they are no times of operations: loads in siege's words, ratios.
    pub fn cells(self) -> Option<Cells> {
        let mut reader = ReaderBuilder::new()
            .trim(Trim::All)
            .comment(Some(b'#'))
            .from_reader(self.content.as_bytes());
        let words = |record: &StringRecord| record.iter().map(str::to_owned).collect::<Vec<_>>();
        let columns = words(reader.headers().ok()?);
        let of_times = |name: &String| matches!(name.as_str(), "mean_s" | "value");
        if columns.iter().any(of_times) {
            return None;
        }
        let rows = reader.records().filter_map(Result::ok);
        let rows = rows.map(|row| words(&row)).collect();
        Some(Cells { columns, rows })
    }

    /// The same as a section; none of times of operations, which are beside a run's own.
    pub fn section(self) -> Option<Section> {
        let Cells { columns, rows } = self.cells()?;
        let subject = |_: &Vec<String>| (DeviceName::new(self.name), Provenance::Published);
        let mut table = TableOf::new(rows, subject);
        for (place, name) in columns.iter().enumerate() {
            let heading = name.replace('_', " ");
            let narrow = match place {
                0..=3 => Narrow::Keep,
                // From the right, where there is no room.
                _ => Narrow::Leave(u8::try_from(columns.len() - place).unwrap_or(0)),
            };
            table = table.column(Column::name(heading).narrow(narrow), |row| {
                row[place].clone()
            });
        }
        let source = Block::remark(
            RemarkKind::MixedProvenance,
            format!("published: {}", self.source),
        );
        let heading = format!("published: {}", self.name);
        Some(Section::headed(
            heading,
            vec![Block::Table(table.table()), source],
        ))
    }

    /// As a run of published figures: the one that importing the file makes.
    ///
    /// # Errors
    /// When a line makes no sense, which tests rule out.
    pub fn record(self) -> Result<Record, ImportError> {
        let path = format!("{}.csv", self.name);
        published::parse(Path::new(&path), self.content.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use keymark_testkit::assert_says;

    use super::*;

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
                assert!(shipped.record().is_err() && shipped.section().is_some());
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
