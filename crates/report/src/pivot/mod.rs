//! A run in one figure a cell: a row for each key and operation, a column for each value of what a reader compares.

mod axis;
mod overview;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use itertools::Itertools;
use keymark_bench::case::{Case, DeviceName, Provenance};
use keymark_bench::record::Record;
use keymark_stats::Estimate;

use crate::analysis::{Row, asks_the_same};
use crate::document::{Brief, Cell, Column, Figured, Mark, Narrow, Table, TableOf};

pub use axis::Axis;
pub(crate) use overview::published_keycards;

/// Which figure of a case stands in a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// Mean time of an operation.
    Mean,
    /// Operations a second of all workers together.
    Rate,
}

/// What stands in one line: a figure of a run or of an article.
#[derive(Debug, Clone)]
pub struct Entry<'r> {
    /// The figure's case.
    pub case: Cow<'r, Case>,
    /// The article that it is from; none if it is the run's own.
    pub article: Option<&'r str>,
    /// The figure.
    pub cell: Option<Figured>,
    /// Why there is none, in a word.
    pub without: Option<&'static str>,
}

impl<'r> Entry<'r> {
    /// A case of a run.
    pub fn of(row: &'r Row, shown: Shown) -> Self {
        let without = match (&row.failure, &row.overload) {
            (Some(_), _) => Some("failed"),
            (None, Some(_)) => Some("overloaded"),
            (None, None) => None,
        };
        Self {
            case: Cow::Borrowed(&row.case),
            article: None,
            cell: match shown {
                Shown::Mean => row.banded_time().map(Figured::Time),
                Shown::Rate => row.throughput.map(Figured::Rate),
            },
            without,
        }
    }

    /// What an article says of something that the run has measured, on the run's device where that is the same.
    pub fn published(article: &'r Record, own: &[&Case]) -> Vec<Self> {
        let measured = article.cases.iter().filter_map(|case| {
            let published = case.published.as_ref()?;
            let alike = |other: &&&Case| asks_the_same(other, &case.case);
            let mut alike = own.iter().filter(alike).peekable();
            alike.peek()?;
            let mut of_device = alike.filter(|other| {
                normalize_device_name(&other.device) == normalize_device_name(&case.case.device)
            });
            let device = of_device
                .next()
                .map_or(&case.case.device, |own| &own.device);
            Some(Self {
                case: Cow::Owned(Case {
                    device: device.clone(),
                    ..case.case.clone()
                }),
                article: Some(article.id.0.trim_start_matches("published-")),
                cell: Some(Figured::Time(Estimate::bare(published.mean))),
                without: None,
            })
        });
        measured.collect()
    }
}

/// What an article calls `FST-01` or `CPU` is what a run calls `twin:fst-01` or `software`.
pub(crate) fn normalize_device_name(device: &DeviceName) -> DeviceName {
    let name = device.as_str().to_ascii_lowercase();
    let name = name.strip_prefix("twin:").unwrap_or(&name);
    DeviceName::new(if name == "cpu" { "software" } else { name })
}

/// A table with a figure in each cell.
#[derive(Debug)]
pub struct Pivot<'r> {
    entries: Vec<Entry<'r>>,
    columns: Vec<Axis>,
}

/// What a row of it is about.
struct Line<'p, 'r> {
    labels: Vec<String>,
    entries: Vec<&'p Entry<'r>>,
}

impl<'r> Pivot<'r> {
    /// With these axes as columns, or with those that suit the cases.
    pub fn new(entries: Vec<Entry<'r>>, by: Option<&[Axis]>) -> Self {
        let columns = by.map_or_else(|| axis::columns(&cases(&entries)), <[Axis]>::to_vec);
        Self { entries, columns }
    }

    /// The same with what articles say of these operations, each figure below the run's own.
    pub fn beside(mut self, articles: &'r [Record]) -> Self {
        let own = cases(&self.entries);
        let published = articles
            .iter()
            .flat_map(|article| Entry::published(article, &own));
        let published: Vec<Entry<'_>> = published.collect();
        self.entries.extend(published);
        // A run that compares nothing but keys is compared with the articles' devices.
        if self.columns.is_empty() && Axis::varying(&cases(&self.entries)).contains(&Axis::Device) {
            self.columns.push(Axis::Device);
        }
        self
    }

    /// The axes of the columns.
    pub fn columns(&self) -> &[Axis] {
        &self.columns
    }

    /// The axes that tell rows apart: a column each, but one for a program and its parameters.
    fn labels(&self) -> Vec<Vec<Axis>> {
        let cases = cases(&self.entries);
        let mut axes = vec![Axis::Algorithm, Axis::Operation];
        axes.extend(Axis::varying(&cases));
        axes.retain(|axis| !self.columns.contains(axis));
        axes.retain(|axis| *axis == Axis::Algorithm || axis.values(&cases).len() > 1);
        let mut labels: Vec<Vec<Axis>> = Vec::new();
        for axis in axes {
            match (&axis, labels.last_mut()) {
                (Axis::Parameter(_), Some(last)) if last[0] == Axis::Stack => last.push(axis),
                _ => labels.push(vec![axis]),
            }
        }
        labels
    }

