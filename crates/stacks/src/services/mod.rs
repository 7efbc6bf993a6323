//! Services that sign and timestamp, under load: zeitgitterd by gpg and its agents, relic by a file, a PKCS#11 token or a card,
//! an RFC 3161 authority with a key in a file, and authorities that run already.
//!
//! They are what TLS servers are: started in a private directory on loopback, driven by keymark's own client, and gone
//! afterwards. Each answer is checked, and what is wrong is a failure of its class.

mod agents;
mod authority;
mod relic;
mod rfc3161;
mod running;
mod signers;
mod tag;
mod timestamp;
mod zeitgitterd;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use keymark_bench::{Case, Dimension, Error, StackName, Words};
use keymark_stats::Distribution;

pub use self::authority::RunningAuthority;
use self::running::RunningService;
pub use self::running::ServiceLoads;
use crate::installed::Program;
use crate::provider::StackFamily;
use crate::tls::servers::{SearchPath, Version};

/// An RFC 3161 authority of any operator.
pub const RFC3161: StackName = StackName::of("rfc3161");
/// relic.
pub const RELIC: StackName = StackName::of("relic");
/// zeitgitterd.
pub const ZEITGITTERD: StackName = StackName::of("zeitgitterd");

/// Dimension of the gpg-agents, each with a copy of the key.
pub const AGENTS: Dimension = Dimension::of_family(
    "agents",
    "number of agents",
    Words::Listed(&["1", "2", "3", "4", "6", "8", "12", "16"]),
)
.usually("1");

/// Services that keymark starts, and those that run already.
pub const FAMILY: StackFamily = StackFamily {
    stacks: || KINDS.iter().map(|kind| kind.stack).collect(),
    dimensions: &[AGENTS],
    // However many agents ask it.
    tokens: |_| Some((1, Distribution::Shared)),
    ..StackFamily::ON_REQUEST
};

/// A kind of service: adding one is a file and a line in [`KINDS`].
#[derive(Debug)]
pub(crate) struct ServiceKind {
    pub(crate) stack: StackName,
    pub(crate) program: Program,
    /// Dimensions of its cases.
    pub(crate) dimensions: &'static [Dimension],
    /// Starts it with the case's key.
    pub(crate) start: fn(&InstalledService, &Case, &ServiceLoads) -> Result<RunningService, Error>,
}

const KINDS: [&ServiceKind; 3] = [&zeitgitterd::KIND, &relic::KIND, &rfc3161::KIND];

/// The service of that name.
///
/// # Errors
/// When there is none, with those that are.
pub fn named(word: &str) -> Result<StackName, String> {
    let known = KINDS.map(|kind| kind.stack);
    let named = known.into_iter().find(|stack| stack.word() == word);
    let words = || known.map(|stack| stack.to_string()).join(", ");
    named.ok_or_else(|| format!("unknown service '{word}'; choose from {}", words()))
}

/// Returns the dimensions of a service.
pub fn dimensions(stack: StackName) -> &'static [Dimension] {
    let kind = KINDS.iter().find(|kind| kind.stack == stack);
    kind.map_or(&[], |kind| kind.dimensions)
}

/// A service that is installed.
#[derive(Debug, Clone)]
pub(crate) struct InstalledService {
    kind: &'static ServiceKind,
    pub(crate) program: PathBuf,
    pub(crate) version: Version,
}

/// Services under load.
#[derive(Debug)]
pub enum Services {
    /// Services that keymark starts.
    Started(InstalledServices),
    /// An authority that runs already.
    Running(RunningAuthority),
}

/// Services that are installed, each looked for once.
#[derive(Debug)]
pub struct InstalledServices(BTreeMap<StackName, InstalledService>);

impl InstalledServices {
    /// Looks for those of that names.
    ///
    /// # Errors
    /// When one is missing, with the command that brings it.
    pub fn find(names: &[StackName], search: &SearchPath) -> Result<Self, Error> {
        let kinds = KINDS.iter().filter(|kind| names.contains(&kind.stack));
        let found = kinds.map(|kind| {
            let (program, version) = kind.program.find(search)?;
            let found = InstalledService {
                kind,
                version: packaged(kind.program.name, &program).unwrap_or(version),
                program,
            };
            Ok((kind.stack, found))
        });
        found.collect::<Result<_, _>>().map(Self)
    }

    /// Versions of the programs.
    pub fn versions(&self) -> impl Iterator<Item = (String, String)> {
        self.0
            .iter()
            .map(|(stack, found)| (stack.to_string(), found.version.to_string()))
    }

    fn start(&self, case: &Case, loads: &ServiceLoads) -> Result<RunningService, Error> {
        let missing = || {
            let reason = format!("{} is not in the plan", case.stack);
            Error::call("starting a service", reason, "")
        };
        let found = self.0.get(&case.stack).ok_or_else(missing)?;
        (found.kind.start)(found, case, loads)
    }
}

/// The version of the package that a program in Python comes from: zeitgitterd 1.2.0 calls itself 1.1.6.
fn packaged(name: &str, program: &Path) -> Option<Version> {
    let program = program.canonicalize().ok()?;
    let packages = format!("../lib/python3*/site-packages/{name}-*.dist-info");
    let pattern = program.parent()?.join(packages);
    let found = glob::glob(pattern.to_str()?).ok()?.flatten().next()?;
    let named = found.file_name()?.to_str()?;
    Version::behind("-", named.trim_end_matches(".dist-info"))
}

#[cfg(test)]
mod tests {
    use keymark_testkit::assert_says;

    use super::*;

    #[test]
    fn a_missing_service_names_what_brings_it() {
        let nowhere = tempfile::tempdir().unwrap();
        let search = SearchPath::of(Some(nowhere.path()));
        for stack in (FAMILY.stacks)() {
            let error = InstalledServices::find(&[stack], &search)
                .unwrap_err()
                .to_string();
            assert_says(&error, ["make services"]);
        }
        assert_says(
            &named("notary").unwrap_err(),
            ["zeitgitterd, relic, rfc3161"],
        );
    }
}
