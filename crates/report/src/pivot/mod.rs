//! A run with one figure in each cell: a row for each key and operation, a column for each value of what a reader
//! compares.

mod axis;
mod overview;
#[cfg(test)]
mod tests;

use itertools::Itertools;
use keymark_bench::case::{Case, DeviceName, Provenance, StackName, StoreKind};
use keymark_bench::record::Record;
use keymark_stats::Estimate;

use crate::analysis::{Row, asks_the_same};
use crate::document::{Cell, Column, Form, Number, Table, TableOf};
use crate::grouped;
use crate::units::Unit;

pub use axis::Axis;
pub(crate) use overview::published_keycards;

/// Device of SoftHSM2, and the program's name.
const SOFTHSM: (&str, &str) = ("softhsm", "SoftHSM2");

/// Figure of a case that a pivot shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// Mean time of an operation.
    Mean,
    /// Operations per second of all workers together.
    Rate,
}

/// A figure of a run or of an article.
#[derive(Debug, Clone)]
pub struct PivotFigure<'r> {
    pub case: Case,
    /// Article that the figure is from; none if it is the run's own.
    pub article: Option<&'r str>,
    pub cell: Cell,
}

impl<'r> PivotFigure<'r> {
    /// A case of a run.
    pub fn of(row: &Row, shown: Shown) -> Self {
        let figure = match shown {
            Shown::Mean => row.banded_time().map(Number::from),
            Shown::Rate => row.throughput.map(Number::from),
        };
        let cell = match (figure, &row.failure, &row.overload) {
            (Some(figure), ..) => brief(&row.case, figure),
            (None, Some(_), _) => Cell::text("failed"),
            (None, None, Some(_)) => Cell::text("overloaded"),
            (None, None, None) => Cell::Missing,
        };
        Self {
            case: row.case.clone(),
            article: None,
            cell,
        }
    }

    /// An article's figures of operations that the run has measured. A device is called as the run calls it.
    pub fn published(article: &'r Record, own: &[&Case]) -> Vec<Self> {
        let measured = article.cases.iter().filter_map(|case| {
            let published = case.published.as_ref()?;
            let alike = || own.iter().filter(|other| asks_the_same(other, &case.case));
            alike().next()?;
            let name = normalize_device_name(&case.case.device);
            let of_device = alike().find(|own| normalize_device_name(&own.device) == name);
            let device = of_device.map_or(&case.case.device, |own| &own.device);
            let case = Case {
                device: device.clone(),
                ..case.case.clone()
            };
            Some(Self {
                cell: brief(&case, Estimate::bare(published.mean).into()),
                case,
                article: Some(article.id.0.trim_start_matches("published-")),
            })
        });
        measured.collect()
    }
}

fn brief(case: &Case, figure: Number) -> Cell {
    Cell::Number(Number {
        provenance: Some(case.provenance),
        warning: case.is_weak().then_some("weak"),
        form: Form::Brief,
        ..figure
    })
}

/// Returns the name that a run gives to a device: `twin:fst-01` for `FST-01`, `software` for `CPU`.
pub(crate) fn normalize_device_name(device: &DeviceName) -> DeviceName {
    let name = device.as_str().to_ascii_lowercase();
    let name = name.strip_prefix("twin:").unwrap_or(&name);
    DeviceName::new(if name == "cpu" { "software" } else { name })
}

/// Figures with the axes of their table.
#[derive(Debug)]
pub struct Pivot<'r> {
    entries: Vec<PivotFigure<'r>>,
    columns: Vec<Axis>,
}

impl<'r> Pivot<'r> {
    /// A pivot with these axes as columns, or with those that suit the cases.
    pub fn new(entries: Vec<PivotFigure<'r>>, by: Option<&[Axis]>) -> Self {
        let columns = by.map_or_else(|| axis::columns(&cases(&entries)), <[Axis]>::to_vec);
        Self { entries, columns }
    }

    /// Adds the figures of articles, each below the run's own.
    pub fn beside(mut self, articles: &'r [Record]) -> Self {
        let own = cases(&self.entries);
        let published = |article| PivotFigure::published(article, &own);
        let published = articles.iter().flat_map(published).collect_vec();
        self.entries.extend(published);
        // A run that compares nothing but keys is compared with the articles' devices.
        if self.columns.is_empty() && Axis::varying(&cases(&self.entries)).contains(&Axis::Device) {
            self.columns.push(Axis::Device);
        }
        self
    }

    /// Returns the axes of the columns.
    pub fn columns(&self) -> &[Axis] {
        &self.columns
    }

    /// Axes by which rows differ: a column each, but one for a program and its parameters.
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

    /// Returns what all rows have in common and is not usual: `decrypt`, `gpg`.
    pub fn constants(&self) -> Vec<String> {
        let cases = cases(&self.entries);
        let Some(case) = cases.first() else {
            return Vec::new();
        };
        let mut axes = vec![Axis::Operation];
        axes.extend(Axis::of_cases(&cases));
        axes.retain(|axis| !self.columns.contains(axis) && axis.values(&cases).len() == 1);
        let words = axes.iter().filter_map(|axis| {
            let word = axis.remarkable(case)?;
            let workers = *axis == Axis::Load && case.load.is_closed();
            Some(if workers {
                format!("{} at once", axis.of(case))
            } else {
                word
            })
        });
        words.collect()
    }

    /// Tells if it has no figure.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the kind of each figure.
    pub fn kinds(&self) -> impl Iterator<Item = Provenance> {
        self.entries.iter().map(|entry| entry.case.provenance)
    }

    /// Returns the kind of all figures, if they are of one.
    pub fn provenance(&self) -> Option<Provenance> {
        self.kinds().all_equal_value().ok()
    }