    /// What all rows have in common and nobody takes for granted: `decrypt`, `gnupg`.
    pub fn constants(&self) -> Vec<String> {
        let cases = cases(&self.entries);
        let mut axes = vec![Axis::Operation];
        axes.extend(Axis::of_cases(&cases));
        axes.retain(|axis| !self.columns.contains(axis) && axis.values(&cases).len() == 1);
        let first = cases.first();
        let said = axes.iter().filter_map(|axis| {
            let case = first?;
            let word = axis.remarkable(case)?;
            let workers = *axis == Axis::Load && case.load.is_closed();
            Some(if workers {
                format!("{} at once", axis.of(case))
            } else {
                word
            })
        });
        said.collect()
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The kinds of the figures.
    pub fn kinds(&self) -> impl Iterator<Item = Provenance> {
        self.entries.iter().map(|entry| entry.case.provenance)
    }

    /// The kind of all figures, if they are of one.
    pub fn provenance(&self) -> Option<Provenance> {
        self.kinds().all_equal_value().ok()
    }

    /// The table.
    pub fn table(&self) -> Table {
        let labels = self.labels();
        let lines = self.lines(&labels);
        let subject = |line: &Line<'_, '_>| {
            let first = &line.entries[0].case;
            (first.device.clone(), first.provenance)
        };
        let mut table = TableOf::new(lines, subject);
        for (place, axes) in labels.iter().enumerate() {
            let column = Column::case(axes[0].to_string());
            table = table.column(column, move |line| line.labels[place].clone());
        }
        let from = |line: &Line<'_, '_>| line.entries[0].article.unwrap_or("this run").to_owned();
        let published = self.entries.iter().any(|entry| entry.article.is_some());
        let source = published.then(|| Column::name("source").narrow(Narrow::Keep));
        table = table.maybe(source, from);
        let uniform = self.provenance();
        for (heading, name) in self.headings() {
            let column = Column::value(heading).narrow(Narrow::Continue);
            table = table.column(column, |line| {
                let mut entries = line.entries.iter();
                let found = entries.find(|entry| self.name(&entry.case) == name);
                found.map_or(Cell::Missing, |entry| brief(entry, uniform))
            });
        }
        table.table()
    }

    fn lines<'p>(&'p self, labels: &[Vec<Axis>]) -> Vec<Line<'p, 'r>> {
        let mut lines: Vec<Line<'_, '_>> = Vec::new();
        for entry in &self.entries {
            let labels = labels.iter().map(|axes| label(axes, &entry.case)).collect();
            let is_its = |line: &&mut Line<'_, '_>| {
                line.labels == labels && line.entries[0].article == entry.article
            };
            match lines.iter_mut().find(is_its) {
                Some(line) => line.entries.push(entry),
                None => {
                    // What an article says stands below what the run says of the same.
                    let alike = lines.iter().rposition(|line| line.labels == labels);
                    let place = alike.map_or(lines.len(), |place| place + 1);
                    let entries = vec![entry];
                    lines.insert(place, Line { labels, entries });
                }
            }
        }
        lines
    }

    /// Which column a case stands in.
    fn name(&self, case: &Case) -> Vec<String> {
        self.columns.iter().map(|axis| axis.of(case)).collect()
    }

    /// Each column's heading and name, from left to right.
    fn headings(&self) -> Vec<(String, Vec<String>)> {
        let cases = cases(&self.entries);
        let values = self.columns.iter().map(|axis| axis.values(&cases));
        let values: Vec<Vec<String>> = values.collect();
        let named = cases.into_iter().map(|case| (case, self.name(case)));
        let found = named.unique_by(|(_, name)| name.clone());
        let found = found.map(|(case, name)| (self.heading(case), name));
        let from_left = found.sorted_by_key(|(_, name)| {
            let places = name.iter().zip(&values);
            let place =
                |(word, values): (&String, &Vec<String>)| values.iter().position(|one| one == word);
            places.map(place).collect::<Vec<_>>()
        });
        from_left.collect()
    }

    /// What is as usual is not said beside something that is not.
    fn heading(&self, case: &Case) -> String {
        match label(&self.columns, case) {
            nothing if nothing.is_empty() && self.columns.is_empty() => "mean".to_owned(),
            nothing if nothing.is_empty() => case.device.to_string(),
            label => label,
        }
    }
}

fn cases<'e>(entries: &'e [Entry<'_>]) -> Vec<&'e Case> {
    entries.iter().map(|entry| &*entry.case).collect()
}

/// What a case has on one axis, or what is remarkable of it on several.
fn label(axes: &[Axis], case: &Case) -> String {
    if let [axis] = axes {
        let word = axis.of(case);
        return match (axis, axis.remarkable(case)) {
            // Alone above a column, `usual` says nothing.
            (Axis::Parameter(name), None) => format!("{word} {name}"),
            _ => word,
        };
    }
    let words: Vec<String> = axes
        .iter()
        .filter_map(|axis| axis.remarkable(case))
        .collect();
    words.join(" ")
}

/// In brackets where it is not of the table's only kind and was not measured.
fn brief(entry: &Entry<'_>, uniform: Option<Provenance>) -> Cell {
    let Some(figure) = entry.cell else {
        return entry.without.map_or(Cell::Missing, Cell::text);
    };
    let kind = entry.case.provenance;
    let marked = uniform.is_none() && kind != Provenance::Measured;
    Cell::Brief(Brief {
        figure,
        provenance: kind,
        mark: if marked { Mark::Brackets } else { Mark::None },
        warning: entry.case.is_weak().then_some("weak"),
    })
}
