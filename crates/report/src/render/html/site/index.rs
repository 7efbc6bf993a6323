//! The first page: which devices there are, by name and by what keys they have.

use askama::Template;
use keymark_bench::case::Provenance;

use super::{Shell, Tools, device_address, is_long, key, kinds, level, name, shell, tools};
use crate::site::{Device, Devices, NO_RANKING, SECURITY, Site, meaning};
use crate::units::counted;

/// Keys whose times stand on the first page.
const TIMES: usize = 3;

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
    kinds: Vec<KindEntry>,
}

struct DeviceLine {
    address: String,
    name: String,
    long: bool,
    keys: String,
    strengths: String,
    times: String,
    kinds: String,
    records: usize,
    machines: usize,
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
        times: times(device),
        kinds: kinds(device),
        records: device.sources.len(),
        machines: site.machines_of(device),
    }
}

/// What the first of its keys take, and how many more there are.
fn times(device: &Device) -> String {
    let all = device.sections.iter();
    let times =
        all.filter_map(|section| Some(format!("{}: {}", section.heading, section.times.as_ref()?)));
    let times: Vec<String> = times.collect();
    let more = match times.len().saturating_sub(TIMES) {
        0 => String::new(),
        more => format!("; {more} more"),
    };
    times[..times.len().min(TIMES)].join("; ") + &more
}
