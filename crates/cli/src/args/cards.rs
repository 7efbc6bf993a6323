//! The command line of what is about cards only.

use clap::Args;
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
