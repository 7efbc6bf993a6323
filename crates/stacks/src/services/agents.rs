//! The agents behind a service that signs by gpg: keymark's own, and those that gpg starts in copies of its home.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::gnupg::Gnupg;
use crate::gnupg::key_home::KeyHome;
use crate::tls::servers::process::spent;
use keymark_stores::places::process::Process;

/// They, and the homes of those that gpg has started, which end with the value.
#[derive(Debug)]
pub(crate) struct Agents {
    /// Its agent ends with the run.
    home: Arc<KeyHome>,
    /// `HOME-1`, `HOME-2`, …
    copies: Vec<PathBuf>,
}

impl Agents {
    /// Those of a home, and of so many copies.
    pub(crate) fn of(home: Arc<KeyHome>, copies: u8) -> Self {
        let original = home.home.path().as_os_str().to_owned();
        let copy = |number| {
            let mut name = original.clone();
            name.push(format!("-{number}"));
            PathBuf::from(name)
        };
        Self {
            copies: (1..=copies).map(copy).collect(),
            home,
        }
    }

    /// The home that is copied.
    pub(crate) fn home(&self) -> &Path {
        self.home.home.path()
    }

    fn gnupg(&self) -> &Gnupg {
        self.home.home.gnupg()
    }

    /// Processor time of agents and scdaemons since they were started.
    pub(crate) fn processor_time(&self) -> Duration {
        let mut homes: Vec<&Path> = self.copies.iter().map(PathBuf::as_path).collect();
        homes.push(self.home());
        let agents = agents_in(&homes)
            .into_iter()
            .flat_map(Process::with_descendants);
        agents.filter_map(spent).sum()
    }
}

/// Numbers of the processes that were started as agents of these homes.
fn agents_in(homes: &[&Path]) -> Vec<u32> {
    let numbers = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let is_agent = |number: &u32| {
        let line = fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
        let mut words = line.split(|byte| *byte == 0);
        let program = words.next().unwrap_or_default();
        program.ends_with(b"gpg-agent")
            && words.any(|word| {
                homes
                    .iter()
                    .any(|home| home.as_os_str().as_encoded_bytes() == word)
            })
    };
    numbers.filter(is_agent).collect()
}

impl Drop for Agents {
    fn drop(&mut self) {
        for copy in self.copies.iter().filter(|copy| copy.is_dir()) {
            let mut kill = self.gnupg().command("gpgconf");
            // They would follow their directories within a minute.
            let _ = kill
                .arg("--homedir")
                .arg(copy)
                .args(["--kill", "all"])
                .output();
            let _ = fs::remove_dir_all(copy);
        }
    }
}
