//! A comparison as a document.

use std::collections::BTreeSet;

use itertools::Itertools;
use keymark_bench::{Case, Provenance};
use keymark_stats::{MIN_RUNS, Ratio};

use crate::compare::{Comparison, GeometricMean, Grounds, Pair, PairVerdict, Sides};
use crate::grouped;
use crate::units;
use crate::{Block, Cell, Column, Document, Remark, RemarkKind, Section, TableOf};

/// Name of the second case if it is the same as the first.
const ITSELF: &str = "itself";

impl Comparison {
    /// The report of a comparison: what differs besides first. Each row has the device and the provenance of its first case.
    pub fn document(&self, means: &[GeometricMean]) -> Document {
        let side = match self.sides_are {
            Sides::Machines => Some(Column::name("machine")),
            Sides::Runs => (self.sides.len() > 2).then(|| Column::name("run")),
        };
        let pairs = || self.pairs.iter();
        // What says the same of every row is no column.
        let others = pairs().any(|pair| against(&pair.old, &pair.new) != Cell::text(ITSELF));
        let kinds_differ = pairs().any(|pair| pair.old.provenance != pair.new.provenance);
        let table = TableOf::cases(&self.pairs, |pair| &pair.old)
            .maybe(side, |pair| self.side(pair))
            .maybe(others.then(|| Column::name("against")), |pair| {
                against(&pair.old, &pair.new)
            })
            .optional(2, "first", |pair| pair.old_mean)
            .optional(3, "second", |pair| pair.new_mean)
            .value("ratio to the first (interval)", |pair| pair.ratio)
            .value("verdict", |pair| verdict(self, pair))
            .provenance(|pair| pair.old.provenance)
            .maybe(
                kinds_differ.then(|| Column::kind("against provenance")),
                |pair| pair.new.provenance,
            )
            .table();
        let mut blocks = vec![Block::Table(table)];
        let remarks = borrowed(self).into_iter().chain(reasons(self));
        let remarks = remarks.chain(equivalence(self));
        let remarks = remarks.chain(of_kinds(&self.pairs));
        let remarks = remarks.chain(assumptions(&self.pairs));
        let remarks = remarks.chain(missing(self));
        blocks.extend(remarks.map(Block::Remark));
        let mut sections = environment(self);
        sections.push(Section::bare(blocks));
        sections.extend(geometric(self, means));
        Document {
            verdict: crate::verdict::Verdict::of_comparison(self),
            ..Document::of(sections)
        }
    }
}

/// Verdict, with the noise if that decides.
fn verdict(comparison: &Comparison, pair: &Pair) -> Cell {
    if pair.verdict != PairVerdict::WithinNoise {
        return Cell::text(pair.verdict);
    }
    let noise = percent(comparison.criteria.noise.on(pair.grounds));
    Cell::Text(format!("{} ({noise})", pair.verdict))
}

/// Differences between the sides, a line each.
fn environment(comparison: &Comparison) -> Vec<Section> {
    let remark = |text: String| Block::remark(RemarkKind::Environment, text);
    let lines = comparison.differences.iter().map(ToString::to_string);
    let lines: Vec<Block> = lines.map(remark).collect();
    let runs: usize = comparison.sides.iter().map(|side| side.runs).sum();
    // Nothing is known of an article's machine.
    let known = comparison.pairs.iter().any(|pair| {
        [&pair.old, &pair.new].map(|case| case.provenance != Provenance::Published) == [true; 2]
    });
    if !lines.is_empty() {
        vec![Section::headed("other differences", lines)]
    } else if runs > 1 && known {
        let same = "same machine, programs and settings";
        vec![Section::bare(vec![remark(same.to_owned())])]
    } else {
        Vec::new()
    }
}