    /// Returns the column that most readers come for: the one of a whole program, else the fullest.
    fn main(&self, is_whole: impl Fn(&Case) -> bool) -> Option<Vec<String>> {
        let has_figure = |entry: &&PivotFigure<'_>| matches!(entry.cell, Cell::Number(_));
        let figures = self.entries.iter().filter(has_figure);
        let columns = grouped(figures, |entry| self.name(&entry.case)).into_iter();
        // Of equals the first is taken.
        let main = columns.rev().max_by_key(|(_, entries)| {
            let some_whole = entries.iter().any(|entry| is_whole(&entry.case));
            (some_whole, entries.len())
        });
        main.map(|(name, _)| name)
    }

    /// Returns the table. A narrow terminal shows the main column at least.
    pub fn table(&self, is_whole: impl Fn(&Case) -> bool) -> Table {
        let labels = self.labels();
        let mut table = TableOf::new(self.lines(&labels));
        for axes in &labels {
            let column = Column::name(axes[0].to_string());
            table = table.column(column, |line| label(axes, &line[0].case));
        }
        if self.entries.iter().any(|entry| entry.article.is_some()) {
            table = table.label("source", |line| line[0].article.unwrap_or("this run"));
        }
        let uniform = self.provenance().is_some();
        let main = self.main(is_whole);
        for (heading, name) in self.headings() {
            let mut column = Column::value(heading);
            if main.as_ref() != Some(&name) {
                column = column.leave(0);
            }
            table = table.column(column, |line| {
                let found = line.iter().find(|entry| self.name(&entry.case) == name);
                found.map_or(Cell::Missing, |entry| bracketed(&entry.cell, uniform))
            });
        }
        table.table()
    }

    /// Entries of each row. An article's row comes below the run's row with the same labels.
    fn lines<'p>(&'p self, labels: &[Vec<Axis>]) -> Vec<Vec<&'p PivotFigure<'r>>> {
        let labels = |entry: &PivotFigure<'_>| -> Vec<String> {
            labels.iter().map(|axes| label(axes, &entry.case)).collect()
        };
        let rows = grouped(&self.entries, |entry| labels(entry)).into_iter();
        let rows = rows.flat_map(|(_, alike)| grouped(alike, |entry| entry.article));
        rows.map(|(_, line)| line).collect()
    }

    /// Column of a case.
    fn name(&self, case: &Case) -> Vec<String> {
        self.columns.iter().map(|axis| axis.of(case)).collect()
    }

    /// Each column's heading and name, from left to right.
    fn headings(&self) -> Vec<(String, Vec<String>)> {
        let cases = cases(&self.entries);
        let values = self.columns.iter().map(|axis| axis.values(&cases));
        let values = values.collect_vec();
        let place = |name: &[String]| {
            let words = name.iter().zip(&values);
            words
                .map(|(word, values)| values.iter().position(|one| one == word))
                .collect_vec()
        };
        let named = cases
            .into_iter()
            .map(|case| (self.heading(case), self.name(case)));
        let named = named.unique_by(|(_, name)| name.clone());
        named.sorted_by_key(|(_, name)| place(name)).collect()
    }

    /// Heading of a case's column, without what is usual.
    fn heading(&self, case: &Case) -> String {
        let is_token =
            |case: &Case| case.stack == StackName::RAW && case.store != StoreKind::SOFTWARE;
        if self.columns == [Axis::Stack] {
            let mut same = self.entries.iter().map(|entry| &entry.case);
            // A column of a library and of devices.
            if same.any(|other| self.name(other) == self.name(case) && is_token(other)) {
                return axis::DIRECT.to_owned();
            }
        }
        if is_token(case) && self.columns.contains(&Axis::Device) {
            let others = self.columns.iter().filter(|axis| **axis != Axis::Stack);
            let name = label(&others.cloned().collect::<Vec<Axis>>(), case);
            return name.replace(SOFTHSM.0, SOFTHSM.1);
        }
        match label(&self.columns, case) {
            nothing if nothing.is_empty() && self.columns.is_empty() => self.figure().to_owned(),
            nothing if nothing.is_empty() => case.device.to_string(),
            label => label,
        }
    }

    /// Heading of the only column.
    fn figure(&self) -> &'static str {
        let is_rate = |entry: &PivotFigure<'_>| matches!(&entry.cell, Cell::Number(number) if number.unit == Unit::PerSecond);
        match self.entries.iter().any(is_rate) {
            true => "rate",
            false => "mean",
        }
    }
}

fn cases<'e>(entries: &'e [PivotFigure<'_>]) -> Vec<&'e Case> {
    entries.iter().map(|entry| &entry.case).collect()
}

/// Value of a case on one axis, or its unusual values on several.
fn label(axes: &[Axis], case: &Case) -> String {
    if let [axis] = axes {
        let word = axis.shown(case);
        return match (axis, axis.remarkable(case)) {
            // Alone above a column, `usual` says nothing.
            (Axis::Parameter(name), None) => format!("{word} {name}"),
            _ => word,
        };
    }
    let mut words = axes.iter().filter_map(|axis| axis.remarkable(case));
    words.join(" ")
}

/// Puts a figure in brackets that was not measured, if others were.
fn bracketed(cell: &Cell, uniform: bool) -> Cell {
    match cell {
        Cell::Number(number) if !uniform && number.provenance != Some(Provenance::Measured) => {
            Cell::Number(Number {
                form: Form::Bracketed,
                ..*number
            })
        }
        Cell::Number(_) | Cell::Text(_) | Cell::Missing | Cell::Link { .. } => cell.clone(),
    }
}
