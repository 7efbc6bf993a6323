//! The command line's definition; help, completions and the man page come from it.

mod cards;
mod comparison;
mod mcu;
#[cfg(feature = "tls")]
mod tls;

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use keymark_bench::algorithm::Algorithm;
use keymark_bench::baseline::Baseline;
use keymark_bench::case::{
    LibraryChoice, ParameterChoice, Protection, Rate, SchemeChoice, StackName,
};
use keymark_bench::operation::Operation;
use keymark_bench::stop::Precision;
use keymark_report::archive::RunSelector;

pub use cards::{
    CardArguments, PinVariable, ProfileArguments, RestoreArguments, ServeArguments, TokenCommand,
    TraceArguments,
};
pub use comparison::{CompareArguments, SeriesArguments};
pub use mcu::{
    ExplainArguments, FirmwareArguments, McuCommand, McuProfileArguments, OptionAxis,
    PredictArguments, StorageArguments,
};

#[cfg(feature = "tls")]
pub use tls::{
    TlsBenchArguments, TlsCheckArguments, TlsCommand, TlsConfigArguments, TlsServeArguments,
    TlsVersionArgument,
};

const EXAMPLES: &str = "\
Examples:
  keymark bench                                    the default plan: GnuPG and this CPU, about two minutes
  keymark bench --algorithm longest --operation sign --runs 10
  keymark bench --algorithm rsa4096,cv25519 --stack raw,agent,gnupg --concurrency 1,2,4,10
  keymark devices                                  what can be measured here, and what is missing
  keymark show last                                the tables of the last run again
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
        after_help = "Examples:\n  keymark show last\n  keymark show 20261121-0415\n  keymark show last~2"
    )]
    Show(ShowArguments),
    /// Write a run to stdout
    #[command(
        after_help = "Examples:\n  keymark export last --format json > run.json\n  keymark export last --format markdown"
    )]
    Export(ExportArguments),
    /// Compare series or runs case by case, or the copies of each case within one run (--replicas 2)
    #[command(
        after_help = "Examples:\n  keymark bench --repeat 5 (before and after a change), then\n  keymark compare series:last~1 series:last --fail-above 5%\n  keymark compare last~1 last\n  keymark compare published-lwn-2017-keycards last\n\nTwo single runs of the same program differ, too: 'not distinguishable' is the answer then."
    )]
    Compare(CompareArguments),
    /// Run a program against a traced card, and say where its time went
    #[command(
        after_help = "Examples:\n  keymark trace -- gpg --decrypt message.gpg\n  keymark trace --apdu -- git commit -S -m 'signed'\n  keymark trace --device virtual -- sh -c 'echo hello | gpg -e -r keymark | gpg -d'\n\nThe program runs with a private GNUPGHOME that has the public keys of your keyring for the card, or a\ntest key called 'keymark test key' for a virtual one. Its exit status is keymark's."
    )]
    #[cfg(feature = "openpgp-card")]
    Trace(TraceArguments),
    /// A card that is not there, and what was left on one that is
    #[cfg(feature = "openpgp-card")]
    #[command(subcommand)]
    Token(TokenCommand),
    /// Write a device profile from a measured run (raw, one at a time), for 'twin:FILE'
    #[command(
        after_help = "Examples:\n  keymark profile last > my-card.toml\n  keymark bench --device twin:my-card.toml"
    )]
    Profile(ProfileArguments),
    /// What firmware would cost on a microcontroller, by simulation
    #[command(subcommand)]
    Mcu(Box<McuCommand>),
    /// TLS servers: what a key costs in handshakes under load, and how a server is configured for it
    #[cfg(feature = "tls")]
    #[command(subcommand)]
    Tls(Box<TlsCommand>),
    /// Take in published figures (CSV) or a run of another machine (JSON)
    #[command(
        after_help = "Examples:\n  keymark import data/published/lwn-2017-keycards.csv\n  keymark import run.json"
    )]
    Import(ImportArguments),
    /// Is one worker of a run with --processes
    #[command(name = keymark_stacks::raw::worker::SUBCOMMAND, hide = true)]
    Worker,
    /// Looks at a PKCS#11 module that may hang or crash
    #[cfg(feature = "pkcs11")]
    #[command(name = keymark_stores::pkcs11::probe::SUBCOMMAND, hide = true)]
    Pkcs11Module {
        /// The module
        file: PathBuf,
    },
    /// Print shell completions
    #[command(
        after_help = "Example:\n  keymark completions bash > ~/.local/share/bash-completion/completions/keymark"
    )]
    Completions {
        /// For which shell
        shell: clap_complete::Shell,
    },
    /// Print the man page, or write one a subcommand into a directory
    #[command(
        after_help = "Examples:\n  keymark man | man -l -\n  keymark man --directory ~/.local/share/man/man1"
    )]
    Man {
        /// Write keymark.1, keymark-bench.1, … there
        #[arg(long, value_name = "DIR")]
        directory: Option<PathBuf>,
    },
}

