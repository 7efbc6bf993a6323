//! Comparisons: which cases changed, by how much, and whether that is more than noise; of machines the slowest.

use itertools::Itertools;
use keymark_bench::{Case, CaseId, USUAL};

use super::figure::{BUILT_IN, library};
use super::{Statement, Topic};
use crate::compare::{Comparison, Grounds, Pair, Sides, Verdict};
use crate::grouped;
use crate::units::{self, counted};
use crate::visible::sentence;

/// Cases that are named.
const NAMED: usize = 2;

/// Says for each side what differs, or for each operation which machine is the slowest. Rows are the places of pairs.
pub fn of_comparison(comparison: &Comparison) -> Vec<Statement> {
    let slowest = match comparison.sides_are {
        Sides::Machines => slowest(comparison),
        Sides::Runs => Vec::new(),
    };
    if !slowest.is_empty() {
        return slowest;
    }
    let sides = 0..comparison.sides.len().max(1);
    sides.filter_map(|side| of_side(comparison, side)).collect()
}

fn of_side(comparison: &Comparison, side: usize) -> Option<Statement> {
    let pairs = comparison.pairs.iter().enumerate();
    let pairs: Vec<(usize, &Pair)> = pairs.filter(|(_, pair)| pair.side == side).collect();
    let (_, any) = pairs.first()?;
    let far = |pair: &Pair| pair.ratio.value.0.ln().abs();
    let of = |verdict: Verdict| {
        let of = pairs.iter().filter(|(_, pair)| pair.verdict == verdict);
        of.sorted_by(|a, b| far(b.1).total_cmp(&far(a.1)))
            .collect_vec()
    };
    let (slower, faster) = (of(Verdict::Slower), of(Verdict::Faster));
    let all = counted(pairs.len(), "case");
    let told = [("slower", &slower), ("faster", &faster)].map(|(word, found)| {
        let named = found
            .iter()
            .take(NAMED)
            .map(|(_, pair)| changed(pair))
            .join(", ");
        let more = match found.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let number = found.len();
        (number > 0).then(|| format!("{number} of {all} {word}: {named}{more}"))
    });
    let told = told.into_iter().flatten().join("; ");
    let text = if told.is_empty() {
        unchanged(comparison, &pairs)
    } else {
        let open = of(Verdict::Indistinguishable).len() + of(Verdict::WithinNoise).len();
        let open = (open > 0).then(|| format!("; {} undecided", counted(open, "case")));
        let noise = noise(comparison, any.grounds);
        format!(
            "{told}; more than is explained{noise}{}",
            open.unwrap_or_default()
        )
    };
    let certain: Vec<&&(usize, &Pair)> = slower.iter().chain(&faster).collect();
    let rows: Vec<CaseId> = match certain.as_slice() {
        [] => pairs.iter().map(|(place, _)| CaseId::at(*place)).collect(),
        some => some.iter().map(|(place, _)| CaseId::at(*place)).collect(),
    };
    let text = match whose(comparison, side) {
        Some(whose) => format!("{whose}: {text}."),
        None => sentence(&text),
    };
    Some(Statement::new(Topic::Change, text, rows))
}

/// Names the side where there are several, and the side that it is compared with unless that is itself.
fn whose(comparison: &Comparison, side: usize) -> Option<String> {
    let within = comparison.pairs.iter().any(|pair| pair.side == 0);
    match comparison.sides.as_slice() {
        [] | [_] => None,
        sides if within => Some(sides[side].name.clone()),
        sides => Some(format!("{} against {}", sides[side].name, sides[0].name)),
    }
}

/// Says that nothing has changed, or by how much figures differ that decide nothing, and what would decide.
fn unchanged(comparison: &Comparison, pairs: &[(usize, &Pair)]) -> String {
    let open = pairs.iter().map(|(_, pair)| *pair);
    let open: Vec<&Pair> = open.filter(|pair| pair.verdict != Verdict::Same).collect();
    let Some(pair) = open.first() else {
        let within = units::percent(comparison.criteria.equivalence);
        let verb = if pairs.len() == 1 { "is" } else { "are" };
        let all = counted(pairs.len(), "case");
        return format!("nothing changed: {all} {verb} the same within ±{within}");
    };
    let changes = open.iter().map(|pair| (pair.ratio.value.0 - 1.0) * 100.0);
    let (least, most) = changes.minmax().into_option().unwrap_or_default();
    let differ = match open.len() {
        1 => format!("1 case differs by {most:+.0} %"),
        number => format!("{number} cases differ by {least:+.0} to {most:+.0} %"),
    };
    let differ = differ.replace('-', "−");
    let runs = counted(pair.runs[0].min(pair.runs[1]), "run");
    let noise = units::percent(comparison.criteria.noise.on(pair.grounds));
    let because = match pair.grounds {
        Grounds::FewRuns => format!(
            "{runs} a side are too few. Use 'bench --repeat 10', or 'bench --against PROGRAM'"
        ),
        Grounds::Series => format!(
            "{runs} a side at different times are too few, or the noise of up to {noise} is as large. Use 'bench \
             --repeat 10', or 'bench --against PROGRAM'"
        ),
        Grounds::Alternating | Grounds::SameRuns => {
            format!("{runs} are too few. Use 'bench --repeat 10'")
        }
        Grounds::Copies | Grounds::SameRun => {
            "the run was too short. Use 'bench' with a longer --case-time".to_owned()
        }
        Grounds::Exact | Grounds::Nothing => "an article's means have no interval".to_owned(),
    };
    format!("cannot tell: {differ}, but {because}")
}