fn geometric(comparison: &Comparison, means: &[GeometricMean]) -> Option<Section> {
    if means.is_empty() {
        return None;
    }
    let table = TableOf::new(means)
        .name("run", |mean| comparison.name_of(mean.side))
        .value("cases", |mean| mean.cases)
        .value("geometric mean of ratios (95 % interval)", |mean| {
            mean.ratio
        })
        .provenance(|mean| mean.provenance[0])
        .column(Column::kind("against provenance"), |mean| {
            mean.provenance[1]
        })
        .table();
    let text = "geometric mean over these cases, each counted once (Fleming & Wallace 1986); not the time that \
                all of them take";
    let blocks = vec![Block::Table(table), Block::remark(RemarkKind::Units, text)];
    Some(Section::headed("over all cases", blocks))
}

/// Sides whose cases are compared with another side's, for want of a baseline of their own.
fn borrowed(comparison: &Comparison) -> Vec<Remark> {
    let others = comparison
        .pairs
        .iter()
        .filter_map(|pair| Some((pair.side, pair.borrowed?)));
    let others: BTreeSet<(usize, usize)> = others.collect();
    let name = |side: usize| comparison.name_of(side);
    let said = others.into_iter().map(|(side, other)| {
        let lacking = match comparison.sides_are {
            Sides::Machines => 0,
            Sides::Runs => side,
        };
        let text = format!(
            "{} lacks some cases: those of {} are compared with {} instead",
            name(lacking),
            name(side),
            name(other)
        );
        Remark::new(RemarkKind::Units, text)
    });
    said.collect()
}

/// Names the cases without a figure, a remark per side.
fn missing(comparison: &Comparison) -> Vec<Remark> {
    let sides = grouped(&comparison.missing, |missing| missing.side).into_iter();
    let named = sides.map(|(side, missing)| {
        let name = comparison.name_of(side);
        let cases = units::first_names(missing.iter().map(|missing| &missing.case), 1);
        let text = format!("not compared, because {name} has no figure: {cases}");
        Remark::new(RemarkKind::Units, text)
    });
    named.collect()
}

/// Grounds of the verdicts, once for all rows of a side.
fn reasons(comparison: &Comparison) -> Vec<Remark> {
    let grounds: BTreeSet<_> = comparison
        .pairs
        .iter()
        .map(|pair| (pair.grounds, pair.side))
        .collect();
    let said = grounds.into_iter().filter_map(|(grounds, side)| {
        let kind = if grounds == Grounds::FewRuns {
            RemarkKind::SingleRuns
        } else {
            RemarkKind::Units
        };
        let text = reason(comparison, grounds, side)?;
        let named = match comparison.sides.get(side) {
            Some(line) if comparison.sides.len() > 2 => format!("{}: {text}", line.name),
            _ => text,
        };
        Some(Remark::new(kind, named))
    });
    said.collect()
}

fn reason(comparison: &Comparison, grounds: Grounds, side: usize) -> Option<String> {
    let cases = comparison.pairs.len();
    let noise = percent(comparison.criteria.noise.on(grounds));
    let mut pairs = comparison.pairs.iter();
    let of_side = pairs.find(|pair| pair.grounds == grounds && pair.side == side)?;
    let [old, new] = of_side.runs;
    let corrected = match cases {
        1 => format!("the interval and its verdict allow for noise of up to {noise}"),
        _ => format!(
            "intervals and their verdicts allow for {cases} cases (Holm 1979) and for noise of up to {noise}"
        ),
    };
    match grounds {
        Grounds::Copies => (cases > 1).then(|| format!("two copies in one run: {corrected}")),
        Grounds::SameRun => Some(format!("measured in turn in one run: {corrected}")),
        Grounds::SameRuns => Some(format!(
            "measured in turn in each of {new} runs; each run counts once: {corrected}"
        )),
        Grounds::Alternating => Some(format!(
            "{new} pairs of runs in turn; each pair counts once: {corrected}"
        )),
        Grounds::Series => Some(format!(
            "{old} runs against {new}; each run counts once: {corrected}, since the machine changes between \
             series ('bench --against PROGRAM' lets two programs take turns)"
        )),
        Grounds::FewRuns => Some(few(comparison, side, [old, new])),
        Grounds::Exact | Grounds::Nothing => None,
    }
}

