//! The command line's definition; help, completions and the man page come from it.

mod bench;
mod cards;
mod comparison;
mod forms;
mod mcu;
mod plot;
mod report;
mod serve;
mod sharing;
mod site;
#[cfg(feature = "pkcs11")]
mod tls;

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use keymark_bench::algorithm::Algorithm;
use keymark_bench::baseline::Baseline;
use keymark_bench::case::StackName;
use keymark_report::archive::RunSelector;
use keymark_report::exchange::Shipped;
use keymark_report::pictures::Kind;
use keymark_report::pivot::Axis;
use keymark_report::render::Format;
use keymark_stacks::registry;

pub use bench::{BenchArguments, RunArguments};
pub use cards::{
    CardArguments, PinArguments, PinVariable, ProfileArguments, RestoreArguments, ServeArguments,
    TokenCommand, TraceArguments,
};
pub use comparison::{BaselineArgument, CompareArguments, SeriesArguments, SideArgument};
pub use sharing::{HistoryArguments, ShareArguments};
pub use site::SiteArguments;

pub use mcu::{
    ExplainArguments, FirmwareArguments, McuCommand, McuProfileArguments, OptionAxis,
    PredictArguments, StorageArguments,
};

pub use plot::{PictureFile, PictureFormat, PlotArguments};
pub use report::ReportArguments;
pub use serve::PageArguments;
#[cfg(feature = "pkcs11")]
pub use tls::{
    TlsBenchArguments, TlsCheckArguments, TlsCommand, TlsConfigArguments, TlsRunArguments,
    TlsServeArguments, TlsSuite, TlsSuiteArguments,
};

const EXAMPLES: &str = "\
Examples:
  keymark bench                                    the default plan, a minute and a half
  keymark bench --algorithm longest --operation sign --runs 10
  keymark bench --algorithm rsa4096,cv25519 --stack raw,agent,gnupg --concurrency 1,2,4,10
  keymark devices                                  what can be measured here, and what is missing
  keymark show last                                the tables of the last run again
  keymark report last -o report.html               the same as a page for a browser, with pictures
  keymark bench --repeat 5                         a series, to be compared with another one
  keymark compare series:last~1 series:last --fail-above 5%    is anything slower than before?

Exit status: 0 all fine, 1 some case failed, 2 wrong usage, 3 nothing usable here, 130 ended by Ctrl-C.";

