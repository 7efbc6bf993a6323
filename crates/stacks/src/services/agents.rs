//! The agents behind a service that signs by gpg: that of the case's home, or several, each with a copy of the key.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use keymark_bench::Error;

use crate::gnupg::home::Home;
use crate::gnupg::key_home::KeyHome;
use crate::private_dir::PrivateDir;

/// Agents of a service. Copies end with the value, the agent of the case's home with the run.
#[derive(Debug)]
pub(crate) struct Agents {
    original: Arc<KeyHome>,
    /// Copies in directories that zeitgitterd takes for its own: `gnupg`, `gnupg-1`, …
    copies: Vec<Home>,
    /// Directory of the copies; removed last.
    _place: PrivateDir,
}

impl Agents {
    /// Starts agents with copies of a home's keys, if there is to be more than one.
    pub(crate) fn of(original: Arc<KeyHome>, number: u8) -> Result<Self, Error> {
        let place = PrivateDir::new()?;
        let copy = |number| {
            let name = match number {
                0 => "gnupg".to_owned(),
                _ => format!("gnupg-{number}"),
            };
            original.home.copy(place.subdirectory(&name)?)
        };
        let copies = if number > 1 {
            (0..number).map(copy).collect::<Result<Vec<Home>, _>>()?
        } else {
            Vec::new()
        };
        Ok(Self {
            original,
            copies,
            _place: place,
        })
    }

    fn homes(&self) -> impl Iterator<Item = &Home> {
        let original = self.copies.is_empty().then_some(&self.original.home);
        self.copies.iter().chain(original)
    }

    /// Directory of the first agent's home.
    pub(crate) fn home(&self) -> &Path {
        let mut homes = self.homes();
        homes.next().unwrap_or(&self.original.home).path()
    }

    /// Processor time of agents and scdaemons since they were started.
    pub(crate) fn processor_time(&self) -> Duration {
        self.homes().map(Home::processor_time).sum()
    }
}
