//! Keymark's own module between a server and its token: it counts the calls.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use keymark_bench::error::Error;
use keymark_shim_protocol::pkcs11::Traced;
use keymark_shim_protocol::pkcs11::settings::Settings;
use keymark_shim_protocol::pkcs11::trace::{self, CallTimes};
use keymark_stores::pkcs11::wrapped::wrapped;
use keymark_stores::places::private_dir::PrivateDir;

use crate::tls::servers::worker_user::WorkerUser;

/// The library, with its settings beside it.
const LIBRARY: &str = "keymark-pkcs11.so";

/// Whether the calls to a token's module are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Tracing {
    /// They are.
    Calls,
    /// The server has the token's own module.
    #[default]
    Off,
}

/// The modules that count the calls of one server, one for each that it would have loaded.
#[derive(Debug, Default)]
pub(crate) struct TokenTraces(Vec<TokenTrace>);

#[derive(Debug)]
struct TokenTrace {
    /// What is asked in the end.
    target: PathBuf,
    /// What the server loads.
    own: PathBuf,
    file: PathBuf,
}

/// Calls until now, threads and processes together.
#[derive(Debug, Clone, Default)]
pub struct CallsSoFar {
    /// Processes that have made any.
    pub processes: BTreeSet<u32>,
    /// By what they are.
    pub calls: BTreeMap<Traced, CallTimes>,
}

impl CallsSoFar {
    /// Both together.
    pub fn add(&mut self, other: Self) {
        self.processes.extend(other.processes);
        for (traced, times) in other.calls {
            match self.calls.get_mut(&traced) {
                Some(there) => there.add(&times),
                None => {
                    self.calls.insert(traced, times);
                }
            }
        }
    }
}

impl TokenTraces {
    /// What the server loads in place of `target`. The workers come as another user, and count what they call: the file
    /// is there before they are, and theirs to write.
    pub(crate) fn before(
        &mut self,
        target: &Path,
        place: &PrivateDir,
        worker: Option<&WorkerUser>,
    ) -> Result<PathBuf, Error> {
        if let Some(known) = self.0.iter().find(|known| known.target == target) {
            return Ok(known.own.clone());
        }
        let directory = place.subdirectory(&format!("traced{}", self.0.len()))?;
        let file = directory.join("trace");
        let own = wrapped(&settings(target, &file)?, &directory, LIBRARY)?;
        trace::create(&file)
            .map_err(|error| Error::call(format!("making {}", file.display()), error, ""))?;
        if let Some(worker) = worker {
            worker.let_read(&directory)?;
            worker.let_read(&own)?;
            worker.let_read(&Settings::beside(&own))?;
            worker.let_write(&file)?;
        }
        self.0.push(TokenTrace {
            target: target.to_owned(),
            own: own.clone(),
            file,
        });
        Ok(own)
    }

    /// What was called until now; none where nothing is counted.
    pub(crate) fn read(&self) -> Result<Option<CallsSoFar>, Error> {
        let mut sum = CallsSoFar::default();
        for TokenTrace { file, .. } in &self.0 {
            let threads = trace::read(file)
                .map_err(|error| Error::call("reading what the server asked", error, ""))?;
            for thread in threads {
                sum.add(CallsSoFar {
                    processes: BTreeSet::from([thread.process]),
                    calls: thread.calls,
                });
            }
        }
        Ok((!self.0.is_empty()).then_some(sum))
    }
}

/// A twin counts itself: a module before it would not see who waits in it.
fn settings(module: &Path, file: &Path) -> Result<Settings, Error> {
    let beside = Settings::beside(module);
    let own = Settings::read(&beside)
        .map_err(|error| Error::call("reading a module's settings", error, ""))?;
    let target = own.module.clone().unwrap_or_else(|| module.to_owned());
    Ok(Settings {
        module: Some(target),
        trace: Some(file.to_owned()),
        ..own
    })
}

#[cfg(test)]
mod tests {
    use keymark_shim_protocol::pkcs11::settings::TwinSettings;

    use super::*;

    #[test]
    fn a_twin_counts_itself_and_another_module_is_wrapped() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("trace");
        let module = directory.path().join("libtoken.so");
        let of_token = settings(&module, &file).unwrap();
        assert_eq!(of_token.module.as_ref(), Some(&module));
        assert_eq!(
            (of_token.trace.as_ref(), of_token.twin),
            (Some(&file), None)
        );
        let twin = Settings {
            module: Some("/usr/lib/libsofthsm2.so".into()),
            twin: Some(TwinSettings {
                profile: "nitrokey-hsm".into(),
                device: Some("/device".into()),
                ..TwinSettings::default()
            }),
            ..Settings::default()
        };
        twin.write(&Settings::beside(&module)).unwrap();
        let of_twin = settings(&module, &file).unwrap();
        assert_eq!((of_twin.module, of_twin.twin), (twin.module, twin.twin));
        assert_eq!(of_twin.trace, Some(file));
    }
}
