//! The command line of what is about cards only.

use std::ffi::OsString;
use std::path::PathBuf;

#[cfg(feature = "pkcs11")]
use clap::builder::TypedValueParser;
use clap::{Args, Subcommand};
use keymark_bench::Algorithm;
use keymark_report::archive::RunSelector;
#[cfg(feature = "pkcs11")]
use keymark_shim_protocol::pkcs11::settings::{Left, MOST_LANES, Queue, TwinSettings};
use keymark_stores::user::TokenName;

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
    /// Whether they come from anywhere but the terminal.
    #[cfg(feature = "openpgp-card")]
    pub fn is_given(&self) -> bool {
        !self.pin_env.is_empty() || self.pin_fd.is_some()
    }
}

/// How cards in readers may be used.
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

/// Which environment variable has the PIN of which card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PinVariable {
    /// Of the only one, if it is not said.
    pub serial: Option<TokenName>,
    /// Name of the variable.
    pub variable: String,
}

fn pin_variable(text: &str) -> Result<PinVariable, String> {
    let (serial, variable) = match text.split_once('=') {
        Some((serial, variable)) => (Some(serial), variable),
        None => (None, text),
    };
    let serial = serial.map(TokenName::parse).transpose();
    match serial {
        Ok(serial) if !variable.is_empty() => Ok(PinVariable {
            serial,
            variable: variable.to_owned(),
        }),
        Ok(_) | Err(_) => Err(format!("'{text}' must have the form 0a1b2c3d=VARIABLE")),
    }
}

/// `keymark token`
#[derive(Debug, Subcommand)]
pub enum TokenCommand {
    /// Offer a virtual card or twin in vpcd's reader, or a token behind a PKCS#11 module, to other programs
    Serve(ServeArguments),
    /// Remove the test keys that a killed run left on a token
    Restore(RestoreArguments),
}

/// `keymark token restore`
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

/// `keymark token serve`
#[derive(Debug, Args)]
pub struct ServeArguments {
    /// 'virtual' or 'twin:PROFILE'
    #[arg(long, value_name = "NAME", default_value = "virtual")]
    pub device: String,

    /// Instead of a card, serve a token behind a PKCS#11 module: 'softhsm', 'kryoptic' or the twin of an HSM,
    /// such as 'twin:nitrokey-hsm'. Prints what other programs need: module, URIs, PIN, environment
    #[cfg(feature = "pkcs11")]
    #[arg(long, value_name = "NAME", conflicts_with_all = ["device", "state", "address"])]
    pub pkcs11: Option<String>,

    /// Its keys [default: all that the device has, or rsa2048,nistp256]
    #[cfg(feature = "pkcs11")]
    #[arg(long, value_name = "LIST", requires = "pkcs11")]
    pub algorithm: Option<Vec<Algorithm>>,

    /// What other programs need as JSON: module, uri, pin, environment
    #[cfg(feature = "pkcs11")]
    #[arg(long, requires = "pkcs11")]
    pub json: bool,

    /// How many operations an HSM's twin does at a time, up to 64 [default: 1]
    #[cfg(feature = "pkcs11")]
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u16).range(1..=i64::from(MOST_LANES)),
        requires = "pkcs11"
    )]
    pub lanes: Option<u16>,

    /// Which waiting caller an HSM's twin serves next [default: fair]
    #[cfg(feature = "pkcs11")]
    #[arg(long, value_name = "ORDER", requires = "pkcs11", value_parser = queue())]
    pub queue: Option<Queue>,

    /// What an HSM's twin does with a caller that ended while it waited [default: skipped]
    #[cfg(feature = "pkcs11")]
    #[arg(long, value_name = "WHAT", requires = "pkcs11", value_parser = left())]
    pub left: Option<Left>,

    /// Folder for its keys, PINs and serial number; without it the keys end with the program
    #[arg(long, value_name = "DIR")]
    pub state: Option<PathBuf>,

    /// Where vpcd listens [default: 127.0.0.1:35963]
    #[arg(long, value_name = "HOST:PORT")]
    pub address: Option<String>,
}

#[cfg(feature = "pkcs11")]
impl ServeArguments {
    /// How the twin takes its callers, if something is said of it.
    pub fn twin_settings(&self) -> Option<TwinSettings> {
        let usual = TwinSettings::default();
        let said = self.lanes.is_some() || self.queue.is_some() || self.left.is_some();
        said.then(|| TwinSettings {
            queue: self.queue.unwrap_or(usual.queue),
            left: self.left.unwrap_or(usual.left),
            lanes: self.lanes.unwrap_or(usual.lanes),
            ..usual
        })
    }
}

#[cfg(feature = "pkcs11")]
fn queue() -> impl TypedValueParser<Value = Queue> {
    super::one_of([
        (Queue::Fair, "fair", "First come, first served"),
        (
            Queue::Unfair,
            "unfair",
            "Whoever finds it free, as with a lock",
        ),
    ])
}

#[cfg(feature = "pkcs11")]
fn left() -> impl TypedValueParser<Value = Left> {
    super::one_of([
        (Left::Skipped, "skipped", "Nothing: it serves the next one"),
        (Left::Served, "served", "It still takes the device's time"),
    ])
}

/// `keymark trace`
#[derive(Debug, Args)]
pub struct TraceArguments {
    /// Which card: 'virtual', 'twin:PROFILE', a serial number or a part of the product name
    /// [default: the one that is in a reader]
    #[arg(long, value_name = "NAME")]
    pub device: Option<String>,

    /// Instead of a card, trace a PKCS#11 module: a file, or a name that 'keymark devices' lists. The command
    /// gets keymark's own module instead: wherever the module's file appears in its arguments or environment,
    /// for {module} in an argument, and in PKCS11_MODULE_PATH and PKCS11_PROVIDER_MODULE
    #[cfg(feature = "pkcs11")]
    #[arg(long, value_name = "MODULE", conflicts_with_all = ["device", "algorithm", "apdu", "pin_env", "pin_fd"])]
    pub pkcs11: Option<String>,

    /// Key of a virtual card or twin, which keymark puts into the program's keyring
    #[arg(long, value_name = "NAME", default_value = "cv25519")]
    pub algorithm: Algorithm,

    /// List every command
    #[arg(long)]
    pub apdu: bool,

    /// The PIN of a card in a reader, verified before the program starts
    #[command(flatten)]
    pub pins: PinArguments,

    /// How tables are shown
    #[command(flatten)]
    pub tables: super::TableArguments,

    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// `keymark profile`
#[derive(Debug, Args)]
pub struct ProfileArguments {
    /// Which run: last, last~1, an id or its beginning
    #[arg(value_name = "RUN", default_value = "last")]
    pub run: RunSelector,

    /// Which of its devices, if there are several
    #[arg(long, value_name = "NAME")]
    pub device: Option<String>,

    /// Name of the twin [default: the device's]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,

    /// The file to write [default: stdout]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}
