//! Keys through one program: which is the fastest, what others cost beside it, and how strong they are.

use itertools::Itertools;
use keymark_bench::{Case, CaseId, Provenance, StackName, StoreKind, Strength};

use super::figure::{Figure, alone, between, device, listed, place, to, way};
use super::{Statement, Topic};
use crate::analysis::Analysis;
use crate::grouped;
use crate::visible::sentence;

/// For each operation the keys that are compared.
fn best(analysis: &Analysis) -> Vec<Keys<'_>> {
    // Servers have sentences of their own.
    let figures = alone(&analysis.rows).filter(|figure| {
        let case = figure.case();
        case.provenance.is_of_a_run() && figure.row.under_load.is_none()
    });
    let groups = grouped(figures, |figure| {
        (figure.case().operation, place(figure.case()))
    });
    let groups = groups.into_iter().map(|(_, group)| Keys::of(group));
    let several = groups.filter(|keys| keys.ranked.len() > 1);
    let preferred = several.sorted_by_key(|keys| preference(analysis, keys));
    let best = preferred.unique_by(|keys| keys.fastest().case().operation);
    best.collect()
}

/// For each operation one sentence about the keys, then what a longer key costs.
pub(super) fn keys(analysis: &Analysis) -> Vec<Statement> {
    let best = best(analysis);
    let several = analysis
        .rows
        .iter()
        .any(|row| row.case.device != analysis.rows[0].case.device);
    let ways = grouped(&best, |keys| place(keys.fastest().case()));
    let mut said: Vec<Statement> = ways
        .iter()
        .map(|(_, operations)| of_way(operations, several))
        .collect();
    said.extend(
        best.iter()
            .filter_map(Keys::longer)
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, said)| said),
    );
    said
}

/// What is said of each operation through one program, in a sentence.
fn of_way(operations: &[&Keys<'_>], several: bool) -> Statement {
    let mut rows = Vec::new();
    let mut clauses = Vec::new();
    for keys in operations {
        let case = keys.fastest().case();
        let begin = if clauses.is_empty() {
            let on = several.then(|| format!(" on {}", where_it_is(case)));
            let (to, way) = (to(case.operation), way(case));
            format!("{to} {way}{}", on.unwrap_or_default())
        } else {
            to(case.operation)
        };
        let (clause, of) = keys.said(&begin);
        clauses.push(clause);
        rows.extend(of);
    }
    Statement::new(Topic::Keys, sentence(&clauses.join("; ")), rows)
}

/// Where a key is, in a sentence.
fn where_it_is(case: &Case) -> String {
    match case.store == StoreKind::SOFTWARE {
        true => "this CPU".to_owned(),
        false => device(case),
    }
}

/// Which key is the fastest, where that is said of one operation only.
pub(crate) fn title(analysis: &Analysis, drawn: &[CaseId]) -> Option<String> {
    let groups = best(analysis);
    let [keys] = groups.as_slice() else {
        return None;
    };
    let fastest = keys.fastest();
    let alone =
        keys.vague.is_empty() && keys.ranked[1..].iter().all(|other| fastest.is_below(other));
    let case = fastest.case();
    let is_drawn = drawn.contains(&fastest.id());
    (alone && is_drawn).then(|| {
        format!(
            "{} is the fastest key {} {}",
            case.algorithm,
            to(case.operation),
            way(case)
        )
    })
}

/// What people do comes first: a whole program, then a part of one, then a library; on this CPU before elsewhere.
fn preference(analysis: &Analysis, keys: &Keys<'_>) -> (usize, usize, usize) {
    let case = keys.fastest().case();
    let depth = if analysis.is_whole(case) {
        0
    } else if case.stack == StackName::RAW {
        2
    } else {
        1
    };
    let elsewhere = usize::from(case.provenance != Provenance::Measured);
    (elsewhere, depth, usize::MAX - keys.ranked.len())
}

/// Keys for one operation through one program, from the fastest to the slowest.
struct Keys<'a> {
    /// Of those that are known well enough the first is the fastest.
    ranked: Vec<Figure<'a>>,
    /// Which may be as fast, or not.
    vague: Vec<Figure<'a>>,
}

