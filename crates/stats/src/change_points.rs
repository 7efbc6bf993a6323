//! When what a case takes has changed, over many runs.
//!
//! The segmentation that minimises squared deviations from segment means plus a penalty a change, over **ranks**, so that
//! outliers have no more weight than any other point (the statistic of Kruskal & Wallis 1952, as Lung-Yut-Fong,
//! Lévy-Leduc & Cappé, "Homogeneity and change-point detection tests for multivariate data using rank statistics",
//! Journal de la SFdS 156, 2015, use it). It is found exactly (Jackson et al., "An Algorithm for Optimal Partitioning of Data on an
//! Interval", IEEE Signal Processing Letters 12, 2005), which is what PELT computes with less work (Killick, Fearnhead &
//! Eckley, JASA 107, 2012); series of runs are short.
//!
//! Neighbouring runs are alike, and what merely wanders must not be called a change. How alike is told by differences,
//! which a level that shifts hardly moves: for an autoregression Var(y₂ − y₀) / Var(y₁ − y₀) is 1 + r (Chakar, Lebarbier,
//! Lévy-Leduc & Robin, "A robust approach for estimating change-points in the mean of an AR(1) process", Bernoulli 23,
//! 2017; by ranks here in place of medians), raised by its standard error. The **penalty** is the gain that the best
//! single change has in no more than 5 % of simulated series of that length and correlation without one, seeded. Each
//! level that is found is looked at again by itself, since a large change hides a small one.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::dependence::{mean_and_squares, ranks};
use crate::estimate::{Estimate, Ratio, Seconds};
use crate::resample::{Stream, rng};
use crate::runs::{LogRatio, estimate_of_runs};

/// Fewer points hold no change that could be told from chance.
pub const MIN_POINTS: usize = 8;
/// Points between two changes, at least: fewer are outliers.
pub const MIN_LENGTH: usize = 3;
/// Simulated series without a change.
const SIMULATED: usize = 1_000;
/// In how many of them a change may be seen.
const FALSE_ALARMS: f64 = 0.05;
/// More is no longer told apart from a level that wanders.
const HIGHEST: f64 = 0.9;

/// Where a series changes.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangePoints {
    /// First points of new levels, rising; none if nothing changed.
    pub starts: Vec<usize>,
    /// Lag-1 correlation of neighbouring points that was allowed for.
    pub lag1: f64,
}

/// A level, from one change to the next.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Its first point.
    pub start: usize,
    /// Behind its last.
    pub end: usize,
    /// Geometric mean of its points, with Student's t over them.
    pub level: Estimate<Seconds>,
    /// Over the level before, with Welch's t; none for the first. The place was chosen because the difference is
    /// largest there, so that the ratio is rather too far from 1.
    pub ratio: Option<Estimate<Ratio>>,
}

/// The changes of a series in time order; `None` with fewer than [`MIN_POINTS`].
pub fn change_points(points: &[Seconds], seed: u64) -> Option<ChangePoints> {
    let n = points.len();
    if n < MIN_POINTS {
        return None;
    }
    let values: Vec<f64> = points.iter().map(|point| point.0).collect();
    let (mut starts, mut settled) = (Vec::new(), Vec::new());
    let mut open = vec![(0, n)];
    while let Some((from, to)) = open.pop() {
        let level = in_level(&values[from..to], seed);
        let inner = level.starts.iter().map(|start| from + start);
        let bounds: Vec<usize> = [from].into_iter().chain(inner).chain([to]).collect();
        if level.starts.is_empty() {
            settled.push((level.lag1, (to - from) as f64));
        } else {
            open.extend(bounds.windows(2).map(|pair| (pair[0], pair[1])));
            starts.extend(&bounds[1..bounds.len() - 1]);
        }
    }
    starts.sort_unstable();
    // A change looks like correlation: the levels without one know better.
    let lengths: f64 = settled.iter().map(|(_, length)| length).sum();
    let weighted = settled.iter().map(|(lag1, length)| lag1 * length / lengths);
    let lag1 = weighted.sum();
    Some(ChangePoints { starts, lag1 })
}

/// The changes in a stretch, by its own ranks; a short one has none.
fn in_level(values: &[f64], seed: u64) -> ChangePoints {
    let ranked = standardised(&ranks(values));
    let lag1 = correlation(&ranked);
    let starts = if values.len() < MIN_POINTS {
        Vec::new()
    } else {
        beyond_chance(&ranked, lag1, rng(seed, Stream::ChangePoints))
    };
    ChangePoints { starts, lag1 }
}

