//! The published figures that keymark brings along (`data/published`), by name.

use std::path::Path;

use keymark_bench::record::Record;

use super::{ImportError, published};

/// A file of `data/published`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shipped {
    /// Its name without the ending.
    pub name: &'static str,
    /// Where the figures were published, as the README beside it says.
    pub source: &'static str,
    content: &'static str,
}

macro_rules! shipped {
    ($($name:literal: $source:literal),* $(,)?) => {
        [$(Shipped {
            name: $name,
            source: $source,
            content: include_str!(concat!("../../../../data/published/", $name, ".csv")),
        }),*]
    };
}

/// All there are.
pub const SHIPPED: [Shipped; 5] = shipped![
    "gnuk-f103-2017": "gnuk-users list, \"Gnuk on a faster MCU\", Aurelien Jarno, 2017-09-09",
    "lwn-2017-keycards": "\"A comparison of cryptographic keycards\", Antoine Beaupré, LWN, October 2017",
    "nitrokey-hsm-2016-single": "raymii.org, \"Use the Nitrokey HSM or SmartCard-HSM with mod_nss and Apache\", 2016",
    "tokens-tpm-javacard": "smart cards (JCAlgTest, in-card loops), TPMs (tpm2-algtest, whole commands at the host) and makers' statements",
    "zeitgitter-2019-sign": "zeitgitterd documentation, `doc/Cryptography.md`, 2019",
];

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

    use super::*;

    #[test]
    fn each_is_found_by_its_beginning_and_makes_sense() {
        assert_eq!(
            Shipped::named("lwn-2017").unwrap().name,
            "lwn-2017-keycards"
        );
        for wanted in ["", "x", "lwn-2018"] {
            let refused = Shipped::named(wanted).unwrap_err().to_string();
            assert!(refused.contains("zeitgitter-2019-sign"), "{refused}");
        }
        let readme = include_str!("../../../../data/published/README.md");
        for shipped in SHIPPED {
            assert!(readme.contains(shipped.source), "{}", shipped.source);
            let record = shipped.record().unwrap();
            let mut cases = record.cases.iter();
            assert!(cases.len() > 1, "{}", shipped.name);
            assert!(cases.all(|case| case.case.provenance == Provenance::Published));
        }
    }

    #[test]
    fn all_files_are_here() {
        let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/published");
        let entries = std::fs::read_dir(directory).unwrap();
        let files = entries.filter_map(|entry| {
            let name = entry.unwrap().file_name().into_string().unwrap();
            name.strip_suffix(".csv").map(str::to_owned)
        });
        let mut files: Vec<String> = files.collect();
        files.sort_unstable();
        assert_eq!(files, SHIPPED.map(|each| each.name));
    }
}
