//! Services that sign and timestamp, under load: [`zeitgitterd`] by gpg and its agents, [`rfc3161`] with a key in a file, and
//! timestamping authorities that run already.
//!
//! They are what TLS servers are: started in a private directory on loopback, driven by keymark's own client, and gone
//! afterwards. Each answer is checked, and what is wrong is a failure of its class.

mod agents;
mod authority;
mod measuring;
mod rfc3161;
mod running;
mod tag;
mod timestamp;
mod zeitgitterd;

use std::collections::BTreeMap;
use std::num::NonZeroU8;
use std::path::PathBuf;

use keymark_bench::case::{Case, Dimension, Scope, StackName, Words};
use keymark_bench::error::Error;
use keymark_bench::plan::Standing;

pub use self::authority::RunningAuthority;
pub use self::measuring::Measuring;
pub use self::rfc3161::RFC3161;
use self::running::Running;
pub use self::zeitgitterd::ZEITGITTERD;
use crate::gnupg::homes::GnupgHomes;
use crate::installed::Program;
use crate::installed::{SearchPath, Version};
use crate::provider::StackFamily;
use crate::tls::Keys;

/// That of agents, each with a copy of the key.
pub const AGENTS: Dimension = Dimension {
    name: "agents",
    kind: "number of agents",
    words: Words::Formed(|word| is_few(word)),
    usual: Some("1"),
    scope: Scope::Family,
};

/// More agents than anybody has cores.
const MOST_AGENTS: u8 = 64;

fn is_few(word: &str) -> bool {
    let number = word.parse::<NonZeroU8>();
    number.is_ok_and(|number| number.get() <= MOST_AGENTS && number.to_string() == word)
}

/// Services that keymark starts, and those that run already.
pub const FAMILY: StackFamily = StackFamily {
    stacks: || KINDS.iter().map(|kind| kind.stack()).collect(),
    standing: Standing::OnRequest,
    look: None,
    dimensions: &[AGENTS],
    layers: || None,
    comparisons: &[],
};

/// A kind of service: adding one is a file and a line in [`KINDS`].
pub(crate) trait ServiceKind: std::fmt::Debug + Sync {
    fn stack(&self) -> StackName;

    fn program(&self) -> Program;

    /// Starts it with the case's key.
    fn start(&self, program: &Found, case: &Case, means: &Means<'_>) -> Result<Running, Error>;
}

const KINDS: [&dyn ServiceKind; 2] = [&zeitgitterd::Zeitgitterd, &rfc3161::Rfc3161];

/// What services are started with.
#[derive(Debug)]
pub(crate) struct Means<'a> {
    pub(crate) keys: &'a Keys,
    pub(crate) homes: &'a GnupgHomes,
}

/// The service of that name.
///
/// # Errors
/// When there is none, with those that are.
pub fn named(word: &str) -> Result<StackName, String> {
    let mut stacks = (FAMILY.stacks)().into_iter();
    stacks.find(|stack| stack.word() == word).ok_or_else(|| {
        let words = (FAMILY.stacks)()
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>();
        format!("unknown service '{word}'; choose from {}", words.join(", "))
    })
}

/// A service that is installed.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    kind: &'static dyn ServiceKind,
    pub(crate) program: PathBuf,
    pub(crate) version: Version,
}

/// Services that are installed, each looked for once.
#[derive(Debug)]
pub struct Installed(BTreeMap<StackName, Found>);

impl Installed {
    /// Looks for those of that names.
    ///
    /// # Errors
    /// When one is missing, with the command that brings it.
    pub fn find(names: &[StackName], search: &SearchPath) -> Result<Self, Error> {
        let kinds = KINDS.iter().filter(|kind| names.contains(&kind.stack()));
        let found = kinds.map(|&kind| {
            let (program, version) = kind.program().find(search)?;
            Ok((
                kind.stack(),
                Found {
                    kind,
                    program,
                    version,
                },
            ))
        });
        found.collect::<Result<_, _>>().map(Self)
    }

    /// Versions of the programs.
    pub fn versions(&self) -> impl Iterator<Item = (String, String)> {
        let each = self.0.iter();
        each.map(|(stack, found)| (stack.to_string(), found.version.to_string()))
    }

    fn start(&self, case: &Case, means: &Means<'_>) -> Result<Running, Error> {
        let missing = || {
            Error::call(
                "starting a service",
                format!("{} is not in the plan", case.stack),
                "",
            )
        };
        let found = self.0.get(&case.stack).ok_or_else(missing)?;
        found.kind.start(found, case, means)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_service_names_what_brings_it() {
        let nowhere = tempfile::tempdir().unwrap();
        let search = SearchPath::of(Some(nowhere.path()));
        for stack in (FAMILY.stacks)() {
            let error = Installed::find(&[stack], &search).unwrap_err().to_string();
            assert!(error.contains("make services"), "{error}");
        }
        assert!(
            named("notary")
                .unwrap_err()
                .contains("zeitgitterd, rfc3161")
        );
    }

    #[test]
    fn agents_are_a_few() {
        for (word, some) in [
            ("1", true),
            ("64", true),
            ("65", false),
            ("0", false),
            ("01", false),
            ("two", false),
        ] {
            assert_eq!(AGENTS.parse(word).is_ok(), some, "{word}");
        }
    }
}
