//! Which case a ratio is taken to.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::algorithm::Algorithm;
use crate::case::{Case, CaseKey, DeviceName, Load, Parameters, Protection, StackName};

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
    /// plan with one algorithm the first stack, library and scheme; with one stack the smallest concurrency.
    #[must_use]
    pub fn of(&self, case: &Case, cases: &[Case]) -> Option<usize> {
        let key = case.key();
        if *self != Self::default() {
            return find(cases, &self.applied(&key, cases), case.replica);
        }
        let variants = |change: &dyn Fn(&mut CaseKey, &Case)| {
            cases.iter().find_map(|other| {
                let mut wanted = key.clone();
                change(&mut wanted, other);
                other
                    .has_key(&wanted)
                    .then(|| find(cases, &wanted, case.replica))?
            })
        };
        let several = |differs: &dyn Fn(&Case) -> bool| {
            cases
                .iter()
                .filter(|other| other.operation == case.operation)
                .any(differs)
        };
        if several(&|other| other.algorithm != case.algorithm) {
            let rsa2048 = CaseKey {
                algorithm: "rsa2048".parse().ok()?,
                ..key.clone()
            };
            return find(cases, &rsa2048, case.replica)
                .or_else(|| variants(&|wanted, other| wanted.algorithm = other.algorithm));
        }
        let variant = |case: &Case| {
            let set = case.parameters;
            (case.stack, set.library(), set.scheme())
        };
        if several(&|other| variant(other) != variant(case)) {
            return variants(&|wanted, other| {
                if let Some(parameters) = of_stack(wanted.parameters, other) {
                    (wanted.stack, wanted.parameters) = (other.stack, parameters);
                }
            });
        }
        variants(&|wanted, other| wanted.load = other.load)
    }

    /// The stack that it names, if it does.
    #[must_use]
    pub const fn stack(&self) -> Option<StackName> {
        self.stack
    }

    fn applied(&self, key: &CaseKey, cases: &[Case]) -> CaseKey {
        let mut wanted = key.clone();
        if let Some(device) = &self.device {
            wanted.device = device.clone();
        }
        if let Some(algorithm) = self.algorithm {
            wanted.algorithm = algorithm;
        }
        if let Some(stack) = self.stack {
            let mut others = cases.iter().filter(|other| other.stack == stack);
            let parameters = others.find_map(|other| of_stack(wanted.parameters, other));
            wanted.parameters = parameters.unwrap_or(wanted.parameters);
            wanted.stack = stack;
        }
        if let (Some(protection), Parameters::Gnupg { .. }) = (self.protection, wanted.parameters) {
            wanted.parameters = Parameters::Gnupg { protection };
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

/// The parameters of a case once it has another's stack: its own, if that stack has such, else those of
/// the other one, if they keep the key alike.
fn of_stack(own: Parameters, other: &Case) -> Option<Parameters> {
    let theirs = other.parameters;
    if std::mem::discriminant(&own) == std::mem::discriminant(&theirs) {
        return Some(own);
    }
    (own.protection() == theirs.protection()).then_some(theirs)
}

/// A replica's baseline may be replica 0.
fn find(cases: &[Case], wanted: &CaseKey, replica: u32) -> Option<usize> {
    cases
        .iter()
        .position(|case| case.replica == replica && case.has_key(wanted))
        .or_else(|| cases.iter().position(|case| case.has_key(wanted)))
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
                    .map_err(|_| format!("'{word}' is not a concurrency; write it like c=1"))?;
                baseline.concurrency = Some(number);
            } else if let Ok(protection) = word.parse() {
                baseline.protection = Some(protection);
            } else if let Ok(algorithm) = word.parse() {
                baseline.algorithm = Some(algorithm);
            } else if let Some(device) = word.strip_prefix("device=") {
                baseline.device = Some(DeviceName::new(device));
            } else if word == DeviceName::software().as_str() {
                baseline.device = Some(DeviceName::software());
            } else if let Some(stack) = stack(word) {
                baseline.stack = Some(stack);
            } else {
                return Err(format!(
                    "'{word}' is not a baseline: name an algorithm, stack, protection, c=N or device=NAME"
                ));
            }
        }
        Ok(baseline)
    }
}

/// Any word may be a stack's name; one with a digit is rather an algorithm, mistyped.
fn stack(word: &str) -> Option<StackName> {
    let digits = word.contains(|letter: char| letter.is_ascii_digit());
    word.parse().ok().filter(|_| !digits)
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
