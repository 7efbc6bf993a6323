//! Baseline: the case to which a ratio is taken.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::words::as_text;
use crate::{Algorithm, Case, CaseKey, DeviceName, Parameters, StackName};

/// A pattern: the axes it names replace those of a case, and the case so described is its baseline.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(into = "String", try_from = "String")]
pub struct Baseline {
    device: Option<DeviceName>,
    algorithm: Option<Algorithm>,
    stack: Option<StackName>,
    /// Words of dimensions, or that the usual one is meant.
    parameters: Vec<(String, String)>,
    workers: Option<NonZeroU32>,
}

impl Baseline {
    /// The baseline of `case` among `cases`, by index.
    ///
    /// A pattern that names nothing is the default: rsa2048 of the same operation, stack and load,
    /// because everybody knows it; failing that the plan's first algorithm for the operation; in a
    /// plan with one algorithm the first stack, library and scheme; with one stack the fewest workers.
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
        let other_way =
            |other: &Case| other.stack != case.stack || !alike(&other.parameters, &case.parameters);
        if several(&other_way) {
            return variants(&|wanted, other| {
                if let Some(parameters) = of_stack(&wanted.parameters, other, cases) {
                    (wanted.stack, wanted.parameters) = (other.stack, parameters);
                }
            });
        }
        variants(&|wanted, other| wanted.load = other.load)
    }

    /// The stack that it names, if it does.
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
            let parameters = others.find_map(|other| of_stack(&wanted.parameters, other, cases));
            wanted.parameters = parameters.unwrap_or(wanted.parameters);
            wanted.stack = stack;
        }
        for (dimension, word) in &self.parameters {
            // Stacks that have nothing to choose there are not concerned.
            let has = |case: &Case| {
                case.stack == wanted.stack && case.parameters.get(dimension).is_some()
            };
            if cases.iter().any(has) {
                wanted.parameters = wanted.parameters.replaced(dimension, word);
            }
        }
        if let Some(workers) = self.workers {
            wanted.load = wanted.load.with(workers);
        }
        wanted
    }
}

/// The parameters of a case once it has another's stack: its own, if that one says the same kinds of words, else
/// those of the other, if they are alike in all that more than one stack distinguishes.
fn of_stack(own: &Parameters, other: &Case, cases: &[Case]) -> Option<Parameters> {
    let theirs = &other.parameters;
    if alike(own, theirs) {
        return Some(own.clone());
    }
    let is_shared = |dimension: &str| {
        let has = |case: &&Case| case.parameters.get(dimension).is_some();
        let mut stacks = cases.iter().filter(has).map(|case| case.stack);
        let first = stacks.next();
        stacks.any(|stack| Some(stack) != first)
    };
    let mut dimensions = own.pairs().chain(theirs.pairs()).map(|(name, _)| name);
    dimensions
        .all(|name| own.get(name) == theirs.get(name) || !is_shared(name))
        .then(|| theirs.clone())
}

/// Returns true if both say something of the same dimensions.
fn alike(one: &Parameters, other: &Parameters) -> bool {
    let has_all =
        |of: &Parameters, from: &Parameters| from.pairs().all(|(name, _)| of.get(name).is_some());
    has_all(one, other) && has_all(other, one)
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
            if let Some(number) = word.strip_prefix("w=") {
                let number = number.parse().map_err(|_| {
                    format!("'{word}' is not a number of workers; write it like w=1")
                })?;
                baseline.workers = Some(number);
            } else if let Ok(algorithm) = word.parse() {
                baseline.algorithm = Some(algorithm);
            } else if let Some(device) = word.strip_prefix("device=") {
                baseline.device = Some(DeviceName::new(device));
            } else if let Some((dimension, word)) = word.split_once('=') {
                let pair = (dimension.to_owned(), word.to_owned());
                baseline.parameters.push(pair);
            } else if word == DeviceName::software().as_str() {
                baseline.device = Some(DeviceName::software());
            } else if let Some(stack) = stack(word) {
                baseline.stack = Some(stack);
            } else {
                return Err(format!(
                    "'{word}' is not a baseline: name an algorithm, stack, parameter, w=N or device=NAME"
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
        let parameters = self
            .parameters
            .iter()
            .map(|(dimension, word)| Some(format!("{dimension}={word}")));
        let first = [
            self.algorithm.map(|word| word.to_string()),
            self.stack.map(|word| word.to_string()),
        ];
        let last = [
            self.workers.map(|number| format!("w={number}")),
            self.device
                .as_ref()
                .map(|device| format!("device={device}")),
        ];
        let parts = first.into_iter().chain(parameters).chain(last).flatten();
        f.write_str(&parts.collect::<Vec<_>>().join(","))
    }
}

as_text!(Baseline);
