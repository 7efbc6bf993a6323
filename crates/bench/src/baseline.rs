//! Which case a ratio is taken to.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::algorithm::Algorithm;
use crate::case::{Case, DeviceName, Load, Protection, StackName};

/// A pattern: the axes it names replace those of a case, and the case so described is its baseline.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Baseline {
    device: Option<DeviceName>,
    algorithm: Option<Algorithm>,
    stack: Option<StackName>,
    protection: Option<Protection>,
    concurrency: Option<NonZeroU32>,
}

impl Baseline {
    /// The baseline of `case` among `cases`, by index.
    ///
    /// A pattern that names nothing is the default: rsa2048 of the same operation, stack and load,
    /// because everybody knows it; failing that the plan's first algorithm for the operation; in a
    /// plan with one algorithm the first stack; with one stack the smallest concurrency.
    #[must_use]
    pub fn of(&self, case: &Case, cases: &[Case]) -> Option<usize> {
        if *self != Self::default() {
            return find(cases, &self.applied(case));
        }
        let variants = |change: &dyn Fn(&mut Case, &Case)| {
            let mut candidates = cases.iter().map(|other| {
                let mut wanted = case.clone();
                change(&mut wanted, other);
                (other, wanted)
            });
            candidates
                .find(|(other, wanted)| same(other, wanted))
                .and_then(|(_, wanted)| find(cases, &wanted))
        };
        let several = |axis: &dyn Fn(&Case) -> String| {
            cases
                .iter()
                .filter(|other| other.operation == case.operation)
                .any(|other| axis(other) != axis(case))
        };
        if several(&|c| c.algorithm.to_string()) {
            let rsa2048 = "rsa2048".parse().ok()?;
            return find(
                cases,
                &Case {
                    algorithm: rsa2048,
                    ..case.clone()
                },
            )
            .or_else(|| variants(&|wanted, other| wanted.algorithm = other.algorithm));
        }
        if several(&|c| c.stack.to_string()) {
            return variants(&|wanted, other| wanted.stack = other.stack);
        }
        variants(&|wanted, other| wanted.load = other.load)
    }

    fn applied(&self, case: &Case) -> Case {
        let mut wanted = case.clone();
        if let Some(device) = &self.device {
            wanted.device = device.clone();
        }
        if let Some(algorithm) = self.algorithm {
            wanted.algorithm = algorithm;
        }
        if let Some(stack) = self.stack {
            wanted.stack = stack;
        }
        if let Some(protection) = self.protection {
            wanted.protection = protection;
        }
        if let Some(concurrency) = self.concurrency {
            wanted.load = Load {
                concurrency,
                ..wanted.load
            };
        }
        wanted
    }
}

/// Store kind and provenance follow from the device, and a replica's baseline may be replica 0.
fn same(candidate: &Case, wanted: &Case) -> bool {
    let Case {
        store, provenance, ..
    } = candidate.clone();
    candidate.same_but_replica(&Case {
        store,
        provenance,
        ..wanted.clone()
    })
}

fn find(cases: &[Case], wanted: &Case) -> Option<usize> {
    cases
        .iter()
        .position(|case| same(case, wanted) && case.replica == wanted.replica)
        .or_else(|| cases.iter().position(|case| same(case, wanted)))
}

impl FromStr for Baseline {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut baseline = Self::default();
        for word in text
            .split(',')
            .map(str::trim)
            .filter(|word| !word.is_empty())
        {
            if let Some(number) = word.strip_prefix("c=") {
                let number = number
                    .parse()
                    .map_err(|_| format!("'{word}' is no concurrency such as c=1"))?;
                baseline.concurrency = Some(number);
            } else if let Ok(stack) = word.parse() {
                baseline.stack = Some(stack);
            } else if let Ok(protection) = word.parse() {
                baseline.protection = Some(protection);
            } else if let Ok(algorithm) = word.parse() {
                baseline.algorithm = Some(algorithm);
            } else if let Some(device) = word.strip_prefix("device=") {
                baseline.device = Some(DeviceName::new(device));
            } else if word == DeviceName::software().as_str() {
                baseline.device = Some(DeviceName::software());
            } else {
                return Err(format!(
                    "'{word}' is no algorithm, stack, protection, c=N or device=NAME to take as baseline"
                ));
            }
        }
        Ok(baseline)
    }
}

impl fmt::Display for Baseline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            self.algorithm.map(|word| word.to_string()),
            self.stack.map(|word| word.to_string()),
            self.protection.map(|word| word.to_string()),
            self.concurrency.map(|number| format!("c={number}")),
            self.device
                .as_ref()
                .map(|device| format!("device={device}")),
        ];
        f.write_str(&parts.into_iter().flatten().collect::<Vec<_>>().join(","))
    }
}

impl From<Baseline> for String {
    fn from(baseline: Baseline) -> Self {
        baseline.to_string()
    }
}

impl TryFrom<String> for Baseline {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}