/// Meaning of "same", if anything has an interval.
fn equivalence(comparison: &Comparison) -> Option<Remark> {
    let is_judged = |pair: &&Pair| pair.evidence.is_some() && pair.grounds != Grounds::FewRuns;
    let judged = || comparison.pairs.iter().filter(is_judged);
    judged().next()?;
    let within = percent(comparison.criteria.equivalence);
    let apart = percent(comparison.criteria.noise.apart);
    let possible = judged().any(|pair| comparison.criteria.margin(pair.grounds).is_some());
    let text = if possible {
        format!(
            "'same': the whole interval lies within ±{within} (two one-sided tests: Schuirmann 1987)"
        )
    } else {
        format!(
            "'same' within ±{within} (--equivalence) cannot be shown: series at different times drift by up to \
             {apart}. Let them take turns: 'keymark bench --against'"
        )
    };
    Some(Remark::new(RemarkKind::Units, text))
}

/// Remark on figures of different kinds.
fn of_kinds(pairs: &[Pair]) -> Option<Remark> {
    let cases = pairs.iter().flat_map(|pair| [&pair.old, &pair.new]);
    let kinds = crate::document::mixed(cases.map(|case| case.provenance))?;
    let text = format!("this comparison mixes figures of different kinds: {kinds}");
    Some(Remark::new(RemarkKind::MixedProvenance, text))
}

/// Why single runs tell little, and what tells more.
fn few(comparison: &Comparison, side: usize, [old, new]: [usize; 2]) -> String {
    let machine = comparison.machine;
    let deviation = percent(machine.deviation);
    let known = match machine.runs {
        0 => format!(
            "there are no earlier runs; runs of the same case are assumed to differ by {deviation} (standard \
             deviation)"
        ),
        runs => format!(
            "runs of the same case differ by {deviation} here (standard deviation of {runs} earlier runs)"
        ),
    };
    let few = comparison
        .pairs
        .iter()
        .filter(|pair| pair.grounds == Grounds::FewRuns && pair.side == side);
    // The least that any of them can tell apart.
    let least = few.filter_map(|pair| Some(pair.ratio.high?.0 / pair.ratio.value.0));
    let least = least.fold(f64::INFINITY, f64::min);
    let sides = match (old, new) {
        (1, 1) => "between single runs".to_owned(),
        _ => format!("with {old} against {new} runs, where a series has at least {MIN_RUNS}"),
    };
    let known_least = least.is_finite().then(|| units::ratio(Ratio(least)));
    let factor = known_least.map(|least| format!("by a factor below {least} "));
    let factor = factor.unwrap_or_default();
    format!(
        "{sides}, figures that differ {factor}are not distinguishable: {known}; 'bench --repeat 5' makes a \
         series, 'bench --against PROGRAM' compares two programs"
    )
}

fn percent(share: f64) -> String {
    format!("{} %", (share * 1e3).round() / 10.0)
}

/// Figures whose device time nobody measured, each once.
fn assumptions<'p>(pairs: &'p [Pair]) -> BTreeSet<Remark> {
    let both = |pair: &'p Pair| [&pair.old, &pair.new].into_iter().zip(pair.assumed);
    let cases = pairs.iter().flat_map(both);
    let said = cases.filter_map(|(case, assumed)| {
        let text = format!(
            "{}: the device's time of {} {} is assumed ({}); nobody measured it",
            case.device, case.algorithm, case.operation, assumed?
        );
        Some(Remark::new(RemarkKind::Basis, text))
    });
    said.collect()
}

/// Second case, without what it has in common with the first.
fn against(old: &Case, new: &Case) -> Cell {
    let besides = [
        (old.algorithm != new.algorithm).then(|| new.algorithm.to_string()),
        (old.operation != new.operation).then(|| new.operation.to_string()),
        (old.way() != new.way()).then(|| new.way()),
        (old.device != new.device).then(|| new.device.to_string()),
    ];
    let words = besides.into_iter().flatten().join(" ");
    Cell::text(if words.is_empty() { ITSELF } else { &words })
}
