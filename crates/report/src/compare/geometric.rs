//! One figure over many cases: the geometric mean of their ratios, the only mean of which it does not matter what they
//! are ratios to (Fleming & Wallace, "How Not to Lie with Statistics: The Correct Way to Summarize Benchmark Results",
//! CACM 29, 1986). It is about these cases, each counted once, and not about the time that all of them take.

use keymark_bench::case::Provenance;
use keymark_stats::{Estimate, LogRatio, Ratio, Seconds, mean_of_runs};

use super::{Comparison, Grounds, Pair};

/// Of the cases of one side whose figures are of one kind.
#[derive(Debug, Clone, PartialEq)]
pub struct GeometricMean {
    /// Which side.
    pub side: usize,
    /// The kind of the baseline's figures, and of the side's.
    pub provenance: [Provenance; 2],
    /// Over how many cases.
    pub cases: usize,
    /// Their geometric mean; without interval where the ratios have none.
    pub ratio: Estimate<Ratio>,
}

impl Comparison {
    /// One a side and kind of figures: kinds are never mixed in one mean.
    pub fn geometric_means(&self) -> Vec<GeometricMean> {
        let mut groups: Vec<Vec<&Pair>> = Vec::new();
        for pair in &self.pairs {
            let group = groups.iter_mut().find(|group| key(group[0]) == key(pair));
            match group {
                Some(group) => group.push(pair),
                None => groups.push(vec![pair]),
            }
        }
        let mean = |group: Vec<&Pair>| {
            let (side, provenance) = key(group[0]);
            Some(GeometricMean {
                side,
                provenance,
                cases: group.len(),
                ratio: ratio(&group)?,
            })
        };
        groups.into_iter().filter_map(mean).collect()
    }
}

fn key(pair: &Pair) -> (usize, [Provenance; 2]) {
    (pair.side, [pair.old.provenance, pair.new.provenance])
}

/// Where runs are the units, each run's geometric mean over the cases is one figure, so that what a run does to all of
/// its cases is in the interval. Else the errors of the ratios are added up.
fn ratio(group: &[&Pair]) -> Option<Estimate<Ratio>> {
    let first = group.first()?;
    let grounds = first.grounds;
    let alike = group.iter().all(|pair| {
        pair.grounds == grounds
            && pair.means.each_ref().map(Vec::len) == first.means.each_ref().map(Vec::len)
    });
    let over_cases = |side: usize| -> Option<Vec<Seconds>> {
        let runs = 0..first.means[side].len();
        let of_run = |run: usize| {
            let means: Vec<Seconds> = group.iter().map(|pair| pair.means[side][run]).collect();
            mean_of_runs(&means)
        };
        runs.map(of_run).collect()
    };
    let evidence = match grounds {
        Grounds::Series if alike => LogRatio::between_runs(&over_cases(1)?, &over_cases(0)?),
        Grounds::Alternating | Grounds::SameRuns if alike => {
            let pairs: Vec<_> = over_cases(1)?.into_iter().zip(over_cases(0)?).collect();
            LogRatio::of_pairs(&pairs)
        }
        Grounds::Series
        | Grounds::Alternating
        | Grounds::SameRuns
        | Grounds::SameRun
        | Grounds::Copies
        | Grounds::FewRuns
        | Grounds::Exact
        | Grounds::Nothing => {
            let known: Vec<LogRatio> = group.iter().filter_map(|pair| pair.evidence).collect();
            LogRatio::together(&known).filter(|_| known.len() == group.len())
        }
    };
    match evidence {
        Some(evidence) => Some(evidence.ratio()),
        None => {
            let ratios: Vec<Seconds> = group
                .iter()
                .map(|pair| Seconds(pair.ratio.value.0))
                .collect();
            Some(Estimate::bare(Ratio(mean_of_runs(&ratios)?.0)))
        }
    }
}
