//! The command line of `keymark tls`.

use std::num::{NonZeroU16, NonZeroU32};
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::TypedValueParser;
use clap::{Args, Subcommand, ValueEnum};
use keymark_bench::{Algorithm, StackName};
use keymark_stacks::tls::servers::{TokenWay, kind};
use keymark_stacks::tls::{Address, KeyExchange, ResumedShare, TlsVersion};

use super::bench::RunArguments;
use super::{CardArguments, FormatArguments, LoadArguments, duration, one_of, path, workers};

/// `keymark tls`
#[derive(Debug, Subcommand)]
pub enum TlsCommand {
    /// Measure servers under load
    Bench(Box<TlsBenchArguments>),
    /// Show which certificates and key exchanges a running server offers to old and modern clients
    Check(TlsCheckArguments),
    /// Print a working configuration for a key in a file or on a token, with a line on each trap
    Config(TlsConfigArguments),
    /// Run a prepared benchmark suite: key exchanges, a key in an HSM, several servers, two certificates
    Suite(TlsSuiteArguments),
    /// Leave a server running on loopback until Ctrl-C
    Serve(TlsServeArguments),
}

/// `keymark tls bench`
#[derive(Debug, Args)]
pub struct TlsBenchArguments {
    /// Cases
    #[command(flatten)]
    pub selection: TlsSelectionArguments,

    /// A server that runs already
    #[command(flatten)]
    pub remote: RemoteArguments,

    /// Time of each load
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "10s", help_heading = "How long")]
    pub case_time: Duration,

    /// How servers are run and loaded, and what is printed
    #[command(flatten)]
    pub run: TlsRunArguments,
}

/// Which servers, keys and loads.
#[derive(Debug, Args)]
#[command(next_help_heading = "What to measure")]
pub struct TlsSelectionArguments {
    /// Servers: apache, apache-prefork, apache-worker, nginx, caddy
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = server, default_value = "nginx")]
    pub server: Vec<StackName>,

    /// Devices with the private keys: software (a file), softhsm, kryoptic, twin:PROFILE, a 'pkcs11:' URI
    #[arg(
        long,
        short,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "software"
    )]
    pub device: Vec<String>,

    /// Algorithms of the certificates' keys
    #[arg(
        long,
        short,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "rsa2048,nistp256"
    )]
    pub algorithm: Vec<Algorithm>,

    /// Key exchanges: rsa, dhe-1024 to dhe-4096, ecdhe-p256, ecdhe-p384, x25519, x25519mlkem768
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "x25519"
    )]
    pub kex: Vec<KeyExchange>,

    /// Version of TLS [default: 1.3, and 1.2 for rsa and dhe]
    #[arg(long, value_name = "VERSION", value_parser = version())]
    pub tls: Option<TlsVersion>,

    /// Shares of connections that resume a session by a ticket; the others make full handshakes
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        allow_hyphen_values = true,
        default_value = "0%"
    )]
    pub resume: Vec<ResumedShare>,

    /// Make the server require a certificate of its clients, with a key of this algorithm
    #[arg(long, value_name = "ALGORITHM")]
    pub client_certificate: Option<Algorithm>,

    /// Load of the servers
    #[command(flatten)]
    pub load: LoadArguments,

    /// Find the number of workers with the best rate, by loads of a quarter of the time, and measure that one
    #[arg(long, conflicts_with_all = ["workers", "users", "rate"])]
    pub saturate: bool,

    /// With --saturate: also find the highest rate of arrivals at which 99 % of the transactions stay within
    /// this time
    #[arg(long, value_name = "TIME", requires = "saturate", value_parser = duration)]
    pub p99: Option<Duration>,

    /// With --saturate: highest number of workers
    #[arg(long, value_name = "N", requires = "saturate", value_parser = workers, default_value = "256")]
    pub most_workers: NonZeroU32,

    /// Size of the served file in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 4096, value_parser = clap::value_parser!(u32).range(1..=16_777_216))]
    pub body: u32,
}

/// A server that runs already.
#[derive(Debug, Args)]
#[command(next_help_heading = "A server that runs already")]
pub struct RemoteArguments {
    /// Instead of servers that keymark starts, one that runs already; the key is that of its certificate
    #[arg(long, value_name = "HOST:PORT", conflicts_with_all = ["server", "device", "algorithm", "body", "trace", "openssl", "server_processes", "saturate", "client_certificate"])]
    pub connect: Option<Address>,

