//! `keymark push`

use std::path::PathBuf;

use keymark_records::archive::{Archive, Unsent};
use keymark_report::units;

use crate::exit::{Exit, Outcome};
use crate::output;

/// Each run by itself: one that cannot be sent keeps no other back.
pub(super) fn run(named: Option<&PathBuf>) -> Outcome {
    let (mut number, mut exit) = (0, Exit::Fine);
    for unsent in Unsent::all(&Unsent::place()?)? {
        let sent = unsent
            .map_err(|error| error.to_string())
            .and_then(|unsent| {
                let (to, directory) = (named.unwrap_or(&unsent.to), unsent.directory.clone());
                let sent = Archive::open(to).and_then(|mut to| unsent.send(&mut to));
                sent.map_err(|error| format!("{} stays: {error}", directory.display()))
            });
        match sent {
            Ok(()) => number += 1,
            Err(error) => {
                output::error(&error);
                exit = Exit::Failed;
            }
        }
    }
    output::line(&format!("sent {}", units::counted(number, "run")));
    Ok(exit)
}
