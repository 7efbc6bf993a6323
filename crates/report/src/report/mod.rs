//! One document of one run or of several: what they answer, under which conditions they were made, what tells
//! them apart, then each run's own sections.

mod comparison;
mod facts;
mod gallery;
mod history;
mod run;
mod subject;
#[cfg(test)]
mod tests;

use keymark_bench::record::Record;

use crate::answers;
use crate::compare::Comparison;
use crate::document::{Block, Conditions, Document, Remark, Rerun, SCHEMA, Section};

pub use history::history;

/// A run with what is said of it.
#[derive(Debug)]
pub struct Part<'a> {
    /// The run.
    pub record: &'a Record,
    /// Its own report.
    pub document: Document,
    /// How it is made again, where that is known.
    pub rerun: Option<Rerun>,
}

/// The whole report. Of several runs, the first is what the comparison takes the others to, a side each.
pub fn report(parts: Vec<Part<'_>>, comparison: Option<&Comparison>) -> Document {
    let records: Vec<&Record> = parts.iter().map(|part| part.record).collect();
    let names: Vec<String> = records.iter().map(|record| record.id.to_string()).collect();
    let mut whole = Document {
        title: Some(subject::title(&records)),
        sections: comparison.map_or_else(Vec::new, |comparison| compared(comparison, &names)),
        conditions: Some(Conditions {
            facts: facts::facts(&records),
            commands: parts.iter().filter_map(|part| part.rerun.clone()).collect(),
            runs: names,
        }),
        ..Document::of(Vec::new())
    };
    let several = parts.len() > 1;
    for (index, part) in parts.into_iter().enumerate() {
        let name = several.then(|| part.record.id.to_string());
        whole.add(part.document, name.as_deref(), index == 0);
    }
    if let Some(comparison) = comparison {
        // What differs is what several runs are laid beside one another for.
        whole
            .answers
            .splice(0..0, answers::of_comparison(comparison));
    }
    whole
}

impl Document {
    /// Another document behind this one, under its name where there are several. The answer is the first one's.
    fn add(&mut self, other: Self, name: Option<&str>, first: bool) {
        debug_assert_eq!(other.schema, SCHEMA);
        if first {
            self.answers = other.answers;
        }
        let named = |text: String| match name {
            Some(name) => format!("run {name}: {text}"),
            None => text,
        };
        self.head.extend(other.head.into_iter().map(named));
        self.sections
            .extend(other.sections.into_iter().map(|section| Section {
                heading: match (section.heading, name) {
                    (Some(heading), _) => Some(named(heading)),
                    (None, Some(name)) => Some(format!("run {name}")),
                    (None, None) => None,
                },
                ..section
            }));
        let warnings = other.warnings.into_iter();
        self.warnings
            .extend(warnings.map(|warning| Remark::new(warning.kind, named(warning.text))));
    }
}

/// The comparison's sections; the one with the table gets a heading.
fn compared(comparison: &Comparison, names: &[String]) -> Vec<Section> {
    let mut sections = comparison.document(&[]).sections;
    let has_table = |section: &&mut Section| {
        let mut blocks = section.blocks.iter();
        blocks.any(|block| matches!(block, Block::Table(_)))
    };
    if let Some(section) = sections.iter_mut().find(has_table) {
        let (first, others) = names
            .split_first()
            .map_or(("", &[][..]), |(first, others)| (first, others));
        let heading = format!("run {first} against {}", others.join(", "));
        section.heading.get_or_insert(heading);
    }
    sections
}
