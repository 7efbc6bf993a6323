//! One document of one run or of several: what they answer, under which conditions they were made, what tells
//! them apart, then each run's own sections.

mod facts;
#[cfg(test)]
mod tests;

use keymark_bench::record::{Record, RunId};

use crate::compare::{self, Comparison, Verdict};
use crate::document::{Again, Block, Conditions, Document, Remark, SCHEMA, Section};

/// A run with what is said of it.
#[derive(Debug)]
pub struct Part<'a> {
    /// The run.
    pub record: &'a Record,
    /// Its own report.
    pub document: Document,
    /// How it is made again, where that is known.
    pub again: Option<Again>,
}

/// The first run against another.
#[derive(Debug)]
pub struct Against<'a> {
    /// The other run.
    pub run: &'a RunId,
    /// What came of it.
    pub comparison: Comparison,
}

/// The whole report. Of several runs, the first is what `against` compares the others with.
#[must_use]
pub fn report(parts: Vec<Part<'_>>, against: &[Against<'_>]) -> Document {
    let records: Vec<&Record> = parts.iter().map(|part| part.record).collect();
    let names: Vec<String> = records.iter().map(|record| record.id.to_string()).collect();
    let mut whole = Document {
        title: Some(title(&names)),
        conditions: Some(Conditions {
            facts: facts::facts(&records),
            commands: parts.iter().filter_map(|part| part.again.clone()).collect(),
            runs: names,
        }),
        sections: against
            .iter()
            .map(|other| section(&records, other))
            .collect(),
        ..Document::of(Vec::new())
    };
    let several = parts.len() > 1;
    for (index, part) in parts.into_iter().enumerate() {
        let name = several.then(|| part.record.id.to_string());
        whole.add(part.document, name.as_deref(), index == 0);
    }
    whole.answer.extend(against.iter().map(verdicts));
    whole
}

fn title(names: &[String]) -> String {
    match names {
        [only] => format!("run {only}"),
        [first, others @ ..] => format!("run {first} against {}", others.join(", ")),
        [] => "no run".to_owned(),
    }
}

impl Document {
    /// Another document behind this one, under its name where there are several. The answer is the first one's.
    fn add(&mut self, other: Self, name: Option<&str>, first: bool) {
        debug_assert_eq!(other.schema, SCHEMA);
        if first {
            self.answer = other.answer;
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

fn section(records: &[&Record], other: &Against<'_>) -> Section {
    let first = records.first().map_or("", |record| &record.id.0);
    let heading = format!("run {first} (first) against run {} (second)", other.run);
    let sections = compare::document(&other.comparison).sections;
    let blocks: Vec<Block> = sections
        .into_iter()
        .flat_map(|section| section.blocks)
        .collect();
    Section::headed(heading, blocks)
}

/// How many cases came out how.
fn verdicts(other: &Against<'_>) -> String {
    let pairs = &other.comparison.pairs;
    let mut counted: Vec<(Verdict, usize)> = Vec::new();
    for pair in pairs {
        match counted
            .iter_mut()
            .find(|(verdict, _)| *verdict == pair.verdict)
        {
            Some((_, number)) => *number += 1,
            None => counted.push((pair.verdict, 1)),
        }
    }
    let said: Vec<String> = counted
        .iter()
        .map(|(verdict, number)| format!("{number} {verdict}"))
        .collect();
    match said.as_slice() {
        [] => format!("Run {} has no case in common with it.", other.run),
        said => format!(
            "Of the {} cases that run {} has in common with it: {}.",
            pairs.len(),
            other.run,
            said.join(", ")
        ),
    }
}
