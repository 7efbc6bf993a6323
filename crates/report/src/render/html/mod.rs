//! The document as one HTML file that asks nothing of anybody: style, script and data stand in it, and its
//! policy lets nothing else in. What is said can be read without the script, which sorts, filters and compares.

mod figure;
mod method;
mod policy;
mod runs;
mod site;
mod table;

use std::sync::LazyLock;

use askama::Template;
use keymark_bench::record::RunState;

use crate::document::{Block, Document, Limits, Section};
use crate::visible::{json, visible};

use super::Format;

use self::figure::Pictures;
use self::method::Link;
use self::table::Numbering;

pub use runs::{Import, policy_of_runs, runs};
pub use site::add_pages;

/// By which words keymark knows its own pages.
pub const MARK: &str = "<meta name=\"generator\" content=\"keymark\">";

/// The style of all pages, and of pictures in them.
static STYLE: LazyLock<String> =
    LazyLock::new(|| include_str!("../../../templates/page.css").to_owned() + &figure::dark());
const SCRIPT: &str = include_str!("../../../templates/page.js");

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub enum HtmlError {
    /// A template, which writes to memory only.
    #[error("the report cannot be written as HTML: {0}")]
    Template(#[from] askama::Error),
    /// A value has no form in JSON.
    #[error("the report's data cannot be written: {0}")]
    Data(#[from] serde_json::Error),
}

/// Where the page is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place<'a> {
    /// A file, wherever it is taken.
    File,
    /// Keymark's local page, with a way back to its list.
    Archive,
    /// In the folder of a site's records, beside the file of that name.
    Site(&'a str),
}

/// A way from a page to another one.
struct Way {
    address: String,
    words: &'static str,
}

impl Place<'_> {
    fn ways(self) -> Vec<Way> {
        let way = |address: &str, words| Way {
            address: address.to_owned(),
            words,
        };
        match self {
            Self::File => Vec::new(),
            Self::Archive => vec![way("/", "all runs")],
            Self::Site(file) => vec![
                way("../index.html", "all devices"),
                way("../machines.html", "all machines and records"),
                way(file, "this record with every sample (JSON)"),
            ],
        }
    }
}

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    policy: &'a str,
    style: &'static str,
    script: &'static str,
    ways: Vec<Way>,
    title: String,
    answers: Vec<String>,
    sections: Vec<Written>,
    warnings: Vec<String>,
    head: Vec<String>,
    compared: bool,
    runs: Vec<String>,
    facts: Vec<FactRow>,
    commands: Vec<Command>,
    method: Vec<Link>,
    file: String,
    data: String,
}

/// A section whose blocks are HTML.
struct Written {
    number: usize,
    heading: String,
    blocks: Vec<String>,
}

struct FactRow {
    name: String,
    values: Vec<String>,
    differs: bool,
}

struct Command {
    run: String,
    command: String,
    remark: Option<String>,
}

/// Of a page that a browser shows at once: a report over 200 cases has about a fifth of it.
pub const LIMITS: Limits = Limits {
    rows: 2_000,
    figures: 150,
    in_figure: 1_000,
    warnings: 1_000,
};

pub static FORMAT: Format = Format {
    word: "html",
    about: "One page for a browser, which works offline and from a file",
    endings: &["html"],
    write: |exported, out| Ok(out.write_all(render(exported.document(), Place::File)?.as_bytes())?),
};

/// The page, within [`LIMITS`].
pub fn render(document: Document, place: Place<'_>) -> Result<String, HtmlError> {
    let document = document.capped(LIMITS);
    let (mut numbering, mut pictures) = (Numbering::default(), Pictures::default());
    let sections = document
        .sections
        .iter()
        .enumerate()
        .map(|(number, section)| written(section, number, &mut numbering, &mut pictures))
        .collect::<Result<_, _>>()?;
    let seen = |text: &String| visible(text).into_owned();
    let all = |texts: &[String]| texts.iter().map(seen).collect::<Vec<_>>();
    let conditions = document.conditions.as_ref();
    let runs = conditions.map_or_else(Vec::new, |conditions| all(&conditions.runs));
    let (answers, warnings) = (document.answers.iter(), document.warnings.iter());
    let title = document
        .title
        .as_ref()
        .map_or_else(|| "report".to_owned(), seen);
    let page = Page {
        policy: policy::of_file(),
        style: &STYLE,
        script: SCRIPT,
        ways: place.ways(),
        answers: answers.map(|answer| seen(&answer.text)).collect(),
        sections,
        warnings: warnings.map(|warning| seen(&warning.text)).collect(),
        head: all(&document.head),
        compared: runs.len() > 1,
        facts: facts(&document),
        commands: commands(&document),
        method: method::links(),
        file: format!(
            "keymark-{}.json",
            runs.first().map_or("report", String::as_str)
        ),
        data: data(&document)?,
        runs,
        title,
    };
    Ok(page.render()?)
}

/// The policy of a page as the header of an answer, which can say more than an element.
pub fn policy_of_answer() -> String {
    format!("{}; frame-ancestors 'none'", policy::of_answer())
}

/// How a run ended, in a word.
const fn state(state: RunState) -> &'static str {
    match state {
        RunState::Unfinished => "unfinished",
        RunState::Finished => "finished",
        RunState::Interrupted => "interrupted",
        RunState::Published => "published",
    }
}

fn written(
    section: &Section,
    number: usize,
    numbering: &mut Numbering,
    pictures: &mut Pictures,
) -> Result<Written, HtmlError> {
    let heading = section.heading.as_deref().unwrap_or_default();
    let mut blocks = Vec::new();
    for block in &section.blocks {
        match block {
            Block::Table(table) => blocks.push(numbering.table(table, heading)?),
            Block::Remark(remark) => blocks.push(paragraph(&remark.text)?),
            Block::Figure(figure) => blocks.push(pictures.html(figure)),
        }
    }
    Ok(Written {
        number,
        heading: visible(heading).into_owned(),
        blocks,
    })
}

#[derive(Template)]
#[template(source = "<p>{{ text }}</p>", ext = "html")]
struct Paragraph<'a> {
    text: &'a str,
}

fn paragraph(text: &str) -> Result<String, askama::Error> {
    let text = &*visible(text);
    Paragraph { text }.render()
}

fn facts(document: &Document) -> Vec<FactRow> {
    let facts = document
        .conditions
        .iter()
        .flat_map(|conditions| &conditions.facts);
    let word = |value: &Option<String>| {
        value
            .as_ref()
            .map_or_else(|| "-".to_owned(), |value| visible(value).into_owned())
    };
    facts
        .map(|fact| FactRow {
            name: visible(&fact.name).into_owned(),
            values: fact.values.iter().map(word).collect(),
            differs: fact.differs(),
        })
        .collect()
}

fn commands(document: &Document) -> Vec<Command> {
    let commands = document
        .conditions
        .iter()
        .flat_map(|conditions| &conditions.commands);
    let seen = |text: &String| visible(text).into_owned();
    commands
        .map(|rerun| Command {
            run: seen(&rerun.run),
            command: seen(&rerun.command),
            remark: rerun.remark.as_ref().map(seen),
        })
        .collect()
}

/// JSON in which nothing can end the element that it stands in (HTML §4.12.1.3).
fn data(document: &Document) -> Result<String, HtmlError> {
    let json = json(document)?;
    // These stand in strings only, where this is the same character.
    Ok(json
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026"))
}
