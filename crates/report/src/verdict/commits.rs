//! Commits through git: the cost of a rebase with each key.

use itertools::Itertools;
use keymark_bench::Provenance;

use super::evidence::is_commit;
use super::keys::best;
use super::{Evidence, Finding, LEAST};
use crate::analysis::{Analysis, Row};

/// Commits of a rebase that is worth waiting for.
const REBASE: u32 = 50;

/// Costs of signed commits, one at a time. A twin is not ranked against what was measured.
pub(super) fn commits(analysis: &Analysis) -> Option<Finding> {
    let rows = analysis
        .rows
        .iter()
        .filter(|row| is_commit(&row.case) && row.case.is_alone() && row.case.replica == 0);
    let is_unsigned = |row: &&Row| row.case.parameters.get("format") == Some("unsigned");
    let (unsigned, signed): (Vec<&Row>, Vec<&Row>) = rows.partition(is_unsigned);
    let signed = signed.into_iter().filter_map(Evidence::of);
    let signed: Vec<Evidence> = signed.sorted_by(Evidence::by_mean).collect();
    let strong = signed
        .iter()
        .filter(|of| of.provenance == Provenance::Measured && of.strength() >= Some(LEAST));
    let strong: Vec<Evidence> = strong.cloned().collect();
    (!signed.is_empty()).then(|| Finding::Commits {
        rebase: REBASE,
        chosen: best(&strong).cloned(),
        unsigned: unsigned.into_iter().find_map(Evidence::of),
        signed,
    })
}
