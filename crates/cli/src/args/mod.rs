//! The command line's definition; help, completions and the man page come from it.

mod advice;
mod audit;
mod bench;
mod capacity;
mod comparison;
mod export;
mod help;
mod mcu;
mod published;
mod service;
mod tls;
mod tokens;

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use itertools::Itertools;
use keymark_bench::{AlgorithmChoice, Baseline, Pacing, Rate, StackName, UnknownAlgorithm};
use keymark_records::archive::RunSelector;
use keymark_records::published::PublishedTable;
use keymark_report::pictures::PictureKind;
use keymark_report::pivot::Axis;
use keymark_stacks::registry;

pub use self::{
    advice::*, audit::*, bench::*, capacity::*, comparison::*, export::*, help::command, mcu::*,
    published::*, service::*, tls::*, tokens::*,
};

/// Heading of the options that all commands have.
const GLOBAL: &str = "Global options";

/// Measures what a private key costs, wherever it is kept.
#[derive(Debug, Parser)]
#[command(name = "keymark", version = env!("KEYMARK_VERSION"), max_term_width = 100)]
pub struct Arguments {
    /// Archive of runs: a file, or a PostgreSQL database as postgresql://USER@HOST/DATABASE or service=NAME
    /// [default: $KEYMARK_ARCHIVE, else runs.sqlite3 in the user's data directory]
    #[arg(
        long,
        global = true,
        value_name = "ARCHIVE",
        help_heading = GLOBAL,
        hide_short_help = true
    )]
    pub archive: Option<PathBuf>,

    /// Colors
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        help_heading = GLOBAL,
        hide_short_help = true
    )]
    pub color: ColorWhen,

    /// Show no progress and no notes, only results, warnings and errors
    #[arg(long, short, global = true, help_heading = GLOBAL, hide_short_help = true)]
    pub quiet: bool,

    /// Add to --version features, libraries, and the places of keymark's files
    #[arg(long, requires = "version", hide_short_help = true)]
    pub verbose: bool,

    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Use of colors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ColorWhen {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    Always,
    Never,
}

impl ColorWhen {
    /// Applies it to everything that is printed.
    pub(crate) fn choose(self) {
        match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        }
        .write_global();
    }
}

/// The subcommands, in the order of the help.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure keys on devices through programs
    Bench(Box<BenchArguments>),
    /// Measure TLS servers under load, and configure them for a key
    #[command(subcommand)]
    Tls(Box<TlsCommand>),
    /// Measure services that sign and timestamp, under load
    #[command(subcommand)]
    Service(Box<ServiceCommand>),
    /// Run a program with a traced card or PKCS#11 module, and show where its time went
    Trace(TraceArguments),
    /// Predict the cost of firmware on a microcontroller by simulation
    #[command(subcommand)]
    Mcu(Box<McuCommand>),
    /// Show a run: verdict, picture and tables
    Show(ShowArguments),
    /// List the runs in the archive, or remove some
    Runs(RunsArguments),
    /// Compare series, runs, machines or devices case by case, or the copies of each case within one run
    Compare(CompareArguments),
    /// Write runs to a file by its ending: a page, a picture, tables, data
    Export(ExportArguments),
    /// Show what others have published of devices, with sources
    Published(PublishedArguments),
    /// Recommend a device and key for a purpose, with costs and reasons
    Advise(Box<AdviseArguments>),
    /// Show how strong keys are, and until when policies allow them
    Strength(StrengthArguments),
    /// Look for weak keys in files, keyrings and certificates, on tokens and servers
    Audit(AuditArguments),
    /// Calculate how many tokens a load needs
    Capacity(Box<CapacityArguments>),
    /// Import published figures (CSV), a record of another machine, or another archive
    Import(ImportArguments),
    /// Write a run to a file for others, without host names, user names and serial numbers
    Share(ShareArguments),
    /// Build a static site from a folder of shared records
    Site(SiteArguments),
    /// Send runs that did not reach a team's archive, each to its archive or to --archive
    Push,
    /// List the key stores here, what they offer, and what is missing
    Devices(DevicesArguments),
    /// Make twins of devices, and serve them to other programs
    #[command(subcommand)]
    Twin(TwinCommand),
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
    /// Run one worker of a run with --processes
    #[command(name = keymark_stores::worker::SUBCOMMAND, hide = true)]
    Worker,
    /// Run a PKCS#11 module, which may hang or crash
    #[command(name = keymark_stores::pkcs11::process::SUBCOMMAND, hide = true)]
    Pkcs11Module,
}

impl Command {
    /// Returns whether keymark starts this command itself, often many times a run.
    pub const fn is_errand(&self) -> bool {
        matches!(self, Self::Worker | Self::Pkcs11Module)
    }
}

/// Format of a command's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    Text,
    /// One object per line
    Json,
}

