//! The command line of served and restored tokens, and of traces.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use keymark_bench::Algorithm;
use keymark_shim_protocol::pkcs11::settings::MOST_LANES;
use keymark_stores::user::TokenName;

use super::{FormatArguments, PinArguments};

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
