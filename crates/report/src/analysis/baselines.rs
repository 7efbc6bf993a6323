//! What the ratios of a table are to, in words.

use std::collections::{BTreeSet, HashMap};

use itertools::Itertools;
use keymark_bench::case::{Case, CaseId};

use super::Row;

/// More baselines than this are not named: the rows say 1.00 themselves.
const NAMED: usize = 3;

/// The rows that others are compared with.
pub(super) struct Baselines<'a> {
    /// A row and its baseline, which is another one.
    pairs: Vec<(&'a Case, &'a Row)>,
}

impl<'a> Baselines<'a> {
    pub(super) fn of(rows: &'a [Row]) -> Self {
        let known: HashMap<CaseId, &Row> = rows.iter().map(|row| (row.id, row)).collect();
        let pairs = rows
            .iter()
            .filter(|row| row.ratio.is_some())
            .filter_map(|row| {
                let baseline = known.get(&row.baseline?)?;
                Some((&row.case, *baseline))
            });
        Self {
            pairs: pairs.collect(),
        }
    }

    /// Whether a row is compared with another one, or another one with it: to itself alone nothing is compared.
    pub(super) fn concern(&self, row: &Row) -> bool {
        row.baseline.is_some() || self.pairs.iter().any(|(_, baseline)| baseline.id == row.id)
    }

    /// `ratio to rsa2048`, `ratio to raw`: by what baselines are told from the rows that are compared with them.
    pub(super) fn heading(&self) -> String {
        type Axis = fn(&Case) -> String;
        let axes: [Axis; 4] = [
            |case| case.algorithm.to_string(),
            |case| case.device.to_string(),
            |case| {
                case.stack.to_string()
                    + &case
                        .parameters
                        .remark()
                        .map_or_else(String::new, |word| format!(" {word}"))
            },
            |case| format!("c={}", case.concurrency()),
        ];
        let words = axes.iter().filter_map(|axis| {
            let told = self
                .pairs
                .iter()
                .any(|(case, baseline)| axis(case) != axis(&baseline.case));
            let words = self.pairs.iter().map(|(_, baseline)| axis(&baseline.case));
            let words: BTreeSet<String> = words.collect();
            (told && words.len() <= NAMED).then(|| words.iter().join(" or "))
        });
        let words: Vec<String> = words.collect();
        if words.is_empty() {
            "ratio".to_owned()
        } else {
            format!("ratio to {}", words.join(" "))
        }
    }
}
