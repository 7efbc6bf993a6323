//! The command line: raw arguments become values that are valid, then one file a subcommand.

mod archive;
pub mod args;
mod commands;
mod documents;
mod exit;
mod file;
mod frame;
mod leftovers;
mod load;
mod observers;
mod output;
mod parts;
mod personal;
mod rerun;
mod saving;
mod signals;
mod user;
mod version;
pub mod view;

use std::ffi::OsString;
use std::sync::Arc;

use clap::FromArgMatches as _;
use clap::error::ErrorKind;

pub use exit::Exit;

/// Runs the command line and says how it went.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> Exit {
    let words: Vec<OsString> = arguments.into_iter().collect();
    let parsed = args::command().try_get_matches_from(&words);
    let parsed = parsed.and_then(|parsed| args::Arguments::from_arg_matches(&parsed));
    let arguments = match parsed {
        Ok(arguments) => arguments,
        // Help and version are asked for, everything else is a mistake.
        Err(error) if error.use_stderr() => {
            // Nothing can be done about a stderr that is gone.
            let _ = error.print();
            return Exit::Usage;
        }
        // Clap answers at the first of the two, wherever the other stands.
        Err(asked)
            if asked.kind() == ErrorKind::DisplayVersion
                && words.iter().any(|word| word == "--verbose") =>
        {
            version::print();
            return output::ending(Exit::Fine);
        }
        Err(asked) => {
            output::help(&asked.render());
            return output::ending(Exit::Fine);
        }
    };
    // Beyond a file size limit, writing fails as on a full disk, and nobody is killed.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
    output::ending(match commands::dispatch(&arguments) {
        Ok(exit) => exit,
        Err(failure) => {
            output::error(&failure.message);
            failure.exit
        }
    })
}
