//! The command line of `keymark mcu`.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use super::{FormatArguments, PictureFile};
use crate::parts;
use clap::{Args, Subcommand, ValueEnum};
use keymark_flash::workload::Workload;
use keymark_mcu::kernel::{Kernel, Options};
use keymark_mcu::microcontroller::Core;
use keymark_mcu::target::{Preset, Target};

/// `keymark mcu`
#[derive(Debug, Subcommand)]
pub enum McuCommand {
    /// List the microcontrollers and flash geometries, with the sources of their figures
    List(FormatArguments),
    /// Predict what private-key operations cost
    Predict(PredictArguments),
    /// Explain why two predictions differ, class by class
    Explain(Box<ExplainArguments>),
    /// Run your own ELF file: phases, profile by function, folded stacks
    Run(Box<FirmwareArguments>),
    /// Run two ELF files: what changed, phase by phase and function by function
    Compare(FirmwareComparison),
    /// Simulate how a token stores its data objects in a part's flash
    Storage(StorageArguments),
}

/// Arguments of `keymark mcu predict`.
#[derive(Debug, Args)]
pub struct PredictArguments {
    /// Parts, each with '@MHz' for another clock, or files like crates/mcu/data/*.toml
    #[arg(
        long,
        value_name = "NAME,…",
        value_delimiter = ',',
        default_value = "stm32f103,stm32l432,stm32f405"
    )]
    pub mcu: Vec<String>,

    /// Algorithms: rsa2048, rsa3072, rsa4096, cv25519, ed25519
    #[arg(
        long,
        short,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "rsa2048"
    )]
    pub algorithm: Vec<Kernel>,

    /// An option with the values to try
    #[arg(long, value_name = "NAME=VALUE,…")]
    pub option: Vec<OptionAxis>,

    /// Options to begin with: today, or gnuk-2017
    #[arg(long, value_name = "NAME", default_value = "today")]
    pub preset: Preset,

    /// How long an operation may take before users lose patience
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = humantime::parse_duration)]
    pub tolerance: Duration,

    /// Format of the output
    #[command(flatten)]
    pub form: FormatArguments,

    /// Also draw them with their bands into this .svg or .png file
    #[arg(long, short, value_name = "FILE", value_parser = PictureFile::parse)]
    pub output: Option<PictureFile>,
}

/// `umaal=on,off`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptionAxis {
    /// The option.
    pub name: String,
    /// The values to try, in order.
    pub values: Vec<String>,
}

impl FromStr for OptionAxis {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, values) = text
            .split_once('=')
            .ok_or_else(|| format!("'{text}' must have the form NAME=VALUE"))?;
        let values: Vec<String> = values.split(',').map(str::to_owned).collect();
        for value in &values {
            Options::for_core(Core::CortexM4)
                .set(name, value)
                .map_err(|error| error.to_string())?;
        }
        Ok(Self {
            name: name.to_owned(),
            values,
        })
    }
}

/// `keymark mcu explain`
#[derive(Debug, Args)]
pub struct ExplainArguments {
    /// The first prediction: PART[:PRESET][,OPTION=VALUE…]
    #[arg(value_name = "FIRST", value_parser = parts::target)]
    pub first: Target,

    /// The second prediction
    #[arg(value_name = "SECOND", value_parser = parts::target)]
    pub second: Target,

    /// Algorithm
    #[arg(long, short, value_name = "NAME", default_value = "rsa2048")]
    pub algorithm: Kernel,

    /// Format of the output
    #[command(flatten)]
    pub form: FormatArguments,
}

/// `keymark mcu run`
#[derive(Debug, Args)]
pub struct FirmwareArguments {
    /// A linked program for these cores
    #[arg(value_name = "FIRMWARE.ELF")]
    pub elf: PathBuf,

    /// The part, with '@MHz' for another clock, or a file like crates/mcu/data/*.toml
    #[arg(long, value_name = "NAME", default_value = "stm32f103")]
    pub mcu: String,

    /// Stop after this time, or after N instructions
    #[arg(long = "time", value_name = "TIME|N", default_value = "1m")]
    pub limit: Limit,

    /// Name a phase by the number of its marker; a symbol keymark_phase_NAME with that value does the same
    #[arg(long, value_name = "N=NAME,…", value_delimiter = ',')]
    pub phase: Vec<PhaseName>,

