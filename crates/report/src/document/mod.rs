//! What is said about a run, before anybody decides how it looks: sections of tables, figures and remarks.
//! Terminal text, Markdown and JSON are [renderers](crate::render) of it, so that they say the same things in
//! the same order.

mod cap;
mod table;

use std::collections::BTreeSet;

use itertools::Itertools;
use keymark_bench::{CaseId, Provenance};
use serde::Serialize;

use crate::charts::Chart;
use crate::units::counted;

pub use cap::Limits;
pub use table::{Align, Answer, Cell, Column, Form, Number, Priority, Table, TableOf};

/// Remarks on one screen, at most.
pub(crate) const REMARKS: usize = 3;

/// Version of the document as JSON.
pub const SCHEMA: u32 = 1;

/// A report.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Document {
    /// Version of this form.
    pub schema: u32,
    /// What it is about.
    pub title: Option<String>,
    /// What most readers come for, a sentence each; nothing where that is the table.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<Statement>,
    /// Under which conditions, a line each.
    pub head: Vec<String>,
    /// How many of these lines also stand on the first screen.
    #[serde(skip)]
    pub head_in_brief: usize,
    /// The same in a form that tells runs apart; none where there is nothing to tell apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conditions: Option<Conditions>,
    /// What was found.
    pub sections: Vec<Section>,
    /// What to know before trusting it. Last, and on a terminal on stderr.
    pub warnings: Vec<Remark>,
    /// Of what only the long form speaks, in words.
    #[serde(skip)]
    pub more: Option<String>,
}

impl Document {
    /// Sections alone.
    pub fn of(sections: Vec<Section>) -> Self {
        Self {
            schema: SCHEMA,
            title: None,
            answers: Vec::new(),
            head: Vec::new(),
            head_in_brief: 1,
            conditions: None,
            sections,
            warnings: Vec::new(),
            more: None,
        }
    }

    /// What fits one screen: the answers, the first sections, and remarks that change what the figures mean. Documents
    /// without a first section are shown whole.
    pub fn brief(mut self) -> Self {
        let first = |section: &Section| section.depth == Depth::First;
        if !self.sections.iter().any(first) {
            return self;
        }
        self.head.truncate(self.head_in_brief);
        let (sections, remarks) = (self.sections.len(), self.warnings.len());
        self.sections.retain(first);
        self.warnings
            .retain(|remark| remark.kind.is_for_everybody());
        self.warnings.truncate(REMARKS);
        let remarks = remarks - self.warnings.len();
        let remarks = (remarks > 0).then(|| counted(remarks, "more remark"));
        let every =
            (sections > self.sections.len()).then(|| "every case with its interval".to_owned());
        self.more = every
            .into_iter()
            .chain(remarks)
            .reduce(|every, remarks| format!("{every} and {remarks}"));
        self
    }

    /// The sections that have anything for who sees no pictures.
    pub fn told(&self) -> impl Iterator<Item = &Section> {
        let told = |block: &Block| !matches!(block, Block::Picture(_));
        let sections = self.sections.iter();
        sections.filter(move |section| section.blocks.is_empty() || section.blocks.iter().any(told))
    }

    /// How each run is made again, where that is known.
    pub fn commands(&self) -> impl Iterator<Item = &Rerun> {
        let conditions = self.conditions.iter();
        conditions.flat_map(|conditions| &conditions.commands)
    }

    /// Every table, in order.
    pub fn tables(&self) -> impl Iterator<Item = &Table> {
        let blocks = self.sections.iter().flat_map(|section| &section.blocks);
        blocks.filter_map(|block| match block {
            Block::Table(table) => Some(table),
            Block::Picture(_) | Block::Remark(_) => None,
        })
    }
}

/// What belongs together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Section {
    /// What it shows; the first section needs no heading.
    pub heading: Option<String>,
    /// In order.
    pub blocks: Vec<Block>,
    /// For whom it is.
    #[serde(skip)]
    pub depth: Depth,
}

/// For whom a section is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// For everybody: it stands on the first screen.
    First,
    /// For who asks for more.
    Detail,
    /// The same at length: a page has it last, and folded.
    Every,
}

