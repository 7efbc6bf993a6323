//! The servers that are installed, each looked for once.

use std::collections::BTreeMap;

use crate::servers::{Installed, SearchPath, Software};
use keymark_bench::case::StackName;
use keymark_bench::error::Error;

use super::SERVERS;

/// The servers of a plan.
#[derive(Debug)]
pub struct Servers {
    by_stack: BTreeMap<StackName, Installed>,
    balancer: Option<Installed>,
}

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
                    format!("no server has the name {name}"),
                    format!("there are {}", words.join(", ")),
                )
            })?;
            let installed = Installed::find(*software, &SearchPath::usual())?;
            Ok::<_, Error>((*name, installed))
        };
        Ok(Self {
            by_stack: names.iter().map(find).collect::<Result<_, _>>()?,
            balancer: None,
        })
    }

    /// Looks for haproxy as well.
    ///
    /// # Errors
    /// When it is missing, with the package that brings it.
    pub fn and_balancer(self) -> Result<Self, Error> {
        let haproxy = Installed::find(Software::Haproxy, &SearchPath::usual())?;
        Ok(Self {
            balancer: Some(haproxy),
            ..self
        })
    }

    pub(super) fn balancer(&self) -> Result<&Installed, Error> {
        let none = || Error::call("starting a balancer", "none is the plan's", "");
        self.balancer.as_ref().ok_or_else(none)
    }

    pub(super) fn get(&self, name: StackName) -> Result<&Installed, Error> {
        self.by_stack.get(&name).ok_or_else(|| {
            Error::call(
                "starting a server",
                format!("{name} is not in the plan"),
                "",
            )
        })
    }

    /// Versions of the programs, and of the OpenSSL that each uses.
    #[must_use]
    pub fn versions(&self) -> BTreeMap<String, String> {
        let balancer = self.balancer.iter().map(|haproxy| {
            let name = haproxy.software.to_string().to_lowercase();
            (name, haproxy.version.to_string())
        });
        let each = self.by_stack.values().flat_map(|installed| {
            let name = installed.software.to_string().to_lowercase();
            [
                (
                    format!("{name} with openssl"),
                    installed.openssl.version.to_string(),
                ),
                (name, installed.version.to_string()),
            ]
        });
        each.chain(balancer).collect()
    }
}
