#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod blocks;
mod control;
mod dependence;
mod drift;
mod estimate;
mod groups;
mod holm;
mod mean;
mod pairing;
mod quantile;
mod queue;
mod ratio;
mod resample;
mod runs;
mod special;
mod spread;
mod summary;
mod throughput;
mod usl;

pub use blocks::{Blocks, MIN_BLOCKS};
pub use control::{AtMeanSpeed, Controlled, MachineSpeed, controlled};
pub use dependence::{Dependence, RunDependence};
pub use drift::{Drift, drift};
pub use estimate::{Band, Estimate, Method, PerSecond, Quantity, Ratio, Seconds};
pub use groups::Groups;
pub use holm::{holm, holm_levels};
pub use mean::{RunningMean, mean};
pub use pairing::{difference, paired_difference};
pub use quantile::{Sorted, median, quantile};
pub use queue::{Demand, Distribution, QUEUE_PRECISION, Queue, Response, ServiceTimes};
pub use ratio::{independent, paired};
pub use runs::{
    BetweenRuns, LogRatio, MIN_RUNS, deviation_of_runs, estimate_of_runs, mean_of_runs,
};
pub use special::poisson_cdf;
pub use spread::Outliers;
pub use summary::{Summary, Warning};
pub use throughput::{Window, gain, independent_gain, throughput};
pub use usl::{Level, Usl, UslError, fit as fit_usl};