impl Section {
    /// A section under a heading.
    pub fn headed(heading: impl Into<String>, blocks: Vec<Block>) -> Self {
        Self {
            heading: Some(heading.into()),
            ..Self::bare(blocks)
        }
    }

    /// One that needs none.
    pub const fn bare(blocks: Vec<Block>) -> Self {
        Self {
            heading: None,
            blocks,
            depth: Depth::Detail,
        }
    }

    /// The same for everybody.
    pub fn first(self) -> Self {
        Self {
            depth: Depth::First,
            ..self
        }
    }
}

/// One thing of a section.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "block", rename_all = "snake_case")]
pub enum Block {
    /// Rows of figures.
    Table(Table),
    /// A picture, which text leaves out.
    Picture(Chart),
    /// A sentence.
    Remark(Remark),
}

impl Block {
    /// A sentence of a kind.
    pub fn remark(kind: RemarkKind, text: impl Into<String>) -> Self {
        Self::Remark(Remark::new(kind, text))
    }
}

/// A sentence about the figures.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Remark {
    /// What it is about.
    pub kind: RemarkKind,
    /// In words.
    pub text: String,
}

impl Remark {
    /// A remark of a kind.
    pub fn new(kind: RemarkKind, text: impl Into<String>) -> Self {
        Self {
            kind,
            text: text.into(),
        }
    }
}

/// The kinds of figures, if they are of several.
pub(crate) fn mixed(kinds: impl Iterator<Item = Provenance>) -> Option<String> {
    let kinds: BTreeSet<Provenance> = kinds.collect();
    (kinds.len() > 1).then(|| kinds.iter().join(", "))
}

impl RemarkKind {
    /// Whether it changes what the figures mean to who chooses by them; the others are for who looks closely.
    pub(crate) const fn is_for_everybody(self) -> bool {
        matches!(
            self,
            Self::Failure | Self::Overload | Self::Coarse | Self::Drift
        )
    }
}

/// What a remark is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RemarkKind {
    /// What a prediction or a figure that others are taken from rests on, or a time that nobody measured.
    Basis,
    /// Figures of different kinds stand in one table.
    MixedProvenance,
    /// What bounds the gain of concurrency.
    Limit,
    /// The law fitted to the gain, and where it is highest.
    Law,
    /// Time before or beside what a table shows.
    Elsewhere,
    /// A case failed.
    Failure,
    /// What are the units of a comparison, and what counts as noise.
    Units,
    /// Single runs, which tell little.
    SingleRuns,
    /// What differs between runs besides what they were measured for.
    Environment,
    /// Operations arrive faster than they are served.
    Overload,
    /// Most figures are hardly known.
    Coarse,
    /// The wanted precision was not reached.
    Imprecision,
    /// Durations changed over the run.
    Drift,
    /// There are too few blocks to see drift.
    TooFewForDrift,
    /// Neighbouring blocks are alike.
    Dependence,
    /// Far outliers are many, or take much of the time.
    Outliers,
    /// Durations come in two steps or more.
    Steps,
    /// There is more than is shown.
    Capped,
}

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

/// What a sentence is about, in the order in which they are said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Topic {
    /// What stands out beyond expectation.
    Striking,
    /// Which device is the fastest, and by how much.
    Devices,
    /// What users have to wait for.
    Patience,
    /// Firmware that is simulated.
    Predictions,
    /// Servers under load.
    Servers,
    /// Which key is the fastest, and how strong it is.
    Keys,
    /// Several workers at once.
    Workers,
    /// What the time goes into.
    Layers,
    /// A token's software beside this CPU, on which it runs.
    Tokens,
    /// What is not as it was.
    Change,
    /// Which key, device or policy follows from what was asked.
    Choice,
    /// How far to trust the others.
    Certainty,
}

/// One sentence of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Statement {
    /// What it is about.
    pub topic: Topic,
    /// In words.
    pub text: String,
    /// The rows that it rests on; all of them where it names none.
    pub rows: Vec<CaseId>,
}

impl Statement {
    /// A sentence that rests on those rows, or on none of a run.
    pub fn new(topic: Topic, text: String, rows: impl IntoIterator<Item = CaseId>) -> Self {
        let rows = rows.into_iter().sorted_unstable().dedup().collect();
        Self { topic, text, rows }
    }
}
