//! Axes along which cases differ, and the choice of those that become columns:
//!
//! 1. Only axes that vary count. If only keys do, there is one column.
//! 2. Where cases form a grid, the columns are the axis with the fewest values; of equals the one along which a reader
//!    compares first: device, program, its parameters, load. The other axes label rows.
//! 3. Cases that form none (a key through gpg, another through ssh) have a column for each place where some were
//!    measured, if there are at most eight; else the axis is taken that leaves the fewest cells empty.

use std::collections::HashSet;
use std::str::FromStr;

use itertools::Itertools;
use keymark_bench::{Case, Load, Pacing, StackName, StoreKind, USUAL, Worker};

use crate::verdict::{is_commit, program};

/// Dimension in which cases differ.
#[derive(Debug, Clone, PartialEq, Eq, strum::Display)]
#[strum(serialize_all = "lowercase")]
pub enum Axis {
    /// Algorithm of the key.
    Algorithm,
    /// Operation.
    Operation,
    /// Device with the key.
    Device,
    /// Program, with its library or agent.
    Stack,
    /// Another dimension of the stack's family, by its name.
    #[strum(to_string = "{0}")]
    Parameter(String),
    /// Workers at once, or arrivals.
    #[strum(to_string = "workers")]
    Load,
}

impl Axis {
    /// Returns the axes in which some of these cases differ, in the order in which a reader compares along them,
    /// without algorithm and operation.
    pub fn varying(cases: &[&Case]) -> Vec<Self> {
        let mut axes = Self::of_cases(cases);
        axes.retain(|axis| axis.values(cases).len() > 1);
        axes
    }

    /// Axes on which these cases have a place.
    pub(super) fn of_cases(cases: &[&Case]) -> Vec<Self> {
        let pairs = cases.iter().flat_map(|case| case.parameters.pairs());
        let names = pairs.map(|(name, _)| name).unique();
        let names = names.filter(|name| !OF_PROGRAMS.contains(name));
        let parameters = names.map(|name| Self::Parameter(name.to_owned()));
        let axes = [Self::Device, Self::Stack].into_iter();
        axes.chain(parameters).chain([Self::Load]).collect()
    }

    /// Value of a case, if it is not usual.
    pub(super) fn remarkable(&self, case: &Case) -> Option<String> {
        let word = self.shown(case);
        let usual = match self {
            Self::Device => word == "software",
            Self::Parameter(_) => word == USUAL,
            Self::Load => case.load == Load::single(),
            Self::Algorithm | Self::Operation | Self::Stack => false,
        };
        let workers = *self == Self::Load && case.load.is_closed();
        (!usual).then(|| if workers { format!("×{word}") } else { word })
    }

    /// Returns the value of a case as people call it: a program's name in place of the stack.
    pub(super) fn shown(&self, case: &Case) -> String {
        match self {
            Self::Stack if case.stack == StackName::RAW && case.store != StoreKind::SOFTWARE => {
                DIRECT.to_owned()
            }
            // Who signs is another axis.
            Self::Stack if is_commit(case) => self.of(case),
            Self::Stack => program(case),
            Self::Algorithm | Self::Operation | Self::Device | Self::Parameter(_) | Self::Load => {
                self.of(case)
            }
        }
    }

    /// Returns the value of a case on this axis.
    pub fn of(&self, case: &Case) -> String {
        match self {
            Self::Algorithm => case.algorithm.to_string(),
            Self::Operation => case.operation.to_string(),
            Self::Device => case.device.to_string(),
            Self::Stack => {
                let own = case.parameters.pairs();
                let own = own.filter(|(name, _)| OF_PROGRAMS.contains(name));
                let mut words = [case.stack.word()]
                    .into_iter()
                    .chain(own.map(|(_, word)| word));
                words.join(" ")
            }
            Self::Parameter(name) => case.parameters.get(name).unwrap_or(USUAL).to_owned(),
            Self::Load => load(case.load),
        }
    }

