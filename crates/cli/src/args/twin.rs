//! The command line of `keymark twin`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use keymark_mcu::kernel::Kernel;
use keymark_mcu::target::Target;
use keymark_records::archive::RunSelector;

use super::ServeArguments;
use crate::parts;

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
