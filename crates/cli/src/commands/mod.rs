//! The subcommands, one file each.

mod advise;
mod archives;
mod audit;
mod bench;
mod capacity;
mod compare;
mod definition;
mod devices;
mod export;
mod import;
mod mcu;
mod profile;
mod published;
mod report;
mod runs;
mod service;
mod share;
mod show;
mod site;
mod strength;
#[cfg(feature = "tokens")]
mod tls;
#[cfg(feature = "tokens")]
mod token;
#[cfg(feature = "tokens")]
mod trace;

use std::io::{self, IsTerminal as _};

use keymark_bench::Error;
use keymark_records::archive::Archive;
use keymark_stacks::private_dir;

use crate::archive;
use crate::args::{ArchiveCommand, Arguments, Command};
use crate::exit::{Exit, Failure};

/// What a command yields.
pub(crate) type Outcome = Result<Exit, Failure>;

/// Carries out the command.
pub(crate) fn dispatch(arguments: &Arguments) -> Outcome {
    if !arguments.command.is_errand() {
        // What an earlier keymark left when it was killed is nothing to report.
        let _ = private_dir::sweep();
    }
    match &arguments.command {
        Command::Devices(own) => devices::run(own),
        Command::Bench(own) => bench::run(own, arguments.archive.as_ref()),
        Command::Runs(own) => reading(arguments, |archive| runs::run(own, archive)),
        Command::Show(own) => reading(arguments, |archive| show::run(own, archive)),
        Command::Plot(own) => reading(arguments, |archive| show::plot(own, archive)),
        Command::Export(own) => reading(arguments, |archive| export::run(own, archive)),
        Command::Report(own) => reading(arguments, |archive| report::run(own, archive)),
        Command::Compare(own) => reading(arguments, |archive| compare::run(own, archive)),
        Command::Share(own) => reading(arguments, |archive| share::run(own, archive)),
        Command::Site(own) => site::run(own),
        Command::Published(own) => published::run(own, arguments.archive.as_ref()),
        Command::Audit(own) => audit::run(own),
        Command::Advise(own) => advise::run(own, arguments.archive.as_ref()),
        Command::Capacity(own) => capacity::run(own, arguments.archive.as_ref()),
        Command::Strength(own) => strength::run(own),
        #[cfg(feature = "tokens")]
        Command::Trace(own) => trace::run(own),
        #[cfg(feature = "tokens")]
        Command::Token(own) => token::run(own),
        Command::Profile(own) => reading(arguments, |archive| profile::run(own, archive)),
        Command::Mcu(own) => mcu::run(own, arguments.archive.as_ref()),
        Command::Import(own) => import::run(own, arguments.archive.as_ref()),
        Command::Archive(ArchiveCommand::Push) => archives::push(arguments.archive.as_ref()),
        Command::Archive(ArchiveCommand::Copy { from, to, identity }) => {
            archives::copy(from, to, identity.wanted())
        }
        #[cfg(feature = "tokens")]
        Command::Tls(own) => tls::run(own, arguments.archive.as_ref()),
        Command::Service(own) => service::run(own, arguments.archive.as_ref()),
        Command::Worker => of_keymark(keymark_stores::worker::serve),
        #[cfg(feature = "tokens")]
        Command::Pkcs11Module => of_keymark(keymark_stores::pkcs11::process::serve),
        Command::Completions { shell } => Ok(definition::completions(*shell)),
        Command::Man { directory } => definition::man(directory.as_deref()),
    }
}

/// Runs a command that keymark starts for itself, with a socket.
fn of_keymark(serve: fn() -> Result<(), Error>) -> Outcome {
    if io::stdin().is_terminal() {
        let message = "'keymark bench' starts this itself";
        return Err(Failure::usage(message));
    }
    serve()?;
    Ok(Exit::Fine)
}

/// Carries out what changes nothing in the archive.
fn reading(arguments: &Arguments, run: impl FnOnce(&Archive) -> Outcome) -> Outcome {
    let archive = readable(arguments)?;
    Ok(archive::report_unreadable(&archive, run(&archive)?))
}

fn readable(arguments: &Arguments) -> Result<Archive, Failure> {
    Ok(archive::open_to_read(arguments.archive.as_ref())?)
}
