//! The command line's definition; help, completions and the man page come from it.

mod advice;
mod audit;
mod bench;
mod capacity;
mod cards;
mod comparison;
mod hsm;
mod mcu;
mod plot;
mod published;
mod report;
mod service;
mod sharing;
#[cfg(feature = "tokens")]
mod tls;
#[cfg(feature = "tokens")]
mod tokens;

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, CommandFactory, Parser, Subcommand};
use itertools::Itertools;
use keymark_bench::{AlgorithmChoice, Baseline, StackName, UnknownAlgorithm};
use keymark_records::archive::RunSelector;
use keymark_records::published::PublishedTable;
use keymark_report::pictures::PictureKind;
use keymark_report::pivot::Axis;
use keymark_stacks::registry;

pub use self::{
    advice::*, audit::*, bench::*, capacity::*, cards::*, comparison::*, hsm::*, mcu::*, plot::*,
    published::*, report::*, service::*, sharing::*,
};
#[cfg(feature = "tokens")]
pub use {tls::*, tokens::*};

/// Examples below the help of each command.
const BELOW_HELP: &str = include_str!("examples.md");

/// The command line's definition, with examples.
pub fn command() -> clap::Command {
    let mut all = Arguments::command();
    let parts = BELOW_HELP.split("## keymark");
    for (name, text) in parts.filter_map(|part| part.split_once('\n')) {
        let found = name
            .split_whitespace()
            .try_fold(&mut all, |command, word| command.find_subcommand_mut(word));
        // A program that was built without some commands has none.
        if let Some(command) = found {
            *command = std::mem::take(command).after_help(text.trim_end());
        }
    }
    all
}

/// Measures what a private key costs, wherever it is kept.
#[derive(Debug, Parser)]
#[command(name = "keymark", version = env!("KEYMARK_VERSION"), max_term_width = 100)]
pub struct Arguments {
    /// Archive of runs: a file, or a PostgreSQL database as postgresql://USER@HOST/DATABASE or service=NAME
    /// [default: $KEYMARK_ARCHIVE, else runs.sqlite3 in the user's data directory]
    #[arg(long, global = true, value_name = "ARCHIVE")]
    pub archive: Option<PathBuf>,

    /// Add to --version features, libraries, and where the files are that belong to keymark
    #[arg(long, requires = "version")]
    pub verbose: bool,

    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the key stores here, what they offer, and what is missing
    Devices(DevicesArguments),
    /// Measure
    Bench(Box<BenchArguments>),
    /// List the runs in the archive
    Runs(JsonArguments),
    /// Show a run's tables again
    Show(ShowArguments),
    /// Draw a picture of runs as SVG or PNG
    Plot(PlotArguments),
    /// Write a run to stdout
    Export(ExportArguments),
    /// Write a report of runs as a page for a browser, or in other formats
    Report(ReportArguments),
    /// Compare series, runs, machines or devices case by case, or the copies of each case within one run
    Compare(CompareArguments),
    /// Write a run to a file for others, without host names, user names and serial numbers
    Share(ShareArguments),
    /// Build a static site from a folder of records that others have shared
    Site(SiteArguments),
    /// Show what others have published of devices, with sources
    Published(PublishedArguments),
    /// Run a program with a traced card or PKCS#11 module, and show where its time went
    #[cfg(feature = "tokens")]
    Trace(TraceArguments),
    /// Serve a virtual token to other programs; remove what a killed run left on a real one
    #[cfg(feature = "tokens")]
    #[command(subcommand)]
    Token(TokenCommand),
    /// Write a device profile from a measured run (raw, one at a time), for 'twin:FILE'
    Profile(ProfileArguments),
    /// Predict by simulation what firmware costs on a microcontroller
    #[command(subcommand)]
    Mcu(Box<McuCommand>),
    /// Measure TLS servers under load, and configure them for a key
    #[cfg(feature = "tokens")]
    #[command(subcommand)]
    Tls(Box<TlsCommand>),
    /// Measure services that sign and timestamp, under load
    #[command(subcommand)]
    Service(Box<ServiceCommand>),
    /// Look for weak keys in files, keyrings and certificates, on tokens and servers
    Audit(AuditArguments),
    /// Say which device and key fit a purpose, what they cost, and why others do not
    Advise(Box<AdviseArguments>),
    /// Say how many tokens a rate of operations or a number of users takes
    Capacity(Box<CapacityArguments>),
    /// Say how strong keys are by every table, and until when policies allow them
    Strength(StrengthArguments),
    /// Import published figures (CSV) or a run of another machine (JSON)
    Import(ImportArguments),
    /// Send runs that did not get to a team's archive, and copy archives
    #[command(subcommand)]
    Archive(ArchiveCommand),
    /// Run one worker of a run with --processes
    #[command(name = keymark_stores::worker::SUBCOMMAND, hide = true)]
    Worker,
    /// Run a PKCS#11 module, which may hang or crash
    #[cfg(feature = "tokens")]
    #[command(name = keymark_stores::pkcs11::process::SUBCOMMAND, hide = true)]
    Pkcs11Module,
    /// Print shell completions
    Completions {
        /// Shell
        shell: clap_complete::Shell,
    },
    /// Print the man page, or write one for each subcommand to a directory
    Man {
        /// Write keymark.1, keymark-bench.1, … to this directory
        #[arg(long, value_name = "DIR")]
        directory: Option<PathBuf>,
    },
}

