//! The command line of `keymark bench`.

use std::num::NonZeroU32;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::Args;
use keymark_bench::{
    AlgorithmChoice, Baseline, Operation, ParameterChoice, Precision, Rate, StackName,
};
use keymark_stacks::gnupg::PROTECTION;
use keymark_stacks::plans::NamedPlan;
use keymark_stacks::raw::{LIBRARY, SCHEME};
use keymark_stacks::registry;

use super::{
    CardArguments, IdentityArguments, SeriesArguments, ShownArguments, algorithms, baseline,
    concurrency, count, duration, stack,
};

/// `keymark bench`
#[derive(Debug, Args)]
pub struct BenchArguments {
    /// What is measured without a selection: default (75 seconds), or complete (104 seconds: more keys, the virtual card)
    #[arg(
        long,
        value_name = "PLAN",
        value_parser = |word: &str| word.parse::<NamedPlan>(),
        conflicts_with = "SelectionArguments",
        help_heading = "What to measure"
    )]
    pub plan: Option<NamedPlan>,

    /// Which cases
    #[command(flatten)]
    pub selection: SelectionArguments,

    /// Length of the message in bytes [default: 16 to decrypt, 40 to sign, as published]
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(1..=67_108_864), allow_negative_numbers = true, help_heading = "What to measure")]
    pub input_size: Option<u32>,

    /// Enter each case this many times: copies should not differ (see 'keymark compare RUN')
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=16), allow_negative_numbers = true, help_heading = "What to measure")]
    pub replicas: Option<u32>,

    /// When a case has been measured for long enough
    #[command(flatten)]
    pub extent: ExtentArguments,

    /// One case after the other, instead of interleaved in random order
    #[arg(long, help_heading = "How")]
    pub sequential: bool,

    /// Baseline of ratios: an algorithm, stack, parameter, c=N, device=NAME, or several [default: rsa2048]
    #[arg(long, value_name = "LIST", value_parser = baseline, help_heading = "How")]
    pub baseline: Option<Baseline>,

    /// How long an operation may take before users lose patience
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = duration, allow_hyphen_values = true, help_heading = "How")]
    pub tolerance: Duration,

    /// Several runs of the plan, which can be compared
    #[command(flatten)]
    pub series: SeriesArguments,

    /// How the run is made and shown
    #[command(flatten)]
    pub run: RunArguments,

    /// Also write the run's report beside the archive: reports/RUN.html
    #[arg(long, help_heading = "Output")]
    pub report: bool,
}

/// Which cases are measured; without any of these, a named plan.
#[derive(Debug, Default, PartialEq, Args)]
#[command(next_help_heading = "What to measure")]
pub struct SelectionArguments {
    /// Operations: decrypt, sign, authenticate, decapsulate [default: all of the algorithms]
    #[arg(long, value_name = "LIST")]
    pub operation: Option<Vec<Operation>>,

    /// Algorithms: names, 'all', or 'longest' (the longest of each kind)
    #[arg(long, value_name = "LIST", value_parser = algorithms)]
    pub algorithm: Option<AlgorithmChoice>,

    /// Devices: 'software' (this CPU), 'virtual' (an OpenPGP card in this process), 'twin:PROFILE', a card's
    /// serial number or a part of its product name, 'softhsm', 'kryoptic', 'swtpm', 'tpm', a PKCS#11 module's
    /// file or name, a 'pkcs11:' URI, 'all' [default: software]
    #[arg(long, value_name = "LIST")]
    pub device: Option<Vec<String>>,

    /// Stacks: raw, agent, gnupg, and others that 'keymark devices' lists
    #[arg(long, value_name = "LIST", value_parser = stack)]
    pub stack: Option<Vec<StackName>>,

    /// How many workers at once
    #[arg(long, value_name = "LIST", value_parser = concurrency, allow_negative_numbers = true)]
    pub concurrency: Option<Vec<NonZeroU32>>,

