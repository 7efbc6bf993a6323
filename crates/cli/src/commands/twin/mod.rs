//! `keymark twin`

#[cfg(feature = "cards")]
mod card;
mod measured;
mod module;
mod predicted;

use std::path::PathBuf;

use super::readable;
use crate::args::TwinCommand;
#[cfg(not(feature = "cards"))]
use crate::exit::Failure;
use crate::exit::{Exit, Outcome};
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
        TwinCommand::Serve(arguments) => match &arguments.pkcs11 {
            Some(named) => module::serve(arguments, named),
            #[cfg(feature = "cards")]
            None => card::serve(arguments),
            #[cfg(not(feature = "cards"))]
            None => Err(Failure::usage(keymark_stores::registry::NO_CARDS)),
        },
    }
}
