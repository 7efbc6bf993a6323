//! The subcommands, one file each.

mod advise;
mod audit;
mod bench;
mod capacity;
mod compare;
mod definition;
mod devices;
mod export;
mod import;
mod mcu;
mod published;
mod push;
mod runs;
mod service;
mod share;
mod show;
mod site;
mod strength;
mod tls;
mod trace;
mod twin;

use std::io::{self, IsTerminal as _};
use std::path::PathBuf;

use keymark_bench::Error;
use keymark_records::archive::Archive;
use keymark_stacks::private_dir;

use crate::args::{self, Arguments, Command, RunsCommand};
use crate::exit::{Exit, Failure, Outcome};
use crate::{archive, output};

/// Carries out the command.
pub(crate) fn dispatch(arguments: &Arguments) -> Outcome {
    let Some(command) = &arguments.command else {
        output::help(&args::command().render_help());
        return Ok(Exit::Fine);
    };
    output::set_quiet(arguments.quiet);
    arguments.color.choose();
    if !command.is_errand() {
        // What an earlier keymark left when it was killed is nothing to report.
        let _ = private_dir::sweep();
    }
    let named = arguments.archive.as_ref();
    match command {
        Command::Bench(own) => bench::run(own, named),
        Command::Tls(own) => tls::run(own, named),
        Command::Service(own) => service::run(own, named),
        Command::Trace(own) => trace::run(own),
        Command::Mcu(own) => mcu::run(own, named),
        Command::Show(own) => reading(named, |archive| show::run(own, archive)),
        Command::Runs(own) => match &own.command {
            Some(RunsCommand::Rm { runs, yes }) => runs::remove(runs, *yes, named),
            None => reading(named, |archive| runs::run(own, archive)),
        },
        Command::Compare(own) => reading(named, |archive| compare::run(own, archive)),
        Command::Export(own) => reading(named, |archive| export::run(own, archive)),
        Command::Published(own) => published::run(own, named),
        Command::Advise(own) => advise::run(own, named),
        Command::Strength(own) => strength::run(own),
        Command::Audit(own) => audit::run(own),
        Command::Capacity(own) => capacity::run(own, named),
        Command::Import(own) => import::run(own, named),
        Command::Share(own) => reading(named, |archive| share::run(own, archive)),
        Command::Site(own) => site::run(own),
        Command::Push => push::run(named),
        Command::Devices(own) => devices::run(own),
        Command::Twin(own) => twin::run(own, named),
        Command::Completions { shell } => Ok(definition::completions(*shell)),
        Command::Man { directory } => definition::man(directory.as_deref()),
        Command::Worker => of_keymark(keymark_stores::worker::serve),
        Command::Pkcs11Module => of_keymark(keymark_stores::pkcs11::process::serve),
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
fn reading(named: Option<&PathBuf>, run: impl FnOnce(&Archive) -> Outcome) -> Outcome {
    let archive = archive::open_to_read(named)?;
    Ok(archive::report_unreadable(&archive, run(&archive)?))
}
