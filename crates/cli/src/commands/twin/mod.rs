//! `keymark twin`

#[cfg(feature = "tokens")]
mod card;
mod measured;
#[cfg(feature = "tokens")]
mod module;
mod predicted;

use std::path::PathBuf;

use super::{Outcome, readable};
use crate::args::TwinCommand;
use crate::exit::Exit;
use crate::file;

pub(super) fn run(command: &TwinCommand, archive: Option<&PathBuf>) -> Outcome {
    match command {
        TwinCommand::Make(arguments) => {
            let profile = match &arguments.mcu {
                Some(target) => predicted::profile(target, arguments)?,
                None => measured::profile(arguments, &readable(archive)?)?,
            };
            file::put(arguments.output.as_deref(), &profile)?;
            Ok(Exit::Fine)
        }
        #[cfg(feature = "tokens")]
        TwinCommand::Serve(arguments) => card::serve(arguments),
    }
}
