//! GnuPG's offers on a device, its parameters and its layers.

use std::collections::BTreeMap;
use std::sync::Arc;

use keymark_bench::store::Capability;
use keymark_bench::words::words;
use keymark_bench::{
    Bottleneck, Case, Dimension, End, Error, Family, LayerStep, Layers, OwnLibrary, Parameters,
    Point, Scope, StackName, Standing, StoreKind, Words,
};
use keymark_stores::access::{AccessKind, Library};
use keymark_stores::device::{Device, Run};
use keymark_stores::places::library;

use super::agent::AgentStack;
use super::homes::GnupgHomes;
use super::process::{GnupgStack, Task};
use super::{Gnupg, token_home};
use crate::provider::{Opener, StackFamily, StackProvider, Way};
use crate::{private_dir, raw};

/// `agent` and `gpg`, on keys in files, on OpenPGP cards, and on tokens that gnupg-pkcs11-scd reaches.
pub const FAMILY: StackFamily = StackFamily {
    stacks: || vec![StackName::AGENT, StackName::GPG],
    standing: Standing::Usual,
    look: Some(|| Box::new(GnupgProvider(Gnupg::find(None)))),
    dimensions: &[PROTECTION],
    layers: || Some(layers()),
    ..StackFamily::ON_REQUEST
};

/// The longest path that a socket has in a private directory.
const LONGEST_SOCKET: &str = "g999/S.gpg-agent.browser";
/// Longest path where gnupg-pkcs11-scd has a socket.
const LONGEST_OF_TOKENS: &str = "g999/gnupg-pkcs11-scd.XXXXXX/agent.S";

#[derive(Debug)]
struct GnupgProvider(Result<Gnupg, Error>);

impl StackProvider for GnupgProvider {
    fn ways(&self, device: &dyn Device) -> Vec<Way> {
        let reached = [AccessKind::KeyFile, AccessKind::Card, AccessKind::Module];
        if !reached.into_iter().any(|kind| device.has(kind)) {
            return Vec::new();
        }
        // Tokens behind modules want a program between that hardly anybody has.
        let standing = if device.has(AccessKind::Module) {
            Standing::OnRequest
        } else {
            Standing::Usual
        };
        let kept = if device.has(AccessKind::KeyFile) {
            Protection::ALL
        } else {
            &[Protection::None]
        };
        let way = |&stack: &StackName| {
            let found = reachable(&self.0, device).map(|gnupg| offered(gnupg, device, stack));
            let parameters = kept.iter().map(|kept| kept.parameters()).collect();
            Way {
                standing,
                ..Way::on_request(stack, found, parameters)
            }
        };
        (FAMILY.stacks)().iter().map(way).collect()
    }

    fn versions(&self, device: &dyn Device) -> BTreeMap<String, String> {
        let mut versions = self.0.as_ref().map(Gnupg::versions).unwrap_or_default();
        if device.has(AccessKind::Module) {
            versions.extend(token_home::version());
        }
        versions
    }

    fn open(&self, run: &Run) -> Result<Opener, Error> {
        let homes = Arc::new(GnupgHomes::new(self.0.clone()?)?);
        let seed = run.seed;
        Ok(Box::new(move |stack, store| {
            let homes = Arc::clone(&homes);
            if stack == StackName::AGENT {
                Box::new(AgentStack::new(homes, store, seed))
            } else {
                Box::new(GnupgStack::new(homes, store))
            }
        }))
    }
}

/// GnuPG, if it is here and can get at the device.
pub fn reachable<'g>(
    gnupg: &'g Result<Gnupg, Error>,
    device: &dyn Device,
) -> Result<&'g Gnupg, Error> {
    let gnupg = gnupg.as_ref().map_err(Clone::clone)?;
    private_dir::check_room_for_socket(LONGEST_SOCKET)?;
    if device.has(AccessKind::Card) {
        // Without the library scdaemon has no way to the card.
        library::OwnLibrary::PCSC.find()?;
    } else if device.has(AccessKind::Module) {
        token_home::program()?;
        private_dir::check_room_for_socket(LONGEST_OF_TOKENS)?;
        crate::provider::has_key_on_token(device)?;
    } else if !device.has(AccessKind::KeyFile) {
        let reason = "keymark knows no way for GnuPG to use keys of such a device";
        return Err(Error::call("reaching the key", reason, ""));
    }
    Ok(gnupg)
}