impl ChangePoints {
    /// The levels between the changes of the same series.
    pub fn steps(&self, points: &[Seconds]) -> Vec<Step> {
        let ends = self.starts.iter().copied().chain([points.len()]);
        let mut steps: Vec<Step> = Vec::new();
        let mut start = 0;
        for end in ends {
            let Some(level) = points.get(start..end).and_then(estimate_of_runs) else {
                return steps;
            };
            let before = steps.last().map(|step| &points[step.start..step.end]);
            let ratio = before.and_then(|before| {
                let ratio = LogRatio::between_runs(&points[start..end], before)?;
                Some(ratio.of_correlated(self.lag1).ratio())
            });
            steps.push(Step {
                start,
                end,
                level,
                ratio,
            });
            start = end;
        }
        steps
    }
}

/// Mean 0 and variance 1; all 0 where nothing differs.
fn standardised(values: &[f64]) -> Vec<f64> {
    let (mean, squares) = mean_and_squares(values);
    let deviation = (squares / values.len() as f64).sqrt();
    let scaled = |x: &f64| {
        if deviation > 0.0 {
            (x - mean) / deviation
        } else {
            0.0
        }
    };
    values.iter().map(scaled).collect()
}

/// Lag-1 correlation by differences, raised by its standard error.
fn correlation(values: &[f64]) -> f64 {
    let apart = |lag: usize| {
        let differences = values.iter().zip(&values[lag..]);
        let squares: f64 = differences.map(|(a, b)| (b - a).powi(2)).sum();
        squares / (values.len() - lag) as f64
    };
    let (one, two) = (apart(1), apart(2));
    let r = if one > 0.0 { two / one - 1.0 } else { 0.0 };
    (r + 1.0 / (values.len() as f64).sqrt()).clamp(0.0, HIGHEST)
}

/// The segmentation whose penalty the best single change gains in no more than 5 % of series without one.
///
/// The penalty is a quantile of [`SIMULATED`] gains, which more of them only raise once as many as may be above it are
/// known: a series that has no change by then has none in the end (curtailed as Besag & Clifford, "Sequential Monte
/// Carlo p-values", Biometrika 78, 1991, do).
fn beyond_chance(ranked: &[f64], lag1: f64, mut rng: ChaCha8Rng) -> Vec<usize> {
    let above = (FALSE_ALARMS * SIMULATED as f64) as usize;
    let mut largest: Vec<f64> = Vec::new();
    let mut starts = Vec::new();
    for _ in 0..SIMULATED / above {
        let simulated = (0..above).map(|_| autoregression(ranked.len(), lag1, &mut rng));
        largest.extend(simulated.map(|series| largest_gain(&standardised(&ranks(&series)))));
        largest.sort_by(|a, b| b.total_cmp(a));
        largest.truncate(above);
        starts = segmentation(ranked, largest[above - 1]);
        if starts.is_empty() {
            break;
        }
    }
    starts
}

/// A stationary Gaussian autoregression.
fn autoregression(n: usize, lag1: f64, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let innovation = (1.0 - lag1 * lag1).sqrt();
    let noise = (0..n.div_ceil(2)).flat_map(|_| normals(rng));
    let mut values: Vec<f64> = noise.take(n).collect();
    for at in 1..n {
        values[at] = lag1 * values[at - 1] + innovation * values[at];
    }
    values
}

/// Two at a time: Box & Muller 1958.
fn normals(rng: &mut ChaCha8Rng) -> [f64; 2] {
    let (u, v): (f64, f64) = (rng.random(), rng.random());
    let (radius, angle) = ((-2.0 * (1.0 - u).ln()).sqrt(), std::f64::consts::TAU * v);
    [radius * angle.cos(), radius * angle.sin()]
}

/// By how much one change lowers the squared deviations of values whose mean is 0.
fn largest_gain(values: &[f64]) -> f64 {
    let n = values.len();
    let (mut sum, mut largest) = (0.0, 0.0_f64);
    for (before, value) in (1..n).zip(values) {
        sum += value;
        if before >= MIN_LENGTH && n - before >= MIN_LENGTH {
            largest = largest.max(sum * sum * (1.0 / before as f64 + 1.0 / (n - before) as f64));
        }
    }
    largest
}