impl<'a> Keys<'a> {
    fn of(mut all: Vec<Figure<'a>>) -> Self {
        all.sort_by(|a, b| a.value.total_cmp(&b.value));
        let first = all.iter().find(|figure| figure.is_known()).copied();
        let is_told = |figure: &Figure<'_>| {
            figure.is_known() || first.is_some_and(|first| first.is_below(figure))
        };
        let (ranked, vague) = all.into_iter().partition(is_told);
        Self { ranked, vague }
    }

    fn fastest(&self) -> &Figure<'a> {
        &self.ranked[0]
    }

    /// A clause that begins so, and the rows that it rests on.
    fn said(&self, begin: &str) -> (String, Vec<CaseId>) {
        let fastest = self.fastest();
        let (alike, slower): (Vec<&Figure<'_>>, Vec<&Figure<'_>>) = self
            .ranked
            .iter()
            .partition(|figure| !fastest.is_below(figure));
        let name = |figure: &&Figure<'_>| figure.case().algorithm.to_string();
        let names: Vec<String> = alike.iter().map(name).collect();
        let first = match alike.as_slice() {
            [only] if self.vague.is_empty() => {
                format!("{begin}, {} is fastest ({})", names[0], only.time())
            }
            // Which of them is the fastest, nobody knows.
            [only] => format!("{begin}, {} takes {}", names[0], only.time()),
            [least, .., most] => {
                let besides = apart(&alike);
                let time = between(&least.time(), &most.time());
                format!(
                    "{begin}, there is no clear difference between {} ({time}){}",
                    listed(&names),
                    besides.unwrap_or_default()
                )
            }
            [] => begin.to_owned(),
        };
        let named = self.beside(&slower);
        let others = named.iter().enumerate();
        let others: Vec<String> = others
            .map(|(place, figure)| self.slower(figure, place, &alike))
            .collect();
        let vague: Vec<String> = self.vague.iter().map(|figure| name(&figure)).collect();
        let vague = match vague.as_slice() {
            [] => String::new(),
            some => format!(", {} too uncertain to compare", listed(some)),
        };
        let text = if others.is_empty() {
            format!("{first}{vague}")
        } else {
            format!("{first}: {}{vague}", others.join(", "))
        };
        let rows = alike.iter().chain(&named).map(|figure| figure.id());
        (text, rows.collect())
    }

    /// The baseline, the strongest and the slowest of those that are slower.
    fn beside<'f>(&self, slower: &[&'f Figure<'a>]) -> Vec<&'f Figure<'a>> {
        let is_baseline = |figure: &&&Figure<'_>| {
            self.ranked
                .iter()
                .any(|other| other.row.baseline == Some(figure.id()))
        };
        let wanted = [
            slower.iter().find(is_baseline),
            slower.iter().max_by_key(|figure| figure.strength()),
            slower.last(),
        ];
        let chosen = wanted.into_iter().flatten().copied();
        let chosen = chosen.unique_by(|figure| figure.id());
        chosen
            .sorted_by(|a, b| a.value.total_cmp(&b.value))
            .collect()
    }

    fn slower(&self, figure: &Figure<'_>, place: usize, alike: &[&Figure<'_>]) -> String {
        let fastest = self.fastest();
        let times = figure.times(fastest);
        let times = match (place, alike.len()) {
            (0, 1) => format!("takes {times} as long"),
            (0, _) => format!("takes {times} as long as {}", fastest.case().algorithm),
            _ => times,
        };
        let among = || alike.iter().filter_map(|other| other.strength());
        let strength = match (figure.strength(), among().min(), among().max()) {
            (Some(own), Some(least), _) if own < least => {
                format!(" and is weaker ({own} against {least} security)")
            }
            (Some(own), _, Some(most)) if own > most => {
                format!(" but is stronger ({own} security)")
            }
            _ => String::new(),
        };
        format!("{} {times}{strength}", figure.case().algorithm)
    }

    /// The shortest and the longest key of one kind.
    fn longer(&self) -> Option<(f64, Statement)> {
        let kinds = grouped(&self.ranked, |figure| figure.case().algorithm.length().0);
        let pairs = kinds.into_iter().filter_map(|(_, of)| {
            let bits = |figure: &&&Figure<'_>| figure.case().algorithm.length().1;
            let (short, long) = (of.iter().min_by_key(bits)?, of.iter().max_by_key(bits)?);
            // The sentence about the fastest has it.
            let is_new = short.id() != self.fastest().id();
            (is_new && short.is_below(long)).then_some((*short, *long))
        });
        let factor = |(short, long): &(&Figure<'_>, &Figure<'_>)| long.value / short.value;
        let (short, long) = pairs.max_by(|a, b| factor(a).total_cmp(&factor(b)))?;
        let text = format!(
            "A longer key costs: {} takes {} as long as {} {} ({} against {}).",
            long.case().algorithm,
            long.times(short),
            short.case().algorithm,
            to(short.case().operation),
            long.time(),
            short.time()
        );
        Some((
            factor(&(short, long)),
            Statement::new(Topic::Keys, text, [short.id(), long.id()]),
        ))
    }
}

/// The one of several that is stronger than the others, or else weaker.
fn apart(alike: &[&Figure<'_>]) -> Option<String> {
    let only = |bits: Option<Strength>| {
        let mut of = alike.iter().filter(|figure| figure.strength() == bits);
        of.next().filter(|_| of.next().is_none())
    };
    let strengths = || alike.iter().map(|figure| figure.strength());
    let (least, most) = (strengths().min()?, strengths().max()?);
    if least == most {
        return None;
    }
    let told = |figure: &Figure<'_>, word: &str| {
        let bits = figure.strength()?;
        Some(format!(
            "; {} is the {word} of them ({bits} security)",
            figure.case().algorithm
        ))
    };
    only(most)
        .and_then(|figure| told(figure, "strongest"))
        .or_else(|| only(least).and_then(|figure| told(figure, "weakest")))
}
