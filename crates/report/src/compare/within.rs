//! Cases against a case of their own run: what the machine does to both cancels.

use keymark_bench::baseline::Baseline;
use keymark_bench::case::Case;
use keymark_bench::record::{CaseRecord, Record};
use keymark_stats::{BetweenRuns, LogRatio, MIN_RUNS, Seconds, paired};

use super::{Comparison, Criteria, Grounds, Pair, Side, TwoSides, cases, pair, with};

impl Comparison {
    /// Every case against the one that the pattern makes of it: of the same side, where that has one, measured in turn in
    /// the same runs; else of the first side that has one.
    pub fn against(
        pattern: &Baseline,
        sides: &[Side],
        machine: BetweenRuns,
        criteria: Criteria,
    ) -> Self {
        let mut comparison = Self::empty(sides, machine, criteria);
        let all: Vec<Vec<Case>> = sides.iter().map(|side| cases(&side.runs)).collect();
        for (number, side) in sides.iter().enumerate() {
            for case in &all[number] {
                let own = pattern.of(case, &all[number]).map(|at| (number, at));
                let elsewhere = || {
                    let mut others = all.iter().enumerate();
                    others.find_map(|(other, cases)| Some((other, pattern.of(case, cases)?)))
                };
                let Some((other, at)) = own.or_else(elsewhere) else {
                    continue;
                };
                let baseline = &all[other][at];
                let pair = if other != number {
                    TwoSides::new(&sides[other].runs, &side.runs, machine).pair(baseline, case)
                } else if baseline != case {
                    in_turn(&side.runs, baseline, case)
                } else {
                    None
                };
                let borrowed = Some(other).filter(|other| *other != number);
                comparison.pairs.extend(pair.map(|pair| Pair {
                    side: number,
                    borrowed,
                    ..pair
                }));
            }
        }
        comparison.decide();
        comparison
    }
}

/// Two cases of the same runs: runs are the units if there are enough, else what was measured side by side in each.
fn in_turn(runs: &[Record], old: &Case, new: &Case) -> Option<Pair> {
    let found: Vec<(&Record, &CaseRecord, &CaseRecord)> = with(runs, new)
        .into_iter()
        .filter_map(|(run, new, _)| {
            let mut cases = run.cases.iter();
            let old = cases.find(|found| found.case == *old)?;
            pair::mean(old)?;
            Some((run, old, new))
        })
        .collect();
    let (first, a, b) = *found.first()?;
    if pair::is_prediction(old) && pair::is_prediction(new) {
        return exactly(first, a, b, Grounds::Exact);
    }
    if a.published.is_some() || b.published.is_some() {
        return exactly(first, a, b, Grounds::Nothing);
    }
    let pairs: Vec<(Seconds, Seconds)> = found
        .iter()
        .filter_map(|(_, old, new)| Some((pair::mean(new)?, pair::mean(old)?)))
        .collect();
    let (new_means, old_means): (Vec<_>, Vec<_>) = pairs.iter().copied().unzip();
    if pairs.len() >= MIN_RUNS {
        let pair = Pair::new((old, &old_means), (new, &new_means), Grounds::SameRuns)?;
        return Some(pair.with(LogRatio::of_pairs(&pairs), None).on(first, first));
    }
    if found.len() == 1 {
        return in_one_run(first, a, b, Grounds::SameRun);
    }
    let ratios: Vec<LogRatio> = found
        .iter()
        .filter_map(|(run, a, b)| in_one_run(run, a, b, Grounds::SameRun)?.evidence)
        .collect();
    let evidence = LogRatio::together(&ratios).filter(|_| ratios.len() == found.len());
    let pair = Pair::new((old, &old_means), (new, &new_means), Grounds::SameRun)?;
    Some(pair.with(evidence, None).on(first, first))
}

/// Without an interval.
fn exactly(run: &Record, old: &CaseRecord, new: &CaseRecord, grounds: Grounds) -> Option<Pair> {
    let means = ([pair::mean(old)?], [pair::mean(new)?]);
    let pair = Pair::new((&old.case, &means.0), (&new.case, &means.1), grounds)?;
    Some(pair.on(run, run))
}

/// Two cases of one run, over the stretches in which both were measured.
pub(super) fn in_one_run(
    run: &Record,
    old: &CaseRecord,
    new: &CaseRecord,
    grounds: Grounds,
) -> Option<Pair> {
    let means = ([pair::mean(old)?], [pair::mean(new)?]);
    let (a, b) = (old.latencies(), new.latencies());
    let ratio = paired(&b, &a, run.plan.settings.seed)?;
    let units = a.block_count().min(b.block_count());
    let evidence = LogRatio::of_interval(&ratio, units.saturating_sub(1) as f64);
    let pair = Pair::new((&old.case, &means.0), (&new.case, &means.1), grounds)?;
    Some(pair.with(evidence, Some(ratio)).on(run, run))
}