/// `keymark devices`
#[derive(Debug, Args)]
pub struct DevicesArguments {
    /// One JSON object a device and stack
    #[arg(long)]
    pub json: bool,

    /// Show twins in full, too
    #[arg(long, conflicts_with = "json")]
    pub all: bool,
}

/// Subcommands whose only choice is JSON.
#[derive(Debug, Args)]
pub struct JsonArguments {
    /// One JSON object a line
    #[arg(long)]
    pub json: bool,
}

/// How tables are shown.
#[derive(Debug, Args)]
pub struct TableArguments {
    /// Show every column, however narrow the terminal is
    #[arg(long, help_heading = "Output")]
    pub wide: bool,
}

const BENCH_HELP: &str = "\
Without any selection, the default plan: today's defaults and the longest keys of GnuPG through raw
(in OpenSSL and libgcrypt), agent and gnupg, signatures also four and ten at once, some on the
virtual card, and post-quantum keys raw. '--algorithm all' measures every other key, too.

Examples:
  keymark bench
  keymark bench --algorithm ed25519,cv25519 --stack gnupg --runs 1000
  keymark bench --algorithm longest --operation sign --input-size 40 --concurrency 1,10
  keymark bench --algorithm rsa4096 --protection none,cached --precision 2% --max-time 30s
  keymark bench --device virtual,twin:fst-01,twin:yubikey-4 --stack raw,gnupg
  keymark bench --device softhsm --stack raw --concurrency 1,2 --processes 2
  keymark bench --device 'pkcs11:token=my%20token;object=web' --pin-env PIN
  keymark bench --algorithm mlkem768,mldsa65,slhdsa128s --stack raw --json
  keymark bench --algorithm rsa4096,ed25519 --stack raw,agent --library openssl,libgcrypt
  keymark bench --algorithm rsa4096,ed25519 --repeat 5
  keymark bench --algorithm rsa4096,ed25519 --against ./keymark-of-last-week
  keymark bench --algorithm all --dry-run

Passphrases and PINs are never arguments. Test keys are made in private directories and removed;
your own keyring is only read, for the public keys of your card.";

