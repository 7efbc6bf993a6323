//! The servers that are installed, each looked for once.

use std::collections::BTreeMap;

use keymark_bench::case::StackName;
use keymark_bench::error::Error;
use keymark_servers::{Installed, SearchPath};

use super::SERVERS;

/// The servers of a plan.
#[derive(Debug)]
pub struct Servers(BTreeMap<StackName, Installed>);

impl Servers {
    /// Looks for those of that names.
    ///
    /// # Errors
    /// When one is missing, with the package that brings it, or a name is no server's.
    pub fn find(names: &[StackName]) -> Result<Self, Error> {
        let find = |name: &StackName| {
            let known = SERVERS.iter().find(|(known, _)| known == name);
            let (_, software) = known.ok_or_else(|| {
                let words: Vec<_> = SERVERS.iter().map(|(name, _)| name.to_string()).collect();
                Error::call(
                    "looking for a server",
                    format!("none is called {name}"),
                    format!("there are {}", words.join(", ")),
                )
            })?;
            let installed = Installed::find(*software, &SearchPath::usual())?;
            Ok((*name, installed))
        };
        names.iter().map(find).collect::<Result<_, _>>().map(Self)
    }

    pub(super) fn get(&self, name: StackName) -> Result<&Installed, Error> {
        self.0.get(&name).ok_or_else(|| {
            Error::call(
                "starting a server",
                format!("{name} is none of the plan's"),
                "",
            )
        })
    }

    /// Versions of the programs, and of the OpenSSL that each uses.
    #[must_use]
    pub fn versions(&self) -> BTreeMap<String, String> {
        let each = self.0.values().flat_map(|installed| {
            let name = installed.software.to_string().to_lowercase();
            [
                (
                    format!("{name} with openssl"),
                    installed.openssl.version.to_string(),
                ),
                (name, installed.version.to_string()),
            ]
        });
        each.collect()
    }
}
