//! The document as one HTML file that asks nothing of anybody: style, script and data are in it, and its
//! policy lets nothing else in. What is said can be read without the script, which sorts, filters and compares.

mod blocks;
mod site;

use std::fmt;
use std::sync::LazyLock;

use askama::Template;
use askama::filters::{Escaper, Html};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use super::{Format, FormatError};
use crate::document::REMARKS;
use crate::units::counted;
use crate::verdict::{REASONS, Verdict};
use crate::visible::{json, visible};
use crate::{Block, Conditions, Depth, Document, Remark, Section};
use blocks::{EVERY, Placed};

pub use site::add_pages;

/// Mark of keymark's own pages.
pub const MARK: &str = "<meta name=\"generator\" content=\"keymark\">";

/// The style of all pages, and of pictures in them.
static STYLE: LazyLock<String> =
    LazyLock::new(|| include_str!("../../../templates/page.css").to_owned() + &blocks::dark());
const SCRIPT: &str = include_str!("../../../templates/page.js");

/// A file sends nothing anywhere.
static OF_FILE: LazyLock<String> = LazyLock::new(|| of_page(&STYLE, SCRIPT));

/// Rows of a table that need not be folded.
const OPEN: usize = 12;

/// Page about the methods.
const METHODOLOGY: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/METHODOLOGY.md");

/// Escapes what may be from outside, once it is visible: all values of a template.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Visibly;

impl Escaper for Visibly {
    fn write_escaped_str<W: fmt::Write>(&self, to: W, text: &str) -> fmt::Result {
        Html.write_escaped_str(to, &visible(text))
    }
}

/// Place where the page is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadIn<'a> {
    /// A file, wherever it is taken.
    File,
    /// A site's folder of records, next to the file of that name.
    Site(&'a str),
}

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    place: ReadIn<'a>,
    document: &'a Document,
    conditions: Option<&'a Conditions>,
    sections: Vec<Written>,
    warnings: Vec<&'a Remark>,
    more_warnings: Vec<&'a Remark>,
    data: String,
}

impl Page<'_> {
    fn title(&self) -> &str {
        self.document.title.as_deref().unwrap_or("report")
    }

    fn runs(&self) -> &[String] {
        self.conditions.map_or(&[], |conditions| &conditions.runs)
    }

    fn compares(&self) -> bool {
        self.runs().len() > 1
    }

    /// Start of the first run.
    fn started(&self) -> Option<&str> {
        let mut facts = self.conditions?.facts.iter();
        let started = facts.find(|fact| fact.name == "started")?;
        started.values.first()?.as_deref()
    }
}

/// A section whose blocks are HTML.
struct Written {
    number: usize,
    heading: String,
    /// Part of the heading in a smaller line.
    note: String,
    pictures: Vec<String>,
    said: Vec<String>,
    tables: Vec<String>,
    /// Summary of folded tables.
    folded: Option<String>,
    depth: Depth,
}

pub static FORMAT: Format = Format {
    word: "html",
    about: "One page for a browser, which works offline and from a file",
    endings: &["html"],
    write: |exported| render(exported.document(), ReadIn::File),
};

/// Renders the document, [capped](Document::capped), as a page.
pub fn render(document: Document, place: ReadIn<'_>) -> Result<String, FormatError> {
    let mut document = document.capped();
    // The data have the same order, by which the script finds the rows.
    document
        .sections
        .sort_by_key(|section| section.depth == Depth::Every);
    let mut placed = Placed::default();
    let sections = document.sections.iter().enumerate();
    let sections = sections
        .map(|(number, section)| Written::of(section, number, &mut placed))
        .collect::<Result<_, _>>()?;
    let (warnings, more_warnings) = remarks(&document.warnings);
    let page = Page {
        place,
        sections,
        warnings,
        more_warnings,
        data: data(&document)?,
        conditions: document.conditions.as_ref(),
        document: &document,
    };
    Ok(page.render()?)
}

/// Splits the reasons for all readers from the others.
fn reasons(verdict: &Verdict) -> (Vec<String>, Vec<String>) {
    let mut reasons = verdict.because();
    let others = reasons.split_off(reasons.len().min(REASONS));
    (reasons, others)
}

/// Splits the first remarks for all readers from the others.
fn remarks(all: &[Remark]) -> (Vec<&Remark>, Vec<&Remark>) {
    let is_first = |remark: &&Remark| remark.kind.is_for_everybody();
    let (mut first, others): (Vec<&Remark>, Vec<&Remark>) = all.iter().partition(is_first);
    let more = first.split_off(first.len().min(REMARKS));
    (first, [more, others].concat())
}

impl Written {
    fn of(section: &Section, number: usize, placed: &mut Placed) -> Result<Self, FormatError> {
        let whole = section.heading.as_deref().unwrap_or_default();
        let (heading, note) = whole.split_once(" (").unwrap_or((whole, ""));
        let (mut pictures, mut said, mut tables, mut rows) = (vec![], vec![], vec![], 0);
        for block in &section.blocks {
            match block {
                Block::Table(table) => {
                    rows += table.rows.len();
                    tables.push(placed.table(table, whole)?);
                }
                Block::Remark(remark) => said.push(remark.text.clone()),
                Block::Picture(chart) => pictures.push(placed.picture(chart)),
            }
        }
        let (depth, folded, what) = match section.depth {
            Depth::First | Depth::Beside => (Depth::First, false, "the figures"),
            Depth::Pictured | Depth::Detail => {
                let folded = !pictures.is_empty() || rows > OPEN;
                (Depth::Detail, folded, "the figures")
            }
            Depth::Every => (Depth::Every, true, EVERY),
        };
        Ok(Self {
            number,
            heading: heading.to_owned(),
            note: note.trim_end_matches(')').to_owned(),
            pictures,
            said,
            folded: (folded && rows > 0).then(|| format!("{what}: {}", counted(rows, "row"))),
            tables,
            depth,
        })
    }
}

/// JSON in which nothing can end the element that it is in (HTML §4.12.1.3).
fn data(document: &Document) -> Result<String, FormatError> {
    let json = json(document)?;
    // These are in strings only, where this is the same character.
    Ok(json
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026"))
}

/// Content Security Policy of a page with this style and script: it shows the style, runs the script, and nothing else.
fn of_page(style: &str, script: &str) -> String {
    format!(
        "default-src 'none'; style-src {}; script-src {}; base-uri 'none'; form-action 'none'",
        hash(style),
        hash(script),
    )
}

fn hash(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    format!("'sha256-{}'", STANDARD.encode(digest))
}