    /// How many processes at once; each opens the key itself, like the processes of a forking server
    #[arg(long, value_name = "LIST", value_parser = concurrency, allow_negative_numbers = true)]
    pub processes: Option<Vec<NonZeroU32>>,

    /// Open loop: operations arrive at random at this rate, such as 50/s, and queue if necessary
    #[arg(long, value_name = "RATE", allow_negative_numbers = true)]
    pub rate: Option<Rate>,

    /// Users: each worker thinks before every operation, for a random time up to this, such as 5s
    #[arg(long, value_name = "TIME", value_parser = duration, conflicts_with = "rate", allow_hyphen_values = true)]
    pub think: Option<Duration>,

    /// Protection of keys: none, or a passphrase that the agent has cached
    #[arg(long, value_name = "LIST", value_parser = |word: &str| PROTECTION.parse(word))]
    pub protection: Option<Vec<&'static str>>,

    /// Libraries for keys in memory through raw: openssl (built in), openssl-system (the one that servers and
    /// ssh load here), libgcrypt (that of gpg-agent), rustcrypto [default: openssl]
    #[arg(long, value_name = "LIST", value_parser = |word: &str| LIBRARY.parse(word))]
    pub library: Option<Vec<&'static str>>,

    /// Schemes through raw: pkcs1, pss, oaep, oaep-sha1 for RSA; hashed and pss-hashed, where the key store
    /// hashes the message as well [default: pkcs1, for other algorithms a signature of a digest]
    #[arg(long, value_name = "LIST", value_parser = |word: &str| SCHEME.parse(word))]
    pub scheme: Option<Vec<&'static str>>,

    /// A parameter of a stack with the values to try, such as agent=openssh,gpg-agent for ssh
    #[arg(long, value_name = "NAME=LIST", value_parser = registry::choice)]
    pub parameter: Vec<ParameterChoice>,
}

/// When a case has been measured for long enough.
#[derive(Debug, Args)]
#[command(next_help_heading = "How long")]
pub struct ExtentArguments {
    /// Do this many operations of each case
    #[arg(long, value_name = "N", value_parser = |text: &str| count("operations", 10_000_000, text), allow_negative_numbers = true, conflicts_with_all = ["precision", "max_time"])]
    pub runs: Option<NonZeroU32>,

    /// Measure each case until its mean is this precise (95 % interval) [default: 5%]
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true)]
    pub precision: Option<Precision>,

    /// ... but for no longer than this
    #[arg(long, value_name = "TIME", value_parser = duration, allow_hyphen_values = true)]
    pub max_time: Option<Duration>,

    /// Measuring time for the whole plan [default: 75s without --runs and --max-time]
    #[arg(long, value_name = "TIME", value_parser = duration, allow_hyphen_values = true)]
    pub total_time: Option<Duration>,

    /// Warm-up operations of each worker, which do not count
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(0..=100_000), allow_negative_numbers = true)]
    pub warmup: u32,
}

/// What runs of operations and of servers have in common.
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

    /// How cards in readers may be used
    #[command(flatten)]
    pub card: CardArguments,

    /// Print the plan and how long it should take, and measure nothing
    #[arg(long, help_heading = "How")]
    pub dry_run: bool,

    /// One JSON object for each finished case instead of tables
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    /// Do not put the run into the archive
    #[arg(long, help_heading = "Output")]
    pub no_save: bool,

    /// What is told of whose the run is
    #[command(flatten)]
    pub identity: IdentityArguments,

    /// How the run is shown
    #[command(flatten)]
    pub shown: ShownArguments,
}

/// One line that fits a table.
fn machine(label: &str) -> Result<String, String> {
    let fits = (1..=64).contains(&label.len()) && !label.contains(char::is_control);
    fits.then(|| label.to_owned())
        .ok_or_else(|| "a machine's label has 1 to 64 characters in one line".to_owned())
}

impl RunArguments {
    /// What everything random is drawn from; where nobody has chosen, short enough to be typed again.
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
