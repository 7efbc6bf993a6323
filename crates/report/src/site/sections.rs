//! Sections of a device's page: a chart and a table for each key and operation, with every source in both.

use std::collections::BTreeMap;

use itertools::Itertools;
use keymark_bench::{Algorithm, KeyFamily, Operation, Provenance, Settings, Strength};
use keymark_stats::{Estimate, PerSecond, Seconds};

use super::source::{SiteSource, SourceFigure};
use crate::analysis::Row;
use crate::charts::Chart;
use crate::document::mixed;
use crate::grouped;
use crate::pictures::{self, DotRow};
use crate::units::{self, counted};
use crate::{Block, Cell, Remark, RemarkKind, Table, TableOf};

/// Letters of a source's note in a section.
const NOTE: usize = 400;

/// Operation with one kind of key; handshakes are of one strength also, which their key exchange decides.
#[derive(Debug)]
pub struct KeySection {
    /// Its place on the page: `rsa2048-decrypt`.
    pub anchor: String,
    /// `rsa2048 decrypt`
    pub heading: String,
    /// Family of the algorithm.
    pub family: KeyFamily,
    /// Its strength, where a table has it.
    pub strength: Option<Strength>,
    /// Number of figures in words.
    pub about: String,
    /// Mean times of one worker, each with its program.
    pub times: Option<String>,
    /// The chart, then the table.
    pub blocks: Vec<Block>,
}

type Key = (Algorithm, Operation, Option<Strength>);

/// A figure and the source that it is of.
pub(super) type Entry<'s> = (&'s SiteSource, &'s SourceFigure);

