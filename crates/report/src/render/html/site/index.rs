//! The first page: which devices there are, by name and by what keys they have.

use askama::Template;
use itertools::Itertools;
use keymark_bench::case::Provenance;

use super::{Shell, Tools, key, level, name, shell, tools};
use crate::site::{Device, Devices, Site};
use crate::units::counted;

/// Keys whose times stand on the first page.
const TIMES: usize = 3;

#[derive(Template)]
#[template(path = "site.html")]
pub(super) struct Index<'a> {
    shell: Shell,
    tools: Tools,
    site: &'a Site,
}

pub(super) fn index(site: &Site) -> Index<'_> {
    Index {
        shell: shell(name(&site.title), ""),
        tools: tools("devices", true, site.devices.iter()),
        site,
    }
}

fn summary(site: &Site) -> String {
    let contributed = site.contributed().count();
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

/// As the script compares them.
fn keys(device: &Device) -> String {
    let mut keys = device.strengths.iter().flat_map(|(family, strengths)| {
        let levels = strengths.iter();
        levels.map(|strength| key(*family, *strength))
    });
    keys.join(" ")
}

fn strengths(device: &Device) -> String {
    let mut words = device.strengths.iter().map(|(family, strengths)| {
        let levels = strengths.iter().map(|strength| level(*strength));
        format!("{} {}", family.name(), levels.format(" "))
    });
    words.join("; ")
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
