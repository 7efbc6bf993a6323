//! Names of this computer and its user, which are removed from shared runs.

use std::fs;

use keymark_records::exchange::share::Personal;
use nix::unistd::{Uid, User};

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
