//! How stacks of one family lie on one another, and what their rates are compared with: what analysis subtracts from
//! what, and divides by what, as data, so that it knows no stack by name.

use crate::{Case, Parameters, StackName, StoreKind};

/// A way to a key: through which stack, with which of its family's parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    /// Which program is asked.
    pub stack: StackName,
    /// As its family distinguishes them.
    pub parameters: Parameters,
}

impl Point {
    /// That stack, with those parameters.
    pub const fn new(stack: StackName, parameters: Parameters) -> Self {
        Self { stack, parameters }
    }

    /// What every other stack stands on.
    pub const RAW: Self = Self::new(StackName::RAW, Parameters::NONE);

    /// The way that a case takes.
    pub fn of(case: &Case) -> Self {
        Self::new(case.stack, case.parameters.clone())
    }

    /// The same case, but this way.
    pub fn applied(&self, case: &Case) -> Case {
        Case {
            stack: self.stack,
            parameters: self.parameters.clone(),
            ..case.clone()
        }
    }
}

/// A point that has a column of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct End {
    /// Heading of the column.
    pub heading: &'static str,
    /// What a sentence calls it.
    pub name: &'static str,
    /// Where it is measured.
    pub point: Point,
}

impl End {
    /// At that point, called the same in a heading and in a sentence.
    pub const fn called(name: &'static str, point: Point) -> Self {
        Self {
            heading: name,
            name,
            point,
        }
    }
}

/// What one layer adds to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Heading of the column.
    pub heading: &'static str,
    /// With the layer.
    pub upper: Point,
    /// Without it.
    pub lower: Point,
}

/// The library that a family's own programs calculate with, where it is not the one that is built in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnLibrary {
    /// Where the key alone is measured with it.
    pub point: Point,
    /// The key stores whose keys it works with. A card calculates itself, whoever asks it: there
    /// [`Point::RAW`] is what it takes.
    pub store: StoreKind,
    /// What other libraries take, as a column beside.
    pub beside: End,
    /// What is said where both were measured.
    pub explanation: &'static str,
    /// What is said where layers had to stand on the built-in library's figure.
    pub stand_in: &'static str,
}

/// A server with one thread that every worker has to ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bottleneck {
    /// What the server is called.
    pub name: &'static str,
    /// The operations that ask it.
    pub point: Point,
    /// The server's part of them, measured alone.
    pub server: Point,
    /// Why its bound is what it is, in a sentence.
    pub explanation: &'static str,
}

/// A family of stacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layers {
    /// What it is called.
    pub family: &'static str,
    /// The bare operation.
    pub base: End,
    /// What calculates for it, if not the library that is built in.
    pub own_library: Option<OwnLibrary>,
    /// What is added to it, from below.
    pub steps: Vec<Step>,
    /// Base and steps together, as it is measured.
    pub whole: Option<End>,
    /// What workers queue for.
    pub bottleneck: Option<Bottleneck>,
    /// The stack with which people open messages, one after the other.
    pub opens_messages: Option<StackName>,
}

impl Layers {
    /// Whether a step leads away from the whole: what it adds is in no sum of the others.
    pub fn is_aside(&self, step: &Step) -> bool {
        let whole = self.whole.as_ref();
        whole.is_some_and(|whole| whole.point != step.upper)
            && self.steps.iter().all(|other| other.lower != step.upper)
    }
}

/// What the rates of a family's cases are compared with.
#[derive(Debug, Clone, Copy)]
pub struct Comparison {
    /// Heading of its table.
    pub heading: &'static str,
    /// What is said of it.
    pub times: Times,
    /// The parameters of the case beside the one that has these, which is the same in all else; none where nothing is to
    /// be compared.
    pub beside: fn(&Parameters) -> Option<Parameters>,
}

/// How the quotient of two rates is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Times {
    /// As so many times the rate of the case beside it.
    Gain,
    /// As so many times its time.
    Cost,
}