/// `keymark bench`
#[derive(Debug, Args)]
#[command(after_help = BENCH_HELP)]
pub struct BenchArguments {
    /// Which operations: decrypt, sign, authenticate, decapsulate [default: all that the algorithms have]
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        help_heading = "What to measure"
    )]
    pub operation: Option<Vec<Operation>>,

    /// Which algorithms: names, 'all', or 'longest' (of each kind)
    #[arg(long, value_name = "LIST", value_parser = algorithms, help_heading = "What to measure")]
    pub algorithm: Option<AlgorithmArgument>,

    /// Which devices: 'software' (this CPU), 'virtual' (an OpenPGP card in this process),
    /// 'twin:PROFILE', a card's serial number or a part of its product name, 'softhsm', 'kryoptic',
    /// 'swtpm', 'tpm', a PKCS#11 module's file or name, a 'pkcs11:' URI, 'all' [default: software]
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        help_heading = "What to measure"
    )]
    pub device: Option<Vec<String>>,

    /// Through which stacks: raw, agent, gnupg, and others that 'keymark devices' lists
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        value_parser = stack,
        help_heading = "What to measure"
    )]
    pub stack: Option<Vec<StackName>>,

    /// How many workers at once
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = concurrency, allow_negative_numbers = true, help_heading = "What to measure")]
    pub concurrency: Option<Vec<NonZeroU32>>,

    /// How many processes at once, each with the key opened for itself, as servers fork them
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = concurrency, allow_negative_numbers = true, help_heading = "What to measure")]
    pub processes: Option<Vec<NonZeroU32>>,

    /// Open loop: operations arrive at random at this rate, such as 50/s, and wait if they must
    #[arg(
        long,
        value_name = "RATE",
        allow_negative_numbers = true,
        help_heading = "What to measure"
    )]
    pub rate: Option<Rate>,

    /// Users: each worker thinks before every operation, for a random time up to this, such as 5s
    #[arg(long, value_name = "TIME", value_parser = duration, conflicts_with = "rate", allow_hyphen_values = true, help_heading = "What to measure")]
    pub think: Option<Duration>,

    /// How keys are kept: in the clear, or behind a passphrase that the agent has cached
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        help_heading = "What to measure"
    )]
    pub protection: Option<Vec<Protection>>,

    /// Which libraries calculate with keys in memory through raw: openssl (built in), openssl-system,
    /// the one that servers and ssh load here, libgcrypt, that of gpg-agent, and rustcrypto [default: openssl]
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        help_heading = "What to measure"
    )]
    pub library: Option<Vec<LibraryChoice>>,

    /// How keys are used through raw: pkcs1, pss, oaep, oaep-sha1 of RSA, hashed and pss-hashed, where the
    /// key store hashes the message as well [default: pkcs1, and of other algorithms a digest]
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        help_heading = "What to measure"
    )]
    pub scheme: Option<Vec<SchemeChoice>>,

    /// A parameter of a stack with the values to try, such as agent=openssh,gpg-agent of ssh
    #[arg(long, value_name = "NAME=LIST", help_heading = "What to measure")]
    pub parameter: Vec<ParameterChoice>,

    /// Length of the message in bytes [default: 16 to decrypt, 40 to sign, as published]
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(1..=67_108_864), allow_negative_numbers = true, help_heading = "What to measure")]
    pub input_size: Option<u32>,

    /// Enter each case this often: copies should not differ (see 'keymark compare RUN')
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=16), allow_negative_numbers = true, help_heading = "What to measure")]
    pub replicas: Option<u32>,

    /// Do so many operations of each case
    #[arg(long, value_name = "N", value_parser = runs, allow_negative_numbers = true, conflicts_with_all = ["precision", "max_time"], help_heading = "How long")]
    pub runs: Option<NonZeroU32>,

    /// Measure each case until its mean is known this well (95 % interval) [default: 5%]
    #[arg(
        long,
        value_name = "PERCENT",
        allow_hyphen_values = true,
        help_heading = "How long"
    )]
    pub precision: Option<Precision>,

    /// ... but for no longer than this
    #[arg(long, value_name = "TIME", value_parser = duration, allow_hyphen_values = true, help_heading = "How long")]
    pub max_time: Option<Duration>,

    /// Measuring time of the whole plan [default: 100s without --runs and --max-time]
    #[arg(long, value_name = "TIME", value_parser = duration, allow_hyphen_values = true, help_heading = "How long")]
    pub total_time: Option<Duration>,

    /// Operations of each worker that do not count, first
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(0..=100_000), allow_negative_numbers = true, help_heading = "How long")]
    pub warmup: u32,

    /// Seed of everything random [default: from the time; recorded]
    #[arg(long, value_name = "N", help_heading = "How")]
    pub seed: Option<u64>,

    /// One case after the other, instead of interleaved in random order
    #[arg(long, help_heading = "How")]
    pub sequential: bool,

    /// What ratios are taken to: an algorithm, stack, protection, c=N, device=NAME, or several [default: rsa2048]
    #[arg(long, value_name = "LIST", value_parser = baseline, help_heading = "How")]
    pub baseline: Option<Baseline>,

    /// How long users tolerate one operation to take
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = duration, allow_hyphen_values = true, help_heading = "How")]
    pub tolerance: Duration,

    /// Several runs of the plan, which can be compared
    #[command(flatten)]
    pub series: SeriesArguments,

    /// How cards in readers may be used
    #[command(flatten)]
    pub card: CardArguments,

    /// Print the plan and how long it should take, and measure nothing
    #[arg(long, help_heading = "How")]
    pub dry_run: bool,

    /// One JSON object a finished case, in place of the tables
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    /// Do not put the run into the archive
    #[arg(long, help_heading = "Output")]
    pub no_save: bool,

    /// How tables are shown
    #[command(flatten)]
    pub tables: TableArguments,
}

