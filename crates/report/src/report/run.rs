//! The report of a run: which sections there are, and in which order.

use itertools::Itertools;
use keymark_bench::{LoadLimit, Operation, Provenance, Record};
use keymark_stats::Seconds;

use crate::analysis::tables;
use crate::analysis::{
    Analysis, FamilyBreakdown, PublishedFigure, Row, Scaling, and, key_use, servers,
};
use crate::charts::{Chart, Mark};
use crate::compare::conditions;
use crate::document::mixed;
use crate::non_empty;
use crate::pictures::{self, AnalyzedRun, DotRow, PARTS, PictureKind};
use crate::pivot::Axis;
use crate::verdict::Verdict;
use crate::{Block, Depth, Document, RemarkKind, Section};

/// Pictures of a report.
const PICTURES: usize = 6;
/// Means of the picture on the first screen.
const FEW: usize = 12;

/// Note on the table of strengths.
const SECURITY: &str = "security: the weaker of certificate and key exchange, by NIST SP 800-57 part 1 rev. 5, \
                        table 2 (P-256 and RSA-3072 128-bit, P-384 192-bit; tables after CNSA have P-384 at 128)";

impl Analysis {
    /// The whole report. `record` is what was analyzed; of its twins, the published figures.
    pub fn document(&self, record: &Record, published: &[PublishedFigure]) -> Document {
        self.document_beside(record, published, &[], None)
    }

    /// Returns the report with articles' figures of the same operations, and with chosen columns of the first table.
    pub fn document_beside(
        &self,
        record: &Record,
        published: &[PublishedFigure],
        articles: &[Record],
        by: Option<&[Axis]>,
    ) -> Document {
        let verdict = Verdict::of(self, record);
        let run = AnalyzedRun {
            record,
            analysis: self,
        };
        let picture = self.picture_of(&verdict, record);
        let mut sections = match &picture {
            Some(picture) if by.is_none() && picture.kind == PictureKind::Layers.word() => {
                self.overview_beside_bars(articles)
            }
            Some(_) | None => self.overview(by, articles),
        };
        sections.push(self.main(run));
        if let Some(first) = sections.first_mut() {
            first.blocks.extend(picture.map(Block::Picture));
        }
        sections.extend(self.services());
        sections.extend(self.servers());
        sections.extend(self.under_load(record));
        let loads = drawn(run, PictureKind::Load);
        sections.extend(pictured("response times under load", loads));
        sections.extend(key_use::sections(record));
        sections.extend(servers::failed(record));
        sections.extend(self.breakdowns.iter().filter_map(Self::breakdown));
        for (heading, title, wanted) in PARTS {
            let table = tables::parts(&self.rows, wanted);
            if !table.rows.is_empty() {
                let blocks = std::iter::once(Block::Table(table));
                let picture = pictures::of_parts(&self.rows, title, wanted);
                let blocks = blocks.chain(picture.map(Block::Picture)).collect();
                sections.push(Section::headed(heading, blocks));
            }
        }
        sections.extend(self.twins(published));
        if !self.scaling.is_empty() {
            sections.push(self.parallel(run));
        }
        let drifted = pictures::drifted(run).into_iter();
        let uneven = drifted.chain(pictures::stepped(run)).map(Block::Picture);
        sections.extend(pictured("how even the durations are", uneven));
        let sections = with_few_pictures(sections);
        let warnings = self.warnings(record);
        Document {
            title: Some(format!("run {}", record.id)),
            verdict: Some(verdict),
            head: conditions::head(record, self.speed.as_ref()),
            head_in_brief: conditions::in_brief(record),
            warnings,
            ..Document::of(sections)
        }
    }

    /// Returns the picture of the verdict, of many means those of the first table's main column.
    pub fn picture(&self, record: &Record) -> Option<Chart> {
        self.picture_of(&Verdict::of(self, record), record)
    }

    fn picture_of(&self, verdict: &Verdict, record: &Record) -> Option<Chart> {
        let run = AnalyzedRun {
            record,
            analysis: self,
        };
        let kind = pictures::default_kind(&[verdict], &[run])?;
        let chart = pictures::charts(&[run], kind).into_iter().next()?;
        let dots = chart.marks().filter_map(Mark::try_as_dot_ref).count();
        let column = self.main_column();
        let column = column.filter(|_| kind == PictureKind::Means && dots > FEW);
        let column = column.and_then(|(heading, rows)| {
            let title = format!("mean time of an operation: {heading}");
            let tolerance = Seconds(record.plan.settings.tolerance.as_secs_f64());
            let means = rows.into_iter().filter_map(DotRow::mean);
            pictures::means(&title, tolerance, means.collect())
        });
        Some(column.unwrap_or(chart))
    }

    fn main(&self, run: AnalyzedRun<'_>) -> Section {
        let record = run.record;
        let tolerance = record.plan.settings.tolerance;
        let mut blocks = vec![Block::Table(tables::rows(&self.rows, tolerance))];
        for case in &record.cases {
            if let (Provenance::Predicted, Some(figure)) = (case.case.provenance, &case.published) {
                let basis = format!("{}: {}", case.case, figure.note);
                blocks.push(Block::remark(RemarkKind::Basis, basis));
            }
        }
        if let Some(kinds) = mixed(self.rows.iter().map(|row| row.case.provenance)) {
            let mixed = format!("this table mixes figures of different kinds: {kinds}");
            blocks.push(Block::remark(RemarkKind::MixedProvenance, mixed));
        }
        blocks.extend(drawn(run, PictureKind::Means));
        Section {
            depth: Depth::Every,
            ..Section::bare(blocks)
        }
    }

