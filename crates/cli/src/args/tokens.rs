//! The command line of tokens: their PINs and permissions, twins, and traces.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use keymark_bench::Algorithm;
use keymark_mcu::kernel::Kernel;
use keymark_mcu::target::Target;
use keymark_records::archive::RunSelector;
use keymark_shim_protocol::pkcs11::settings::MOST_LANES;
use keymark_stores::user::TokenName;

use super::FormatArguments;
use crate::parts;

/// `keymark devices restore`
#[derive(Debug, Args)]
pub struct RestoreArguments {
    /// The token's serial number, as in the warning
    #[arg(value_name = "SERIAL", value_parser = TokenName::parse)]
    pub serial: TokenName,

    /// Environment variable with the admin PIN of a card [default: ask on the terminal]
    #[arg(long, value_name = "NAME")]
    pub admin_pin_env: Option<String>,

    /// Environment variable with the user PIN of a PKCS#11 token [default: ask on the terminal]
    #[arg(long, value_name = "NAME")]
    pub pin_env: Option<String>,
}

/// `keymark twin serve`
#[derive(Debug, Args)]
pub struct ServeArguments {
    /// Card: 'virtual' or 'twin:PROFILE'
    #[arg(long, short, value_name = "NAME", default_value = "virtual")]
    pub device: String,

    /// Instead of a card, serve a token behind a PKCS#11 module: 'softhsm', 'kryoptic' or the twin of an HSM,
    /// such as 'twin:nitrokey-hsm'. Prints what other programs need: module, URIs, PIN, environment
    #[arg(long, value_name = "NAME", conflicts_with_all = ["device", "state", "address"])]
    pub pkcs11: Option<String>,

    /// Its keys [default: all that the device has, or rsa2048,nistp256]
    #[arg(
        long,
        short,
        value_name = "LIST",
        value_delimiter = ',',
        requires = "pkcs11"
    )]
    pub algorithm: Option<Vec<Algorithm>>,

    /// Format of what other programs need: with json module, uri, pin and environment
    #[command(flatten)]
    pub form: FormatArguments,

    /// How many operations an HSM's twin does at a time, up to 64 [default: 1]
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u16).range(1..=i64::from(MOST_LANES)),
        requires = "pkcs11"
    )]
    pub lanes: Option<u16>,

    /// Folder for its keys, PINs and serial number; without it the keys end with the program
    #[arg(long, value_name = "DIR")]
    pub state: Option<PathBuf>,

    /// Where vpcd listens [default: 127.0.0.1:35963]
    #[arg(long, value_name = "HOST:PORT")]
    pub address: Option<String>,
}

/// `keymark trace`
#[derive(Debug, Args)]
pub struct TraceArguments {
    /// Card: 'virtual', 'twin:PROFILE', a serial number or a part of the product name
    /// [default: the one that is in a reader]
    #[arg(long, short, value_name = "NAME")]
    pub device: Option<String>,

    /// Instead of a card, trace a PKCS#11 module: a file, or a name that 'keymark devices' lists. The command
    /// gets keymark's own module instead: wherever the module's file appears in its arguments or environment,
    /// for {module} in an argument, and in PKCS11_MODULE_PATH and PKCS11_PROVIDER_MODULE
    #[arg(long, value_name = "MODULE", conflicts_with_all = ["device", "algorithm", "apdu", "pin_env", "pin_fd"])]
    pub pkcs11: Option<String>,

    /// Key of a virtual card or twin, which keymark puts into the program's keyring
    #[arg(long, short, value_name = "NAME", default_value = "cv25519")]
    pub algorithm: Algorithm,

    /// List every command
    #[arg(long)]
    pub apdu: bool,

