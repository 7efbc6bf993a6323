//! `keymark share`

use std::fs;
use std::io::ErrorKind;

use keymark_report::archive::Archive;
use keymark_report::exchange::json;
use keymark_report::exchange::share::{Personal, Shared, share};
use nix::unistd::{Uid, User};

use super::Outcome;
use crate::args::ShareArguments;
use crate::exit::{Exit, Failure};
use crate::file::{Existing, write};
use crate::output;

pub(super) fn run(arguments: &ShareArguments, archive: &Archive) -> Outcome {
    let record = archive.load(&arguments.run)?;
    let mut personal = of_this_machine();
    personal.extend(arguments.remove.iter().cloned().map(Personal::Other));
    let shared = share(&record, &personal);
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
        Failure::failed(if error.kind() == ErrorKind::AlreadyExists {
            format!("{file} exists, and nothing was written; name another file")
        } else {
            format!("cannot write {file}: {error}")
        })
    })?;
    output::line(&format!("wrote {} to {file}", shared.record.id));
    Ok(Exit::Fine)
}

/// What is removed, and what of machine and devices stays.
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

/// Names of this machine and of who uses it, as far as the system knows them.
fn of_this_machine() -> Vec<Personal> {
    let file = |path: &str| fs::read_to_string(path).ok();
    let variable = |name: &str| std::env::var(name).ok();
    let mut hosts: Vec<String> = [
        "/proc/sys/kernel/hostname",
        "/etc/hostname",
        "/etc/mailname",
    ]
    .into_iter()
    .filter_map(file)
    .chain(variable("HOSTNAME"))
    .map(|name| name.trim().to_owned())
    .collect();
    // `jane.example.org` is also called `jane`.
    let short: Vec<String> = hosts
        .iter()
        .filter_map(|name| Some(name.split_once('.')?.0.to_owned()))
        .collect();
    hosts.extend(short);
    let account = User::from_uid(Uid::current()).ok().flatten();
    let mut users: Vec<String> = ["USER", "LOGNAME", "SUDO_USER"]
        .into_iter()
        .filter_map(variable)
        .collect();
    let mut homes: Vec<String> = variable("HOME").into_iter().collect();
    if let Some(account) = account {
        homes.push(account.dir.display().to_string());
        users.push(account.name);
        let full = account.gecos.to_string_lossy();
        users.extend(full.split(',').next().map(|name| name.trim().to_owned()));
    }
    let hosts = hosts.into_iter().map(Personal::Host);
    let all = hosts.chain(users.into_iter().map(Personal::User));
    all.chain(homes.into_iter().map(Personal::Home)).collect()
}
