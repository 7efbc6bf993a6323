//! Charts of a document's figures. Everything that a chart says was computed by analysis; here it only gets its place, and
//! words for who does not see it.

mod distributions;
mod means;
mod words;

use keymark_bench::case::Provenance;
use keymark_charts::{Chart, Fill};

use crate::document::Figure;

/// What stands in place of a picture that there is too little for.
pub const NOT_ENOUGH: &str = "not enough data for a picture";

/// More rows than this are no picture that anybody reads; the table has them all.
const ROWS: usize = 100;

/// The chart of a figure; none if there is not enough in it, for which [`NOT_ENOUGH`] stands.
#[must_use]
pub fn chart(figure: &Figure) -> Option<Chart> {
    match figure {
        Figure::Means {
            title,
            tolerance,
            means,
        } => means::chart(title, *tolerance, means),
        Figure::Distributions {
            title,
            distributions,
        } => distributions::chart(title, distributions),
    }
}

/// How a figure was had, as it is seen without colour.
const fn fill(provenance: Provenance) -> Fill {
    match provenance {
        Provenance::Measured => Fill::Solid,
        Provenance::Virtual => Fill::Half,
        Provenance::Twin => Fill::Hatched,
        Provenance::Predicted => Fill::Dotted,
        Provenance::Published => Fill::Hollow,
    }
}

/// What the fills of these kinds mean.
fn fills(kinds: impl Iterator<Item = Provenance>) -> Vec<(Fill, String)> {
    let mut kinds: Vec<Provenance> = kinds.collect();
    kinds.sort_unstable();
    kinds.dedup();
    let fills = kinds.into_iter();
    fills.map(|kind| (fill(kind), kind.to_string())).collect()
}