impl Command {
    /// Returns whether keymark starts this command itself, often many times a run.
    pub const fn is_errand(&self) -> bool {
        let errand = matches!(self, Self::Worker);
        #[cfg(feature = "tokens")]
        let errand = errand || matches!(self, Self::Pkcs11Module);
        errand
    }
}

/// `keymark devices`
#[derive(Debug, Args)]
pub struct DevicesArguments {
    /// Print one JSON object per device and stack
    #[arg(long)]
    pub json: bool,

    /// Every device with its algorithms and versions, every module, every server
    #[arg(long, conflicts_with = "json")]
    pub long: bool,

    /// Show everything, and twins in full
    #[arg(long, conflicts_with = "json")]
    pub all: bool,
}

/// Subcommands whose only choice is JSON.
#[derive(Debug, Args)]
pub struct JsonArguments {
    /// Print one JSON object per line
    #[arg(long)]
    pub json: bool,
}

/// Layout of a run.
#[derive(Debug, Clone, Args)]
pub struct ShownArguments {
    /// Show every table, every case with its interval, and every remark
    #[arg(long, help_heading = "Output")]
    pub long: bool,
    /// Columns of the first table: device, stack, concurrency, a parameter, or several of them
    #[arg(long, value_name = "AXIS", value_delimiter = ',', value_parser = axis, help_heading = "Output")]
    pub by: Option<Vec<Axis>>,
    /// Draw no picture below the answer (a pipe never gets one)
    #[arg(long, help_heading = "Output")]
    pub no_plot: bool,
}

/// `keymark show`
#[derive(Debug, Args)]
pub struct ShowArguments {
    /// Run: last, last~1, an id or its beginning; or series: and one of these
    #[arg(value_name = "RUN", default_value = "last")]
    pub run: RunSelector,
    /// Show these published figures beside the run's: lwn-2017, zeitgitter-2019, …
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = PublishedTable::named)]
    pub published: Vec<PublishedTable>,
    /// Print one JSON object per case
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Draw a picture: the one that fits the run, or a kind of 'keymark plot'
    #[arg(
        long,
        value_name = "KIND",
        num_args = 0..=1,
        require_equals = true,
        value_parser = plot::kinds(),
        hide_possible_values = true,
        conflicts_with = "json",
        help_heading = "Output"
    )]
    pub plot: Option<Option<PictureKind>>,
    /// Layout of the run
    #[command(flatten)]
    pub shown: ShownArguments,
}

/// `keymark import`
#[derive(Debug, Args)]
pub struct ImportArguments {
    /// A CSV of published means, or the JSON of 'keymark export'
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Identity that a team's archive is sent
    #[command(flatten)]
    pub identity: IdentityArguments,
}

