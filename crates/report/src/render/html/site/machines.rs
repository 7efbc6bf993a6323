//! The page of machines, with the records of each.

use askama::Template;
use keymark_bench::case::Provenance;

use super::{Shell, device_address, is_long, made, name, oldest_first, shell};
use crate::site::{Machine, Site, Source};
use crate::units::counted;

#[derive(Template)]
#[template(path = "machines.html")]
pub(super) struct MachinesPage {
    shell: Shell,
    summary: String,
    machines: Vec<MachineEntry>,
}

struct MachineEntry {
    id: String,
    name: String,
    caption: String,
    records: Vec<RecordLine>,
}

struct RecordLine {
    page: String,
    file: String,
    name: String,
    long: bool,
    made: String,
    keymark: String,
    devices: Vec<RecordDevice>,
    figures: usize,
}

struct RecordDevice {
    address: Option<String>,
    name: String,
    provenance: Provenance,
}

pub(super) fn machines(site: &Site) -> MachinesPage {
    let entry = |id: String, shown: String, of: &dyn Fn(&Source) -> bool| {
        let records = site.sources.iter().filter(|source| of(source));
        let records: Vec<RecordLine> = records.map(|source| record_line(site, source)).collect();
        MachineEntry {
            caption: oldest_first(records.len()),
            id,
            name: shown,
            records,
        }
    };
    let each = site.machines.iter().map(|machine: &Machine| {
        let of = |source: &Source| source.machine.as_ref() == Some(machine);
        entry(machine.id.clone(), name(&machine.words), &of)
    });
    let mut entries: Vec<MachineEntry> = each.collect();
    let none = |source: &Source| source.machine.is_none();
    if site.sources.iter().any(none) {
        let words = "Published and predicted: no machine that keymark ran on".to_owned();
        entries.push(entry("none".to_owned(), words, &none));
    }
    MachinesPage {
        shell: shell(format!("Machines – {}", name(&site.title)), ""),
        summary: format!(
            "{} of {}. Identical machines (processor, cores, virtual machine, memory) are merged.",
            counted(site.sources.len(), "record"),
            counted(site.machines.len(), "machine"),
        ),
        machines: entries,
    }
}

fn record_line(site: &Site, source: &Source) -> RecordLine {
    let shown = name(&source.name);
    let mut devices: Vec<RecordDevice> = Vec::new();
    for device in &source.devices {
        let known = site
            .devices
            .iter()
            .find(|known| known.identified.id == device.identified.id);
        let address = known.map(device_address);
        let same = |other: &RecordDevice| {
            (&other.address, other.provenance) == (&address, device.provenance)
        };
        // Articles have figures of many devices that nobody has contributed to.
        if address.is_some() && !devices.iter().any(same) {
            devices.push(RecordDevice {
                address,
                name: name(&device.identified.name),
                provenance: device.provenance,
            });
        }
    }
    RecordLine {
        page: source.page(),
        file: source.file(),
        long: is_long(&shown),
        name: shown,
        made: made(source),
        keymark: name(&source.keymark),
        devices,
        figures: source.figures.len(),
    }
}
