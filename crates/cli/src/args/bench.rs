//! The command line of `keymark bench`.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::Args;
use keymark_bench::{AlgorithmChoice, Baseline, Operation, ParameterChoice, Precision, StackName};
use keymark_stacks::gnupg::PROTECTION;
use keymark_stacks::plans::NamedPlan;
use keymark_stacks::raw::{LIBRARY, SCHEME};
use keymark_stacks::registry;
use keymark_stores::access::Library;

use super::{
    CardArguments, ExportFile, FormatArguments, IdentityArguments, LoadArguments, SeriesArguments,
    ShownArguments, algorithms, baseline, count, duration, stack, workers,
};

/// `keymark bench`
#[derive(Debug, Args)]
pub struct BenchArguments {
    /// Plan without a selection: default (75 seconds), or complete (104 seconds: more keys, the virtual card)
    #[arg(
        long,
        value_name = "PLAN",
        value_parser = |word: &str| word.parse::<NamedPlan>(),
        conflicts_with_all = ["SelectionArguments", "LoadArguments"],
        help_heading = "What to measure"
    )]
    pub plan: Option<NamedPlan>,

    /// Selection of cases
    #[command(flatten)]
    pub selection: SelectionArguments,

    /// Length of the message in bytes [default: 16 to decrypt, 40 to sign, as published]
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(1..=67_108_864), help_heading = "What to measure")]
    pub input_size: Option<u32>,

    /// Measure N copies of each case, to check consistency (see 'keymark compare RUN')
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=16), help_heading = "What to measure")]
    pub replicas: Option<u32>,

    /// Rule that ends a case
    #[command(flatten)]
    pub extent: ExtentArguments,

    /// Measure one case after the other, instead of interleaved in random order
    #[arg(long, help_heading = "How")]
    pub sequential: bool,

    /// Baseline of ratios: an algorithm, stack, parameter, w=N, device=NAME, or several [default: rsa2048]
    #[arg(long, value_name = "LIST", value_parser = baseline, help_heading = "How")]
    pub baseline: Option<Baseline>,

    /// Longest operation that users tolerate
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = duration, help_heading = "How")]
    pub tolerance: Duration,

    /// Several runs of the plan, which can be compared
    #[command(flatten)]
    pub series: SeriesArguments,

    /// Settings and output of the run
    #[command(flatten)]
    pub run: RunArguments,
}

/// Selection of cases; without any of these, a named plan.
#[derive(Debug, Default, PartialEq, Args)]
#[command(next_help_heading = "What to measure")]
pub struct SelectionArguments {
    /// Operations: decrypt, sign, authenticate, decapsulate [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub operation: Option<Vec<Operation>>,

    /// Algorithms: names, 'all', or 'longest' (the longest of each kind)
    #[arg(long, short, value_name = "LIST", value_parser = algorithms)]
    pub algorithm: Option<AlgorithmChoice>,

    /// Devices: software, virtual, twin:NAME, a card's name, … [default: software]
    ///
    /// 'software' is this CPU, 'virtual' an OpenPGP card in this process, 'twin:PROFILE' a device's times behind it.
    /// A card has its serial number or a part of its product name. Also: 'softhsm', 'kryoptic', 'swtpm', 'tpm', a
    /// PKCS#11 module's file or name, a 'pkcs11:' URI, 'all'.
    #[arg(long, short, value_name = "LIST", value_delimiter = ',')]
    pub device: Option<Vec<String>>,

    /// Programs: raw, agent, gpg, ssh, and others that 'keymark devices' lists
    #[arg(long, short, value_name = "LIST", value_delimiter = ',', value_parser = stack)]
    pub stack: Option<Vec<StackName>>,

    /// Load of each case
    #[command(flatten)]
    pub load: LoadArguments,

    /// Number of processes at once; each opens the key itself, like the processes of a forking server
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = workers)]
    pub processes: Option<Vec<NonZeroU32>>,

    /// Protection of keys: none, or a passphrase that the agent has cached
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = |word: &str| PROTECTION.parse(word))]
    pub protection: Option<Vec<&'static str>>,

    /// Libraries for keys in memory through raw: openssl (built in), openssl-system (the one that servers and
    /// ssh load here), libgcrypt (that of gpg-agent), rustcrypto, openssl=FILE (another build of libcrypto; two are
    /// openssl-a and openssl-b, compared with the first library named) [default: openssl]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = LibraryChoice::parse)]
    pub library: Option<Vec<LibraryChoice>>,

    /// Schemes through raw: pkcs1, pss, oaep, oaep-sha1 for RSA; hashed and pss-hashed, where the key store
    /// hashes the message as well [default: pkcs1, for other algorithms a signature of a digest]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = |word: &str| SCHEME.parse(word))]
    pub scheme: Option<Vec<&'static str>>,

    /// A parameter of a stack with the values to try, such as agent=openssh,gpg-agent for ssh
    #[arg(long, value_name = "NAME=LIST", value_parser = registry::choice)]
    pub parameter: Vec<ParameterChoice>,
}

