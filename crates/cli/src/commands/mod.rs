//! The subcommands, one file each.

mod abilities;
mod again;
mod bench;
mod compare;
mod definition;
mod devices;
mod export;
mod history;
mod import;
mod leftovers;
mod mcu;
#[cfg(feature = "pkcs11")]
mod pkcs11_module;
mod plot;
mod profile;
mod published;
mod report;
mod runs;
mod saving;
mod selection;
mod series;
#[cfg(feature = "serve")]
mod serve;
mod share;
mod show;
mod site;
#[cfg(feature = "tls")]
mod tls;
#[cfg(feature = "openpgp-card")]
mod token;
#[cfg(feature = "openpgp-card")]
mod trace;
mod worker;

use std::path::PathBuf;

use keymark_report::archive::{Archive, ArchiveError};

use crate::args::{Arguments, Command};
use crate::exit::{Exit, Failure};

/// What a command yields.
type Outcome = Result<Exit, Failure>;

/// Carries out the command.
pub(crate) fn dispatch(arguments: &Arguments) -> Outcome {
    match &arguments.command {
        Command::Devices(own) => devices::run(own),
        Command::Bench(own) => bench::run(own, arguments.archive.as_ref()),
        Command::Runs(own) => runs::run(own, &archive(arguments)?),
        Command::Show(own) => show::run(own, &archive(arguments)?),
        Command::Plot(own) => plot::run(own, &archive(arguments)?),
        Command::Export(own) => export::run(own, &archive(arguments)?),
        Command::Report(own) => report::run(own, &archive(arguments)?),
        #[cfg(feature = "serve")]
        Command::Serve(own) => serve::run(own, archive(arguments)?),
        Command::Compare(own) => compare::run(own, &archive(arguments)?),
        Command::History(own) => history::run(own, &archive(arguments)?),
        Command::Share(own) => share::run(own, &archive(arguments)?),
        Command::Site(own) => site::run(own),
        #[cfg(feature = "openpgp-card")]
        Command::Trace(own) => trace::run(own),
        #[cfg(feature = "openpgp-card")]
        Command::Token(own) => token::run(own),
        Command::Profile(own) => profile::run(own, &archive(arguments)?),
        Command::Mcu(own) => mcu::run(own, arguments.archive.as_ref()),
        Command::Import(own) => import::run(own, &mut archive(arguments)?),
        #[cfg(feature = "tls")]
        Command::Tls(own) => tls::run(own, arguments.archive.as_ref()),
        Command::Worker => worker::run(),
        #[cfg(feature = "pkcs11")]
        Command::Pkcs11Module { file, reserved } => pkcs11_module::run(file, reserved.clone()),
        Command::Completions { shell } => Ok(definition::completions(*shell)),
        Command::Man { directory } => definition::man(directory.as_deref()),
    }
}

fn archive(arguments: &Arguments) -> Result<Archive, Failure> {
    open_archive(arguments.archive.as_ref()).map_err(Failure::failed)
}

fn open_archive(named: Option<&PathBuf>) -> Result<Archive, ArchiveError> {
    match named {
        Some(path) => Archive::open(path),
        None => Archive::open(&Archive::default_path()?),
    }
}
