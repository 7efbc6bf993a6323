//! What is known of this computer and of who uses it, to be taken out of what others read.

use std::fs;

use keymark_report::exchange::share::Personal;
use nix::unistd::{Uid, User};

/// Names of this machine and of who uses it, as far as the system knows them.
pub(crate) fn of_this_machine() -> Vec<Personal> {
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
