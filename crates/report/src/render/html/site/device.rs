//! The page of a device: where its figures are from, then a chart and a table for each key and operation.

use std::collections::BTreeSet;

use askama::Template;
use itertools::Itertools;
use keymark_bench::case::Provenance;

use super::super::figure::Pictures;
use super::super::table::Numbering;
use super::super::{HtmlError, LIMITS};
use super::{ROWS, Shell, Tools, device_address, kinds, name, shell, tools};
use crate::document::{Block, Document, Section};
use crate::site::{Device, KeySection, OfDevice, Origin, Site, Source};
use crate::units::counted;

#[derive(Template)]
#[template(path = "device.html")]
pub(super) struct DevicePage<'a> {
    shell: Shell,
    tools: Tools,
    site: &'a Site,
    device: &'a Device,
    sections: Vec<SectionEntry<'a>>,
}

struct SectionEntry<'a> {
    of: &'a KeySection,
    blocks: Vec<String>,
    said: Vec<String>,
}

pub(super) fn device_page<'a>(
    site: &'a Site,
    device: &'a Device,
) -> Result<DevicePage<'a>, HtmlError> {
    let (mut numbering, mut pictures) = (Numbering::default(), Pictures::default());
    let sections = device
        .sections
        .iter()
        .map(|section| section_entry(section, &mut numbering, &mut pictures))
        .collect::<Result<_, HtmlError>>()?;
    let title = format!("{} – {}", name(&device.identified.name), name(&site.title));
    Ok(DevicePage {
        shell: shell(title, "../"),
        tools: tools("sections", false, std::iter::once(device)),
        site,
        device,
        sections,
    })
}

impl DevicePage<'_> {
    fn source(&self, of: &OfDevice) -> &Source {
        &self.site.sources[of.source]
    }
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

fn provenances(of: &OfDevice) -> String {
    let kinds: BTreeSet<Provenance> = of.devices.iter().map(|device| device.provenance).collect();
    kinds.iter().join(", ")
}

/// What a source calls the device, with its product and versions there.
fn called(of: &OfDevice) -> String {
    let mut devices = of.devices.iter().map(|device| {
        let product = Some(device.product.clone())
            .filter(|product| !product.is_empty() && product != device.called.as_str());
        let parts = [device.called.to_string()].into_iter().chain(product);
        let parts = parts.chain(device.versions.iter().cloned());
        parts.map(|part| name(&part)).join("; ")
    });
    devices.join(" | ")
}

/// Where an address leads, in few words: the rest of it may be long.
fn host(link: &str) -> String {
    let (_, rest) = link.split_once("://").unwrap_or(("", link));
    name(rest.split(['/', '?', '#']).next().unwrap_or(rest))
}

fn section_entry<'a>(
    section: &'a KeySection,
    numbering: &mut Numbering,
    pictures: &mut Pictures,
) -> Result<SectionEntry<'a>, HtmlError> {
    // What is beyond a browser's patience is left out, and said.
    let document = Document::of(vec![Section::bare(section.blocks.clone())]).capped(LIMITS);
    let (mut blocks, mut said) = (Vec::new(), Vec::new());
    for block in document.sections.iter().flat_map(|section| &section.blocks) {
        match block {
            Block::Table(table) => blocks.push(numbering.table(table, &section.heading)?),
            Block::Figure(figure) => blocks.push(pictures.html(figure)),
            Block::Remark(remark) if said.len() < ROWS => {
                said.push(remark.text.clone());
            }
            Block::Remark(_) => {}
        }
    }
    Ok(SectionEntry {
        of: section,
        blocks,
        said,
    })
}
