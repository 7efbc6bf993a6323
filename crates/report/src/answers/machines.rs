//! Which of several machines takes longest, and whether that is a library's doing.

use keymark_bench::{Case, CaseId, USUAL};

use super::figure::{BUILT_IN, library};
use super::{Statement, Topic};
use crate::compare::{Comparison, Pair, Verdict};
use crate::grouped;
use crate::units;

/// A sentence an operation, about the case that is furthest behind the fastest machine's. Rows are the places of pairs.
pub(super) fn slowest(comparison: &Comparison) -> Vec<Statement> {
    let pairs = comparison.pairs.iter().enumerate();
    let slower = pairs.filter(|(_, pair)| pair.verdict == Verdict::Slower);
    let operations = grouped(slower, |(_, pair)| pair.old.operation);
    let said = operations.into_iter().filter_map(|(operation, slower)| {
        let worst = slower.into_iter();
        let (place, pair) =
            worst.max_by(|(_, a), (_, b)| a.ratio.value.0.total_cmp(&b.ratio.value.0))?;
        let cause = cause(comparison, pair);
        let (cause, control) = cause.map_or((String::new(), None), |(text, control)| {
            (format!("; {text}"), Some(control))
        });
        let text = format!(
            "{} takes longest to {operation}: {} takes {} times as long as on {}{cause}.",
            comparison.side(pair),
            pair.old,
            units::estimated_ratio(&pair.ratio),
            comparison.sides[pair.borrowed.unwrap_or(0)].name,
        );
        let rows = [Some(place), control].into_iter().flatten();
        Some(Statement::new(Topic::Striking, text, rows.map(CaseId::at)))
    });
    said.collect()
}

/// Whether the library is the cause: keymark brings another one, the same everywhere, so that what is slow with both is
/// slow for another reason. With the place of that other pair.
fn cause(comparison: &Comparison, slow: &Pair) -> Option<(String, usize)> {
    let own = library(&slow.old);
    let control = Case {
        parameters: slow.old.parameters.clone().replaced("library", USUAL),
        ..slow.old.clone()
    };
    let mut pairs = comparison.pairs.iter();
    let place = pairs
        .position(|other| own != BUILT_IN && other.side == slow.side && other.old == control)?;
    let control = &comparison.pairs[place];
    let control_takes = format!(
        "keymark's own OpenSSL takes {} times as long there",
        units::estimated_ratio(&control.ratio)
    );
    if slow.ratio.low?.0 <= control.ratio.high?.0 {
        let text = if control.verdict == Verdict::Slower {
            format!("{control_takes}, too")
        } else {
            format!("whether its library is the cause is open: {control_takes}")
        };
        return Some((text, place));
    }
    let mut differences = comparison.differences.iter();
    let versions = differences.find(|known| known.what.trim_end_matches(" loaded") == own);
    let versions = versions.map_or(own.to_owned(), ToString::to_string);
    let text = format!("the library makes the difference ({versions}): {control_takes}");
    Some((text, place))
}