fn algorithms(text: &str) -> Result<AlgorithmChoice, UnknownAlgorithm> {
    match text {
        "all" => Ok(AlgorithmChoice::All),
        "longest" => Ok(AlgorithmChoice::Longest),
        list => {
            let names: Result<_, _> = list.split(',').map(str::parse).collect();
            names.map(AlgorithmChoice::Listed)
        }
    }
}

fn stack(text: &str) -> Result<StackName, String> {
    let mut stacks = registry::stacks();
    let named = stacks.find(|stack| stack.word().eq_ignore_ascii_case(text));
    named.ok_or_else(|| {
        let known = registry::stacks().format(", ");
        format!("unknown stack '{text}'; choose from {known}")
    })
}

fn baseline(text: &str) -> Result<Baseline, String> {
    let baseline = registry::baseline(text)?;
    match baseline.stack() {
        Some(unknown) if !registry::stacks().any(|stack| stack == unknown) => Err(format!(
            "'{unknown}' is not a baseline: name an algorithm, stack, parameter, c=N or device=NAME"
        )),
        _ => Ok(baseline),
    }
}

/// Parses one of a few values by its word.
fn one_of<T: Copy + Send + Sync + 'static>(
    known: impl IntoIterator<Item = (T, &'static str, &'static str)>,
) -> impl TypedValueParser<Value = T> {
    let known: Vec<_> = known.into_iter().collect();
    let words = known
        .iter()
        .map(|(_, word, about)| PossibleValue::new(*word).help(*about));
    PossibleValuesParser::new(words.collect::<Vec<_>>()).try_map(move |wanted| {
        let found = known.iter().find(|(_, word, _)| *word == wanted);
        found
            .map(|(value, ..)| *value)
            .ok_or("no value has that name")
    })
}

fn concurrency(text: &str) -> Result<NonZeroU32, String> {
    count("workers", 256, text)
}

fn count(what: &str, most: u32, text: &str) -> Result<NonZeroU32, String> {
    let number = text
        .parse()
        .ok()
        .filter(|number: &NonZeroU32| number.get() <= most);
    number.ok_or_else(|| format!("the number of {what} must be from 1 to {most}, not '{text}'"))
}

fn duration(text: &str) -> Result<Duration, String> {
    let time = humantime::parse_duration(text)
        .map_err(|error| format!("'{text}' is not a time; write it like 60s or 500ms: {error}"))?;
    usable(time, text)
}

fn usable(time: Duration, text: &str) -> Result<Duration, String> {
    if time.is_zero() || time > Duration::from_secs(7 * 24 * 3600) {
        return Err(format!(
            "a time must be above 0 and at most 7 days, not '{text}'"
        ));
    }
    Ok(time)
}

fn share(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%');
    let percent = number.and_then(|number| number.trim().parse::<f64>().ok());
    let percent = percent.filter(|percent| (0.0..=10_000.0).contains(percent));
    let wrong = || format!("'{text}' is not a percentage; write it like 5%");
    percent.map(|percent| percent / 100.0).ok_or_else(wrong)
}

/// The path of a request: what is visible in ASCII, and no fragment (RFC 9112 Shipped3.2.1).
fn path(word: &str) -> Result<String, String> {
    let visible = word
        .bytes()
        .all(|byte| byte.is_ascii_graphic() && byte != b'#');
    if word.starts_with('/') && visible {
        Ok(word.to_owned())
    } else {
        Err("a path must begin with '/' and have no spaces or '#'".to_owned())
    }
}

/// An axis of the first table; parameters are those that some family of stacks has.
fn axis(word: &str) -> Result<Axis, String> {
    let axis: Axis = word.parse()?;
    let dimensions = registry::dimensions();
    let names = || dimensions.iter().map(|dimension| dimension.name);
    if let Axis::Parameter(name) = &axis
        && !names().any(|known| known == name)
    {
        return Err(format!(
            "no case has a '{name}'; there are device, stack, concurrency, algorithm, operation, {}",
            names().format(", ")
        ));
    }
    Ok(axis)
}
