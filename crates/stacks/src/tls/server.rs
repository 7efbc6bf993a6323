//! The servers that are installed, each looked for once.

use std::collections::BTreeMap;

use super::handshake::Handshake;
use crate::tls::servers::{self, Haproxy, Installed, SearchPath};
use keymark_bench::case::{Case, StackName};
use keymark_bench::error::Error;

/// The servers of a plan.
#[derive(Debug)]
pub struct Servers {
    by_stack: BTreeMap<StackName, Installed>,
    balancer: Option<Haproxy>,
}

impl Servers {
    /// Looks for those of that names.
    ///
    /// # Errors
    /// When one is missing, with the package that brings it, or a name is no server's.
    pub fn find(names: &[StackName]) -> Result<Self, Error> {
        let find = |name: &StackName| {
            let kind = servers::kind(name.word());
            let kind = kind.map_err(|why| Error::call("looking for a server", why, ""))?;
            let installed = Installed::find(kind, &SearchPath::usual())?;
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
        let haproxy = Haproxy::find(&SearchPath::usual())?;
        Ok(Self {
            balancer: Some(haproxy),
            ..self
        })
    }

    pub(super) fn balancer(&self) -> Result<&Haproxy, Error> {
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

    /// Why the server's OpenSSL is too old for a case, if it is.
    pub fn too_old_for(&self, case: &Case) -> Option<String> {
        let version = &self.by_stack.get(&case.stack)?.openssl().ok()?.version;
        let exchange = Handshake::of(case).ok()?.key_exchange;
        let keys = std::iter::once(case.algorithm);
        servers::too_new(version, keys, &[exchange]).map(|why| why.to_string())
    }

    /// Versions of the programs, and of the library of cryptography that each uses.
    pub fn versions(&self) -> BTreeMap<String, String> {
        let balancer = self.balancer.iter();
        let balancer = balancer.map(|own| ("haproxy".to_owned(), own.version.to_string()));
        let each = self.by_stack.values().flat_map(|installed| {
            let (name, library) = (installed.name().to_lowercase(), &installed.library);
            [
                (
                    format!("{name} with {}", library.name),
                    library.version.to_string(),
                ),
                (name, installed.version.to_string()),
            ]
        });
        each.chain(balancer).collect()
    }
}
