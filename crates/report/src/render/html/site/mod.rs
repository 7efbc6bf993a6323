//! A site's pages: the devices, the machines, and one page a device. The pages of records are reports.

mod device;
mod index;
mod machines;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use askama::Template;
use itertools::Itertools;
use keymark_bench::case::Provenance;
use keymark_bench::key_family::KeyFamily;
use keymark_bench::strength::Strength;

use super::{HtmlError, METHODOLOGY, STYLE, policy};
use crate::site::{Collision, Device, Pages, Site, Source};
use crate::units::counted;
use keymark_bench::outside::visible::shortened;

/// Rows of a table, beyond which a browser gets slow.
const ROWS: usize = 1_000;
/// Letters of a name that may be longer in its record.
const NAME: usize = 120;
/// Letters of a word that widens its column too much.
const WORD: usize = 24;

static SITE_STYLE: LazyLock<String> = LazyLock::new(|| {
    format!(
        "{}{}",
        *STYLE,
        include_str!("../../../../templates/site.css")
    )
});
const SCRIPT: &str = include_str!("../../../../templates/site.js");
static POLICY: LazyLock<String> = LazyLock::new(|| policy::of_page(&SITE_STYLE, SCRIPT, "'none'"));

/// Why the pages cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum SiteError {
    /// A page cannot be written.
    #[error(transparent)]
    Html(#[from] HtmlError),
    /// Two pages want the same place.
    #[error(transparent)]
    Collision(#[from] Collision),
}

/// What all pages have.
struct Shell {
    policy: &'static str,
    style: &'static str,
    script: &'static str,
    title: String,
    /// The way to the site's top.
    root: &'static str,
    made_by: &'static str,
    methodology: &'static str,
}

/// What can be chosen.
struct Tools {
    what: &'static str,
    words: bool,
    families: Vec<Choice>,
    levels: Vec<Choice>,
}

struct Choice {
    value: String,
    words: String,
}

/// Adds the site's own pages to those of its records.
pub fn add_pages(site: &Site, pages: &mut Pages) -> Result<(), SiteError> {
    let written = |page: Result<String, askama::Error>| page.map_err(HtmlError::from);
    let mut add = |path: String, page: String| pages.add(path, page.into_bytes()).map(drop);
    add(
        "index.html".to_owned(),
        written(index::index(site).render())?,
    )?;
    add(
        "machines.html".to_owned(),
        written(machines::machines(site).render())?,
    )?;
    for device in &site.devices {
        let page = written(device::device_page(site, device)?.render())?;
        add(device_address(device), page)?;
    }
    Ok(())
}

fn shell(title: String, root: &'static str) -> Shell {
    Shell {
        policy: &POLICY,
        style: &SITE_STYLE,
        script: SCRIPT,
        title,
        root,
        made_by: concat!("keymark ", env!("CARGO_PKG_VERSION")),
        methodology: METHODOLOGY,
    }
}

/// Text from outside, as long as a page has room for.
fn name(text: &str) -> String {
    shortened(text, NAME)
}

/// Whether a word of it widens its column.
fn is_long(text: &str) -> bool {
    name(text)
        .split(' ')
        .any(|word| word.chars().count() > WORD)
}

fn device_address(device: &Device) -> String {
    format!("devices/{}.html", device.identified.id)
}

/// As the script compares it.
fn key(family: KeyFamily, strength: Option<Strength>) -> String {
    format!("{family}/{}", level(strength))
}

fn level(strength: Option<Strength>) -> String {
    strength.map_or_else(|| "unknown".to_owned(), |strength| strength.0.to_string())
}

fn level_words(strength: Option<Strength>) -> String {
    match strength {
        Some(strength) if strength.is_weak() => format!("{strength}, weak"),
        Some(strength) => strength.to_string(),
        None => "no table has it".to_owned(),
    }
}

fn tools<'d>(what: &'static str, words: bool, devices: impl Iterator<Item = &'d Device>) -> Tools {
    let (mut families, mut levels) = (BTreeSet::new(), BTreeSet::new());
    for (family, strengths) in devices.flat_map(|device| &device.strengths) {
        families.insert(*family);
        levels.extend(strengths);
    }
    let families = families.into_iter().map(|family| Choice {
        value: family.to_string(),
        words: family.name().to_owned(),
    });
    let levels = levels.into_iter().map(|strength| Choice {
        value: level(strength),
        words: level_words(strength),
    });
    Tools {
        what,
        words,
        families: families.collect(),
        levels: levels.collect(),
    }
}

/// `2 measured, 1 twin`
fn kinds(device: &Device) -> String {
    let kinds = device.kinds.iter();
    let mut words = kinds.map(|(kind, number)| format!("{number} {kind}"));
    words.join(", ")
}

fn oldest_first(records: usize) -> String {
    let order = if records > 1 {
        ", the oldest first"
    } else {
        ""
    };
    counted(records, "record") + order
}

fn made(source: &Source) -> String {
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
