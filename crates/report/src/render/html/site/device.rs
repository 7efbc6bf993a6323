//! The page of a device: where its figures are from, then a chart and a table for each key and operation.

use std::collections::BTreeSet;

use askama::Template;
use keymark_bench::case::Provenance;

use super::super::figure::Pictures;
use super::super::table::Numbering;
use super::super::{HtmlError, LIMITS};
use super::{
    Link, ROWS, Shell, Tools, device_address, is_long, key, kinds, made, name, oldest_first, shell,
    tools,
};
use crate::document::{Block, Document, Section};
use crate::site::{Device, KeySection, NO_RANKING, OfDevice, Origin, Site, Source};
use crate::units::counted;
use crate::visible::visible;

#[derive(Template)]
#[template(path = "device.html")]
pub(super) struct DevicePage {
    shell: Shell,
    tools: Tools,
    name: String,
    counts: String,
    no_ranking: &'static str,
    sources_caption: String,
    sources: Vec<SourceLine>,
    sections: Vec<SectionEntry>,
}

struct SourceLine {
    page: String,
    file: String,
    name: String,
    long: bool,
    provenance: String,
    device: String,
    made: String,
    machine: Option<MachineLink>,
    citation: Option<String>,
    links: Vec<Link>,
    figures: usize,
}

struct MachineLink {
    address: String,
    name: String,
}

struct SectionEntry {
    anchor: String,
    heading: String,
    keys: String,
    about: String,
    times: Option<String>,
    blocks: Vec<String>,
    said: Vec<String>,
}

pub(super) fn device_page(site: &Site, device: &Device) -> Result<DevicePage, HtmlError> {
    let (mut numbering, mut pictures) = (Numbering::default(), Pictures::default());
    let sections = device
        .sections
        .iter()
        .map(|section| section_entry(section, &mut numbering, &mut pictures))
        .collect::<Result<_, HtmlError>>()?;
    let shown = name(&device.identified.name);
    Ok(DevicePage {
        shell: shell(format!("{shown} – {}", name(&site.title)), "../"),
        tools: tools("sections", false, std::iter::once(device)),
        counts: counts(site, device),
        name: shown,
        no_ranking: NO_RANKING,
        sources_caption: oldest_first(device.sources.len()),
        sources: device
            .sources
            .iter()
            .map(|of| source_line(&site.sources[of.source], of))
            .collect(),
        sections,
    })
}

fn counts(site: &Site, device: &Device) -> String {
    let machines = match site.machines_of(device) {
        0 => String::new(),
        machines => format!(" on {}", counted(machines, "machine")),
    };
    format!(
        "{} figures of {}{machines}. The address of this page stays: {}",
        kinds(device),
        counted(device.sources.len(), "record"),
        device_address(device),
    )
}

fn source_line(source: &Source, of: &OfDevice) -> SourceLine {
    let shown = name(&source.name);
    let kinds: BTreeSet<Provenance> = of.devices.iter().map(|device| device.provenance).collect();
    let kinds: Vec<String> = kinds.iter().map(ToString::to_string).collect();
    let device = of.devices.iter().map(|device| {
        let product = Some(device.product.clone())
            .filter(|product| !product.is_empty() && product != device.called.as_str());
        let parts = [device.called.to_string()].into_iter().chain(product);
        let parts: Vec<String> = parts.chain(device.versions.iter().cloned()).collect();
        parts
            .iter()
            .map(|part| name(part))
            .collect::<Vec<_>>()
            .join("; ")
    });
    SourceLine {
        page: source.page_from_a_device(),
        file: format!("../{}", source.file()),
        long: is_long(&shown),
        name: shown,
        provenance: kinds.join(", "),
        device: device.collect::<Vec<_>>().join(" | "),
        made: made(source),
        machine: source.machine.as_ref().map(|machine| MachineLink {
            address: format!("../machines.html#{}", machine.id),
            name: name(&machine.words),
        }),
        citation: match source.origin {
            Origin::Contributed => None,
            Origin::Shipped(shipped) => Some(shipped.source.to_owned()),
        },
        links: of
            .links
            .iter()
            .map(|link| Link {
                address: link.clone(),
                name: host(link),
            })
            .collect(),
        figures: of.figures,
    }
}

/// Where an address leads, in few words: the rest of it may be long.
fn host(link: &str) -> String {
    let (_, rest) = link.split_once("://").unwrap_or(("", link));
    name(rest.split(['/', '?', '#']).next().unwrap_or(rest))
}

fn section_entry(
    section: &KeySection,
    numbering: &mut Numbering,
    pictures: &mut Pictures,
) -> Result<SectionEntry, HtmlError> {
    // What is beyond a browser's patience is left out, and said.
    let document = Document::of(vec![Section::bare(section.blocks.clone())]).capped(LIMITS);
    let (mut blocks, mut said) = (Vec::new(), Vec::new());
    for block in document.sections.iter().flat_map(|section| &section.blocks) {
        match block {
            Block::Table(table) => blocks.push(numbering.table(table, &section.heading)?),
            Block::Figure(figure) => blocks.push(pictures.html(figure)),
            Block::Remark(remark) if said.len() < ROWS => {
                said.push(visible(&remark.text).into_owned());
            }
            Block::Remark(_) => {}
        }
    }
    Ok(SectionEntry {
        anchor: section.anchor.clone(),
        heading: section.heading.clone(),
        keys: key(section.family, section.strength),
        about: section.about.clone(),
        times: section.times.clone(),
        blocks,
        said,
    })
}
