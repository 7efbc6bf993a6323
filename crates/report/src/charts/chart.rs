//! What a chart shows, before anybody decides how it looks.

use super::scale::Unit;

/// A picture: panels one below the other over one axis of x.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// Which kind of picture it is, in a word.
    pub kind: &'static str,
    /// What it shows.
    pub title: String,
    /// The same in sentences, with the figures, for who does not see it.
    pub summary: String,
    /// From left to right.
    pub x: Scale,
    /// From top to bottom.
    pub panels: Vec<Panel>,
    /// What the series are, by their number, which gives colour and shape; nothing is said of a single one without a name.
    pub keys: Vec<String>,
    /// What the fills mean that occur.
    pub fills: Vec<(Fill, String)>,
    /// What to know, a sentence each, below.
    pub notes: Vec<String>,
}

/// Marks over an axis of y.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// What it shows, if there are several.
    pub heading: Option<String>,
    /// From bottom to top if it is a scale, from top to bottom if it is rows.
    pub y: Axis,
    /// Height in pixels, of a scale; rows take what they need.
    pub height: f64,
    /// What is drawn, the first at the bottom.
    pub marks: Vec<Mark>,
}

impl Panel {
    /// Of what lies over a scale, by itself.
    pub const fn over(y: Scale, height: f64, marks: Vec<Mark>) -> Self {
        Self {
            heading: None,
            y: Axis::Scale(y),
            height,
            marks,
        }
    }

    /// The same under a heading.
    pub fn headed(self, heading: impl Into<String>) -> Self {
        let heading = Some(heading.into());
        Self { heading, ..self }
    }

    /// Of rows, by themselves.
    pub const fn rows(groups: Vec<Group>, marks: Vec<Mark>) -> Self {
        Self {
            heading: None,
            y: Axis::Rows(groups),
            height: 0.0,
            marks,
        }
    }
}

/// What stands along the left side.
#[derive(Debug, Clone, PartialEq)]
pub enum Axis {
    /// Values.
    Scale(Scale),
    /// Rows, which count from 0 through all groups.
    Rows(Vec<Group>),
}

/// Values along a line.
#[derive(Debug, Clone, PartialEq)]
pub struct Scale {
    /// What they are.
    pub label: String,
    /// How they are written.
    pub unit: Unit,
    /// How they lie.
    pub spacing: Spacing,
    /// From where to where.
    pub bounds: Bounds,
    /// Where a tick stands, if not at round values.
    pub ticks: Vec<f64>,
}

impl Scale {
    /// As far as the marks go, with ticks at round values.
    pub fn new(label: impl Into<String>, unit: Unit, spacing: Spacing) -> Self {
        let label: String = label.into();
        Self {
            label: match spacing {
                Spacing::Linear => label,
                Spacing::Logarithmic if label.is_empty() => "logarithmic".to_owned(),
                Spacing::Logarithmic => format!("{label} (logarithmic)"),
            },
            unit,
            spacing,
            bounds: Bounds::Marks,
            ticks: Vec::new(),
        }
    }

    /// The same from and to elsewhere.
    pub fn within(self, bounds: Bounds) -> Self {
        Self { bounds, ..self }
    }

    /// The same with ticks at these values.
    pub fn ticks(self, ticks: Vec<f64>) -> Self {
        Self { ticks, ..self }
    }
}

/// How values lie on a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spacing {
    /// At equal distances.
    Linear,
    /// By their logarithm; what is not above zero has no place.
    Logarithmic,
}

/// From where to where a scale goes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bounds {
    /// As far as the marks.
    Marks,
    /// The same, and from zero.
    FromZero,
    /// From here to there.
    Fixed(f64, f64),
}

/// Rows under a heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// What they have in common.
    pub heading: Option<String>,
    /// From top to bottom.
    pub rows: Vec<Row>,
}

/// One row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// On the left.
    pub label: String,
    /// On the right: the figure as text.
    pub value: String,
}

/// Something drawn.
#[derive(Debug, Clone, PartialEq, strum::EnumTryAs)]
pub enum Mark {
    /// A figure, with its interval.
    Dot(Dot),
    /// From one value to another in a row.
    Bar(Bar),
    /// Through points.
    Line(Line),
    /// From zero upwards over a stretch of x: of a histogram.
    Column(Column),
    /// A reference, right through.
    Rule(Rule),
}

/// A figure, with its interval.
#[derive(Debug, Clone, PartialEq)]
pub struct Dot {
    /// Place from left to right.
    pub x: f64,
    /// Place from bottom to top, or the number of the row.
    pub y: f64,
    /// Its interval, if it has one.
    pub reach: Option<Reach>,
    /// Which series it belongs to.
    pub series: usize,
    /// How it was had.
    pub fill: Fill,
    /// How large it is.
    pub size: Size,
    /// Beside it, where there is room.
    pub label: Option<String>,
    /// What it is.
    pub about: About,
}

impl Dot {
    /// One of a figure without an interval.
    pub const fn new((x, y): (f64, f64), series: usize, fill: Fill, about: About) -> Self {
        Self {
            x,
            y,
            reach: None,
            series,
            fill,
            size: Size::Figure,
            label: None,
            about,
        }
    }
}

/// How large a dot is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// Of a figure.
    Figure,
    /// One of many.
    Crowd,
}

/// An interval; a side without a bound is open.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reach {
    /// In which direction.
    pub along: Along,
    /// Where it begins.
    pub low: Option<f64>,
    /// Where it ends.
    pub high: Option<f64>,
}

/// A direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Along {
    /// From left to right.
    X,
    /// From bottom to top.
    Y,
}

/// From one value to another in a row.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// The number of the row.
    pub row: usize,
    /// Where it begins.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
    /// Which series it belongs to.
    pub series: usize,
    /// How it was had.
    pub fill: Fill,
    /// Inside, where there is room.
    pub label: String,
    /// What it is.
    pub about: About,
}

/// A line through points.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// From left to right.
    pub points: Vec<(f64, f64)>,
    /// How it goes from one to the next.
    pub path: Path,
    /// Which series it belongs to.
    pub series: usize,
    /// How it was had.
    pub fill: Fill,
    /// At its right end, in place of an entry of the legend.
    pub label: Option<String>,
    /// What it is.
    pub about: About,
}

/// How a line goes from point to point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Path {
    /// Straight.
    Straight,
    /// Straight, thin and dashed: a law or a trend through measured points.
    Fitted,
}

/// From zero upwards over a stretch of x.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Where it begins.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
    /// How high it is.
    pub height: f64,
    /// Which series it belongs to.
    pub series: usize,
    /// How it was had.
    pub fill: Fill,
    /// What it is.
    pub about: About,
}

/// A reference, right through the panel.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// The axis on which it has its place.
    pub along: Along,
    /// Its place.
    pub at: f64,
    /// What it is.
    pub label: String,
}

/// How a figure was had, seen without colour. The order is that of tables of signs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fill {
    /// All of it.
    Solid,
    /// One half.
    Half,
    /// Oblique lines.
    Hatched,
    /// An outline of dots.
    Dotted,
    /// An outline.
    Hollow,
}

/// What a mark is, for who points at it and for scripts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct About {
    /// Name of the case.
    pub case: Option<String>,
    /// In words, with the figure.
    pub text: String,
}
