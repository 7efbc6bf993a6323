//! A run in one or two pivots: times of single operations, and rates of several workers.

use std::collections::BTreeSet;
use std::iter::repeat;

use itertools::Itertools;
use keymark_bench::{
    Case, DeviceName, KeyFamily, Operation, Point, Provenance, Record, StackName, StoreKind,
};
use keymark_records::published::{Grade, PublishedTable, Timed};

use super::{Axis, Pivot, PivotFigure, Shown, normalize_device_name};
use crate::analysis::{Analysis, Row};
use crate::render::words;
use crate::{Block, Depth, RemarkKind, Section};

impl Analysis {
    /// The first sections of a run's document, with columns of that kind if one is chosen.
    pub fn overview(&self, by: Option<&[Axis]>, articles: &[Record]) -> Vec<Section> {
        let mut sections = self.pivots(by, articles);
        // A time that nobody measured is nowhere shown without saying so.
        if let Some(first) = sections.first_mut() {
            first.blocks.extend(self.assumptions().map(Block::Remark));
        }
        sections
    }

    /// Returns the first sections next to bars of all parts: what goes through other programs, then the tables that the bars
    /// replace on a terminal. Signatures of logins are next to others.
    pub(crate) fn overview_beside_bars(&self, articles: &[Record]) -> Vec<Section> {
        let all = self.overview(None, articles);
        let points: Vec<&Point> = { self.breakdowns.iter() }
            .flat_map(|family| {
                let steps = family
                    .layers
                    .steps
                    .iter()
                    .flat_map(|step| [&step.upper, &step.lower]);
                steps.chain([&family.layers.base.point])
            })
            .collect();
        let is_part = |case: &Case| {
            points.iter().any(|point| {
                **point == Point::of(case)
                    || point.stack != StackName::RAW && point.stack == case.stack
            })
        };
        let is_drawn = |case: &Case| {
            let mut of = self.breakdowns.iter().flat_map(|family| &family.breakdowns);
            is_part(case)
                && of.any(|breakdown| {
                    breakdown.is_about(case) || case.parameters.get("protection").is_some()
                })
        };
        let is_other = |row: &&Row| {
            row.case.is_alone()
                && !is_drawn(&row.case)
                && KeyFamily::of(row.case.algorithm) != KeyFamily::PostQuantum
        };
        let others = entries(self.rows.iter().filter(is_other), Shown::Mean);
        let others = others.into_iter().map(|mut entry| {
            if entry.case.operation == Operation::Authenticate {
                entry.case.operation = Operation::Sign;
            }
            entry
        });
        let others = Pivot::new(others.collect(), None);
        let whole = self
            .breakdowns
            .iter()
            .find_map(|family| family.layers.whole.as_ref());
        let program = whole.map_or("these programs", |whole| whole.name);
        let Some(mut others) = self.section(&format!("without {program}"), &others) else {
            return all;
        };
        // Every line of the first screen counts.
        if let (Some(heading), Some(Block::Remark(signs))) =
            (&mut others.heading, others.blocks.get(1))
        {
            *heading = format!("{heading} ({})", signs.text);
            others.blocks.truncate(1);
        }
        let depths = [Depth::Pictured].into_iter().chain(repeat(Depth::Beside));
        let all = all.into_iter().zip(depths);
        let all = all.map(|(section, depth)| section.at(depth));
        std::iter::once(others).chain(all).collect()
    }

    fn pivots(&self, by: Option<&[Axis]>, articles: &[Record]) -> Vec<Section> {
        if self.rows.iter().any(|row| row.under_load.is_some()) {
            let pivot = Pivot::new(entries(&self.rows, Shown::Rate), by);
            return Vec::from_iter(self.section("operations per second", &pivot));
        }
        if by.is_some() {
            let pivot = Pivot::new(entries(&self.rows, Shown::Mean), by).beside(articles);
            return Vec::from_iter(self.section("mean time of an operation", &pivot));
        }
        let (several, alone): (Vec<&Row>, Vec<&Row>) =
            self.rows.iter().partition(|row| self.is_level(&row.case));
        let crowded = alone.iter().copied().filter(|row| is_crowd(&row.case));
        let crowded: Vec<&Row> = crowded.collect();
        let alone = Pivot::new(entries(alone, Shown::Mean), None).beside(articles);
        let lowest = |row: &&Row| self.scaling.iter().any(|group| group.case == row.case);
        let levels = self.rows.iter().filter(lowest);
        let levels = levels.chain(crowded).chain(several);
        let levels = levels.unique_by(|row| row.id);
        let levels = Pivot::new(entries(levels, Shown::Rate), Some(&[Axis::Load]));
        let cards = articles.is_empty().then(|| self.of_today()).flatten();
        let sections = [
            self.section("mean time of an operation", &alone),
            self.section("operations per second, by number of workers", &levels),
            cards.map(|section| section.at(Depth::Beside)),
        ];
        sections.into_iter().flatten().collect()
    }

