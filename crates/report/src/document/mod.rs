//! A report before it has a look: sections of tables, pictures and remarks. Terminal text, Markdown, HTML and JSON
//! are [renderers](crate::render) of it, so that they say the same things in the same order.

mod cap;
mod table;

use std::collections::BTreeSet;

use itertools::Itertools;
use keymark_bench::{CaseId, Provenance};
use serde::Serialize;

use crate::charts::Chart;
use crate::units::counted;
use crate::verdict::{REASONS, Verdict};

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
    pub title: Option<String>,
    /// Recommendation or finding of a run; none where there is no rule for its kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// Sentences that most readers come for; none if that is the table.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<Statement>,
    /// Under which conditions, a line each.
    pub head: Vec<String>,
    /// Number of these lines that are on the first screen.
    #[serde(skip)]
    pub head_in_brief: usize,
    /// Conditions of each run, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conditions: Option<Conditions>,
    pub sections: Vec<Section>,
    /// Remarks to read before you trust it. Last, and on a terminal on stderr.
    pub warnings: Vec<Remark>,
    /// Names the contents of the long form.
    #[serde(skip)]
    pub more: Option<String>,
}

impl Document {
    /// Sections alone.
    pub fn of(sections: Vec<Section>) -> Self {
        Self {
            schema: SCHEMA,
            title: None,
            verdict: None,
            answers: Vec::new(),
            head: Vec::new(),
            head_in_brief: 1,
            conditions: None,
            sections,
            warnings: Vec::new(),
            more: None,
        }
    }

    /// Keeps what fits one screen: the answers, the first sections, and remarks that change the meaning of figures.
    /// Documents without a first section stay whole.
    pub fn brief(mut self) -> Self {
        let first = |section: &Section| section.depth == Depth::First;
        if !self.sections.iter().any(first) {
            return self;
        }
        self.head.truncate(self.head_in_brief);
        if self.verdict.is_some() {
            self.answers.truncate(REASONS);
        }
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
        self.sections
            .iter()
            .filter(move |section| section.blocks.is_empty() || section.blocks.iter().any(told))
    }

    /// Returns the command that repeats each run, if it is known.
    pub fn commands(&self) -> impl Iterator<Item = &Rerun> {
        self.conditions
            .iter()
            .flat_map(|conditions| &conditions.commands)
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

/// Blocks under a heading.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Section {
    /// Heading; the first section needs none.
    pub heading: Option<String>,
    pub blocks: Vec<Block>,
    #[serde(skip)]
    pub depth: Depth,
}

/// Readers of a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// All readers: it is on the first screen.
    First,
    /// Readers of the long form.
    Detail,
    /// Readers of the long form; a page has it last, and folded.
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

    /// A section without a heading.
    pub const fn bare(blocks: Vec<Block>) -> Self {
        Self {
            heading: None,
            blocks,
            depth: Depth::Detail,
        }
    }

    /// Puts the section on the first screen.
    pub fn first(self) -> Self {
        Self {
            depth: Depth::First,
            ..self
        }
    }
}

/// Part of a section.
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
    pub kind: RemarkKind,
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
    /// Tells if it changes the meaning of figures for readers who choose by them.
    pub(crate) const fn is_for_everybody(self) -> bool {
        matches!(
            self,
            Self::Failure | Self::Overload | Self::Coarse | Self::Drift
        )
    }
}

/// Topic of a remark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RemarkKind {
    /// Basis of a prediction or of an assumed time.
    Basis,
    /// Figures of different kinds stand in one table.
    MixedProvenance,
    /// Bounds of the gain of concurrency.
    Limit,
    /// The law fitted to the gain, and where it is highest.
    Law,
    /// Time before or beside what a table shows.
    Elsewhere,
    /// A case failed.
    Failure,
    /// Units of a comparison, and its noise.
    Units,
    /// Single runs, which tell little.
    SingleRuns,
    /// Other differences between runs.
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

/// Facts of each run.
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
    /// Returns the facts that differ.
    pub fn differences(&self) -> impl Iterator<Item = &Fact> {
        self.facts.iter().filter(|fact| fact.differs())
    }
}

/// A fact of runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fact {
    pub name: String,
    /// Value in each run, in their order; none where it is not known.
    pub values: Vec<Option<String>>,
}

impl Fact {
    /// Tells if runs differ in it.
    pub fn differs(&self) -> bool {
        self.values.windows(2).any(|pair| pair[0] != pair[1])
    }
}

/// Command that repeats a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rerun {
    /// The run.
    pub run: String,
    pub command: String,
    pub remark: Option<String>,
}

/// Topic of a sentence, in the order of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Topic {
    /// Surprises.
    Striking,
    /// Fastest device, and by how much.
    Devices,
    /// Operations for which users wait.
    Patience,
    /// Firmware that is simulated.
    Predictions,
    /// Servers under load.
    Servers,
    /// Fastest key, and its strength.
    Keys,
    /// Several workers at once.
    Workers,
    /// Parts of the time.
    Layers,
    /// A token's software beside this CPU, on which it runs.
    Tokens,
    /// Changes.
    Change,
    /// Choice of a key, a device or a policy.
    Choice,
    /// Certainty of the other sentences.
    Certainty,
}

/// Sentence of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Statement {
    pub topic: Topic,
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