/// Returns `rsa4096 sign software raw takes 1.21 times as long (1.10–1.30)`.
fn changed(pair: &Pair) -> String {
    let mut what = pair.old.to_string();
    if pair.old.key() != pair.new.key() && what != pair.new.to_string() {
        what = format!("{} against {what}", pair.new);
    }
    let ratio = pair.ratio;
    if ratio.value.0 >= 1.0 {
        format!(
            "{what} takes {} times as long",
            units::estimated_ratio(&ratio)
        )
    } else {
        format!(
            "{what} takes {} of the time",
            units::estimated_percent(&ratio)
        )
    }
}

/// Names the differences that are no news on this machine.
fn noise(comparison: &Comparison, grounds: Grounds) -> String {
    let noise = match grounds {
        Grounds::FewRuns => {
            let deviation = units::percent(comparison.machine.deviation);
            let known = match comparison.machine.runs {
                0 => "may differ",
                _ => "differ",
            };
            format!("its runs {known} by {deviation}")
        }
        Grounds::Exact | Grounds::Nothing => return " by chance".to_owned(),
        Grounds::Copies
        | Grounds::SameRun
        | Grounds::SameRuns
        | Grounds::Alternating
        | Grounds::Series => {
            let noise = units::percent(comparison.criteria.noise.on(grounds));
            format!("up to {noise}")
        }
    };
    format!(" by this machine's own noise ({noise})")
}

/// Says of each operation which case is furthest behind the fastest machine's.
fn slowest(comparison: &Comparison) -> Vec<Statement> {
    let pairs = comparison.pairs.iter().enumerate();
    let slower = pairs.filter(|(_, pair)| pair.verdict == Verdict::Slower);
    let operations = grouped(slower, |(_, pair)| pair.old.operation).into_iter();
    let said = operations.filter_map(|(operation, slower)| {
        let ratio = |pair: &Pair| pair.ratio.value.0;
        let (place, pair) = slower
            .into_iter()
            .max_by(|(_, a), (_, b)| ratio(a).total_cmp(&ratio(b)))?;
        let (cause, control) = cause(comparison, pair).unzip();
        let text = format!(
            "{} takes longest to {operation}: {} takes {} times as long as on {}{}.",
            comparison.side(pair),
            pair.old,
            units::estimated_ratio(&pair.ratio),
            comparison.sides[pair.borrowed.unwrap_or(0)].name,
            cause.unwrap_or_default()
        );
        let rows = [Some(place), control].into_iter().flatten();
        Some(Statement::new(Topic::Striking, text, rows.map(CaseId::at)))
    });
    said.collect()
}

/// Says whether the library is the cause, with the place of the control: keymark's own library, the same everywhere, is
/// slow as well if something else is the cause.
fn cause(comparison: &Comparison, slow: &Pair) -> Option<(String, usize)> {
    let own = library(&slow.old);
    let control = Case {
        parameters: slow.old.parameters.clone().replaced("library", USUAL),
        ..slow.old.clone()
    };
    let place = comparison
        .pairs
        .iter()
        .position(|other| own != BUILT_IN && other.side == slow.side && other.old == control)?;
    let control = &comparison.pairs[place];
    let times = units::estimated_ratio(&control.ratio);
    let takes = format!("keymark's own OpenSSL takes {times} times as long there");
    let text = match control.ratio.is_below(&slow.ratio) {
        true => {
            let versions = comparison
                .differences
                .iter()
                .find(|known| known.what.trim_end_matches(" loaded") == own);
            let versions = versions.map_or(own.to_owned(), ToString::to_string);
            format!("; the library makes the difference ({versions}): {takes}")
        }
        false if control.verdict == Verdict::Slower => format!("; {takes}, too"),
        false => format!("; whether its library is the cause is open: {takes}"),
    };
    Some((text, place))
}
