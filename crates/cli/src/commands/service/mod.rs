//! `keymark service`

mod bench;
mod connect;
mod run;
mod suite;

use std::path::PathBuf;

use super::Outcome;
use crate::args::ServiceCommand;

pub(super) fn run(command: &ServiceCommand, archive: Option<&PathBuf>) -> Outcome {
    match command {
        ServiceCommand::Bench(arguments) => match &arguments.remote.connect {
            Some(address) => connect::run(address, arguments, archive),
            None => bench::run(arguments, archive),
        },
        ServiceCommand::Suite(arguments) => suite::run(arguments, archive),
    }
}
