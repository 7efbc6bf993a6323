//! Layers: how stacks of one family build on one another, and with which cases rates are compared. They are data, so
//! that the analysis knows no stack by name.

use crate::{Case, Parameters, StackName, StoreKind};

/// A way to a key: through which stack, with which of its family's parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    /// Stack of the point.
    pub stack: StackName,
    /// Parameters of the stack.
    pub parameters: Parameters,
}

impl Point {
    /// Returns the point of a stack with parameters.
    pub const fn new(stack: StackName, parameters: Parameters) -> Self {
        Self { stack, parameters }
    }

    /// Stack below every other one.
    pub const RAW: Self = Self::new(StackName::RAW, Parameters::NONE);

    /// The way that a case takes.
    pub fn of(case: &Case) -> Self {
        Self::new(case.stack, case.parameters.clone())
    }

    /// Returns this case at the point.
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
    /// Name in sentences.
    pub name: &'static str,
    /// Stack and parameters.
    pub point: Point,
}

impl End {
    /// Returns an end with one name for headings and sentences.
    pub const fn called(name: &'static str, point: Point) -> Self {
        Self {
            heading: name,
            name,
            point,
        }
    }
}

/// Cost of one layer above another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayerStep {
    /// Heading of the column.
    pub heading: &'static str,
    /// Point with the layer.
    pub upper: Point,
    /// Point without the layer.
    pub lower: Point,
}

impl LayerStep {
    /// What the upper point costs more than the lower one.
    pub fn new(heading: &'static str, upper: &Point, lower: &Point) -> Self {
        Self {
            heading,
            upper: upper.clone(),
            lower: lower.clone(),
        }
    }
}

/// The library that a family's own programs calculate with, where it is not the one that is built in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnLibrary {
    /// Point of the key alone with this library.
    pub point: Point,
    /// The key stores whose keys it works with. A card calculates itself, for every program: there
    /// [`Point::RAW`] is what it takes.
    pub store: StoreKind,
    /// Column for the other library.
    pub beside: End,
    /// Explanation where both were measured.
    pub explanation: &'static str,
    /// Explanation where layers use the built-in library's figure.
    pub stand_in: &'static str,
}

/// A server with one thread that every worker has to ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bottleneck {
    /// Name of the server.
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
    /// Name of the family.
    pub family: &'static str,
    /// The bare operation.
    pub base: End,
    /// Library that calculates, if not the built-in one.
    pub own_library: Option<OwnLibrary>,
    /// Layers from below.
    pub steps: Vec<LayerStep>,
    /// Base and steps together, as it is measured.
    pub whole: Option<End>,
    /// Bottleneck in front of which workers queue.
    pub bottleneck: Option<Bottleneck>,
}

impl Layers {
    /// Returns true if a step leads away from the whole: what it adds is in no sum of the others.
    pub fn is_aside(&self, step: &LayerStep) -> bool {
        let whole = self.whole.as_ref();
        whole.is_some_and(|whole| whole.point != step.upper)
            && self.steps.iter().all(|other| other.lower != step.upper)
    }
}

/// Comparison of the rates of a family's cases.
#[derive(Debug, Clone, Copy)]
pub struct Comparison {
    /// Heading of its table.
    pub heading: &'static str,
    /// Direction of the quotient.
    pub times: Times,
    /// The parameters of the case to compare with the one that has these; all else is the same. None where nothing is to
    /// be compared.
    pub beside: fn(&Parameters) -> Option<Parameters>,
}

/// Direction of the quotient of two rates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Times {
    /// N× the rate of the other case.
    Gain,
    /// N× the time of the other case.
    Cost,
}
