//! Everything said about one case, and the warnings that follow from it.

use crate::blocks::Blocks;
use crate::control::{AtMeanSpeed, Controlled};
use crate::dependence::{Dependence, RunDependence};
use crate::drift::{Drift, drift};
use crate::estimate::{Estimate, Ratio, Seconds};
use crate::groups::{Groups, groups};
use crate::mean::mean;
use crate::quantile::{MEDIAN, Sorted, quantile};
use crate::resample::dependence_of;
use crate::spread::{Outliers, extremes, outliers, standard_deviation};

/// Drift is warned of beyond this share of the median ...
const DRIFT: f64 = 0.05;
/// ... if it is this improbable by chance.
const DRIFT_P: f64 = 0.01;
/// Severe outliers are warned of beyond this share of samples ...
const SEVERE: f64 = 0.05;
/// ... or this share of the time.
const SEVERE_TIME: f64 = 0.2;

/// Neighboring blocks are called alike beyond this correlation ...
const ALIKE: f64 = 0.3;
/// ... if that widens intervals by this factor.
const WIDENED: f64 = 1.5;

/// Statistics of one case's durations.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Number of samples.
    pub n: usize,
    /// Shortest duration.
    pub min: Seconds,
    /// Longest duration.
    pub max: Seconds,
    /// Mean duration.
    pub mean: Estimate<Seconds>,
    /// Median duration.
    pub median: Estimate<Seconds>,
    /// Duration that 90 % of operations do not exceed.
    pub p90: Estimate<Seconds>,
    /// Duration that 99 % of operations do not exceed; `None` where nothing bounds it from above, as with fewer than
    /// 368 samples: what bounds it from below may be less than the mean.
    pub p99: Option<Estimate<Seconds>>,
    /// Standard deviation; `None` for a single sample.
    pub stddev: Option<Seconds>,
    /// Samples beyond Tukey's outer fences.
    pub outliers: Outliers,
    /// Trend over the case; `None` with too few blocks.
    pub drift: Option<Drift>,
    /// A valley that parts the durations; `None` where they are one group.
    pub groups: Option<Groups>,
    /// Correlation of neighboring blocks; 0 where there are too few to tell.
    pub dependence: Dependence,
    /// The mean before its correction for the machine's speed, where that helps.
    pub controlled: Option<Controlled>,
}

impl Summary {
    /// Replaces the mean by that at the mean speed of the machine.
    pub fn at_mean_speed(self, found: &AtMeanSpeed, run: &RunDependence) -> Self {
        Self {
            mean: found.mean,
            // What is left of these is the case's own.
            drift: drift(&found.blocks),
            groups: groups(&found.blocks),
            dependence: dependence_in(&found.blocks, run),
            controlled: Some(found.before),
            ..self
        }
    }

    /// Summarizes a case, with what its run's other cases tell; `None` without samples.
    pub fn of(blocks: &Blocks, run: &RunDependence, seed: u64) -> Option<Self> {
        let sorted = Sorted::of(blocks);
        let (min, max) = extremes(&sorted)?;
        Some(Self {
            n: blocks.len(),
            min,
            max,
            mean: mean(blocks, run, seed)?,
            median: quantile(blocks, &sorted, MEDIAN, run)?,
            p90: quantile(blocks, &sorted, 0.9, run)?,
            p99: quantile(blocks, &sorted, 0.99, run).filter(|p99| p99.high.is_some()),
            stddev: standard_deviation(blocks),
            outliers: outliers(&sorted)?,
            drift: drift(blocks),
            groups: groups(blocks),
            dependence: dependence_in(blocks, run),
            controlled: None,
        })
    }

    /// Returns limits of the figures.
    pub fn warnings(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        match self.drift {
            None => warnings.push(Warning::TooFewForDrift),
            Some(drift) if drift.relative_change.0.abs() > DRIFT && drift.p_value < DRIFT_P => {
                warnings.push(Warning::Drift(drift));
            }
            Some(_) => {}
        }
        let samples = Ratio(self.outliers.severe as f64 / self.n as f64);
        let time = self.outliers.high_severe_time;
        if samples.0 > SEVERE || time.0 > SEVERE_TIME {
            warnings.push(Warning::SevereOutliers { samples, time });
        }
        // Of fewer blocks than show a drift, only other cases tell.
        let shown = self.drift.is_some() && self.dependence.lag1 > ALIKE;
        if shown && self.dependence.widening > WIDENED {
            warnings.push(Warning::Dependent(self.dependence));
        }
        warnings.extend(self.groups.map(Warning::Groups));
        warnings
    }
}

fn dependence_in(blocks: &Blocks, run: &RunDependence) -> Dependence {
    let units = blocks.clusters(blocks.offset_ns());
    dependence_of(&units, &run.at(blocks.distance()))
}

/// Something that limits what the figures mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Warning {
    /// The durations changed over the run.
    Drift(Drift),
    /// Far outliers are many, or take much of the time.
    SevereOutliers {
        /// Share of samples that are severe outliers.
        samples: Ratio,
        /// Share of the time spent in the slow ones.
        time: Ratio,
    },
    /// Nothing can be said of drift.
    TooFewForDrift,
    /// Neighboring blocks are alike.
    Dependent(Dependence),
    /// Durations come in several groups.
    Groups(Groups),
}
