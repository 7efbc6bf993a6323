//! Report of a run, of several or of a comparison: verdict, conditions, differences, then each run's own sections.

mod collection;
mod comparison;
mod run;
mod series;
#[cfg(test)]
mod tests;

use itertools::Itertools;
use keymark_bench::case::{Case, Provenance, StackName};
use keymark_bench::environment::Environment;
use keymark_bench::operation::Operation;
use keymark_bench::record::{Record, RunState};

use crate::compare::{Comparison, conditions};
use crate::document::{Block, Conditions, Document, Remark, Rerun, Section};
use crate::units::counted;
use crate::verdict::{Verdict, listed};

pub use collection::{
    CollectedFigure, FigureFilter, published_device, published_devices, published_figures,
    published_section,
};
pub use series::{SeriesRow, series, series_rows};

/// A run with its report.
#[derive(Debug)]
pub struct Part<'a> {
    /// The run.
    pub record: &'a Record,
    /// Its own report.
    pub document: Document,
    /// Command that repeats it, if that is known.
    pub rerun: Option<Rerun>,
}

/// The whole report. Of several runs, the first is what the comparison takes the others to, a side each.
pub fn report(parts: Vec<Part<'_>>, comparison: Option<&Comparison>) -> Document {
    let records: Vec<&Record> = parts.iter().map(|part| part.record).collect();
    let names: Vec<String> = records.iter().map(|record| record.id.to_string()).collect();
    let mut whole = Document {
        title: Some(title(&records)),
        sections: comparison.map_or_else(Vec::new, |comparison| compared(comparison, &names)),
        conditions: Some(Conditions {
            facts: conditions::facts(&records),
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
        whole.verdict = Verdict::of_comparison(comparison);
    }
    whole
}

impl Document {
    /// Another document behind this one, under its name where there are several. The verdict is that of a single run.
    fn add(&mut self, other: Self, name: Option<&str>, first: bool) {
        if first {
            self.verdict = other.verdict.filter(|_| name.is_none());
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
        self.warnings.extend(
            other
                .warnings
                .into_iter()
                .map(|warning| Remark::new(warning.kind, named(warning.text))),
        );
    }
}

/// The comparison's sections; the one with the table gets a heading.
fn compared(comparison: &Comparison, names: &[String]) -> Vec<Section> {
    let mut sections = comparison.document(&[]).sections;
    let has_table = |section: &&mut Section| {
        section
            .blocks
            .iter()
            .any(|block| matches!(block, Block::Table(_)))
    };
    if let (Some(section), [first, others @ ..]) = (sections.iter_mut().find(has_table), names) {
        let heading = format!("run {first} against {}", others.join(", "));
        section.heading.get_or_insert(heading);
    }
    sections
}

/// More devices than these are counted.
const NAMED: usize = 3;

/// Title of a report: `GnuPG keys on AMD EPYC, 2 cores`. For one run, or for several of the same.
fn title(records: &[&Record]) -> String {
    let mut subjects: Vec<String> = records.iter().map(|record| subject(record)).collect();
    subjects.dedup();
    match (subjects.as_slice(), records.len()) {
        ([], _) => "no run".to_owned(),
        ([only], 1) => only.clone(),
        ([only], runs) => format!("{only}: {runs} runs compared"),
        (several, _) => several.join(" against "),
    }
}

fn subject(record: &Record) -> String {
    let cases = || record.cases.iter().map(|case| &case.case);
    if record.state == RunState::Published {
        let name = record.id.0.trim_start_matches("published-");
        return format!("Published figures: {name}");
    }
    let of = |has: &dyn Fn(&Case) -> bool| cases().any(has);
    let what = if cases().all(|case| case.provenance == Provenance::Predicted) {
        "Predicted times of keys"
    } else if of(&|case| case.operation == Operation::Handshake) {
        "TLS servers"
    } else if record.cases.iter().any(|case| case.server_load.is_some()) {
        "Services that sign"
    } else if of(&|case| [StackName::GPG, StackName::AGENT].contains(&case.stack)) {
        "GnuPG keys"
    } else {
        "Private keys"
    };
    // A token's software on this CPU is no other place.
    let here =
        |case: &&Case| case.device.as_str() == "software" || case.provenance == Provenance::Virtual;
    let elsewhere = cases().filter(|case| !here(case));
    let devices = elsewhere.map(|case| case.device.to_string()).unique();
    let mut devices: Vec<String> = devices.collect();
    if devices.len() > NAMED {
        devices = vec![counted(devices.len(), "device")];
    }
    let own = cases().any(|case| here(&case));
    let machine = own.then(|| machine(&record.environment)).flatten();
    match listed(machine.into_iter().chain(devices)).as_str() {
        "" => what.to_owned(),
        on => format!("{what} on {on}"),
    }
}

/// `AMD EPYC, 2 cores`, without what every processor is called.
fn machine(environment: &Environment) -> Option<String> {
    let model = environment.cpu_model.as_deref()?;
    let mut words = String::new();
    let mut depth = 0;
    for letter in model.chars() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            '@' => break,
            _ if depth == 0 => words.push(letter),
            _ => {}
        }
    }
    let common = |word: &&str| !["Processor", "CPU"].contains(word);
    let words = words.split_whitespace().filter(common).format(" ");
    let cores = counted(environment.cores, "core");
    let label = environment.machine.iter().map(|label| format!("{label}: "));
    Some(format!("{}{words}, {cores}", label.format("")))
}
