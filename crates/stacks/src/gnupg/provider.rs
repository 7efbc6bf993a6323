//! What GnuPG offers on a device.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use keymark_bench::algorithm::Family;
use keymark_bench::case::{Case, Parameters, StackName, Worker};
use keymark_bench::error::Error;
use keymark_bench::operation::Operation;
use keymark_bench::plan::Standing;
use keymark_bench::store::Capability;
use keymark_bench::workload::Stack;
use keymark_stores::access::AccessKind;
use keymark_stores::device::{Device, Run};
use keymark_stores::places::library::OwnLibrary;

use super::agent::AgentStack;
use super::homes::GnupgHomes;
use super::process::GnupgStack;
use super::protection::{PROTECTION, Protection};
use super::{Gnupg, layers, token_home};
use crate::private_dir;
use crate::provider::{StackFamily, StackProvider, Use, Way};

/// `agent` and `gnupg`, on keys in files, on OpenPGP cards, and on tokens that gnupg-pkcs11-scd reaches.
pub const FAMILY: StackFamily = StackFamily {
    stacks: || vec![StackName::AGENT, StackName::GNUPG],
    standing: Standing::Usual,
    look: Some(|| Box::new(GnupgProvider(Gnupg::find(None)))),
    dimensions: &[PROTECTION],
    layers: || Some(layers::layers()),
    comparisons: &[],
};

/// The longest path that a socket has in a private directory.
const LONGEST_SOCKET: &str = "g999/S.gpg-agent.browser";
/// The same where gnupg-pkcs11-scd has one, too.
const LONGEST_OF_TOKENS: &str = "g999/gnupg-pkcs11-scd.XXXXXX/agent.S";

#[derive(Debug)]
struct GnupgProvider(Result<Gnupg, Error>);

impl StackProvider for GnupgProvider {
    fn ways(&self, device: &dyn Device) -> Vec<Way> {
        let reached = [AccessKind::KeyFile, AccessKind::Card, AccessKind::Module];
        if !reached.into_iter().any(|kind| device.has(kind)) {
            return Vec::new();
        }
        let way = |&stack: &StackName| Way {
            stack,
            standing: standing(device),
            found: reachable(&self.0, device).map(|gnupg| offered(gnupg, device, stack)),
            synonyms: Vec::new(),
            parameters: parameters(device),
            workers: &[Worker::Thread],
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

    fn guess(&self, case: &Case) -> Duration {
        let alone = Duration::from_millis(if case.stack == StackName::AGENT {
            2
        } else {
            15
        });
        match Protection::of(case) {
            Ok(Protection::Cached) => alone + Duration::from_millis(200),
            Ok(Protection::None) | Err(_) => alone,
        }
    }

    fn open(&self, uses: &[Use], run: &Run) -> Result<Vec<Box<dyn Stack>>, Error> {
        let homes = Arc::new(GnupgHomes::new(self.0.clone()?)?);
        let open = |wanted: &Use| -> Box<dyn Stack> {
            let (homes, store) = (Arc::clone(&homes), Arc::clone(&wanted.store));
            if wanted.stack == StackName::AGENT {
                Box::new(AgentStack::new(homes, store, run.seed))
            } else {
                Box::new(GnupgStack::new(homes, store))
            }
        };
        Ok(uses.iter().map(open).collect())
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
        OwnLibrary::PCSC.find()?;
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

/// Tokens behind modules want a program between that hardly anybody has.
fn standing(device: &dyn Device) -> Standing {
    if device.has(AccessKind::Module) {
        Standing::OnRequest
    } else {
        Standing::Usual
    }
}

fn parameters(device: &dyn Device) -> Vec<Parameters> {
    let kept: &[Protection] = if device.has(AccessKind::KeyFile) {
        Protection::ALL
    } else {
        &[Protection::None]
    };
    kept.iter().map(|kept| kept.parameters()).collect()
}

/// What gpg can do with the device's keys. Composites of ML-KEM it makes itself, where keys may be in
/// files; gpg-agent decrypts those by another protocol (`PKDECRYPT --kem`). Of a test key on a token the
/// owner's keyring would know nothing.
fn offered(gnupg: &Gnupg, device: &dyn Device, stack: StackName) -> Vec<Capability> {
    let composites = device.has(AccessKind::KeyFile) && stack == StackName::GNUPG;
    let own = gnupg
        .algorithms
        .iter()
        .filter(|algorithm| matches!(algorithm.family(), Family::KyberComposite(_)))
        .filter(|_| composites)
        .flat_map(|algorithm| Capability::of(*algorithm));
    let on_token = device.has(AccessKind::Module);
    let taken = |family| !on_token || token_home::takes(family);
    let known = device.present().iter().copied();
    known
        .filter(|capability| taken(capability.algorithm.family()))
        .filter(|capability| gnupg.algorithms.contains(&capability.algorithm))
        .filter(|capability| asked_by_gnupg(*capability))
        .chain(own)
        .collect()
}

/// What GnuPG asks of a key for a message: it authenticates for ssh only.
pub(super) const fn asked_by_gnupg(capability: Capability) -> bool {
    match capability.operation {
        Operation::Decrypt | Operation::Sign => true,
        Operation::Authenticate | Operation::Decapsulate | Operation::Handshake => false,
    }
}
