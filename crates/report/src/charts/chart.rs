//! Content of a picture, without its look.

use serde::Serialize;

use crate::units::Unit;

/// A picture: panels one below the other over one axis of x.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Chart {
    /// Kind of picture, in a word.
    pub kind: &'static str,
    pub title: String,
    /// The title and the figures in sentences, for readers who do not see the picture.
    pub summary: String,
    pub x: Scale,
    pub panels: Vec<Panel>,
    /// Names of the series by their number, which gives color and shape; empty if a number is not used.
    pub keys: Vec<String>,
    /// Meanings of the fills that occur.
    pub fills: Vec<(Fill, String)>,
    /// Sentences below the picture.
    pub notes: Vec<String>,
}

impl Chart {
    /// Returns all marks, of the first panel first.
    pub(crate) fn marks(&self) -> impl Iterator<Item = &Mark> + Clone {
        self.panels.iter().flat_map(|panel| &panel.marks)
    }
}

/// Marks over an axis of y.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Panel {
    /// Name of the panel, if the chart has several.
    pub heading: Option<String>,
    pub y: Axis,
    /// Height in pixels over a scale; rows take what they need.
    pub height: f64,
    /// The first mark is drawn first, below the others.
    pub marks: Vec<Mark>,
}

impl Panel {
    /// A panel over a scale.
    pub const fn over(y: Scale, height: f64, marks: Vec<Mark>) -> Self {
        Self {
            heading: None,
            y: Axis::Scale(y),
            height,
            marks,
        }
    }

    /// A panel of rows.
    pub const fn rows(groups: Vec<Group>, marks: Vec<Mark>) -> Self {
        Self {
            heading: None,
            y: Axis::Rows(groups),
            height: 0.0,
            marks,
        }
    }

    /// Sets the heading.
    pub fn headed(self, heading: impl Into<String>) -> Self {
        let heading = Some(heading.into());
        Self { heading, ..self }
    }
}

/// Left side of a panel.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Axis {
    /// Values, from bottom to top.
    Scale(Scale),
    /// Rows from top to bottom, which count from 0 through all groups.
    Rows(Vec<Group>),
}

/// Values along a line.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scale {
    pub label: String,
    pub unit: Unit,
    pub spacing: Spacing,
    /// Values with a tick; round ones if there are none.
    pub ticks: Vec<f64>,
}

impl Scale {
    /// A scale with ticks at round values. Its label says if it is logarithmic.
    pub fn new(label: &str, unit: Unit, spacing: Spacing) -> Self {
        let label = match (spacing, label) {
            (Spacing::Linear | Spacing::FromZero, label) => label.to_owned(),
            (Spacing::Logarithmic, "") => "logarithmic".to_owned(),
            (Spacing::Logarithmic, label) => format!("{label} (logarithmic)"),
        };
        Self {
            label,
            unit,
            spacing,
            ticks: Vec::new(),
        }
    }

    /// Sets the values with a tick.
    pub fn ticks(self, ticks: Vec<f64>) -> Self {
        Self { ticks, ..self }
    }
}

/// Distances and beginning of a scale, which goes as far as the marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Spacing {
    /// Equal distances.
    Linear,
    /// Equal distances, and zero is among the values.
    FromZero,
    /// Distances by the logarithm; what is not above zero has no place.
    Logarithmic,
}

/// Rows under a heading.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Group {
    pub heading: Option<String>,
    pub rows: Vec<RowText>,
}

/// Text next to a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RowText {
    /// Text on the left.
    pub label: String,
    /// Figure on the right.
    pub value: String,
}

/// Something drawn.
#[derive(Debug, Clone, PartialEq, Serialize, strum::EnumTryAs)]
#[serde(tag = "mark", rename_all = "snake_case")]
pub enum Mark {
    Dot(Dot),
    Bar(Bar),
    Line(Polyline),
    Rule(Rule),
}

/// A figure with its interval: along x in a row, along y over a scale.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Dot {
    pub x: f64,
    /// Value, or number of the row.
    pub y: f64,
    pub interval: Option<Interval>,
    pub series: usize,
    pub fill: Fill,
    pub about: About,
}

/// Bounds of a figure; a side without one is open.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    pub low: Option<f64>,
    pub high: Option<f64>,
}

/// A bar along x: in a row, or from zero up to its height.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bar {
    pub from: f64,
    pub to: f64,
    /// Height, or number of the row.
    pub y: f64,
    pub series: usize,
    pub fill: Fill,
    /// Text inside, if there is room.
    pub label: String,
    pub about: About,
}

/// A line through points, from left to right.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Polyline {
    pub points: Vec<(f64, f64)>,
    pub path: Path,
    pub series: usize,
    pub fill: Fill,
    /// Name at its right end, in place of an entry of the legend.
    pub label: Option<String>,
    pub about: About,
}

/// Look of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Path {
    /// Through measured points.
    Straight,
    /// Thin and dashed: a law or a trend.
    Fitted,
}

/// A reference, right through the panel.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rule {
    /// Axis on which it has its place.
    pub along: Along,
    pub at: f64,
    pub label: String,
}

/// An axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Along {
    X,
    Y,
}

/// Kind of a figure, seen without color. The order is that of tables of signs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fill {
    Solid,
    Half,
    /// Oblique lines.
    Hatched,
    /// An outline of dots.
    Dotted,
    /// An outline.
    Hollow,
}

/// Meaning of a mark, for a pointer and for scripts.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct About {
    /// Name of the case.
    pub case: Option<String>,
    /// Words with the figure.
    pub text: String,
}
