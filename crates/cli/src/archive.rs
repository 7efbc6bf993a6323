//! The user's archive, and the names of this machine that are removed from shared runs.

use std::fs;
use std::path::{Path, PathBuf};

use keymark_records::archive::{Archive, ArchiveError, Identity};
use keymark_records::exchange::share::Personal;
use nix::unistd::{Uid, User};

use crate::exit::Exit;
use crate::output;

/// Opens the named archive, or the default one.
pub(crate) fn open(named: Option<&PathBuf>) -> Result<Archive, ArchiveError> {
    open_with_identity(&place(named)?, Identity::Hidden)
}

/// Opens an archive for runs of this machine.
pub(crate) fn open_with_identity(
    place: &Path,
    identity: Identity,
) -> Result<Archive, ArchiveError> {
    let mut archive = Archive::open(place)?;
    archive.set_identity(identity, of_this_machine);
    Ok(archive)
}

/// Prints an error for each damaged run that was left out of the archive's answers.
pub(crate) fn report_unreadable(archive: &Archive, exit: Exit) -> Exit {
    let unreadable = archive.unreadable();
    for run in &unreadable {
        output::error(&run.to_string());
    }
    if unreadable.is_empty() {
        exit
    } else {
        exit.and_incomplete()
    }
}

pub(crate) fn open_to_read(named: Option<&PathBuf>) -> Result<Archive, ArchiveError> {
    Archive::open_to_read(&place(named)?)
}

pub(crate) fn place(named: Option<&PathBuf>) -> Result<PathBuf, ArchiveError> {
    named.cloned().map_or_else(Archive::default_path, Ok)
}

/// Returns the names of this machine and its user that the system knows.
pub(crate) fn of_this_machine() -> Vec<Personal> {
    let variables = |names: &[&str]| -> Vec<String> {
        names
            .iter()
            .filter_map(|name| std::env::var(name).ok())
            .collect()
    };
    let mut hosts = variables(&["HOSTNAME"]);
    for file in [
        "/proc/sys/kernel/hostname",
        "/etc/hostname",
        "/etc/mailname",
    ] {
        hosts.extend(fs::read_to_string(file).map(|name| name.trim().to_owned()));
    }
    // `jane.example.org` is also called `jane`.
    let short = hosts.iter().filter_map(|name| name.split_once('.'));
    let short: Vec<String> = short.map(|(name, _)| name.to_owned()).collect();
    hosts.extend(short);
    let mut users = variables(&["USER", "LOGNAME", "SUDO_USER"]);
    let mut homes = variables(&["HOME"]);
    if let Some(account) = User::from_uid(Uid::current()).ok().flatten() {
        homes.push(account.dir.display().to_string());
        users.push(account.name);
        let full = account.gecos.to_string_lossy();
        users.extend(full.split(',').next().map(|name| name.trim().to_owned()));
    }
    let hosts = hosts.into_iter().map(Personal::Host);
    let all = hosts.chain(users.into_iter().map(Personal::User));
    all.chain(homes.into_iter().map(Personal::Home)).collect()
}
