//! The command line of `keymark service`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use keymark_bench::{Algorithm, ParameterChoice, StackName};
use keymark_stacks::services;
use keymark_stacks::tls::Address;

use super::bench::RunArguments;
use super::{LoadArguments, duration, path};

/// `keymark service`
#[derive(Debug, Subcommand)]
pub enum ServiceCommand {
    /// Measure services that sign and timestamp under load
    Bench(Box<ServiceBenchArguments>),
    /// Run a prepared benchmark suite: timestamps per second, by key and program
    Suite(Box<ServiceSuiteArguments>),
}

/// `keymark service bench`
#[derive(Debug, Args)]
#[command(next_help_heading = "What to measure")]
pub struct ServiceBenchArguments {
    /// Services: zeitgitterd (gpg signs tags of git), relic (signs programs), rfc3161 (sigstore's
    /// timestamp-authority)
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = services::named, default_value = "zeitgitterd")]
    pub service: Vec<StackName>,

    /// Devices with the private keys: software (a file); for zeitgitterd and relic also virtual, twin:PROFILE, or a card; for
    /// relic a token behind PKCS#11, such as softhsm or twin:nitrokey-hsm
    #[arg(
        long,
        short,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "software"
    )]
    pub device: Vec<String>,

    /// Algorithms of the keys that sign
    #[arg(
        long,
        short,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "rsa4096,nistp256"
    )]
    pub algorithm: Vec<Algorithm>,

    /// Load of the services
    #[command(flatten)]
    pub load: LoadArguments,

    /// A parameter of a service with the values to try: agents=1,2,4 for zeitgitterd, which then has a gpg-agent with a
    /// copy of the key for each
    #[arg(long, value_name = "NAME=LIST", value_parser = |text: &str| ParameterChoice::named(text, services::FAMILY.dimensions))]
    pub parameter: Option<ParameterChoice>,

    /// A service that runs already
    #[command(flatten)]
    pub remote: AuthorityArguments,

    /// Time of each load
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "30s", help_heading = "How long")]
    pub case_time: Duration,

    /// How the run is made and shown
    #[command(flatten)]
    pub run: RunArguments,
}

/// A timestamping authority (RFC 3161) that runs already.
#[derive(Debug, Args)]
#[command(next_help_heading = "A service that runs already")]
pub struct AuthorityArguments {
    /// Instead of services that keymark starts, a timestamping authority (RFC 3161, by plain HTTP) that runs already
    #[arg(long, value_name = "HOST:PORT", conflicts_with_all = ["service", "device", "algorithm", "parameter"])]
    pub connect: Option<Address>,

    /// Path to post requests to
    #[arg(long, value_name = "PATH", requires = "connect", value_parser = path, default_value = "/")]
    pub path: String,

    /// PEM file of the authorities that must have certified it [default: accept its certificate as presented, and pin it]
    #[arg(long, value_name = "FILE", requires = "connect")]
    pub authority: Option<PathBuf>,

    /// Load a service that is not on this machine; confirms that it is yours
    #[arg(long, requires = "connect")]
    pub i_own_this_server: bool,
}

/// A plan over services.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ServiceSuite {
    /// The six keys of the table of 2019 through gpg and through zeitgitterd, and two through RFC 3161; alone and ten at once
    Timestamping,
}

/// `keymark service suite`
#[derive(Debug, Args)]
pub struct ServiceSuiteArguments {
    /// Suite
    #[arg(value_name = "SUITE")]
    pub suite: ServiceSuite,

    /// Time of each load [default: 8s]
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "How long")]
    pub case_time: Option<Duration>,

    /// How the run is made and shown
    #[command(flatten)]
    pub run: RunArguments,
}
