//! Algorithms, in GnuPG's spelling (lower case), and which operations each one has.

mod family;

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::LazyLock;

use derive_more::Display;
use serde::{Deserialize, Serialize};

use crate::shipped::shipped;
use crate::words::as_text;
use crate::{KeyFamily, Operation};

pub use family::{Composite, Curve, Digest, Family, SlhVariant};

/// An algorithm with its length or curve: what a key is made for.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, Display,
)]
#[serde(into = "String", try_from = "String")]
#[display("{}", self.name())]
pub struct Algorithm(Family);

/// An algorithm with what is known of it: a line of `data/algorithms.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AlgorithmRow {
    family: Family,
    /// Its names, the first of which is the canonical one.
    names: Vec<String>,
    kind: String,
    length: u32,
    group: KeyFamily,
    operations: Vec<Operation>,
    digest: Option<Digest>,
    #[serde(default)]
    oids: Vec<Vec<u8>>,
    parts: Option<[String; 2]>,
}

/// Every algorithm, in table order.
static TABLE: LazyLock<Vec<AlgorithmRow>> = LazyLock::new(|| {
    let mut file: BTreeMap<String, _> = shipped(include_str!("../../../../data/algorithms.toml"));
    file.remove("algorithm").unwrap_or_default()
});

impl Algorithm {
    /// Every algorithm keymark knows, in table order.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|row| Self(row.family))
    }

    /// The algorithm of a family and length, if keymark knows that combination.
    pub fn of(family: Family) -> Option<Self> {
        TABLE
            .iter()
            .any(|row| row.family == family)
            .then_some(Self(family))
    }

    /// Family with its length, curve or parameter set.
    pub const fn family(self) -> Family {
        self.0
    }

    /// Canonical name.
    pub fn name(self) -> &'static str {
        &self.0.row().names[0]
    }

    /// The private-key operations this algorithm has.
    pub fn operations(self) -> &'static [Operation] {
        &self.0.row().operations
    }

    /// Returns the group in which people look for it.
    pub(crate) fn group(self) -> KeyFamily {
        self.0.row().group
    }

    /// Returns true if a key of the algorithm can do the operation: one that signs can also authenticate.
    pub fn has(self, operation: Operation) -> bool {
        let signs = operation == Operation::Authenticate;
        let same = if signs { Operation::Sign } else { operation };
        self.operations().contains(&same)
    }

    /// The digest that is signed in place of the message. None: the algorithm takes the message itself.
    pub fn digest(self) -> Option<Digest> {
        self.0.row().digest
    }

    /// Kind and length, for "the longest key of each kind": a larger number is a longer key.
    pub fn length(self) -> (&'static str, u32) {
        self.0.length()
    }
}

/// A word that is no algorithm, with the nearest one that is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown algorithm '{word}'; did you mean '{nearest}'?")]
pub struct UnknownAlgorithm {
    word: String,
    nearest: &'static str,
}

impl FromStr for Algorithm {
    type Err = UnknownAlgorithm;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let named = |is: &dyn Fn(&str) -> bool| {
            let row = TABLE
                .iter()
                .find(|row| row.names.iter().any(|name| is(name)));
            row.map(|row| Self(row.family))
        };
        // People write P-256, rsa:4096 and ML-DSA-65; records have keymark's own names, and many of them.
        let plain = |name: &str| name.to_ascii_lowercase().replace(['-', ':', '_'], "");
        let lower = plain(word);
        let found = named(&|name| name == word).or_else(|| named(&|name| plain(name) == lower));
        if let Some(algorithm) = found {
            return Ok(algorithm);
        }
        let distance = |name: &str| strsim::damerau_levenshtein(&lower, name);
        let nearest = TABLE
            .iter()
            .flat_map(|row| &row.names)
            .min_by_key(|name| distance(name))
            .map_or("rsa2048", String::as_str);
        Err(UnknownAlgorithm {
            word: word.to_owned(),
            nearest,
        })
    }
}

as_text!(Algorithm);

#[cfg(test)]
mod tests {
    use keymark_testkit::assert_says;

    use super::*;

    #[test]
    fn every_name_of_the_table_parses_to_its_row() {
        for row in TABLE.iter() {
            let algorithm = Algorithm(row.family);
            for name in &row.names {
                assert_eq!(name.parse(), Ok(algorithm), "{name}");
                assert_eq!(name.to_uppercase().parse(), Ok(algorithm), "{name}");
            }
            assert_eq!(algorithm.name(), row.names[0]);
            assert!(!algorithm.operations().is_empty());
            assert_eq!(row.parts.is_some(), row.family.parts().is_some());
        }
    }

    #[test]
    fn names_that_people_type_are_understood() {
        for (typed, name) in [
            ("P-256", "nistp256"),
            ("rsa:4096", "rsa4096"),
            ("RSA-4096", "rsa4096"),
            ("ML-KEM-768", "mlkem768"),
            ("curve25519", "cv25519"),
            ("ML-DSA-65+Ed25519", "mldsa65+ed25519"),
        ] {
            assert_eq!(typed.parse::<Algorithm>().unwrap().name(), name);
        }
    }

    #[test]
    fn a_mistyped_name_gets_the_nearest() {
        let error = "rsa2049".parse::<Algorithm>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown algorithm 'rsa2049'; did you mean 'rsa2048'?"
        );
        let error = "curve25518".parse::<Algorithm>().unwrap_err();
        assert_says(&error, ["'curve25519'"]);
    }

    #[test]
    fn every_identifier_leads_back_to_its_curve() {
        for algorithm in Algorithm::all() {
            for oid in algorithm.family().oids() {
                assert_eq!(Family::of_oid(oid), Some(algorithm.family()), "{algorithm}");
            }
        }
        assert_eq!(Family::of_oid(&[]), None);
    }
}
