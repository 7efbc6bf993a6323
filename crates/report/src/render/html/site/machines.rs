//! The page of machines, with the records of each.

use askama::Template;
use keymark_bench::case::Provenance;

use super::{Shell, name, shell};
use crate::site::{Device, Machine, Site, Source};
use crate::units::counted;

#[derive(Template)]
#[template(path = "machines.html")]
pub(super) struct MachinesPage<'a> {
    shell: Shell,
    site: &'a Site,
    machines: Vec<MachineEntry<'a>>,
}

/// A machine, or what was not run on any.
struct MachineEntry<'a> {
    id: &'a str,
    words: &'a str,
    records: Vec<&'a Source>,
}

pub(super) fn machines(site: &Site) -> MachinesPage<'_> {
    let of = |machine: Option<&Machine>| {
        let records = site.sources.iter();
        let its = records.filter(|source| source.machine.as_ref() == machine);
        its.collect::<Vec<&Source>>()
    };
    let each = site.machines.iter().map(|machine| MachineEntry {
        id: &machine.id,
        words: &machine.words,
        records: of(Some(machine)),
    });
    let none = MachineEntry {
        id: "none",
        words: "Published and predicted: no machine that keymark ran on",
        records: of(None),
    };
    let none = Some(none).filter(|none| !none.records.is_empty());
    MachinesPage {
        shell: shell(format!("Machines – {}", name(&site.title)), ""),
        site,
        machines: each.chain(none).collect(),
    }
}

impl MachinesPage<'_> {
    fn summary(&self) -> String {
        format!(
            "{} of {}. Identical machines (processor, cores, virtual machine, memory) are merged.",
            counted(self.site.sources.len(), "record"),
            counted(self.site.machines.len(), "machine"),
        )
    }

    /// Those that have a page, each kind of figures once: articles have figures of many devices that nobody has
    /// contributed to.
    fn devices(&self, source: &Source) -> Vec<(&Device, Provenance)> {
        let mut devices: Vec<(&Device, Provenance)> = Vec::new();
        for device in &source.devices {
            let mut known = self.site.devices.iter();
            let known = known.find(|known| known.identified.id == device.identified.id);
            let same = |(other, kind): &(&Device, Provenance)| {
                other.identified.id == device.identified.id && *kind == device.provenance
            };
            if !devices.iter().any(same) {
                devices.extend(known.map(|known| (known, device.provenance)));
            }
        }
        devices
    }
}