/// What gpg can do with the device's keys. Composites of ML-KEM it makes itself, where keys may be in
/// files; gpg-agent decrypts those by another protocol (`PKDECRYPT --kem`). Of a test key on a token the
/// owner's keyring would know nothing.
pub(crate) fn offered(gnupg: &Gnupg, device: &dyn Device, stack: StackName) -> Vec<Capability> {
    let composites = device.has(AccessKind::KeyFile) && stack == StackName::GPG;
    let own = gnupg
        .algorithms
        .iter()
        .filter(|algorithm| matches!(algorithm.family(), Family::Composite(_)))
        .filter(|_| composites)
        .flat_map(|algorithm| Capability::of(*algorithm));
    let on_token = device.has(AccessKind::Module);
    let taken = |family| !on_token || token_home::takes(family);
    let known = device.present().iter().copied();
    known
        .filter(|capability| taken(capability.algorithm.family()))
        .filter(|capability| gnupg.algorithms.contains(&capability.algorithm))
        .filter(|capability| Task::known(capability.operation).is_some())
        .chain(own)
        .collect()
}

/// Elsewhere keys are in the clear: who wants them protected wants GnuPG's alone.
pub const PROTECTION: Dimension = Dimension {
    name: "protection",
    kind: "protection",
    words: Words::Listed(Protection::WORDS),
    usual: Some("none"),
    scope: Scope::Everywhere,
};

words! {
    /// Protection of the key at rest.
    #[derive(Default)]
    pub enum Protection("protection") {
        /// Unprotected.
        #[default]
        None = "none",
        /// Behind a passphrase that the agent has cached; S2K and decryption of the key remain.
        Cached = "cached",
    }
}

impl Protection {
    /// Returns the protection of a case.
    ///
    /// # Errors
    /// When it is none of GnuPG's.
    pub fn of(case: &Case) -> Result<Self, Error> {
        let protection = case.parameters.read(&PROTECTION)?;
        Ok(protection.unwrap_or_default())
    }

    /// The parameters of a case with it.
    pub fn parameters(self) -> Parameters {
        Parameters::of(&PROTECTION, self)
    }
}

/// gpg-agent calculates with libgcrypt, whatever else is faster.
pub(crate) fn libgcrypt() -> OwnLibrary {
    OwnLibrary {
        point: raw::by_library(Library::Libgcrypt),
        store: StoreKind::SOFTWARE,
        beside: End::called("OpenSSL", Point::RAW),
        explanation: "the key of software is libgcrypt's time, which gpg-agent calculates with; the column OpenSSL is \
                      the same operation with that library",
        stand_in: "the key is OpenSSL's time, but gpg-agent calculates with libgcrypt: '+ agent' includes the difference of the \
                   two libraries; --library openssl,libgcrypt separates them",
    }
}

/// The key alone, its agent, a passphrase, a process an operation.
pub(super) fn layers() -> Layers {
    let kept = |stack, protection: Protection| Point::new(stack, protection.parameters());
    let agent = kept(StackName::AGENT, Protection::None);
    let unprotected = kept(StackName::AGENT, Protection::Cached);
    let gnupg = kept(StackName::GPG, Protection::None);
    let raw = raw::by_library(Library::Libgcrypt);
    Layers {
        family: "GnuPG",
        base: End::called("key", raw.clone()),
        own_library: Some(libgcrypt()),
        steps: vec![
            LayerStep::new("+ agent", &agent, &raw),
            LayerStep::new("+ S2K", &unprotected, &agent),
            LayerStep::new("+ gpg process", &gnupg, &agent),
        ],
        whole: Some(End {
            heading: "= gpg",
            name: "gpg",
            point: gnupg.clone(),
        }),
        bottleneck: Some(Bottleneck {
            name: "agent",
            point: gnupg,
            server: agent,
            explanation: "gpg-agent is one thread and holds every secret key, but only its part of an operation \
                          queues for it: agent's bound = single-worker time ÷ agent time; cores' bound = cores × \
                          single-worker time ÷ processor time; the lower one is the limit",
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_starts_where_an_earlier_one_ended_and_one_reaches_the_whole() {
        let layers = layers();
        let mut reached = vec![layers.base.point.clone()];
        for step in &layers.steps {
            assert!(reached.contains(&step.lower), "{}", step.heading);
            reached.push(step.upper.clone());
        }
        assert!(reached.contains(&layers.whole.unwrap().point));
        assert_eq!(layers.own_library.unwrap().point, layers.base.point);
        let bottleneck = layers.bottleneck.unwrap();
        assert!(reached.contains(&bottleneck.server) && reached.contains(&bottleneck.point));
    }
}