/// Measures what a private key costs, wherever it is kept.
#[derive(Debug, Parser)]
#[command(name = "keymark", version = env!("KEYMARK_VERSION"), after_help = EXAMPLES, max_term_width = 100)]
pub struct Arguments {
    /// Archive of runs [default: $KEYMARK_ARCHIVE, else runs.sqlite3 in the user's data directory]
    #[arg(long, global = true, value_name = "FILE")]
    pub archive: Option<PathBuf>,

    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List every key store found, what it offers, and what is missing
    #[command(
        after_help = "Examples:\n  keymark devices\n  keymark devices --all\n  keymark devices --json"
    )]
    Devices(DevicesArguments),
    /// Measure
    Bench(Box<BenchArguments>),
    /// List the runs in the archive
    #[command(after_help = "Examples:\n  keymark runs\n  keymark runs --json")]
    Runs(JsonArguments),
    /// Show a run's tables again
    #[command(
        after_help = "Examples:\n  keymark show last\n  keymark show 20261121-0415\n  keymark show last~2\n  keymark show last --published lwn-2017"
    )]
    Show(ShowArguments),
    /// Draw a picture of runs as SVG or PNG
    #[command(
        after_help = "Examples:\n  keymark plot last -o run.svg\n  keymark plot last --kind distributions --case 'rsa2048 gnupg' -o rsa2048.svg\n  keymark plot last --published lwn-2017 --theme dark -o compared.svg\n\n'keymark show --plot' draws on the terminal."
    )]
    Plot(PlotArguments),
    /// Write a run to stdout
    #[command(
        after_help = "Examples:\n  keymark export last --format json > run.json\n  keymark export last --format markdown"
    )]
    Export(ExportArguments),
    /// Write a report of runs as a page for a browser, or in other formats
    #[command(
        after_help = "Examples:\n  keymark report last -o report.html\n  keymark report last last~1 -o compared.html\n  keymark report last --format latex > table.tex\n\nThe page works offline and loads nothing. A file that keymark did not write is not overwritten."
    )]
    Report(ReportArguments),
    /// Show the archive's runs as a local page, on this computer only; Ctrl-C ends it
    #[command(
        after_help = "Examples:\n  keymark serve\n  keymark serve --port 8080\n\nThe page reads the archive. Only this computer can open it, but every user of this computer can."
    )]
    Serve(PageArguments),
    /// Compare series, runs, machines or devices case by case, or the copies of each case within one run
    #[command(
        after_help = "Examples:\n  keymark bench --repeat 5 (before and after a change), then\n  keymark compare series:last~1 series:last --fail-above 5%\n  keymark compare last~2 last~1 last --geometric-mean\n  keymark compare last --baseline device=twin:yubikey-4\n  keymark compare last --baseline published:lwn-2017\n\nTwo single runs of the same program differ, too: the verdict is then 'not distinguishable'."
    )]
    Compare(CompareArguments),
    /// Follow a case over time and find changes: one trend for each machine
    #[command(
        after_help = "Examples:\n  keymark history rsa4096 sign software gnupg\n  keymark history ed25519 sign raw --last 50\n\nAll words must appear in the case's name, as 'compare' and the warnings of 'show' write it. Runs of one series count once."
    )]
    History(HistoryArguments),
    /// Write a run to a file for others, without host names, user names and serial numbers
    #[command(
        after_help = "Examples:\n  keymark share last -o run.json\n  keymark share 20261121-0415 -o run.json --remove 'project x' --yes\n\nkeymark shows what it removes before it writes anything. Anybody can read the file with 'keymark import'."
    )]
    Share(ShareArguments),
    /// Build a static site from a folder of records that others have shared
    #[command(
        after_help = "Examples:\n  keymark share last -o records/run.json, then\n  keymark site records -o public\n\nThe pages need no server and load nothing from elsewhere. If a file is refused, keymark names it, makes the site from the others, and ends with exit status 1. It only writes to a directory that is empty or holds an unchanged earlier site."
    )]
    Site(SiteArguments),
    /// Run a program with a traced card or PKCS#11 module, and show where its time went
    #[command(
        after_help = "Examples:\n  keymark trace -- gpg --decrypt message.gpg\n  keymark trace --apdu -- git commit -S -m 'signed'\n  keymark trace --device virtual -- sh -c 'echo hello | gpg -e -r keymark | gpg -d'\n  keymark trace --pkcs11 softhsm2 -- pkcs11-tool --module {module} --login --test\n\nWith a card the program runs in a private GNUPGHOME that has the public keys of your keyring for the card, or a test key called 'keymark test key' for a virtual one. keymark ends with its exit status."
    )]
    #[cfg(feature = "openpgp-card")]
    Trace(TraceArguments),
    /// Serve a virtual token to other programs; remove what a killed run left on a real one
    #[cfg(feature = "openpgp-card")]
    #[command(subcommand)]
    Token(TokenCommand),
    /// Write a device profile from a measured run (raw, one at a time), for 'twin:FILE'
    #[command(
        after_help = "Examples:\n  keymark profile last -o my-card.toml\n  keymark bench --device twin:my-card.toml"
    )]
    Profile(ProfileArguments),
    /// Predict by simulation what firmware costs on a microcontroller
    #[command(subcommand)]
    Mcu(Box<McuCommand>),
    /// Measure TLS servers under load, and configure them for a key
    #[cfg(feature = "pkcs11")]
    #[command(subcommand)]
    Tls(Box<TlsCommand>),
    /// Import published figures (CSV) or a run of another machine (JSON)
    #[command(
        after_help = "Examples:\n  keymark import data/published/lwn-2017-keycards.csv\n  keymark import run.json"
    )]
    Import(ImportArguments),
    /// Run one worker of a run with --processes
    #[command(name = keymark_stores::worker::SUBCOMMAND, hide = true)]
    Worker,
    /// Run a PKCS#11 module, which may hang or crash
    #[cfg(feature = "pkcs11")]
    #[command(name = keymark_stores::pkcs11::process::SUBCOMMAND, hide = true)]
    Pkcs11Module,
    /// Print shell completions
    #[command(
        after_help = "Example:\n  keymark completions bash > ~/.local/share/bash-completion/completions/keymark"
    )]
    Completions {
        /// For which shell
        shell: clap_complete::Shell,
    },
    /// Print the man page, or write one for each subcommand to a directory
    #[command(
        after_help = "Examples:\n  keymark man | man -l -\n  keymark man --directory ~/.local/share/man/man1"
    )]
    Man {
        /// Write keymark.1, keymark-bench.1, … to this directory
        #[arg(long, value_name = "DIR")]
        directory: Option<PathBuf>,
    },
}

impl Command {
    /// Whether keymark has started itself for it, often many times a run.
    pub const fn is_errand(&self) -> bool {
        let errand = matches!(self, Self::Worker);
        #[cfg(feature = "pkcs11")]
        let errand = errand || matches!(self, Self::Pkcs11Module);
        errand
    }
}

/// `keymark devices`
#[derive(Debug, Args)]
pub struct DevicesArguments {
    /// One JSON object for each device and stack
    #[arg(long)]
    pub json: bool,

