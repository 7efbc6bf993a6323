//! A report before it has a look: sections of tables, pictures and remarks. Terminal text, Markdown, HTML and JSON
//! are [renderers](crate::render) of it, so that they say the same things in the same order.

mod cap;
mod table;

use std::collections::BTreeSet;

use itertools::Itertools;
use keymark_bench::Provenance;
use serde::Serialize;

use crate::charts::Chart;
use crate::verdict::Verdict;

pub use cap::{PAGE_ROWS, PAGE_WARNINGS};
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
    /// Finding of a run or of a comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// Sentences of a document without a verdict, the first one says what to do or what is so.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<String>,
    /// Conditions, a line each.
    pub head: Vec<String>,
    /// Machine and run in one line, for the first screen.
    #[serde(skip)]
    pub head_in_brief: String,
    /// Conditions of each run, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conditions: Option<Conditions>,
    pub sections: Vec<Section>,
    /// Remarks to read before you trust it. Last, and on a terminal on stderr.
    pub warnings: Vec<Remark>,
    /// Extent on a terminal.
    #[serde(skip)]
    pub form: ScreenForm,
}

/// Extent of a document on a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScreenForm {
    /// One screen.
    Brief,
    /// Everything.
    Long,
}

/// Picture with a brief document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beside {
    /// None, or one that only adds to the tables.
    Nothing,
    /// Bars of all parts, which replace the tables of parts.
    Picture,
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
            head_in_brief: String::new(),
            conditions: None,
            sections,
            warnings: Vec::new(),
            form: ScreenForm::Long,
        }
    }

    /// Keeps what fits one screen: the verdict, the first sections, and remarks that change the meaning of figures. With
    /// a picture of all parts, the tables that it replaces are left out. Documents without a first section stay whole.
    pub fn brief(mut self, beside: Beside) -> Self {
        let has = |depth: Depth| self.sections.iter().any(|section| section.depth == depth);
        let first = match (beside, has(Depth::Pictured)) {
            (Beside::Nothing, true) => Depth::Pictured,
            (Beside::Nothing, false) | (Beside::Picture, _) => Depth::First,
        };
        if !has(Depth::First) && !has(Depth::Pictured) {
            return self;
        }
        if self.verdict.is_some() {
            self.title = None;
            self.head = vec![self.head_in_brief.clone()];
        }
        self.form = ScreenForm::Brief;
        self.sections.retain(|section| section.depth == first);
        self.warnings
            .retain(|remark| remark.kind.is_for_everybody());
        self.warnings.truncate(REMARKS);
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
    /// All readers of a page; a terminal has it in the long form.
    Beside,
    /// Readers of the long form, and of a first screen without the picture that replaces it.
    Pictured,
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
        self.at(Depth::First)
    }

    /// Changes the readers of the section.
    pub fn at(self, depth: Depth) -> Self {
        Self { depth, ..self }
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
        matches!(self, Self::Failure | Self::Overload | Self::Drift)
    }
}

/// Topic of a remark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RemarkKind {
    /// Basis of a prediction or of an assumed time.
    Basis,
    /// Figures of different kinds are in one table.
    MixedProvenance,
    /// Bounds of the gain by workers.
    Limit,
    /// The law fitted to the gain, and where it is highest.
    Law,
    /// Time that a table does not show.
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
    /// Neighboring blocks are alike.
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