/// Choice of an [`OutputFormat`].
#[derive(Debug, Clone, Copy, Args)]
pub struct FormatArguments {
    /// Format of the output: text, or json with one object per line
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "text",
        hide_default_value = true,
        hide_possible_values = true,
        help_heading = "Output"
    )]
    pub format: OutputFormat,
}

impl FormatArguments {
    pub fn is_json(self) -> bool {
        self.format == OutputFormat::Json
    }
}

/// Load of a case: workers without pauses, users with pauses, or arrivals.
#[derive(Debug, Default, PartialEq, Args)]
pub struct LoadArguments {
    /// Numbers of workers at once, each with one operation at a time
    #[arg(long, short, value_name = "LIST", value_delimiter = ',', value_parser = workers)]
    pub workers: Option<Vec<NonZeroU32>>,

    /// Numbers of users at once, each with a random pause before every operation
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = workers, requires = "think", conflicts_with = "workers")]
    pub users: Option<Vec<NonZeroU32>>,

    /// Longest pause of users, such as 5s
    #[arg(long, value_name = "TIME", value_parser = duration, requires = "users")]
    pub think: Option<Duration>,

    /// Open loop: operations arrive at random at this rate, such as 50/s, and queue if necessary
    #[arg(long, value_name = "RATE", conflicts_with_all = ["users", "think"])]
    pub rate: Option<Rate>,
}

impl LoadArguments {
    /// Returns the numbers of workers or users.
    pub fn at_once(&self) -> Option<&[NonZeroU32]> {
        self.workers.as_deref().or(self.users.as_deref())
    }

    /// Returns how operations follow one another.
    pub fn pacing(&self) -> Pacing {
        match (self.rate, self.think) {
            (Some(rate), _) => Pacing::Open(rate),
            (None, Some(longest)) => Pacing::Thinking(longest),
            (None, None) => Pacing::Closed,
        }
    }
}

/// `keymark devices`
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct DevicesArguments {
    #[command(subcommand)]
    pub command: Option<DevicesCommand>,

    /// Format of the output
    #[command(flatten)]
    pub form: FormatArguments,

    /// Show every device with its algorithms and versions, every module, every server
    #[arg(long, help_heading = "Output")]
    pub long: bool,
}

/// Subcommands of `keymark devices`.
#[derive(Debug, Subcommand)]
pub enum DevicesCommand {
    /// Remove the test keys that a killed run left on a token
    Restore(RestoreArguments),
}

/// `keymark runs`
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct RunsArguments {
    #[command(subcommand)]
    pub command: Option<RunsCommand>,

    /// Format of the output
    #[command(flatten)]
    pub form: FormatArguments,
}

/// Subcommands of `keymark runs`.
#[derive(Debug, Subcommand)]
pub enum RunsCommand {
    /// Remove runs from the archive
    Rm {
        /// Runs: last, last~1, an id or its beginning
        #[arg(value_name = "RUN", required = true)]
        runs: Vec<RunSelector>,
        /// Remove without asking, for scripts
        #[arg(long)]
        yes: bool,
    },
}

/// Layout of a run.
#[derive(Debug, Clone, Args)]
pub struct ShownArguments {
    /// Show every table, every case with its interval, and every remark
    #[arg(long, help_heading = "Output")]
    pub long: bool,
    /// Columns of the first table: device, stack, workers, a parameter, or several of them
    #[arg(long, value_name = "AXIS", value_delimiter = ',', value_parser = axis, help_heading = "Output")]
    pub columns: Option<Vec<Axis>>,
    /// Draw no picture (a pipe never gets one)
    #[arg(long, help_heading = "Output")]
    pub no_picture: bool,
}

/// `keymark show`
#[derive(Debug, Args)]
pub struct ShowArguments {
    /// Run: last, last~1, an id or its beginning; or series: and one of these
    #[arg(value_name = "RUN", default_value = "last")]
    pub run: RunSelector,
    /// Show only cases with all of these words in their name, such as 'rsa2048 gpg'
    #[arg(long, value_name = "WORDS")]
    pub case: Option<String>,
    /// Show these published figures next to the run's: lwn-2017, zeitgitter-2019, …
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = PublishedTable::named)]
    pub published: Vec<PublishedTable>,
    /// Format of the output
    #[command(flatten)]
    pub form: FormatArguments,
    /// Draw this kind of picture below the tables
    #[arg(long, value_name = "KIND", value_parser = kinds(), conflicts_with = "format", help_heading = "Output")]
    pub picture: Option<PictureKind>,
    /// Layout of the run
    #[command(flatten)]
    pub shown: ShownArguments,
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
            "'{unknown}' is not a baseline: name an algorithm, stack, parameter, w=N or device=NAME"
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

fn workers(text: &str) -> Result<NonZeroU32, String> {
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

/// The path of a request: what is visible in ASCII, and no fragment (RFC 9112 §3.2.1).
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
            "no case has a '{name}'; there are device, stack, workers, algorithm, operation, {}",
            names().format(", ")
        ));
    }
    Ok(axis)
}