/// First points of all segments but the first, of the cheapest segmentation.
fn segmentation(values: &[f64], penalty: f64) -> Vec<usize> {
    let n = values.len();
    let mut sums = vec![(0.0, 0.0)];
    for value in values {
        let (sum, squares) = sums[sums.len() - 1];
        sums.push((sum + value, squares + value * value));
    }
    let cost = |from: usize, to: usize| {
        let (sum, squares) = (sums[to].0 - sums[from].0, sums[to].1 - sums[from].1);
        squares - sum * sum / (to - from) as f64
    };
    // The cheapest way to each point, and where its last segment begins. The first segment is no change.
    let mut cheapest = vec![(f64::INFINITY, 0); n + 1];
    cheapest[0] = (-penalty, 0);
    for to in MIN_LENGTH..=n {
        for from in 0..=to - MIN_LENGTH {
            let whole = cheapest[from].0 + cost(from, to) + penalty;
            if whole < cheapest[to].0 {
                cheapest[to] = (whole, from);
            }
        }
    }
    let mut starts = Vec::new();
    let mut at = cheapest[n].1;
    while at > 0 {
        starts.push(at);
        at = cheapest[at].1;
    }
    starts.reverse();
    starts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::Method;

    /// `penalty;values;starts`, as tests/ruptures/segmentations.py has made it with PELT.
    const BY_RUPTURES: &str = include_str!("../tests/ruptures/segmentations.csv");

    #[test]
    fn segmentations_are_those_of_ruptures() {
        let mut changes = 0;
        for line in BY_RUPTURES.lines() {
            let fields: Vec<&str> = line.split(';').collect();
            let numbers = |text: &str| -> Vec<f64> {
                let words = text.split_whitespace();
                words.map(|word| word.parse().unwrap()).collect()
            };
            let (penalty, values, expected) =
                (numbers(fields[0])[0], numbers(fields[1]), fields[2]);
            let starts = segmentation(&standardised(&ranks(&values)), penalty);
            let written: Vec<String> = starts.iter().map(ToString::to_string).collect();
            assert_eq!(written.join(" "), expected, "penalty {penalty}, {values:?}");
            changes += starts.len();
        }
        assert!(changes > 150, "{changes} changes are too few to compare");
    }

    #[test]
    fn one_change_by_hand() {
        // Six points at −1, six at 1: a change in the middle gains all of the squares, 12.
        let values: Vec<f64> = [[-1.0; 6], [1.0; 6]].concat();
        assert!((largest_gain(&values) - 12.0).abs() < 1e-12);
        assert_eq!(segmentation(&values, 11.9), [6]);
        assert_eq!(segmentation(&values, 12.1), Vec::<usize>::new());
    }

    #[test]
    fn two_points_are_outliers_and_three_a_level() {
        let with = |high: usize| {
            let mut values = vec![0.0; 20];
            values[8..8 + high].fill(5.0);
            segmentation(&values, 30.0)
        };
        assert_eq!(with(3), [8, 11]);
        assert_eq!(with(1), Vec::<usize>::new());
    }

    #[test]
    fn correlation_is_that_of_the_differences_and_a_shift_hardly_moves_it() {
        let mut random = rng(3, Stream::ChangePoints);
        for (truth, least, most) in [(0.0, 0.0, 0.15), (0.5, 0.42, 0.62), (0.8, 0.7, 0.9)] {
            let series = autoregression(2_000, truth, &mut random);
            let found = correlation(&standardised(&ranks(&series)));
            assert!((least..=most).contains(&found), "{truth}: {found}");
        }
        let mut shifted = autoregression(200, 0.0, &mut random);
        shifted[100..].iter_mut().for_each(|value| *value += 10.0);
        let found = correlation(&standardised(&ranks(&shifted)));
        // 1/√200 of it is the standard error that is added.
        assert!(found < 0.35, "{found}");
    }

    #[test]
    fn nothing_is_said_of_few_points_or_of_equal_ones() {
        assert_eq!(change_points(&[Seconds(1.0); MIN_POINTS - 1], 1), None);
        let same = change_points(&[Seconds(1.0); 30], 1).unwrap();
        assert_eq!(same.starts, Vec::<usize>::new());
        let steps = same.steps(&[Seconds(1.0); 30]);
        assert_eq!((steps.len(), steps[0].end), (1, 30));
        assert_eq!(steps[0].ratio, None);
    }

    #[test]
    fn levels_and_their_ratio_are_those_of_the_points() {
        let points: Vec<Seconds> = (0..20)
            .map(|i| Seconds(if i < 12 { 1.0 } else { 1.5 } + 0.001 * f64::from(i * 7 % 5)))
            .collect();
        let found = change_points(&points, 1).unwrap();
        assert_eq!(found.starts, [12]);
        let steps = found.steps(&points);
        let ratio = steps[1].ratio.unwrap();
        assert_eq!(ratio.method, Method::RunsWelchT);
        assert!((ratio.value.0 - 1.5).abs() < 0.003 && ratio.low.unwrap().0 > 1.49);
        assert!((steps[0].level.value.0 - 1.002).abs() < 1e-3);
    }
}