    /// Also show twins in full
    #[arg(long, conflicts_with = "json")]
    pub all: bool,
}

/// Subcommands whose only choice is JSON.
#[derive(Debug, Args)]
pub struct JsonArguments {
    /// One JSON object on each line
    #[arg(long)]
    pub json: bool,
}

/// How tables are shown.
#[derive(Debug, Args)]
pub struct TableArguments {
    /// Show every column, however narrow the terminal
    #[arg(long, help_heading = "Output")]
    pub wide: bool,
}

/// How a run is shown.
#[derive(Debug, Args)]
pub struct ShownArguments {
    /// Show every table, every case with its interval, and every remark
    #[arg(long, help_heading = "Output")]
    pub long: bool,
    /// What the columns of the first table are: device, stack, concurrency, a parameter, or several of them
    #[arg(
        long,
        value_name = "AXIS",
        value_delimiter = ',',
        value_parser = axis,
        help_heading = "Output"
    )]
    pub by: Option<Vec<Axis>>,
    /// How tables are shown
    #[command(flatten)]
    pub tables: TableArguments,
}

/// `keymark show`
#[derive(Debug, Args)]
pub struct ShowArguments {
    /// Which run: last, last~1, an id or its beginning; or series: and one of these
    #[arg(value_name = "RUN", default_value = "last")]
    pub run: RunSelector,
    /// Show these published figures beside the run's: lwn-2017, zeitgitter-2019, …
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = comparison::published)]
    pub published: Vec<Shipped>,
    /// One JSON object for each case
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Also draw a picture: the one that fits the run, or a kind of 'keymark plot'
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
    pub plot: Option<Option<Kind>>,
    /// How the run is shown
    #[command(flatten)]
    pub shown: ShownArguments,
}

/// `keymark export`
#[derive(Debug, Args)]
pub struct ExportArguments {
    /// Which run: last, last~1, an id or its beginning; or series: and one of these
    #[arg(value_name = "RUN")]
    pub run: RunSelector,
    /// Format
    #[arg(long, value_parser = forms::exported())]
    pub format: &'static Format,
}

/// `keymark import`
#[derive(Debug, Args)]
pub struct ImportArguments {
    /// A CSV of published means, or the JSON of 'keymark export'
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

/// `--algorithm`
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AlgorithmArgument {
    /// `all`
    All,
    /// `longest`
    Longest,
    /// Names.
    Listed(Vec<Algorithm>),
}

fn algorithms(text: &str) -> Result<AlgorithmArgument, String> {
    match text {
        "all" => Ok(AlgorithmArgument::All),
        "longest" => Ok(AlgorithmArgument::Longest),
        list => {
            let names = list.split(',').map(str::parse::<Algorithm>);
            names
                .collect::<Result<_, _>>()
                .map(AlgorithmArgument::Listed)
                .map_err(|error| error.to_string())
        }
    }
}

fn unregistered(word: &str) -> String {
    let known: Vec<_> = registry::stacks().map(|stack| stack.to_string()).collect();
    format!("unknown stack '{word}'; choose from {}", known.join(", "))
}

fn stack(text: &str) -> Result<StackName, String> {
    let named = registry::stacks().find(|stack| stack.word().eq_ignore_ascii_case(text));
    named.ok_or_else(|| unregistered(text))
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

/// One of a few values, each with its word and what it means.
fn one_of<T: Copy + Send + Sync + 'static>(
    known: &'static [(T, &'static str, &'static str)],
) -> impl TypedValueParser<Value = T> {
    let words = known
        .iter()
        .map(|(_, word, about)| PossibleValue::new(*word).help(*about));
    PossibleValuesParser::new(words).try_map(|wanted| {
        let found = known.iter().find(|(_, word, _)| *word == wanted);
        found
            .map(|(value, ..)| *value)
            .ok_or("no value is called so")
    })
}

fn concurrency(text: &str) -> Result<NonZeroU32, String> {
    count("workers", 256, text)
}

fn runs(text: &str) -> Result<NonZeroU32, String> {
    count("operations", 10_000_000, text)
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
    if time.is_zero() || time > Duration::from_secs(7 * 24 * 3600) {
        return Err(format!(
            "a time must be above 0 and at most 7 days, not '{text}'"
        ));
    }
    Ok(time)
}

fn share(text: &str) -> Result<f64, String> {
    let number = text
        .strip_suffix('%')
        .and_then(|number| number.trim().parse::<f64>().ok());
    match number {
        Some(percent) if (0.0..=10_000.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err(format!("'{text}' is not a percentage; write it like 5%")),
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
            names().collect::<Vec<_>>().join(", ")
        ));
    }
    Ok(axis)
}