    /// The PIN of a card in a reader, verified before the program starts
    #[command(flatten)]
    pub pins: PinArguments,

    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// Whence user PINs come.
#[derive(Debug, Args)]
pub struct PinArguments {
    /// Environment variable with the user PIN of the card or PKCS#11 token with that serial number; repeat for
    /// each token. With a single token the serial number may be omitted [default: ask once on the terminal]
    #[arg(
        long,
        value_name = "SERIAL=NAME",
        value_parser = pin_variable,
        conflicts_with = "pin_fd",
        help_heading = "Cards"
    )]
    pub pin_env: Vec<PinVariable>,

    /// File descriptor with the user PIN, for a run with a single card or token
    #[arg(long, value_name = "N", help_heading = "Cards")]
    pub pin_fd: Option<u32>,
}

impl PinArguments {
    /// Returns whether PINs come from anywhere but the terminal.
    pub fn is_given(&self) -> bool {
        !self.pin_env.is_empty() || self.pin_fd.is_some()
    }
}

/// Permissions for cards in readers.
#[derive(Debug, Args)]
pub struct CardArguments {
    /// Whence user PINs come
    #[command(flatten)]
    pub pins: PinArguments,

    /// Environment variable with the admin PIN, needed only for --write-to
    #[arg(long, value_name = "NAME", help_heading = "Cards")]
    pub admin_pin_env: Option<String>,

    /// Use keys that need a touch, and say when to touch
    #[arg(long, help_heading = "Cards")]
    pub allow_touch: bool,

    /// Write test keys to the token with this serial number: on a card those of missing algorithms, on a
    /// PKCS#11 token all. They are removed after the run
    #[arg(long, value_name = "SERIAL", value_parser = TokenName::parse, help_heading = "Cards")]
    pub write_to: Option<TokenName>,
}

/// Environment variable with the PIN of a card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PinVariable {
    /// Serial number of the card; `None` means the only one.
    pub serial: Option<TokenName>,
    /// Name of the variable.
    pub variable: String,
}

fn pin_variable(text: &str) -> Result<PinVariable, String> {
    let named = text.split_once('=');
    let (serial, variable) = named.map_or((None, text), |(serial, name)| (Some(serial), name));
    let serial = serial.map(TokenName::parse).transpose().ok();
    let serial = serial.filter(|_| !variable.is_empty());
    Ok(PinVariable {
        serial: serial.ok_or_else(|| format!("'{text}' must have the form 0a1b2c3d=VARIABLE"))?,
        variable: variable.to_owned(),
    })
}

/// `keymark twin`
#[derive(Debug, Subcommand)]
pub enum TwinCommand {
    /// Write a device profile from a measured run or from predictions, for 'twin:FILE'
    Make(Box<MakeArguments>),
    /// Serve a virtual card or twin to other programs, in vpcd's reader or behind a PKCS#11 module
    Serve(ServeArguments),
}

/// `keymark twin make`
#[derive(Debug, Args)]
pub struct MakeArguments {
    /// Run with the device's operations (OpenSSL or the card alone, one worker): last, last~1, an id or its beginning
    #[arg(value_name = "RUN", default_value = "last")]
    pub run: RunSelector,

    /// Device, if the run has several
    #[arg(long, short, value_name = "NAME")]
    pub device: Option<String>,

    /// Instead of a run, predict a microcontroller: PART[:PRESET][,OPTION=VALUE…]
    #[arg(long, value_name = "TARGET", value_parser = parts::target, conflicts_with_all = ["run", "device"])]
    pub mcu: Option<Target>,

    /// Algorithms to predict
    #[arg(
        long,
        short,
        value_name = "LIST",
        value_delimiter = ',',
        requires = "mcu",
        default_value = "rsa2048,rsa3072,rsa4096,cv25519,ed25519"
    )]
    pub algorithm: Vec<Kernel>,

    /// Time added to each predicted operation for USB, PIN and command parsing
    #[arg(long, value_name = "TIME", requires = "mcu", default_value = "0s", value_parser = humantime::parse_duration)]
    pub transport: Duration,

    /// Name of the twin [default: the device's]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,

    /// The file to write [default: stdout]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}