    /// The different ones of these cases: this CPU and usual parameters first, loads from the lowest, others in the order in which
    /// they come.
    pub fn values(&self, cases: &[&Case]) -> Vec<String> {
        let mut cases = cases.to_vec();
        match self {
            Self::Load => cases.sort_by_key(|case| case.load),
            Self::Parameter(name) => cases.sort_by_key(|case| case.parameters.get(name).is_some()),
            Self::Device => cases.sort_by_key(|case| case.store != StoreKind::SOFTWARE),
            Self::Algorithm | Self::Operation | Self::Stack => {}
        }
        let values = cases.into_iter().map(|case| self.of(case));
        values.unique().collect()
    }
}

/// `1`, `10`, `4 processes`, `50/s`, `think≤1s`
fn load(load: Load) -> String {
    let workers = match load.worker {
        Worker::Thread => load.workers.to_string(),
        Worker::Process if load.workers.get() == 1 => "1 process".to_owned(),
        Worker::Process => format!("{} processes", load.workers),
    };
    match load.pacing {
        Pacing::Closed => workers,
        Pacing::Open(_) | Pacing::Thinking(_) => load.to_string().trim_start().to_owned(),
    }
}

/// Parses an axis behind `--by`. Only a run tells which parameters there are.
impl FromStr for Axis {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        Ok(match word {
            "algorithm" => Self::Algorithm,
            "operation" => Self::Operation,
            "device" => Self::Device,
            "stack" => Self::Stack,
            "workers" | "users" => Self::Load,
            "" => return Err("name what the columns are: device, stack, workers, …".to_owned()),
            other => Self::Parameter(other.to_owned()),
        })
    }
}

/// Program of keys that a device uses itself.
pub(super) const DIRECT: &str = "direct";

/// Parameters that the name of a program says.
const OF_PROGRAMS: [&str; 3] = ["library", "agent", "program"];

/// The least share of cells with a figure in what counts as a grid.
const FILLED: f64 = 0.8;
/// The most columns of a table of places.
const PLACES: usize = 8;

/// The axes of the columns; none if nothing varies but keys.
pub(super) fn columns(cases: &[&Case]) -> Vec<Axis> {
    let varying = Axis::varying(cases);
    let size = |axis: &Axis| axis.values(cases).len();
    let filled = |axis: &Axis| filled(axis, &varying, cases);
    // The first of equals is taken, which is what a reader compares along.
    let grid = varying.iter().filter(|axis| filled(axis) >= FILLED);
    if let Some(axis) = grid.min_by_key(|axis| size(axis)) {
        return vec![axis.clone()];
    }
    if places(&varying, cases) <= PLACES {
        return varying;
    }
    let axes = varying.iter().rev();
    let fullest = axes.max_by(|a, b| filled(a).total_cmp(&filled(b)));
    fullest.cloned().into_iter().collect()
}

/// Number of combinations of varying axes.
fn places(varying: &[Axis], cases: &[&Case]) -> usize {
    let place = |case: &&Case| varying.iter().map(|axis| axis.of(case)).collect();
    let places: HashSet<Vec<String>> = cases.iter().map(place).collect();
    places.len()
}

/// Share of cells with a figure where this axis has the columns.
fn filled(axis: &Axis, varying: &[Axis], cases: &[&Case]) -> f64 {
    let row = |case: &Case| {
        let others = varying.iter().filter(|other| *other != axis);
        let labels: Vec<String> = others.map(|other| other.of(case)).collect();
        (case.algorithm, case.operation, labels)
    };
    let rows: HashSet<_> = cases.iter().map(|case| row(case)).collect();
    let cells = cases.iter().map(|case| (row(case), axis.of(case)));
    let cells: HashSet<_> = cells.collect();
    cells.len() as f64 / (rows.len() * axis.values(cases).len()) as f64
}
