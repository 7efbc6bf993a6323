//! A site's pages: the first one with the devices, by name and by what keys they have; that of the machines, with the
//! records of each; and one a device: where its figures are from, then a chart and a table for each key and operation.
//! The pages of records are reports.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use askama::Template;
use itertools::Itertools;
use keymark_bench::outside::visible::shortened;
use keymark_bench::{KeyFamily, Provenance, Strength, strength};
use keymark_records::published::{
    CatalogueDevice, DeviceCatalogue, DeviceKind, PublishedRow, PublishedSpeed, PublishedTable,
};

use super::blocks::{self, Placed};
use super::{FormatError, STYLE, Written, of_page};
use crate::report::FigureFilter;
use crate::site::{
    Device, Devices, KeySection, OfDevice, Pages, RecordOrigin, Site, SiteMachine, SiteSource,
};
use crate::{Document, PAGE_WARNINGS, Section, units};

/// Letters of a name that may be longer in its record.
const NAME: usize = 120;

static SITE_STYLE: LazyLock<String> =
    LazyLock::new(|| format!("{}{}", *STYLE, include_str!("../../../templates/site.css")));
const SCRIPT: &str = include_str!("../../../templates/site.js");
const MADE_BY: &str = concat!("keymark ", env!("CARGO_PKG_VERSION"));
static POLICY: LazyLock<String> = LazyLock::new(|| of_page(&SITE_STYLE, SCRIPT));

/// Filters of a page.
struct Tools {
    what: &'static str,
    families: BTreeSet<KeyFamily>,
    levels: BTreeSet<Option<Strength>>,
    kinds: BTreeSet<DeviceKind>,
}

/// Adds the site's own pages to those of its records.
pub fn add_pages(site: &Site, pages: &mut Pages) -> Result<(), FormatError> {
    let mut add = |path: String, page: String| pages.add(path, page.into_bytes()).map(drop);
    add("index.html".to_owned(), index(site).render()?)?;
    add("machines.html".to_owned(), machines(site).render()?)?;
    if site.has_figures() {
        add("figures.html".to_owned(), figures(site).render()?)?;
    }
    for device in &site.devices {
        add(device_address(device), device_page(site, device)?.render()?)?;
    }
    Ok(())
}

/// Text from outside, as long as a page has room for.
fn name(text: &str) -> String {
    shortened(text, NAME)
}

/// Tells if a word widens its column.
fn is_long(text: &str) -> bool {
    blocks::is_long(&name(text))
}

fn device_address(device: &Device) -> String {
    format!("devices/{}.html", device.identified.id)
}

/// Key and strength as the script compares them.
fn key(family: KeyFamily, strength: Option<Strength>) -> String {
    format!("{family}/{}", level(strength))
}

fn level(strength: Option<Strength>) -> String {
    strength.map_or_else(|| "unknown".to_owned(), |strength| strength.0.to_string())
}

fn tools(what: &'static str, devices: &[Device]) -> Tools {
    let strengths = || devices.iter().flat_map(|device| &device.strengths);
    let levels = strengths().flat_map(|(_, levels)| levels);
    Tools {
        what,
        families: strengths().map(|(family, _)| *family).collect(),
        levels: levels.copied().collect(),
        kinds: BTreeSet::new(),
    }
}

/// Kind of a device of the catalogue.
fn kind_of(device: &Device) -> &'static str {
    catalogued(device).map_or("", |known| known.kind.word())
}

/// Facts of the catalogue about a device.
fn facts(device: &Device) -> Option<String> {
    let known = catalogued(device)?;
    let weakness = known.known.as_ref();
    let weakness = weakness.map(|words| format!(" Known: {words}."));
    Some(format!(
        "{} of {}. Sale: {}. Firmware: {}.{}",
        known.kind,
        known.maker,
        known.sale_words(),
        known.firmware_words(),
        weakness.unwrap_or_default()
    ))
}

fn catalogued(device: &Device) -> Option<&'static CatalogueDevice> {
    DeviceCatalogue::shipped().named(&device.identified.id)
}

/// `2 measured, 1 twin`
fn kinds(device: &Device) -> String {
    let mut words = device
        .kinds
        .iter()
        .map(|(kind, number)| format!("{number} {kind}"));
    words.join(", ")
}

fn made(source: &SiteSource) -> String {
    // Of a table without a year in its name.
    if source.started == jiff::Timestamp::UNIX_EPOCH {
        return "not stated".to_owned();
    }
    let published = source
        .devices
        .iter()
        .all(|device| device.provenance == Provenance::Published);
    let form = if published { "%Y" } else { "%Y-%m-%d" };
    source.started.strftime(form).to_string()
}

/// Keys whose times are on the first page.
const TIMES: usize = 3;

#[derive(Template)]
#[template(path = "site.html")]
struct Index<'a> {
    tools: Tools,
    site: &'a Site,
}

fn index(site: &Site) -> Index<'_> {
    let kinds = site.devices.iter().filter_map(catalogued);
    Index {
        tools: Tools {
            kinds: kinds.map(|known| known.kind).collect(),
            ..tools("devices", &site.devices)
        },
        site,
    }
}

/// Keys of a device as the script compares them.
fn keys(device: &Device) -> String {
    let mut keys = device
        .strengths
        .iter()
        .flat_map(|(family, strengths)| strengths.iter().map(|strength| key(*family, *strength)));
    keys.join(" ")
}

