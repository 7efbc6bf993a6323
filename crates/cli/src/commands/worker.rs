//! `keymark worker`, which keymark starts for itself.

use std::io::{self, IsTerminal as _};

use keymark_stacks::raw::worker;

use super::Outcome;
use crate::exit::{Exit, Failure};

pub(super) fn run() -> Outcome {
    if io::stdin().is_terminal() {
        let message = "'keymark worker' is started by 'keymark bench --processes', not by hand";
        return Err(Failure::usage(message));
    }
    worker::serve(io::stdin(), io::stdout()).map_err(Failure::failed)?;
    Ok(Exit::Fine)
}
