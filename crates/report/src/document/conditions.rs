//! Under which conditions runs were made, side by side, and how they are made again.

use serde::Serialize;

/// What is known of each run, and what tells them apart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Conditions {
    /// Names of the runs; the first one is what the others are compared with.
    pub runs: Vec<String>,
    /// Machine, programs, devices, settings.
    pub facts: Vec<Fact>,
    /// A command each that makes the run again.
    pub commands: Vec<Rerun>,
}

impl Conditions {
    /// What is not the same in all runs.
    pub fn differences(&self) -> impl Iterator<Item = &Fact> {
        self.facts.iter().filter(|fact| fact.differs())
    }
}

/// One thing that is known of runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// What it is.
    pub name: String,
    /// Of each run, in their order; none where it is not known.
    pub values: Vec<Option<String>>,
}

impl Fact {
    /// Whether it tells the runs apart.
    pub fn differs(&self) -> bool {
        self.values.windows(2).any(|pair| pair[0] != pair[1])
    }
}

/// How a run is made again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rerun {
    /// The run.
    pub run: String,
    /// What to type.
    pub command: String,
    /// What to know about it.
    pub remark: Option<String>,
}
