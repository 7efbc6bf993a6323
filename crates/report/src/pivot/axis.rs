//! What cases differ in, one axis each.

use std::fmt;
use std::str::FromStr;

use keymark_bench::case::{Case, Load, Pacing, USUAL, Worker};

/// One thing in which cases differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Axis {
    /// Algorithm of the key.
    Algorithm,
    /// What is asked of it.
    Operation,
    /// Where the key is.
    Device,
    /// Through which program.
    Stack,
    /// What the stack's family distinguishes besides: the dimension of this name.
    Parameter(String),
    /// How many at once, or how often.
    Load,
}

impl Axis {
    /// Those in which some of these cases differ, in the order in which a reader compares along them. Algorithm and
    /// operation are of every case, and not among them.
    pub fn varying(cases: &[&Case]) -> Vec<Self> {
        let mut axes = Self::of_cases(cases);
        axes.retain(|axis| axis.values(cases).len() > 1);
        axes
    }

    /// Those that these cases have a place on.
    pub(super) fn of_cases(cases: &[&Case]) -> Vec<Self> {
        let mut axes = vec![Self::Device, Self::Stack];
        for (name, _) in cases.iter().flat_map(|case| case.parameters.pairs()) {
            let parameter = Self::Parameter(name.to_owned());
            if !axes.contains(&parameter) {
                axes.push(parameter);
            }
        }
        axes.push(Self::Load);
        axes
    }

    /// The same where a reader does not take it for granted.
    pub(super) fn remarkable(&self, case: &Case) -> Option<String> {
        let word = self.of(case);
        let usual = match self {
            Self::Device => word == "software",
            Self::Parameter(_) => word == USUAL,
            Self::Load => case.load == Load::single(),
            Self::Algorithm | Self::Operation | Self::Stack => false,
        };
        let workers = *self == Self::Load && case.load.is_closed();
        (!usual).then(|| if workers { format!("×{word}") } else { word })
    }

    /// What a case has on this axis, in words.
    pub fn of(&self, case: &Case) -> String {
        match self {
            Self::Algorithm => case.algorithm.to_string(),
            Self::Operation => case.operation.to_string(),
            Self::Device => case.device.to_string(),
            Self::Stack => case.stack.to_string(),
            Self::Parameter(name) => case.parameters.get(name).unwrap_or(USUAL).to_owned(),
            Self::Load => load(case.load),
        }
    }

    /// The different ones of these cases: loads from the lowest, usual parameters first, others in the order in which
    /// they come.
    pub fn values(&self, cases: &[&Case]) -> Vec<String> {
        let mut cases = cases.to_vec();
        match self {
            Self::Load => cases.sort_by_key(|case| case.load),
            Self::Parameter(name) => cases.sort_by_key(|case| case.parameters.get(name).is_some()),
            Self::Algorithm | Self::Operation | Self::Device | Self::Stack => {}
        }
        let mut values = Vec::new();
        for value in cases.into_iter().map(|case| self.of(case)) {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        values
    }
}

/// `1`, `10`, `4 processes`, `50/s`, `think≤1s`
fn load(load: Load) -> String {
    let workers = match load.worker {
        Worker::Thread => load.concurrency.to_string(),
        Worker::Process if load.concurrency.get() == 1 => "1 process".to_owned(),
        Worker::Process => format!("{} processes", load.concurrency),
    };
    match load.pacing {
        Pacing::Closed => workers,
        Pacing::Open(_) | Pacing::Thinking(_) => load.to_string().trim_start().to_owned(),
    }
}

impl fmt::Display for Axis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Algorithm => "algorithm",
            Self::Operation => "operation",
            Self::Device => "device",
            Self::Stack => "stack",
            Self::Parameter(name) => name,
            Self::Load => "concurrency",
        })
    }
}

/// As it stands behind `--by`. Which parameters there are only a run tells.
impl FromStr for Axis {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        Ok(match word {
            "algorithm" => Self::Algorithm,
            "operation" => Self::Operation,
            "device" => Self::Device,
            "stack" => Self::Stack,
            "concurrency" | "load" | "users" => Self::Load,
            "" => return Err("name what the columns are: device, stack, concurrency, …".to_owned()),
            other => Self::Parameter(other.to_owned()),
        })
    }
}
