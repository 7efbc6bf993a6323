//! A record as a source of figures, and on which machine it was made, as far as it says.

use itertools::Itertools;
use keymark_bench::{Case, DeviceName, Provenance, Record};

use super::device::Identified;
use super::pages;
use crate::analysis::{Analysis, Row};
use crate::compare::machine_name;
use keymark_records::published::PublishedTable;

/// Origin of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordOrigin {
    /// A contributor: it was in the folder.
    Contributed,
    /// Keymark: the figures of an article.
    Shipped(PublishedTable),
}

/// Record of the site.
#[derive(Debug, Clone)]
pub struct SiteSource {
    /// Name in tables: its run, and more if another record's run has that name.
    pub name: String,
    /// Its page and its file, without the ending.
    pub address: String,
    pub origin: RecordOrigin,
    /// Start; of published figures, the beginning of their year.
    pub started: jiff::Timestamp,
    /// Version of keymark.
    pub keymark: String,
    /// Machine, if it was run.
    pub machine: Option<SiteMachine>,
    /// Its devices.
    pub devices: Vec<SourceDevice>,
    /// Its figures, in the plan's order.
    pub figures: Vec<SourceFigure>,
}

/// A device as a source has it.
#[derive(Debug, Clone)]
pub struct SourceDevice {
    pub identified: Identified,
    /// Name in the source.
    pub called: DeviceName,
    /// Kind of its figures.
    pub provenance: Provenance,
    /// Its product name there.
    pub product: String,
    /// Its firmware, libraries and profile there, each with its name.
    pub versions: Vec<String>,
}

/// A figure, or that there is none because the case failed.
#[derive(Debug, Clone)]
pub struct SourceFigure {
    /// Its device, by its place in [`SiteSource::devices`].
    pub device: usize,
    pub row: Row,
    /// Note of an article or a model.
    pub note: Option<String>,
}

impl SiteSource {
    /// A record with what analysis makes of it. `file` is the record as it can be downloaded: by its content the address differs
    /// from that of any other record.
    pub fn of(record: &Record, analysis: &Analysis, origin: RecordOrigin, file: &str) -> Self {
        let mut devices: Vec<SourceDevice> = Vec::new();
        let mut figures = Vec::new();
        for (row, case) in analysis.rows.iter().zip(&record.cases) {
            // What was not measured, before the run was interrupted, is no figure.
            if row.mean().is_none() && row.failure.is_none() && row.overload.is_none() {
                continue;
            }
            let same = |known: &SourceDevice| {
                (&known.called, known.provenance) == (&row.case.device, row.case.provenance)
            };
            let device = devices.iter().position(same).unwrap_or_else(|| {
                devices.push(SourceDevice::of(record, &row.case));
                devices.len() - 1
            });
            let published = case.published.as_ref();
            let note = published.map(|published| published.note.clone());
            figures.push(SourceFigure {
                device,
                row: row.clone(),
                note: note.filter(|note| !note.is_empty()),
            });
        }
        Self {
            name: record.id.to_string(),
            address: pages::unique(&record.id.0, "record", &["record", file]),
            origin,
            started: record.started,
            keymark: record.environment.keymark.clone(),
            machine: SiteMachine::of(record),
            devices,
            figures,
        }
    }

    /// Returns the short name: all shared records end alike.
    pub fn label(&self) -> &str {
        self.name.strip_suffix("-shared").unwrap_or(&self.name)
    }

    /// Its page in the site.
    pub fn page(&self) -> String {
        format!("records/{}.html", self.address)
    }

    /// The record itself, next to its page.
    pub fn file(&self) -> String {
        format!("records/{}.json", self.address)
    }

    /// Its page as seen from a device's: those are in a folder of their own.
    pub fn page_from_a_device(&self) -> String {
        format!("../{}", self.page())
    }

    /// The device of a figure.
    pub fn device_of(&self, figure: &SourceFigure) -> &SourceDevice {
        &self.devices[figure.device]
    }

    /// The first addresses that are in the notes of these figures: where an article or its data are.
    pub(super) fn links<'h>(figures: impl Iterator<Item = &'h SourceFigure>) -> Vec<String> {
        let is_link = |word: &&str| {
            let mut schemes = ["https://", "http://"].into_iter();
            let rest = schemes.find_map(|scheme| word.strip_prefix(scheme));
            rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphanumeric()))
                && word.chars().all(|c| c.is_ascii_graphic())
        };
        let notes = figures.filter_map(|figure| figure.note.as_deref());
        let links = notes.flat_map(str::split_whitespace).filter(is_link);
        links.unique().take(LINKS).map(str::to_owned).collect()
    }
}

/// More addresses than this are in the record itself.
const LINKS: usize = 8;

impl SourceDevice {
    fn of(record: &Record, case: &Case) -> Self {
        let store = record
            .stores
            .iter()
            .find(|store| store.device == case.device);
        let versions = store.iter().flat_map(|store| &store.versions);
        let versions = versions.map(|(name, version)| format!("{name} {version}"));
        Self {
            identified: Identified::of(record, case),
            called: case.device.clone(),
            provenance: case.provenance,
            product: store.map_or_else(String::new, |store| store.product.clone()),
            versions: versions.collect(),
        }
    }
}

/// A machine, or several of which records say the same.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SiteMachine {
    /// Processor, cores, virtual machine, memory.
    pub words: String,
    /// Its place on the page of machines.
    pub id: String,
}

impl SiteMachine {
    /// The machine of a record; none of what was not run.
    pub fn of(record: &Record) -> Option<Self> {
        if !record.is_of_a_run() {
            return None;
        }
        let environment = &record.environment;
        let mut words = machine_name(environment);
        if environment.cpu_model.is_none() {
            words = format!("a processor without a name, {words}");
        }
        Some(Self {
            id: pages::unique(&words, "machine", &["machine", &words]),
            words,
        })
    }
}