    /// Path to request from that server
    #[arg(long, value_name = "PATH", requires = "connect", value_parser = path, default_value = "/")]
    pub path: String,

    /// Its name, in the handshake and in requests [default: the host]
    #[arg(
        long,
        value_name = "NAME",
        requires = "connect",
        value_parser = name
    )]
    pub server_name: Option<String>,

    /// PEM file of the authority that must have certified it [default: accept its certificate as presented, and
    /// pin it]
    #[arg(long, value_name = "FILE", requires = "connect")]
    pub authority: Option<PathBuf>,

    /// Load a server that is not on this machine; confirms that it is yours
    #[arg(long, requires = "connect")]
    pub i_own_this_server: bool,

    /// Users come one after the other within this time [default: all at once]
    #[arg(long, value_name = "TIME", requires = "connect", conflicts_with = "rate", value_parser = duration)]
    pub ramp: Option<Duration>,

    /// Print each second of one load as a line of JSON, as soon as it is over, and save nothing: for programs that load a
    /// server from several machines (docs/locust.md)
    #[arg(long, requires = "connect", conflicts_with_all = ["format", "told"])]
    pub tell: bool,

    /// Instead of a load, read what several clients reported
    #[arg(long, value_name = "FILE", requires = "connect")]
    pub told: Option<PathBuf>,
}

/// What the suites and `keymark tls bench` have in common.
#[derive(Debug, Args)]
#[command(next_help_heading = "How")]
pub struct TlsRunArguments {
    /// Allow keys and DH parameters of 1024 bits, which have 80 bits of security
    #[arg(long, help_heading = "What to measure")]
    pub allow_weak: bool,

    /// How OpenSSL reaches a key on a token [default: the provider where it is installed, else the engine]
    #[arg(long, value_name = "WAY", value_parser = way())]
    pub openssl: Option<TokenWay>,

    /// Count the server's calls to its PKCS#11 token: calls for each handshake, their time, how much of it is
    /// waiting
    #[arg(long)]
    pub trace: bool,

    /// Processes of the server [default: 1]
    #[arg(long, value_name = "N", default_value = "1")]
    pub server_processes: NonZeroU16,

    /// Threads of the client [default: 1]
    #[arg(long, value_name = "N", value_parser = workers, default_value = "1")]
    pub client_threads: NonZeroU32,

    /// How the run is made and shown
    #[command(flatten)]
    pub run: RunArguments,
}

/// A plan over servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TlsSuite {
    /// RSA, DHE and ECDHE with RSA and ECDSA certificates, and TLS 1.3 with X25519MLKEM768: the rate of each when saturated
    KeyExchange,
    /// A key in a file, on SoftHSM2 and on a Nitrokey HSM's twin, under 5, 10, 20 users who pause, and 60 who do not
    Hsm,
    /// 1, 2 and 4 servers, each with an HSM, behind haproxy; and what is lost when one is killed
    Cluster,
    /// An RSA and an ECDSA certificate on one host: what old clients and new ones cost
    Dual,
}

/// How much of a suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SuiteExtent {
    /// Its question, in minutes
    Short,
    /// Every length of key on every server, and for key-exchange a search for the users with the best rate
    Complete,
}

/// `keymark tls suite`
#[derive(Debug, Args)]
pub struct TlsSuiteArguments {
    /// Suite
    #[arg(value_name = "SUITE")]
    pub suite: TlsSuite,

    /// How much of it
    #[arg(
        long,
        value_name = "EXTENT",
        default_value = "short",
        help_heading = "What to measure"
    )]
    pub plan: SuiteExtent,

    /// Servers: apache, apache-prefork, apache-worker, nginx, caddy [default: apache; for dual and with --plan complete
    /// apache and nginx]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = server, help_heading = "What to measure")]
    pub server: Vec<StackName>,

    /// Devices with the private keys: software (a file), softhsm, kryoptic, twin:PROFILE, a 'pkcs11:' URI [default: software; for
    /// hsm software, softhsm and twin:nitrokey-hsm; for cluster twin:nitrokey-hsm]
    #[arg(
        long,
        short,
        value_name = "LIST",
        value_delimiter = ',',
        help_heading = "What to measure"
    )]
    pub device: Vec<String>,

    /// Time of each load [default: 30s for hsm and cluster, else 8s]
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "How long")]
    pub case_time: Option<Duration>,

    /// How servers are run and loaded, and what is printed
    #[command(flatten)]
    pub run: TlsRunArguments,
}