    /// Sections on the phases of transactions with servers, if there were any, and on siege's figures.
    fn under_load(&self, record: &Record) -> Vec<Section> {
        let phases = tables::phases(&self.rows);
        if phases.rows.is_empty() {
            return Vec::new();
        }
        let mut blocks = vec![Block::Table(phases)];
        let slow_client = |row: &&Row| {
            let load = row.under_load.as_ref();
            load.is_some_and(|load| load.limit == LoadLimit::Client)
        };
        let limited = self.rows.iter().filter(slow_client);
        let limited: Vec<String> = limited.map(|row| row.case.to_string()).collect();
        if let [first, others @ ..] = limited.as_slice() {
            let text = format!(
                "{first}: the client was the bottleneck and set the rate; give it more cores{}",
                and(others)
            );
            blocks.push(Block::remark(RemarkKind::Limit, text));
        }
        blocks.extend(record.cases.iter().filter_map(|case| {
            let why = case.server_load.as_ref()?.unsteady.as_ref()?;
            let text = format!(
                "{}: no steady state, so only siege's figures mean something: {why}",
                case.case
            );
            Some(Block::remark(RemarkKind::Imprecision, text))
        }));
        let mut operations = self.rows.iter().map(|row| row.case.operation);
        if operations.contains(&Operation::Handshake) {
            blocks.push(Block::remark(RemarkKind::Basis, SECURITY));
        }
        for case in &record.cases {
            let clients = case.server_load.iter().flat_map(|load| &load.clients);
            blocks.extend(clients.filter_map(|(name, lost)| {
                let text = format!(
                    "{}: {name} did not load to the end ({}); only time with all clients counts",
                    case.case,
                    lost.as_ref()?
                );
                Some(Block::remark(RemarkKind::Imprecision, text))
            }));
        }
        vec![
            Section::headed(
                "a transaction with a server: mean of each phase and p95 of the whole in the steady state, processor time \
                 of each side",
                blocks,
            ),
            Section::headed(
                "as siege counts (the whole load, including its start and end)",
                vec![Block::Table(tables::siege(&self.rows))],
            ),
        ]
    }

    fn breakdown(family: &FamilyBreakdown) -> Option<Section> {
        family.complete().next()?;
        let mut blocks = vec![Block::Table(tables::breakdown(family))];
        blocks.extend(pictures::of_family(family).map(Block::Picture));
        blocks.extend(family.libraries().into_iter().map(Block::Remark));
        let heading = format!(
            "where the time goes in {} (one at a time; mean of each layer minus the one below)",
            family.layers.family
        );
        Some(Section::headed(heading, blocks))
    }

    /// Twins compared with the published figures that their card times were derived from.
    fn twins(&self, published: &[PublishedFigure]) -> Option<Section> {
        let beside = |row: &Row| published.iter().find(|figure| figure.is_beside(&row.case));
        let measured = self.rows.iter().filter(|row| row.mean().is_some());
        let pairs = non_empty(measured.filter_map(|row| Some((row, beside(row)?))))?;
        Some(Section::headed(
            "twins compared with the published figures (they differ as this host and the article's do)",
            vec![Block::Table(tables::twins(&pairs))],
        ))
    }

    fn parallel(&self, run: AnalyzedRun<'_>) -> Section {
        let mut blocks = vec![Block::Table(tables::scaling(&self.scaling))];
        blocks.extend(drawn(run, PictureKind::Throughput));
        let servers = self
            .scaling
            .iter()
            .filter_map(|group| group.bounds.as_ref()?.server.as_ref());
        let explained = servers.map(|(server, _)| server.explanation).unique();
        blocks.extend(explained.map(|text| Block::remark(RemarkKind::Limit, text)));
        blocks.extend(self.limits().into_iter().map(Block::Remark));
        if self.scaling.iter().any(|group| group.law.is_ok()) {
            blocks.push(Block::remark(
                RemarkKind::Law,
                "σ and κ of the Universal Scalability Law; σ counts waiting for processors too",
            ));
        }
        blocks.extend(self.scaling.iter().filter_map(highest));
        Section::headed("in parallel (throughput over that of one worker)", blocks)
    }
}

/// Draws a run's pictures of a kind.
fn drawn(run: AnalyzedRun<'_>, kind: PictureKind) -> impl Iterator<Item = Block> {
    pictures::charts(&[run], kind)
        .into_iter()
        .map(Block::Picture)
}

/// A section of pictures alone, if there are any.
fn pictured(heading: &str, pictures: impl Iterator<Item = Block>) -> Option<Section> {
    Some(Section::headed(heading, non_empty(pictures)?))
}

/// Removes pictures that are shown already, and those beyond what a reader looks at.
fn with_few_pictures(mut sections: Vec<Section>) -> Vec<Section> {
    let mut shown: Vec<Chart> = Vec::new();
    for section in &mut sections {
        section.blocks.retain(|block| match block {
            Block::Picture(chart) if shown.len() >= PICTURES || shown.contains(chart) => false,
            Block::Picture(chart) => {
                shown.push(chart.clone());
                true
            }
            Block::Table(_) | Block::Remark(_) => true,
        });
    }
    sections.retain(|section| !section.blocks.is_empty());
    sections
}

fn highest(group: &Scaling) -> Option<Block> {
    let (best, lower) = group.falls()?;
    let case = &group.case;
    let text = format!("{case}: throughput is highest at c = {best}, and lower at c = {lower}");
    Some(Block::remark(RemarkKind::Law, text))
}