/// A library of `--library`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LibraryChoice {
    /// One that is known by its word.
    Known(&'static str),
    /// The file of a build of libcrypto.
    Build(PathBuf),
}

impl LibraryChoice {
    /// Builds in the order in which their files are named.
    pub const BUILDS: [Library; 2] = [Library::OpenSslA, Library::OpenSslB];

    fn parse(text: &str) -> Result<Self, String> {
        if Self::BUILDS.iter().any(|build| build.word() == text) {
            return Err("name its file: openssl=FILE".to_owned());
        }
        let Some(file) = text.strip_prefix("openssl=") else {
            let known = LIBRARY.parse(text).map_err(|error| error.to_string())?;
            return Ok(Self::Known(known));
        };
        // A bare name would be looked for in the loader's directories.
        let file = Path::new(file).canonicalize();
        Ok(Self::Build(file.map_err(|error| error.to_string())?))
    }

    /// Returns the words of some libraries.
    pub fn words(chosen: &[Self]) -> Vec<&'static str> {
        let mut builds = Self::BUILDS.iter();
        let words = chosen.iter().filter_map(|library| match library {
            Self::Known(word) => Some(*word),
            Self::Build(_) => builds.next().map(|build| build.word()),
        });
        words.collect()
    }
}

/// Rule that ends a case.
#[derive(Debug, Args)]
#[command(next_help_heading = "How long")]
pub struct ExtentArguments {
    /// Do N operations of each case
    #[arg(long, short = 'n', value_name = "N", value_parser = |text: &str| count("operations", 10_000_000, text), conflicts_with_all = ["precision", "case_time"])]
    pub samples: Option<NonZeroU32>,

    /// Measure each case until its mean is this precise (95 % interval) [default: 5%]
    #[arg(long, value_name = "PERCENT")]
    pub precision: Option<Precision>,

    /// ... but for at most this
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub case_time: Option<Duration>,

    /// Measuring time of the whole plan [default: 75s]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub time: Option<Duration>,

    /// Warm-up operations of each worker, which do not count
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(0..=100_000))]
    pub warmup: u32,
}

/// Options of all runs.
#[derive(Debug, Args)]
pub struct RunArguments {
    /// Seed of everything random [default: from the time; recorded]
    #[arg(long, value_name = "N", help_heading = "How")]
    pub seed: Option<u64>,

    /// A label for this machine in 'keymark compare --by machine', in place of its host name
    #[arg(
        long,
        value_name = "LABEL",
        env = "KEYMARK_MACHINE",
        hide_env_values = true,
        value_parser = machine,
        help_heading = "How"
    )]
    pub machine: Option<String>,

    /// Permissions for cards in readers
    #[command(flatten)]
    pub card: CardArguments,

    /// Print the plan and how long it should take, and measure nothing
    #[arg(long, help_heading = "How")]
    pub dry_run: bool,

    /// Format of the output
    #[command(flatten)]
    pub form: FormatArguments,

    /// Also write the run to this file, as 'keymark export' does (.html, .svg, …)
    #[arg(long, short, value_name = "FILE", value_parser = ExportFile::parse, help_heading = "Output")]
    pub output: Option<ExportFile>,

    /// Do not put the run into the archive
    #[arg(long, help_heading = "Output")]
    pub no_save: bool,

    /// Identity that a team's archive is sent
    #[command(flatten)]
    pub identity: IdentityArguments,

    /// Layout of the run
    #[command(flatten)]
    pub shown: ShownArguments,
}

fn machine(label: &str) -> Result<String, String> {
    let fits = (1..=64).contains(&label.len()) && !label.contains(char::is_control);
    fits.then(|| label.to_owned())
        .ok_or_else(|| "a machine's label has 1 to 64 characters in one line".to_owned())
}

impl RunArguments {
    /// Returns the seed of everything random; a fresh one is short enough to type.
    pub fn seed(&self) -> u64 {
        let now = || SystemTime::now().duration_since(UNIX_EPOCH);
        let fresh = || now().unwrap_or_default().as_nanos() as u64 % 1_000_000_007;
        self.seed.unwrap_or_else(fresh)
    }
}

impl BenchArguments {
    /// The plan that is meant if nothing is selected.
    pub fn named_plan(&self) -> Option<NamedPlan> {
        let nothing = self.selection == SelectionArguments::default();
        nothing.then(|| self.plan.unwrap_or_default())
    }
}