    /// The most cycles that a phase, a function with those it calls, or 'total' may take
    #[arg(long, value_name = "NAME=CYCLES,…", value_delimiter = ',')]
    pub budget: Vec<Budget>,

    /// Fail when a budget is exceeded by more than this
    #[arg(long, value_name = "PERCENT", value_parser = super::share, default_value = "0%")]
    pub fail_above: f64,

    /// How many functions to show, the costliest first; --format json has all
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub top: usize,

    /// Show the cycles and waits of each instruction of a function, of the costliest where none is named
    #[arg(long, value_name = "FUNCTION", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub annotate: Option<String>,

    /// Write the cycles of every phase's call stacks to this file, for flame graphs
    #[arg(long, value_name = "FILE")]
    pub folded: Option<PathBuf>,

    /// Format of the output: for people, one JSON object, or JUnit's XML with a test for the program's end and each budget
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: FirmwareFormat,
}

/// `keymark mcu compare`
#[derive(Debug, Args)]
pub struct FirmwareComparison {
    /// The program as it was
    #[arg(value_name = "BEFORE.ELF")]
    pub before: PathBuf,

    /// The program as it is
    #[arg(value_name = "AFTER.ELF")]
    pub after: PathBuf,

    /// Parts, each with '@MHz' for another clock
    #[arg(
        long,
        value_name = "NAME,…",
        value_delimiter = ',',
        default_value = "stm32f103"
    )]
    pub mcu: Vec<String>,

    /// Stop each run after this time, or after N instructions
    #[arg(long = "time", value_name = "TIME|N", default_value = "1m")]
    pub limit: Limit,

    /// Name a phase by the number of its marker
    #[arg(long, value_name = "N=NAME,…", value_delimiter = ',')]
    pub phase: Vec<PhaseName>,

    /// Fail when the whole or a phase takes this much longer
    #[arg(long, value_name = "PERCENT", value_parser = super::share)]
    pub fail_above: Option<f64>,

    /// Format of the output: for people, one JSON object per row, or JUnit's XML with a test for the whole and each phase
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: FirmwareFormat,
}

/// Format of simulated firmware's figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FirmwareFormat {
    Text,
    Json,
    Junit,
}

/// Limit for a program that does not end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Time of this machine.
    Time(Duration),
    /// Number of instructions: independent of the machine.
    Instructions(u64),
}

impl FromStr for Limit {
    type Err = humantime::DurationError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse()
            .map(Self::Instructions)
            .or_else(|_| humantime::parse_duration(text).map(Self::Time))
    }
}

/// Name of a phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhaseName {
    /// The marker's number.
    pub number: u8,
    /// Name in reports.
    pub name: String,
}

impl FromStr for PhaseName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (number, name) = text.split_once('=').unwrap_or((text, ""));
        let number = number.parse().ok().filter(|_| !name.is_empty());
        let wrong = || format!("'{text}' is not like 3=keygen, with a number to 255");
        Ok(Self {
            number: number.ok_or_else(wrong)?,
            name: name.to_owned(),
        })
    }
}

/// The most that something may take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budget {
    /// A phase, a function, or `total`.
    pub name: String,
    /// Most cycles.
    pub cycles: u64,
}

impl FromStr for Budget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, number) = text.rsplit_once('=').unwrap_or((text, ""));
        let (digits, unit) = match number.chars().last() {
            Some('k') => (number.trim_end_matches('k'), 1e3),
            Some('M') => (number.trim_end_matches('M'), 1e6),
            _ => (number, 1.0),
        };
        let cycles = digits.parse::<f64>().ok();
        let cycles = cycles.filter(|cycles| *cycles > 0.0 && *cycles < 1e15);
        let wrong = || format!("'{text}' is not like keygen=2M, total=350k or main=12000");
        Ok(Self {
            name: name.to_owned(),
            cycles: (cycles.ok_or_else(wrong)? * unit).round() as u64,
        })
    }
}

/// `keymark mcu storage`
#[derive(Debug, Args)]
pub struct StorageArguments {
    /// Flash geometries, or files like crates/flash/data/*.toml [default: all that come with keymark]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub geometry: Vec<String>,

    /// Use of the token: signatures or mixed
    #[arg(
        long,
        value_name = "NAME,…",
        value_delimiter = ',',
        default_value = "signatures,mixed"
    )]
    pub workload: Vec<Workload>,

    /// Format of the output
    #[command(flatten)]
    pub form: FormatArguments,
}
