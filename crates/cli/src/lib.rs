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
mod output;
mod parts;
mod rerun;
mod saving;
mod signals;
mod user;
mod version;
pub mod view;

use std::ffi::OsString;
use std::sync::Arc;

use clap::FromArgMatches as _;
use clap::error::{ContextKind, ContextValue, ErrorKind};

pub use exit::Exit;

/// Removes tips that lead astray: an unknown option as a value, and an option with hardly a letter in common.
fn without_guesses(mut error: clap::Error) -> clap::Error {
    let named = |kind| match error.get(kind) {
        Some(ContextValue::String(name)) => Some(name.trim_start_matches('-').to_owned()),
        _ => None,
    };
    let both = named(ContextKind::InvalidArg).zip(named(ContextKind::SuggestedArg));
    error.remove(ContextKind::Suggested);
    if both.is_some_and(|(typed, near)| typed.get(..3) != near.get(..3)) {
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::Usage);
    }
    error
}

/// Runs the command line and says how it went.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> Exit {
    let mut words: Vec<OsString> = arguments.into_iter().collect();
    // A list of commands fits a screen in short only.
    if let [_, asked] = &mut *words
        && asked == "--help"
    {
        *asked = "-h".into();
    }
    let parsed = args::command().try_get_matches_from(&words);
    let parsed = parsed.and_then(|parsed| args::Arguments::from_arg_matches(&parsed));
    let arguments = match parsed {
        Ok(arguments) => arguments,
        // Help and version are asked for, everything else is a mistake.
        Err(error) if error.use_stderr() => {
            let is_unknown = error.kind() == ErrorKind::UnknownArgument;
            let error = if is_unknown {
                without_guesses(error)
            } else {
                error
            };
            // Nothing can be done about a stderr that is gone.
            let _ = error.print();
            return Exit::Usage;
        }
        // Clap answers at the first of the two, wherever the other is.
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