fn strengths(device: &Device) -> String {
    let mut words = device.strengths.iter().map(|(family, strengths)| {
        let levels = strengths.iter().map(|strength| level(*strength));
        format!("{} {}", family.name(), levels.format(" "))
    });
    words.join("; ")
}

/// Times of a device's first keys, and how many more there are.
fn times(device: &Device) -> String {
    let times: Vec<String> = device
        .sections
        .iter()
        .filter_map(|section| Some(format!("{}: {}", section.heading, section.times.as_ref()?)))
        .collect();
    let more = match times.len().saturating_sub(TIMES) {
        0 => String::new(),
        more => format!("; {more} more"),
    };
    times[..times.len().min(TIMES)].join("; ") + &more
}

#[derive(Template)]
#[template(path = "device.html")]
struct DevicePage<'a> {
    tools: Tools,
    site: &'a Site,
    device: &'a Device,
    sections: Vec<(&'a KeySection, Written)>,
}

fn device_page<'a>(site: &'a Site, device: &'a Device) -> Result<DevicePage<'a>, FormatError> {
    let mut placed = Placed::default();
    let sections = device.sections.iter().map(|section| {
        // What is beyond a browser's patience is left out, and said.
        let whole = Section::headed(&section.heading, section.blocks.clone());
        let shown = &Document::of(vec![whole]).capped().sections[0];
        let mut written = Written::of(shown, 0, &mut placed)?;
        written.said.truncate(PAGE_WARNINGS);
        Ok((section, written))
    });
    Ok(DevicePage {
        tools: tools("sections", std::slice::from_ref(device)),
        site,
        device,
        sections: sections.collect::<Result<_, FormatError>>()?,
    })
}

impl DevicePage<'_> {
    fn source(&self, of: &OfDevice) -> &SiteSource {
        &self.site.sources[of.source]
    }
}

fn provenances(of: &OfDevice) -> String {
    let kinds: BTreeSet<Provenance> = of.devices.iter().map(|device| device.provenance).collect();
    kinds.iter().join(", ")
}

/// Names of the device in a source, with its product and versions there.
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

/// Host of an address: the rest may be long.
fn host(link: &str) -> String {
    let (_, rest) = link.split_once("://").unwrap_or(("", link));
    name(rest.split(['/', '?', '#']).next().unwrap_or(rest))
}

#[derive(Template)]
#[template(path = "figures.html")]
struct FiguresPage<'a> {
    tools: Tools,
    site: &'a Site,
    figures: Vec<FigureEntry>,
}

/// A published figure, with its keys and its kind as the script compares them.
struct FigureEntry {
    row: &'static PublishedRow,
    keys: String,
    kind: &'static str,
    page: Option<String>,
    value: String,
    with: String,
    link: Option<&'static str>,
}

fn figures(site: &Site) -> FiguresPage<'_> {
    let all = FigureFilter::default().chosen(PublishedTable::collection());
    let rows = || all.iter().map(|(_, row)| row);
    let keys = || rows().filter_map(|row| row.algorithm.known());
    let kinds = rows().filter_map(|row| row.device);
    FiguresPage {
        tools: Tools {
            what: "figures",
            families: keys().map(KeyFamily::of).collect(),
            levels: keys().map(strength::of_key).collect(),
            kinds: kinds.map(|device| device.kind).collect(),
        },
        site,
        figures: rows().map(|row| figure(site, row)).collect(),
    }
}

fn figure(site: &Site, row: &'static PublishedRow) -> FigureEntry {
    let (value, with) = match &row.speed {
        PublishedSpeed::Mean(mean) => (units::duration(*mean), String::new()),
        PublishedSpeed::Rate { rate, of } => (units::rate(*rate), of.to_string()),
    };
    let page = row.device.and_then(|known| site.device(&known.id));
    let keys = row.algorithm.known();
    let keys = keys.map(|key_of| key(KeyFamily::of(key_of), strength::of_key(key_of)));
    let mut words = row.source.split_whitespace();
    FigureEntry {
        row,
        keys: keys.unwrap_or_default(),
        kind: row.device.map_or("", |device| device.kind.word()),
        page: page.map(device_address),
        value,
        with,
        link: words.find(|word| word.starts_with("https://")),
    }
}

#[derive(Template)]
#[template(path = "machines.html")]
struct MachinesPage<'a> {
    site: &'a Site,
    machines: Vec<MachineEntry<'a>>,
}

/// A machine, or what was not run on any.
struct MachineEntry<'a> {
    id: &'a str,
    words: &'a str,
    records: Vec<&'a SiteSource>,
}

fn machines(site: &Site) -> MachinesPage<'_> {
    let of = |machine: Option<&SiteMachine>| {
        let its = site
            .sources
            .iter()
            .filter(|source| source.machine.as_ref() == machine);
        its.collect::<Vec<&SiteSource>>()
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
        site,
        machines: each.chain(none).collect(),
    }
}

impl MachinesPage<'_> {
    /// Devices that have a page, each kind of figures once: articles have figures of many devices without
    /// contributions.
    fn devices(&self, source: &SiteSource) -> Vec<(&Device, Provenance)> {
        let devices = source.devices.iter().filter_map(|device| {
            let known = self.site.device(&device.identified.id)?;
            Some((known, device.provenance))
        });
        let each = devices.unique_by(|(device, kind)| (&device.identified.id, *kind));
        each.collect()
    }
}
