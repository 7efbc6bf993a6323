//! The published figures that keymark brings along (`data/published`), by name.

use std::path::Path;
use std::sync::LazyLock;

use include_dir::{Dir, File, include_dir};
use keymark_bench::record::Record;

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

/// All there are, by their names.
pub static SHIPPED: LazyLock<Vec<Shipped>> = LazyLock::new(|| {
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
    use keymark_bench::case::Provenance;
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
