//! The first page: which devices there are, by name and by what keys they have.

use std::collections::BTreeSet;

use askama::Template;
use keymark_bench::case::Provenance;
use keymark_bench::key_family::KeyFamily;
use keymark_bench::strength::Strength;

use super::{
    Link, Shell, Tools, device_address, is_long, key, kinds, level, level_words, name, shell, tools,
};
use crate::site::{Device, Devices, NO_RANKING, SECURITY, Site, meaning};
use crate::units::counted;

#[derive(Template)]
#[template(path = "site.html")]
pub(super) struct Index {
    shell: Shell,
    tools: Tools,
    title: String,
    summary: String,
    no_ranking: &'static str,
    security: &'static str,
    counts: String,
    devices: Vec<DeviceLine>,
    by_family: Vec<FamilyEntry>,
    kinds: Vec<KindEntry>,
}

struct DeviceLine {
    address: String,
    name: String,
    long: bool,
    keys: String,
    strengths: String,
    kinds: String,
    records: usize,
    machines: usize,
}

struct FamilyEntry {
    name: &'static str,
    levels: Vec<LevelEntry>,
}

struct LevelEntry {
    name: String,
    devices: Vec<Link>,
}

struct KindEntry {
    name: String,
    meaning: &'static str,
}

pub(super) fn index(site: &Site) -> Index {
    let contributed = site.contributed().count();
    let title = name(&site.title);
    Index {
        shell: shell(title.clone(), ""),
        tools: tools("devices", true, site.devices.iter()),
        title,
        summary: summary(site, contributed),
        no_ranking: NO_RANKING,
        security: SECURITY,
        counts: counted(site.devices.len(), "device"),
        devices: site
            .devices
            .iter()
            .map(|device| device_line(site, device))
            .collect(),
        by_family: by_family(site),
        kinds: Provenance::ALL
            .iter()
            .map(|kind| KindEntry {
                name: kind.to_string(),
                meaning: meaning(*kind),
            })
            .collect(),
    }
}

fn summary(site: &Site, contributed: usize) -> String {
    let machines = match site.machines.len() {
        0 => String::new(),
        machines => format!(" of {}", counted(machines, "machine")),
    };
    let published = match site.of {
        Devices::Contributed => "; published figures of these devices are shown beside them",
        Devices::AlsoPublished => ", and by published figures",
    };
    format!(
        "What a private key costs on {}, by {}{machines} from contributors{published}.",
        counted(site.devices.len(), "device"),
        counted(contributed, "record"),
    )
}

fn device_line(site: &Site, device: &Device) -> DeviceLine {
    let families = device.strengths.iter();
    let words = families.clone().map(|(family, strengths)| {
        let levels: Vec<String> = strengths.iter().map(|strength| level(*strength)).collect();
        format!("{} {}", family.name(), levels.join(" "))
    });
    let keys = families.flat_map(|(family, strengths)| {
        let levels = strengths.iter();
        levels.map(|strength| key(*family, *strength))
    });
    let shown = name(&device.identified.name);
    DeviceLine {
        address: device_address(device),
        long: is_long(&shown),
        name: shown,
        keys: keys.collect::<Vec<_>>().join(" "),
        strengths: words.collect::<Vec<_>>().join("; "),
        kinds: kinds(device),
        records: device.sources.len(),
        machines: site.machines_of(device),
    }
}

/// The same as the filters show, for who has no script.
fn by_family(site: &Site) -> Vec<FamilyEntry> {
    let has = |device: &Device, family: &KeyFamily, strength: &Option<Strength>| {
        let strengths = device.strengths.get(family);
        strengths.is_some_and(|strengths| strengths.contains(strength))
    };
    let family_entry = |family: &KeyFamily| {
        let known = site
            .devices
            .iter()
            .filter_map(|device| device.strengths.get(family));
        let levels: BTreeSet<Option<Strength>> = known.flatten().copied().collect();
        let level_entry = |strength: Option<Strength>| LevelEntry {
            name: level_words(strength),
            devices: site
                .devices
                .iter()
                .filter(|device| has(device, family, &strength))
                .map(|device| Link {
                    address: format!(
                        "{}#family={family}&level={}",
                        device_address(device),
                        level(strength)
                    ),
                    name: name(&device.identified.name),
                })
                .collect(),
        };
        (!levels.is_empty()).then(|| FamilyEntry {
            name: family.name(),
            levels: levels.into_iter().map(level_entry).collect(),
        })
    };
    KeyFamily::ALL.iter().filter_map(family_entry).collect()
}