impl BenchArguments {
    /// Whether nothing was selected, which means the default plan.
    #[must_use]
    pub const fn is_default_plan(&self) -> bool {
        self.operation.is_none()
            && self.algorithm.is_none()
            && self.device.is_none()
            && self.stack.is_none()
            && self.concurrency.is_none()
            && self.processes.is_none()
            && self.rate.is_none()
            && self.think.is_none()
            && self.protection.is_none()
            && self.library.is_none()
            && self.scheme.is_none()
            && self.parameter.is_empty()
    }
}

/// `keymark show`
#[derive(Debug, Args)]
pub struct ShowArguments {
    /// Which run: last, last~1, an id or its beginning; or series: and one of these
    #[arg(value_name = "RUN", default_value = "last")]
    pub run: RunSelector,
    /// One JSON object a case
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// How tables are shown
    #[command(flatten)]
    pub tables: TableArguments,
}

/// Formats of `keymark export`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// The whole record with every sample (schema/record-1.json); 'keymark import' reads it
    Json,
    /// One line a case
    Csv,
    /// What 'keymark show' says, with every column
    Markdown,
    /// The same as one JSON object, with the data of pictures
    Document,
}

/// `keymark export`
#[derive(Debug, Args)]
pub struct ExportArguments {
    /// Which run: last, last~1, an id or its beginning
    #[arg(value_name = "RUN")]
    pub run: RunSelector,
    /// In which form
    #[arg(long, value_enum)]
    pub format: Format,
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

/// The stacks that are registered.
fn registered() -> impl Iterator<Item = StackName> {
    let families = keymark_stacks::registry::FAMILIES.iter();
    families.flat_map(|family| family.stacks.iter().copied())
}

fn unregistered(word: &str) -> String {
    let known: Vec<_> = registered().map(|stack| stack.to_string()).collect();
    format!(
        "no stack is called '{word}'; there are: {}",
        known.join(", ")
    )
}

fn stack(text: &str) -> Result<StackName, String> {
    let named = registered().find(|stack| stack.word().eq_ignore_ascii_case(text));
    named.ok_or_else(|| unregistered(text))
}

fn baseline(text: &str) -> Result<Baseline, String> {
    let baseline: Baseline = text.parse()?;
    match baseline.stack() {
        Some(unknown) if !registered().any(|stack| stack == unknown) => Err(format!(
            "'{unknown}' is no algorithm, stack, protection, c=N or device=NAME to take as baseline"
        )),
        _ => Ok(baseline),
    }
}

fn concurrency(text: &str) -> Result<NonZeroU32, String> {
    match text.parse::<u32>().ok().and_then(NonZeroU32::new) {
        Some(number) if number.get() <= 256 => Ok(number),
        _ => Err(format!("workers are a number from 1 to 256, not '{text}'")),
    }
}

fn runs(text: &str) -> Result<NonZeroU32, String> {
    match text.parse::<u32>().ok().and_then(NonZeroU32::new) {
        Some(number) if number.get() <= 10_000_000 => Ok(number),
        _ => Err(format!(
            "operations are a number from 1 to 10000000, not '{text}'"
        )),
    }
}

fn duration(text: &str) -> Result<Duration, String> {
    let time = humantime::parse_duration(text)
        .map_err(|error| format!("'{text}' is no time such as 60s or 500ms: {error}"))?;
    if time.is_zero() || time > Duration::from_secs(7 * 24 * 3600) {
        return Err(format!(
            "a time lies above 0 and within 7 days, not at '{text}'"
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
        _ => Err(format!("'{text}' is no share such as 5%")),
    }
}