pub(super) fn sections(figures: &[Entry<'_>]) -> Vec<KeySection> {
    let mut keys: BTreeMap<Key, Vec<Entry<'_>>> = BTreeMap::new();
    for &(source, figure) in figures {
        let case = &figure.row.case;
        let strength = case.strength();
        let group = keys.entry((case.algorithm, case.operation, strength));
        group.or_default().push((source, figure));
    }
    let sections = keys.iter_mut().map(|(key, figures)| {
        // Measurements come before statements; the rest is the order of the records.
        figures.sort_by_key(|(_, figure)| figure.row.case.provenance);
        section(*key, figures)
    });
    sections.collect()
}

fn section((algorithm, operation, strength): Key, figures: &[Entry<'_>]) -> KeySection {
    let family = KeyFamily::of(algorithm);
    let sources = || figures.iter().map(|(source, _)| source);
    let records = sources().map(|source| &source.address).unique().count();
    let machines = sources().filter_map(|source| source.machine.as_ref());
    let machines = machines.unique_by(|machine| &machine.id).count();
    let security = match strength {
        None => "of unlisted strength".to_owned(),
        Some(strength) if strength.is_weak() => format!("{strength} security, which is weak"),
        Some(strength) => format!("{strength} security"),
    };
    let mut about = format!(
        "{}, {security}; {} of {}",
        family.name(),
        counted(figures.len(), "figure"),
        counted(records, "record"),
    );
    if machines > 0 {
        about += &format!(" on {}", counted(machines, "machine"));
    }
    let mut blocks = Vec::from_iter(picture(algorithm, operation, figures).map(Block::Picture));
    blocks.push(Block::Table(table(figures)));
    blocks.extend(remarks(figures).into_iter().map(Block::Remark));
    let handshake = strength.filter(|_| operation == Operation::Handshake);
    let bits = handshake.map(|Strength(bits)| format!("-{bits}"));
    let security = handshake.map(|strength| format!(", {strength} security"));
    KeySection {
        anchor: format!("{algorithm}-{operation}{}", bits.unwrap_or_default()),
        heading: format!("{algorithm} {operation}{}", security.unwrap_or_default()),
        family,
        strength,
        about: about + brackets(figures),
        times: times(figures),
        blocks,
    }
}

/// The mean times of one worker, for each program and kind of figures: figures through different programs are no range.
fn times(figures: &[Entry<'_>]) -> Option<String> {
    let alone = figures.iter().map(|(_, figure)| &figure.row);
    let alone = alone.filter(|row| row.case.is_alone() && row.failure.is_none());
    let ways = grouped(alone, |row| (row.case.way(), row.case.provenance));
    let mut told = ways.into_iter().filter_map(|((way, provenance), rows)| {
        let means = rows.into_iter().filter_map(Row::mean);
        let ends = means.minmax_by(|a, b| a.0.total_cmp(&b.0)).into_option()?;
        let (least, most) = (units::duration(ends.0), units::duration(ends.1));
        let range = if least == most {
            least
        } else {
            format!("{least} to {most}")
        };
        let kind = Some(provenance).filter(|kind| *kind != Provenance::Measured);
        let kind = kind.map(|kind| format!(", {kind}")).unwrap_or_default();
        Some(format!("{range} ({way}{kind})"))
    });
    let told = told.join(", ");
    (!told.is_empty()).then_some(told)
}

fn brackets(figures: &[Entry<'_>]) -> &'static str {
    let is_banded = |(_, figure): &&Entry<'_>| figure.row.band().is_some();
    let banded = figures.iter().filter(is_banded).count();
    if banded == 0 {
        ". 95 % intervals in brackets."
    } else if banded == figures.len() {
        ". Bands of assumptions in brackets."
    } else {
        ". 95 % intervals in brackets, bands of assumptions for predictions."
    }
}

/// Draws a dot for each row. All have the device in common; in its place is the record.
fn picture(algorithm: Algorithm, operation: Operation, figures: &[Entry<'_>]) -> Option<Chart> {
    let tolerance = Seconds(Settings::default().tolerance.as_secs_f64());
    let dots = figures.iter().filter_map(|(source, figure)| {
        let dot = DotRow::mean(&figure.row)?;
        Some(DotRow {
            device: source.label().to_owned(),
            label: format!("{}, {}", dot.label, source.name),
            ..dot
        })
    });
    let dots = dots.collect();
    let mut rows = figures.iter().map(|(_, figure)| &figure.row);
    // A band is no interval.
    if rows.all(|row| row.band().is_some()) {
        let title = format!("{algorithm} {operation}: predicted time, with its band");
        return pictures::predictions(&title, tolerance, dots);
    }
    let title = format!("{algorithm} {operation}: mean time, with its 95 % interval");
    pictures::means(&title, tolerance, dots)
}

fn table(figures: &[Entry<'_>]) -> Table {
    TableOf::new(figures)
        .name("record", |(source, _)| Cell::Link {
            text: source.label().to_owned(),
            page: source.page_from_a_device(),
        })
        .name("provenance", |(_, figure)| figure.row.case.provenance)
        .name("device", |(_, figure)| Cell::text(&figure.row.case.device))
        .name("stack", |(_, figure)| figure.row.case.way())
        .value("n", |(_, figure)| number(&figure.row))
        .value("mean", |(_, figure)| mean(&figure.row))
        .value("median", |(_, figure)| {
            let median = figure.row.summary.as_ref()?.median;
            let known = median.low.is_some() || median.high.is_some();
            known.then_some(median)
        })
        .value("p99", |(_, figure)| figure.row.summary.as_ref()?.p99)
        .value("op/s", |(_, figure)| figure.row.throughput.map(rate))
        .table()
}

fn number(row: &Row) -> Cell {
    match (row.n(), row.case.provenance) {
        (Some(number), _) => number.into(),
        (None, Provenance::Predicted) => Cell::text("calculated"),
        (None, Provenance::Published) => Cell::text("not stated"),
        (None, Provenance::Measured | Provenance::Virtual | Provenance::Twin) => Cell::from(0_u64),
    }
}

fn mean(row: &Row) -> Cell {
    if row.overload.is_some() {
        return Cell::text("overloaded");
    }
    match (&row.summary, row.mean()) {
        (Some(summary), _) if summary.mean.low.is_some() => summary.mean.into(),
        (_, Some(mean)) => Cell::Text(match row.band() {
            None => format!("{} (no interval)", units::duration(mean)),
            Some(band) => {
                let banded = Estimate::banded(mean, band);
                format!("{}, a band", units::estimated_duration(&banded))
            }
        }),
        (_, None) => Cell::text("failed"),
    }
}

fn rate(estimate: Estimate<PerSecond>) -> Cell {
    match (estimate.low, estimate.high) {
        (None, None) => Cell::Text(format!("{} (no interval)", units::rate(estimate.value))),
        _ => estimate.into(),
    }
}

/// Remarks on the rows: several kinds, reasons of failures, notes of articles.
fn remarks(figures: &[Entry<'_>]) -> Vec<Remark> {
    let mut remarks = Vec::new();
    if let Some(kinds) = mixed(figures.iter().map(|(_, figure)| figure.row.case.provenance)) {
        let text = format!("This section mixes figures of different kinds: {kinds}.");
        remarks.push(Remark::new(RemarkKind::MixedProvenance, text));
    }
    for (source, figure) in figures {
        let row = &figure.row;
        let of = format!("{}, {} {}", source.label(), row.case.device, row.case.way());
        if let Some(reason) = &row.failure {
            let text = format!("{of}: failed: {}", shortened(reason));
            remarks.push(Remark::new(RemarkKind::Failure, text));
        }
        if let Some(assumed) = row.assumed {
            let text = format!("{of}: nobody measured this time; it is assumed ({assumed})");
            remarks.push(Remark::new(RemarkKind::Basis, text));
        }
        if let Some(note) = &figure.note {
            let text = format!("{of}: {}", shortened(note));
            remarks.push(Remark::new(RemarkKind::Basis, text));
        }
    }
    remarks
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= NOTE {
        return text.to_owned();
    }
    let begin: String = text.chars().take(NOTE).collect();
    format!("{begin}… (the record has all of it)")
}
