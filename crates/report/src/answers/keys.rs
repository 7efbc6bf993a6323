//! Keys through one program: the fastest, the cost of others, and their strength.

use std::cmp::Ordering;

use itertools::Itertools;
use keymark_bench::{CaseId, Provenance, StackName};

use super::figure::{RowFigure, alone, between, listed, on, place, to, way};
use super::{Statement, Topic};
use crate::analysis::Analysis;
use crate::grouped;
use crate::visible::sentence;

/// Says for each way which key is the fastest for each operation.
pub(super) fn keys(analysis: &Analysis) -> Vec<Statement> {
    let best = best(analysis);
    let devices = analysis.rows.iter().map(|row| &row.case.device);
    let several = !devices.clone().all_equal();
    let ways = grouped(&best, |keys| place(keys.fastest().case())).into_iter();
    let said = ways.map(|(_, operations)| {
        let (mut clauses, mut rows) = (Vec::new(), Vec::new());
        for keys in operations {
            let case = keys.fastest().case();
            let mut begin = to(case.operation);
            if clauses.is_empty() {
                let on = if several { on(case) } else { String::new() };
                begin = format!("{begin} {}{on}", way(case));
            }
            let (clause, of) = keys.clause();
            clauses.push(format!("{begin}, {clause}"));
            rows.extend(of);
        }
        Statement::new(Topic::Keys, sentence(&clauses.join("; ")), rows)
    });
    said.collect()
}

/// Returns the keys to compare for each operation: through a whole program rather than a part or a library, on this CPU
/// rather than elsewhere.
fn best(analysis: &Analysis) -> Vec<Keys<'_>> {
    // Servers have sentences of their own.
    let figures = alone(&analysis.rows)
        .filter(|figure| figure.case().provenance.is_of_a_run() && figure.row.under_load.is_none());
    let groups = grouped(figures, |figure| {
        (figure.case().operation, place(figure.case()))
    });
    let preference = |keys: &Keys<'_>| {
        let case = keys.fastest().case();
        let depth = match (analysis.is_whole(case), case.stack == StackName::RAW) {
            (true, _) => 0,
            (false, false) => 1,
            (false, true) => 2,
        };
        let elsewhere = case.provenance != Provenance::Measured;
        (elsewhere, depth, usize::MAX - keys.ranked.len())
    };
    groups
        .into_iter()
        .map(|(_, group)| Keys::of(group))
        .filter(|keys| keys.ranked.len() > 1)
        .sorted_by_key(preference)
        .unique_by(|keys| keys.fastest().case().operation)
        .collect()
}

/// Keys for one operation through one program, from the fastest to the slowest.
struct Keys<'a> {
    ranked: Vec<RowFigure<'a>>,
    /// Too uncertain to be ranked.
    vague: Vec<RowFigure<'a>>,
}

impl<'a> Keys<'a> {
    fn of(mut all: Vec<RowFigure<'a>>) -> Self {
        all.sort_by(|a, b| a.value.0.total_cmp(&b.value.0));
        let first = all.iter().find(|figure| figure.is_known()).copied();
        let is_told = |figure: &RowFigure<'_>| {
            figure.is_known() || first.is_some_and(|first| first.is_below(figure))
        };
        let (ranked, vague) = all.into_iter().partition(is_told);
        Self { ranked, vague }
    }

    fn fastest(&self) -> &RowFigure<'a> {
        &self.ranked[0]
    }

    /// A clause about them, and its rows.
    fn clause(&self) -> (String, Vec<CaseId>) {
        let fastest = self.fastest();
        let (alike, slower): (Vec<&RowFigure<'_>>, Vec<&RowFigure<'_>>) = self
            .ranked
            .iter()
            .partition(|figure| !fastest.is_below(figure));
        let name = |figure: &RowFigure<'_>| figure.case().algorithm.to_string();
        let first = match alike.as_slice() {
            [only] if self.vague.is_empty() => {
                format!("{} is fastest ({})", name(only), only.time())
            }
            // A vague one may be faster.
            [only] => format!("{} takes {}", name(only), only.time()),
            several => {
                let differ = !several.iter().map(|figure| figure.strength()).all_equal();
                let named = several.iter().map(|figure| match figure.strength() {
                    Some(bits) if differ => format!("{} ({bits} security)", name(figure)),
                    _ => name(figure),
                });
                let times = several.iter().map(|figure| figure.time());
                let times: Vec<String> = times.collect();
                let time = between(&times[0], &times[times.len() - 1]);
                format!(
                    "there is no clear difference between {} ({time})",
                    listed(named)
                )
            }
        };
        let named = self.beside(&slower);
        let others = named.iter().enumerate();
        let others = others
            .map(|(place, figure)| self.slower(figure, place, alike.len()))
            .join(", ");
        let colon = if others.is_empty() { "" } else { ": " };
        let vague = match self.vague.as_slice() {
            [] => String::new(),
            some => format!(
                ", {} too uncertain to compare",
                listed(some.iter().map(name))
            ),
        };
        let rows = alike.iter().chain(&named).map(|figure| figure.id());
        (format!("{first}{colon}{others}{vague}"), rows.collect())
    }

    /// Returns the baseline, the strongest and the slowest of the slower keys.
    fn beside<'f>(&self, slower: &[&'f RowFigure<'a>]) -> Vec<&'f RowFigure<'a>> {
        let mut baselines = self.ranked.iter().filter_map(|other| other.row.baseline);
        let baseline = baselines.next();
        let wanted = [
            slower.iter().find(|figure| Some(figure.id()) == baseline),
            slower.iter().max_by_key(|figure| figure.strength()),
            slower.last(),
        ];
        let chosen = wanted.into_iter().flatten().copied();
        chosen
            .unique_by(|figure| figure.id())
            .sorted_by(|a, b| a.value.0.total_cmp(&b.value.0))
            .collect()
    }

    /// Returns `rsa2048 takes 1.40 times as long and is weaker (112-bit security)`, from the second on without the verb.
    fn slower(&self, figure: &RowFigure<'_>, place: usize, alike: usize) -> String {
        let fastest = self.fastest();
        let bits = figure.strength();
        let bits = bits.map(|bits| format!(" ({bits} security)"));
        let bits = bits.unwrap_or_default();
        let strengths = figure.strength().zip(fastest.strength());
        let strength = match strengths.map(|(own, other)| own.cmp(&other)) {
            Some(Ordering::Less) => format!(" and is weaker{bits}"),
            Some(Ordering::Greater) => format!(" but is stronger{bits}"),
            Some(Ordering::Equal) | None => String::new(),
        };
        let (key, times) = (figure.case().algorithm, figure.times(fastest));
        let takes = match (place, alike) {
            (0, 1) => format!("takes {times} as long"),
            (0, _) => format!("takes {times} as long as {}", fastest.case().algorithm),
            _ => times,
        };
        format!("{key} {takes}{strength}")
    }
}
