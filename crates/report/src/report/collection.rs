//! The collection of published figures as a document: devices, the figures of some, one device against its peers.

use itertools::Itertools;
use keymark_bench::{Algorithm, Operation, StackName, StoreKind};
use keymark_records::published::{
    CatalogueDevice, DeviceKind, Grade, PublishedRow, PublishedSpeed, PublishedTable,
};
use keymark_stats::Seconds;

use crate::analysis::Analysis;
use crate::document::{Block, Column, Document, RemarkKind, Section, TableOf};
use crate::units::{counted, duration};

/// Sources that are named below a table.
const SOURCES: usize = 20;
/// Peers of a device, by figure.
const PEERS: usize = 3;

/// A figure of the collection with its table.
pub type CollectedFigure = (PublishedTable, PublishedRow);

/// Choice among the figures; an empty list chooses all.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FigureFilter {
    /// Devices.
    pub devices: Vec<&'static CatalogueDevice>,
    /// Kinds of devices.
    pub kinds: Vec<DeviceKind>,
    /// Algorithms.
    pub algorithms: Vec<Algorithm>,
    /// Grades.
    pub grades: Vec<Grade>,
}

impl FigureFilter {
    /// Returns whether every figure is chosen.
    pub fn is_all(&self) -> bool {
        *self == Self::default()
    }

    fn takes(&self, row: &PublishedRow) -> bool {
        fn takes<T: PartialEq>(wanted: &[T], own: Option<T>) -> bool {
            wanted.is_empty() || own.is_some_and(|own| wanted.contains(&own))
        }
        takes(&self.devices, row.device)
            && takes(&self.kinds, row.device.map(|device| device.kind))
            && takes(&self.algorithms, row.algorithm.known())
            && takes(&self.grades, Some(row.grade))
    }

