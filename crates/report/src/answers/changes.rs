//! What is not as it was: of comparisons.

use itertools::Itertools;
use keymark_bench::CaseId;

use super::machines::slowest;
use super::{Statement, Topic};
use crate::compare::{Comparison, Grounds, Pair, Sides, Verdict};
use crate::units::{self, counted};
use crate::visible::sentence;

/// Cases that are named.
const NAMED: usize = 2;

/// A sentence for each side about what differs, by how much, and by how much nothing does; of machines about the slowest
/// ones. Rows are the places of pairs.
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
    let whose = whose(comparison, side);
    let of = |verdict: Verdict| {
        let of = pairs.iter().filter(|(_, pair)| pair.verdict == verdict);
        of.sorted_by(|a, b| far(b.1).total_cmp(&far(a.1)))
            .collect_vec()
    };
    let (slower, faster) = (of(Verdict::Slower), of(Verdict::Faster));
    let all = pairs.len();
    let told = [("slower", &slower), ("faster", &faster)].map(|(word, found)| {
        let mut named = found.iter().take(NAMED).map(|(_, pair)| changed(pair));
        let (number, all) = (found.len(), counted(all, "case"));
        let more = (number > NAMED).then(|| format!(" and {} more", number - NAMED));
        let (named, more) = (named.join(", "), more.unwrap_or_default());
        (number > 0).then(|| format!("{number} of {all} {word}: {named}{more}"))
    });
    let told: Vec<String> = told.into_iter().flatten().collect();
    let noise = noise(comparison, any.grounds);
    let text = if told.is_empty() {
        format!("{whose}{}.", unchanged(comparison, &pairs))
    } else {
        let open = of(Verdict::Indistinguishable).len() + of(Verdict::WithinNoise).len();
        let open = (open > 0).then(|| format!("; {} undecided", counted(open, "case")));
        let told = told.join("; ");
        format!(
            "{whose}{told}; more than is explained{noise}{}.",
            open.unwrap_or_default()
        )
    };
    let certain = slower.into_iter().chain(faster);
    let mut rows: Vec<CaseId> = certain.map(|(place, _)| CaseId::at(*place)).collect();
    if rows.is_empty() {
        rows = pairs.iter().map(|(place, _)| CaseId::at(*place)).collect();
    }
    let text = if whose.is_empty() {
        sentence(text.trim_end_matches('.'))
    } else {
        text
    };
    Some(Statement::new(Topic::Change, text, rows))
}

/// That no case of a side has changed for certain.
fn unchanged(comparison: &Comparison, pairs: &[(usize, &Pair)]) -> String {
    let all = pairs.len();
    let number = |verdict| {
        let of = pairs.iter().filter(|(_, pair)| pair.verdict == verdict);
        of.count()
    };
    if number(Verdict::Same) == all {
        let within = units::percent(comparison.criteria.equivalence);
        return format!(
            "nothing changed: {} the same within ±{within}",
            is(all, "case")
        );
    }
    undecided(comparison, pairs)
}

/// That the runs decide nothing, by how much their figures differ, and what would decide.
fn undecided(comparison: &Comparison, pairs: &[(usize, &Pair)]) -> String {
    let open = pairs
        .iter()
        .filter(|(_, pair)| pair.verdict != Verdict::Same);
    let open: Vec<&Pair> = open.map(|(_, pair)| *pair).collect();
    let changes = open.iter().map(|pair| (pair.ratio.value.0 - 1.0) * 100.0);
    let (least, most) = changes.minmax().into_option().unwrap_or_default();
    let by = if open.len() == 1 {
        format!("{most:+.0} %")
    } else {
        format!("{least:+.0} to {most:+.0} %")
    };
    let by = by.replace('-', "−");
    let differ = match open.len() {
        1 => format!("1 case differs by {by}"),
        number => format!("{number} cases differ by {by}"),
    };
    let Some(pair) = open.first() else {
        return differ;
    };
    let (runs, noise) = (
        counted(pair.runs[0].min(pair.runs[1]), "run"),
        comparison.criteria.noise.on(pair.grounds),
    );
    let noise = units::percent(noise);
    match pair.grounds {
        Grounds::FewRuns => {
            format!(
                "cannot tell: {differ}, but {runs} a side are too few. Use 'bench --repeat 10', or 'bench --against PROGRAM'"
            )
        }
        Grounds::Series => format!(
            "cannot tell: {differ}, but {runs} a side at different times are too few, or the noise of up to {noise} is as \
             large. Use 'bench --repeat 10', or 'bench --against PROGRAM'"
        ),
        Grounds::Alternating | Grounds::SameRuns => {
            format!("cannot tell: {differ}, but {runs} are too few. Use 'bench --repeat 10'")
        }
        Grounds::Copies | Grounds::SameRun => {
            format!(
                "cannot tell: {differ}, but the run was too short. Use 'bench' with a longer --max-time"
            )
        }
        Grounds::Exact | Grounds::Nothing => {
            format!("cannot tell: {differ}, but an article's means have no interval")
        }
    }
}

/// Which side it is about, where there are several, and against which: cases of the first are compared only with their
/// own run's.
fn whose(comparison: &Comparison, side: usize) -> String {
    let within = comparison.pairs.iter().any(|pair| pair.side == 0);
    match comparison.sides.as_slice() {
        [] | [_] => String::new(),
        sides if within => format!("{}: ", sides[side].name),
        sides => format!("{} against {}: ", sides[side].name, sides[0].name),
    }
}

/// How far the ratio is from 1.
fn far(pair: &Pair) -> f64 {
    pair.ratio.value.0.ln().abs()
}

/// `rsa4096 sign software raw takes 1.21 times as long (1.10–1.30)`
fn changed(pair: &Pair) -> String {
    let what = if pair.old.key() == pair.new.key() || pair.old.to_string() == pair.new.to_string() {
        pair.old.to_string()
    } else {
        format!("{} against {}", pair.new, pair.old)
    };
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

/// What differences are no news on this machine.
fn noise(comparison: &Comparison, grounds: Grounds) -> String {
    match grounds {
        Grounds::FewRuns => {
            let deviation = units::percent(comparison.machine.deviation);
            let known = if comparison.machine.runs == 0 {
                "may differ"
            } else {
                "differ"
            };
            format!(" by this machine's own noise (its runs {known} by {deviation})")
        }
        Grounds::Exact | Grounds::Nothing => " by chance".to_owned(),
        Grounds::Copies
        | Grounds::SameRun
        | Grounds::SameRuns
        | Grounds::Alternating
        | Grounds::Series => {
            let noise = units::percent(comparison.criteria.noise.on(grounds));
            format!(" by this machine's own noise (up to {noise})")
        }
    }
}

fn is(number: usize, what: &str) -> String {
    let verb = if number == 1 { "is" } else { "are" };
    format!("{} {verb}", counted(number, what))
}
