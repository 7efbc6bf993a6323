//! Strength of keys in bits, per the tables of `data/strengths`. Speeds come with that of
//! NIST SP 800-57; others differ: the one made after the NSA's note of 2015 puts P-384 with RSA-3072, at 128 bits.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use include_dir::{Dir, include_dir};
use serde::{Deserialize, Serialize};

use crate::shipped::shipped;
use crate::{Algorithm, Family};

/// Security in bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(transparent)]
#[derive(derive_more::Display)]
#[display("{_0}-bit")]
pub struct Strength(pub u32);

impl Strength {
    /// Returns true if it is less than the 112 bits below which nothing is protected any more (SP 800-57 part 1, table
    /// 4).
    pub const fn is_weak(self) -> bool {
        self.0 < 112
    }
}

/// Verification of a statement: the wording was read in the document, or a third party quotes it. Unverified
/// statements are not shipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verified {
    /// Read in the document.
    Primary,
    /// Read in a secondary source.
    Secondary,
}

/// A table of equivalent strengths: a file in `data/strengths`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Id of the table, such as `nist`.
    pub id: String,
    /// Title for people.
    pub title: String,
    /// Origin of each row.
    pub source: String,
    /// The document.
    pub url: String,
    /// Verification of the table.
    pub verified: Verified,
    /// Remarks.
    #[serde(default)]
    pub note: String,
    /// Rows by strength, ascending.
    rows: Vec<StrengthRow>,
    /// Strengths by keymark's names, which counts of bits do not determine.
    #[serde(default)]
    named: BTreeMap<String, u32>,
}

/// Requirements of a strength.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct StrengthRow {
    strength: u32,
    /// Bits of an RSA modulus, or of a prime.
    modulus: u32,
    /// Bits of a curve's order.
    order: u32,
}

static SHIPPED: Dir = include_dir!("$CARGO_MANIFEST_DIR/../../data/strengths");

/// Tables that come with keymark, by id.
static TABLES: LazyLock<Vec<Table>> = LazyLock::new(|| {
    let texts = SHIPPED.files().filter_map(include_dir::File::contents_utf8);
    let mut tables: Vec<Table> = texts.map(shipped).collect();
    tables.sort_by(|a, b| a.id.cmp(&b.id));
    tables
});

impl Table {
    /// Returns the tables that come with keymark, by id.
    pub fn all() -> &'static [Self] {
        &TABLES
    }

    /// The one that keymark's own figures go by: SP 800-57's.
    #[expect(clippy::expect_used, reason = "the file is part of the program")]
    pub fn nist() -> &'static Self {
        let mut tables = Self::all().iter();
        tables.find(|table| table.id == "nist").expect("nist.toml")
    }

    /// The row of an RSA modulus, or a prime, with that number of bits.
    pub fn of_modulus(&self, bits: u32) -> Option<Strength> {
        self.last_row(|row| row.modulus <= bits)
    }

    /// The row of a curve whose order has that number of bits. Curve25519's and Curve448's orders say nothing: they are named.
    pub fn of_order(&self, bits: u32) -> Option<Strength> {
        self.last_row(|row| row.order <= bits)
    }

    fn last_row(&self, holds: impl Fn(&StrengthRow) -> bool) -> Option<Strength> {
        let row = self.rows.iter().rfind(|row| holds(row))?;
        Some(Strength(row.strength))
    }

    /// Returns the strength of a key; none where the table does not have it.
    pub fn of_family(&self, family: Family) -> Option<Strength> {
        if let Some([lattice, curve]) = family.parts() {
            // The stronger one has to be broken.
            return Some(self.of_family(lattice)?.max(self.of_family(curve)?));
        }
        match (family.modulus(), family.curve()) {
            (Some(bits), _) => self.of_modulus(bits),
            (None, Some(curve)) => self.of_order(curve.bits()),
            (None, None) => {
                let named = self.named.get(Algorithm::of(family)?.name());
                named.copied().map(Strength)
            }
        }
    }

    /// Returns the bits of a modulus and of a curve's order that a strength needs.
    pub fn takes(&self, strength: Strength) -> Option<(u32, u32)> {
        let row = self.rows.iter().find(|row| row.strength >= strength.0)?;
        Some((row.modulus, row.order))
    }
}

/// Returns the strength of a key by SP 800-57; none where it has none.
pub fn of_key(algorithm: Algorithm) -> Option<Strength> {
    Table::nist().of_family(algorithm.family())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Table 2.2 and table 1.1 of TR-02102-1; the table made after the NSA's note has P-384 where NIST has P-256.
    #[test]
    fn tables_differ_where_their_documents_do() {
        let by = |id: &str, word: &str| {
            let table = Table::all().iter().find(|table| table.id == id).unwrap();
            let algorithm: Algorithm = word.parse().unwrap();
            table
                .of_family(algorithm.family())
                .map(|strength| strength.0)
        };
        for (word, bsi, nsa) in [
            ("rsa2048", Some(100), Some(112)),
            ("rsa3072", Some(120), Some(128)),
            ("nistp256", Some(128), Some(112)),
            ("nistp384", Some(192), Some(128)),
            ("ed25519", None, None),
        ] {
            assert_eq!(
                (by("bsi", word), by("nsa-2015", word)),
                (bsi, nsa),
                "{word}"
            );
        }
        let bsi = Table::all().iter().find(|table| table.id == "bsi").unwrap();
        assert_eq!(bsi.of_modulus(2799), Some(Strength(100)));
        assert_eq!(bsi.of_modulus(2800), Some(Strength(120)));
        assert_eq!(bsi.of_order(239), Some(Strength(100)));
        assert_eq!(Table::nist().takes(Strength(128)), Some((3072, 256)));
        assert_eq!(bsi.takes(Strength(121)), Some((3200, 256)));
        for table in Table::all() {
            assert!(
                table.rows.is_sorted_by_key(|row| row.strength),
                "{}",
                table.id
            );
            assert!(table.url.starts_with("https://"), "{}", table.id);
        }
    }
}