    /// Returns the chosen figures, by device, algorithm and operation.
    pub fn chosen(&self, all: &'static [CollectedFigure]) -> Vec<&'static CollectedFigure> {
        let chosen = all.iter().filter(|(_, row)| self.takes(row));
        let chosen = chosen.sorted_by_cached_key(|(_, row)| {
            let device = row.device.map(|device| (device.kind, &device.id));
            let place = (device.is_none(), device);
            (place, row.algorithm.clone(), row.operation.clone())
        });
        chosen.collect()
    }
}

/// Returns the devices of these figures, a line each.
pub fn published_devices(figures: &[&'static CollectedFigure]) -> Document {
    let rows = figures.iter().map(|(_, row)| row);
    let devices = rows.filter_map(|row| Some((row.device?, row)));
    let devices = devices.into_group_map_by(|(device, _)| (device.kind, &device.id));
    let devices = devices.into_iter().sorted_by(|(a, _), (b, _)| a.cmp(b));
    let devices = devices.map(|(_, rows)| rows);
    let table = TableOf::new(devices)
        .label("device", |rows| rows[0].0.name.as_str())
        .label("kind", |rows| rows[0].0.kind.word())
        .column(Column::name("maker").leave(1), |rows| {
            rows[0].0.maker.as_str()
        })
        .label("sale", |rows| rows[0].0.sale_words())
        .column(Column::name("firmware").leave(2), |rows| {
            rows[0].0.firmware_words()
        })
        .value("figures", |rows| rows.len())
        .column(Column::name("keys").leave(3), |rows| {
            let keys = rows.iter().filter_map(|(_, row)| row.algorithm.known());
            shortened_keys(keys)
        })
        .column(Column::name("id").leave(4), |rows| rows[0].0.id.as_str());
    let more = "'keymark published DEVICE' shows the figures of one";
    let blocks = vec![
        Block::Table(table.table()),
        Block::remark(RemarkKind::Basis, more),
    ];
    Document::of(vec![Section::bare(blocks).first()])
}

/// Returns the first of these keys, and how many more there are.
fn shortened_keys(keys: impl Iterator<Item = Algorithm>) -> String {
    let keys: Vec<String> = keys.sorted().dedup().map(|key| key.to_string()).collect();
    let more = match keys.len().saturating_sub(4) {
        0 => String::new(),
        more => format!(" + {more}"),
    };
    format!("{}{more}", keys.iter().take(4).format(" "))
}

/// Returns figures as a table with their sources.
pub fn published_figures(figures: &[&'static CollectedFigure]) -> Document {
    Document::of(vec![table(figures), sources(figures)])
}

/// Returns one device's figures with its peers', and with this CPU's of the last run.
pub fn published_device(
    device: &'static CatalogueDevice,
    figures: &[&'static CollectedFigure],
    all: &'static [CollectedFigure],
    here: Option<&Analysis>,
) -> Document {
    let known = device.known.iter().map(|known| format!("Known: {known}."));
    let facts = [
        format!(
            "{} ({}, {}): {}, firmware {}.",
            device.name,
            device.kind,
            device.maker,
            device.sale_words(),
            device.firmware_words()
        ),
        format!(
            "{} of firmware {}.",
            counted(figures.len(), "figure"),
            firmwares(figures)
        ),
    ];
    let facts = facts.into_iter().chain(known);
    let facts = facts.map(|fact| Block::remark(RemarkKind::Basis, fact));
    let sections = [
        Some(Section::bare(facts.collect()).first()),
        Some(table(figures)),
        peers(device, figures, all, here),
        Some(sources(figures)),
    ];
    Document::of(sections.into_iter().flatten().collect())
}

fn firmwares(figures: &[&'static CollectedFigure]) -> String {
    let versions = figures.iter().map(|(_, row)| match row.firmware.as_str() {
        "" => "not stated",
        firmware => firmware,
    });
    versions.unique().format(" or ").to_string()
}

fn table(figures: &[&'static CollectedFigure]) -> Section {
    let with = |row: &PublishedRow| match &row.speed {
        PublishedSpeed::Mean(_) => None,
        PublishedSpeed::Rate { of, .. } => Some(of.to_string()),
    };
    let rows = figures.iter().map(|(_, row)| row);
    let table = TableOf::new(rows)
        .name("device", |row| row.name.as_str())
        .column(Column::name("firmware").leave(3), |row| {
            row.firmware.as_str()
        })
        .label("key", |row| row.algorithm.to_string())
        .label("operation", |row| row.operation.to_string())
        .value("time", |row| row.mean())
        .if_any()
        .value("rate", |row| row.rate())
        .if_any()
        .column(Column::name("with").leave(2), |row| with(row))
        .if_any()
        .label("timed", |row| row.timed.word())
        .column(Column::name("through").leave(0), |row| row.through.as_str())
        .label("grade", |row| row.grade.for_people())
        .column(Column::name("note").leave(1), |row| row.note.as_str());
    Section::bare(vec![Block::Table(table.table())]).first()
}

fn sources(figures: &[&'static CollectedFigure]) -> Section {
    let sources = figures.iter().map(|(_, row)| row.source.as_str());
    let sources: Vec<&str> = sources.unique().collect();
    let more = match sources.len().saturating_sub(SOURCES) {
        0 => None,
        more => Some(format!(
            "{}; --format csv has all",
            counted(more, "other source")
        )),
    };
    let lines = sources.into_iter().take(SOURCES).map(str::to_owned);
    let lines = lines.chain(more);
    let blocks = lines.map(|line| Block::remark(RemarkKind::Basis, line));
    Section::headed("sources", blocks.collect()).first()
}

/// Compares each mean time with other devices of the same kind, of which the same was timed, and with this CPU.
fn peers(
    device: &'static CatalogueDevice,
    figures: &[&'static CollectedFigure],
    all: &'static [CollectedFigure],
    here: Option<&Analysis>,
) -> Option<Section> {
    let means = figures
        .iter()
        .filter_map(|(_, row)| Some((row, row.mean()?)));
    let means: Vec<(&PublishedRow, Seconds)> = means
        .unique_by(|(row, _)| (row.algorithm.clone(), row.operation.clone(), row.timed))
        .filter(|(row, _)| row.algorithm.known().is_some())
        .collect();
    let is_peer = |row: &PublishedRow, other: &PublishedRow| {
        (&row.algorithm, &row.operation, row.timed)
            == (&other.algorithm, &other.operation, other.timed)
            && other
                .device
                .is_some_and(|own| own.kind == device.kind && own.id != device.id)
    };
    let of_peers = |row: &PublishedRow| {
        let others = all.iter().map(|(_, other)| other);
        let others = others.filter(|other| is_peer(row, other));
        let times = others.filter_map(|other| Some((other.device?, other, other.mean()?)));
        let times = times.sorted_by(|(.., a), (.., b)| a.0.total_cmp(&b.0));
        let fastest = times.unique_by(|(own, ..)| &own.id).take(PEERS);
        let words = fastest.map(|(own, other, time)| {
            let grade = if other.grade == Grade::Measured {
                String::new()
            } else {
                format!(" ({})", other.grade.for_people())
            };
            format!("{} {}{grade}", own.name, duration(time))
        });
        Some(words.collect::<Vec<_>>().join(", ")).filter(|words| !words.is_empty())
    };
    let cpu = |row: &PublishedRow| this_cpu(here?, row.algorithm.known()?, row.operation()?);
    let table = TableOf::new(means)
        .label("key", |(row, _)| row.algorithm.to_string())
        .label("operation", |(row, _)| row.operation.to_string())
        .label("timed", |(row, _)| row.timed.word())
        .value(&*device.name, |(_, mean)| *mean)
        .value("this CPU", |(row, _)| cpu(row))
        .if_any()
        .label("peers", |(row, _)| of_peers(row))
        .if_any()
        .table();
    // Without peers the table has nothing new.
    (table.columns.len() > 4 && !table.rows.is_empty()).then(|| {
        let heading = format!("against other devices of its kind ({})", device.kind);
        Section::headed(heading, vec![Block::Table(table)]).first()
    })
}

/// Returns the time of a library call with a key on this CPU.
fn this_cpu(here: &Analysis, algorithm: Algorithm, operation: Operation) -> Option<Seconds> {
    let same = here.rows.iter().find(|row| {
        (row.case.algorithm, row.case.operation, row.case.stack)
            == (algorithm, operation, StackName::RAW)
            && row.case.store == StoreKind::SOFTWARE
            && row.case.is_alone()
    })?;
    Some(same.time()?.value)
}

/// Returns published loads or ratios as a section with their source; none for published times of operations, which reports show
/// next to a run's own.
pub fn published_section(shipped: PublishedTable) -> Option<Section> {
    let (columns, rows) = shipped.cells()?;
    let mut table = TableOf::new(rows);
    for (place, name) in columns.iter().enumerate() {
        let heading = name.replace('_', " ");
        let column = match place {
            0..=3 => Column::label(heading),
            // From the right, where there is no room.
            _ => Column::name(heading).leave(u8::try_from(columns.len() - place).unwrap_or(0)),
        };
        table = table.column(column, |row| row[place].clone());
    }
    let source = format!("published: {}", shipped.source);
    Some(Section::headed(
        format!("published: {}", shipped.name),
        vec![
            Block::Table(table.table()),
            Block::remark(RemarkKind::MixedProvenance, source),
        ],
    ))
}
