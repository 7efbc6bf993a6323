//! `keymark share`

use std::io::ErrorKind;

use keymark_records::archive::Archive;
use keymark_records::exchange::json;
use keymark_records::exchange::share::{Personal, Shared, share};
use keymark_report::compare::Caution;

use crate::archive::of_this_machine;
use crate::args::ShareArguments;
use crate::exit::{Exit, Failure, Outcome};
use crate::file::{Existing, write};
use crate::output;

pub(super) fn run(arguments: &ShareArguments, archive: &Archive) -> Outcome {
    let record = archive.load(&arguments.run)?;
    let mut personal = of_this_machine();
    personal.extend(arguments.remove.iter().cloned().map(Personal::Other));
    let shared = share(&record, &personal).map_err(|error| {
        format!("a name that is to be removed is one of keymark's words: {error}")
    })?;
    show(&shared);
    let file = arguments.output.display();
    if !arguments.yes && !output::agrees(&format!("This will be written to {file}.")) {
        return Err(Failure::usage(format!(
            "nothing was written to {file}; --yes writes without asking"
        )));
    }
    write(&arguments.output, Existing::Kept, |to| {
        json::write(&shared.record, to)
    })
    .map_err(|error| {
        if error.kind() == ErrorKind::AlreadyExists {
            format!("{file} exists, and nothing was written; name another file")
        } else {
            format!("cannot write {file}: {error}")
        }
    })?;
    output::line(&format!("wrote {} to {file}", shared.record.id));
    Ok(Exit::Fine)
}

/// Lists the removed texts, and the remaining ones about machine and devices.
fn show(shared: &Shared) {
    output::heading("removed");
    if shared.removed.is_empty() {
        output::line(
            "  nothing: no host name, user name, home directory or serial number was found",
        );
    }
    for removal in &shared.removed {
        output::line(&format!(
            "  {} '{}', {} times, replaced by '{}'",
            removal.kind, removal.text, removal.times, removal.by
        ));
    }
    output::heading("stays");
    let environment = &shared.record.environment;
    for caution in Caution::of(environment) {
        output::line(&format!("  {caution}"));
    }
    let machine = [
        &environment.cpu_model,
        &environment.os,
        &environment.kernel,
        &environment.virtualization,
    ];
    for text in machine.into_iter().flatten() {
        output::line(&format!("  {text}"));
    }
    for store in &shared.record.stores {
        output::line(&format!("  {}: {}", store.device, store.product));
    }
    for case in &shared.record.cases {
        if let Some(reason) = case.failure() {
            output::line(&format!("  {}: {reason}", case.case));
        }
    }
    output::line(&format!(
        "  started {}, every sample of {} cases, versions of programs",
        shared.record.started.strftime("%Y-%m-%d %H:%M:%S UTC"),
        shared.record.cases.len()
    ));
}