/// `keymark tls check`
#[derive(Debug, Args)]
pub struct TlsCheckArguments {
    /// The server; it gets some 25 handshakes and no requests
    #[arg(value_name = "HOST:PORT")]
    pub address: Address,
    /// Its name in the handshake [default: the host]
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub server_name: Option<String>,
}

/// `keymark tls config`
#[derive(Debug, Args)]
pub struct TlsConfigArguments {
    /// Server: apache, nginx, caddy
    #[arg(long, value_name = "NAME", value_parser = server)]
    pub server: StackName,
    /// Device with the private key: software (a file), or a 'pkcs11:' URI of a key with its module; given twice, an RSA
    /// and an ECDSA key, each with a certificate
    #[arg(long, value_name = "DEVICE", default_value = "software")]
    pub device: Vec<String>,
    /// What a key in a file is; two are an RSA and an ECDSA key, each with a certificate
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "nistp256"
    )]
    pub algorithm: Vec<Algorithm>,
    /// The server's name
    #[arg(long, value_name = "NAME", default_value = "www.example.org")]
    pub host: String,
    /// Where the server's files go
    #[arg(long, value_name = "DIR", default_value = "/etc/keymark-tls")]
    pub directory: PathBuf,
    /// How OpenSSL reaches a key on a token [default: the provider where it is installed, else the engine]
    #[arg(long, value_name = "WAY", value_parser = way())]
    pub openssl: Option<TokenWay>,
}

/// `keymark tls serve`
#[derive(Debug, Args)]
pub struct TlsServeArguments {
    /// Server: apache, apache-prefork, apache-worker, nginx, caddy
    #[arg(long, value_name = "NAME", value_parser = server, default_value = "nginx")]
    pub server: StackName,
    /// Device with the private key: software (a file), softhsm, kryoptic, twin:PROFILE, a 'pkcs11:' URI
    #[arg(long, value_name = "DEVICE", default_value = "software")]
    pub device: String,
    /// Key of the certificate
    #[arg(long, value_name = "NAME", default_value = "nistp256")]
    pub algorithm: Algorithm,
    /// Key exchange
    #[arg(long, value_name = "NAME", default_value = "x25519")]
    pub kex: KeyExchange,
    /// Version of TLS [default: 1.3, and 1.2 for rsa and dhe]
    #[arg(long, value_name = "VERSION", value_parser = version())]
    pub tls: Option<TlsVersion>,
    /// Port on loopback [default: one that is free]
    #[arg(long, value_name = "N")]
    pub port: Option<NonZeroU16>,
    /// Allow keys and DH parameters of 1024 bits, which have 80 bits of security
    #[arg(long)]
    pub allow_weak: bool,
    /// How OpenSSL reaches a key on a token [default: the provider where it is installed, else the engine]
    #[arg(long, value_name = "WAY", value_parser = way())]
    pub openssl: Option<TokenWay>,
    /// How cards in readers may be used
    #[command(flatten)]
    pub card: CardArguments,
    /// Format of the output
    #[command(flatten)]
    pub form: FormatArguments,
}

fn way() -> impl TypedValueParser<Value = TokenWay> {
    one_of([
        (TokenWay::Engine, "engine", "libp11's engine"),
        (TokenWay::Provider, "provider", "pkcs11-provider"),
    ])
}

fn version() -> impl TypedValueParser<Value = TlsVersion> {
    one_of([
        (TlsVersion::V1_2, "1.2", "TLS 1.2"),
        (TlsVersion::V1_3, "1.3", "TLS 1.3"),
    ])
}

fn server(word: &str) -> Result<StackName, String> {
    kind(word).map(|kind| kind.stack)
}

/// A host's name, or an address.
fn name(word: &str) -> Result<String, String> {
    let known = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:".contains(&byte);
    if !word.is_empty() && word.bytes().all(known) {
        Ok(word.to_owned())
    } else {
        Err("a name may have letters, digits, '-', '.' and ':'".to_owned())
    }
}