    /// Published figures of devices that one can buy for the same operations, if the run has no card of its own and is no article.
    fn of_today(&self) -> Option<Section> {
        let is_own =
            |row: &Row| row.published.is_some() || row.case.store == StoreKind::OPENPGP_CARD;
        if self.rows.iter().any(is_own) {
            return None;
        }
        let own: Vec<&Case> = self.rows.iter().map(|row| &row.case).collect();
        let article = devices_of_today();
        let entries = PivotFigure::published(&article, &own);
        let pivot = Pivot::new(entries, Some(&[Axis::Device]));
        self.section("for comparison, devices of today", &pivot)
    }

    /// Returns the rows of the main column of the first table, and its heading.
    pub(crate) fn main_column(&self) -> Option<(String, Vec<&Row>)> {
        let alone = self.rows.iter().filter(|row| !self.is_level(&row.case));
        let alone: Vec<&Row> = alone.filter(|row| row.case.replica == 0).collect();
        let pivot = Pivot::new(entries(alone.iter().copied(), Shown::Mean), None);
        let main = pivot.main(|case| self.is_whole(case))?;
        let of_main = |row: &&Row| pivot.name(&row.case) == main && row.mean().is_some();
        let rows: Vec<&Row> = alone.into_iter().filter(of_main).collect();
        Some((pivot.heading(&rows.first()?.case), rows))
    }

    /// The pivot under the statements about all of it, and the meaning of its signs.
    fn section(&self, what: &str, pivot: &Pivot<'_>) -> Option<Section> {
        if pivot.is_empty() {
            return None;
        }
        let kind = pivot.provenance();
        let kind = kind.filter(|kind| *kind != Provenance::Measured);
        let mut said = pivot.constants();
        said.extend(kind.map(|kind| kind.to_string()));
        let heading = match said.as_slice() {
            [] => what.to_owned(),
            said => format!("{what}: {}", said.join(", ")),
        };
        let table = pivot.table(|case| self.is_whole(case));
        let cells = table.rows.iter().flatten();
        let written: Vec<String> = cells.map(words).collect();
        let mut blocks = vec![Block::Table(table)];
        blocks.extend(signs(pivot, &written).map(|text| Block::remark(RemarkKind::Basis, text)));
        Some(Section::headed(heading, blocks).first())
    }

    /// Tells if a case differs from one in the table of times by the number of workers alone.
    fn is_level(&self, case: &Case) -> bool {
        self.scaling
            .iter()
            .any(|group| group.case != *case && group.is_of(case))
    }
}

/// Tells if several workers ask at once, as often as they can: then their rate says more than the time of each.
fn is_crowd(case: &Case) -> bool {
    case.load.is_closed() && case.workers() > 1
}

/// Devices that are in sale and have figures, by their ids: two keycards, an HSM, a TPM.
const OF_TODAY: [&str; 4] = ["yubikey-5", "nitrokey-3", "yubihsm-2", "slb9672"];

/// Returns times of commands of devices that one can buy.
fn devices_of_today() -> Record {
    PublishedTable::selection("collection", |row| {
        row.timed == Timed::Command
            && row.grade != Grade::Anecdote
            && !row.is_piv()
            && row
                .device
                .is_some_and(|device| OF_TODAY.contains(&device.id.as_str()))
    })
}

/// Figures of the keycards in the LWN article of 2017, for runs without a card.
pub(crate) fn published_keycards() -> Option<Record> {
    let article = PublishedTable::named("lwn-2017-keycards").ok()?;
    let mut article = article.record().ok()?;
    let processor = normalize_device_name(&DeviceName::new("CPU"));
    let is_card = |device: &DeviceName| normalize_device_name(device) != processor;
    article.cases.retain(|case| is_card(&case.case.device));
    Some(article)
}

fn entries<'r>(rows: impl IntoIterator<Item = &'r Row>, shown: Shown) -> Vec<PivotFigure<'static>> {
    let first = |row: &&Row| row.case.replica == 0;
    let rows = rows.into_iter().filter(first);
    rows.map(|row| PivotFigure::of(row, shown)).collect()
}

/// Explains the signs in these cells.
fn signs(pivot: &Pivot<'_>, written: &[String]) -> Option<String> {
    let has = |sign: char| written.iter().any(|cell| cell.contains(sign));
    let mut said = Vec::new();
    if has('~') {
        said.push("~ too few samples for an interval".to_owned());
    }
    if has('≥') {
        said.push("≥ at least that".to_owned());
    }
    if has('[') {
        let kinds = pivot.kinds().filter(|kind| *kind != Provenance::Measured);
        let kinds: BTreeSet<&str> = kinds.map(meaning).collect();
        let kinds = kinds.iter().format("; ");
        said.push(format!("[ ] not measured here: {kinds}"));
    }
    (!said.is_empty()).then(|| said.join(" · "))
}

/// Meaning of a kind of figure.
const fn meaning(kind: Provenance) -> &'static str {
    match kind {
        Provenance::Measured => "measured",
        Provenance::Virtual => "a token's software on this CPU",
        Provenance::Twin => "a twin with a device's published or recorded times",
        Provenance::Predicted => "a model's prediction",
        Provenance::Published => "published figures",
    }
}
