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
use keymark_stores::device::{Device, Reach, Run};

use super::agent::AgentStack;
use super::homes::GnupgHomes;
use super::process::GnupgStack;
use super::protection::{PROTECTION, Protection};
#[cfg(feature = "pkcs11")]
use super::token_link;
use super::{Gnupg, layers};
use crate::private_dir;
use crate::provider::{StackFamily, StackProvider, Use, Way};

/// `agent` and `gnupg`, on keys in files, on OpenPGP cards, and on tokens that gnupg-pkcs11-scd reaches.
pub const FAMILY: StackFamily = StackFamily {
    stacks: &[StackName::AGENT, StackName::GNUPG],
    standing: Standing::Usual,
    look: || Box::new(GnupgProvider(Gnupg::find(None))),
    dimensions: &[PROTECTION],
    layers: || Some(layers::layers()),
};

/// The longest path that a socket has in a private directory.
const LONGEST_SOCKET: &str = "g999/S.gpg-agent.browser";
/// The same where gnupg-pkcs11-scd has one, too.
#[cfg(feature = "pkcs11")]
const LONGEST_OF_TOKENS: &str = "g999/gnupg-pkcs11-scd.XXXXXX/agent.S";

#[derive(Debug)]
struct GnupgProvider(Result<Gnupg, Error>);

impl StackProvider for GnupgProvider {
    fn ways(&self, device: &dyn Device) -> Vec<Way> {
        #[cfg(feature = "tpm")]
        if device.reach() == Reach::Tpm {
            return Vec::new();
        }
        let way = |&stack: &StackName| Way {
            stack,
            standing: standing(device.reach()),
            found: reachable(&self.0, device).map(|gnupg| offered(gnupg, device, stack)),
            synonyms: Vec::new(),
            parameters: parameters(device.reach()),
            workers: &[Worker::Thread],
        };
        FAMILY.stacks.iter().map(way).collect()
    }

    fn versions(&self, device: &dyn Device) -> BTreeMap<String, String> {
        let mut versions = self.0.as_ref().map(Gnupg::versions).unwrap_or_default();
        match device.reach() {
            Reach::File => {}
            #[cfg(feature = "openpgp-card")]
            Reach::Card => {}
            #[cfg(feature = "pkcs11")]
            Reach::Module => versions.extend(token_link::version()),
            #[cfg(feature = "tpm")]
            Reach::Tpm => {}
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
    match device.reach() {
        Reach::File => Ok(gnupg),
        // Without the library scdaemon has no way to the card.
        #[cfg(feature = "openpgp-card")]
        Reach::Card => super::scdaemon::driver().map(|_| gnupg),
        #[cfg(feature = "pkcs11")]
        Reach::Module => {
            token_link::program()?;
            private_dir::check_room_for_socket(LONGEST_OF_TOKENS)?;
            crate::provider::has_key_on_token(device)?;
            Ok(gnupg)
        }
        #[cfg(feature = "tpm")]
        Reach::Tpm => Err(Error::call(
            "reaching the key",
            "keymark knows no way for GnuPG to use keys of a TPM",
            "",
        )),
    }
}

/// Tokens behind modules want a program between that hardly anybody has.
const fn standing(reach: Reach) -> Standing {
    match reach {
        Reach::File => Standing::Usual,
        #[cfg(feature = "openpgp-card")]
        Reach::Card => Standing::Usual,
        #[cfg(feature = "pkcs11")]
        Reach::Module => Standing::OnRequest,
        #[cfg(feature = "tpm")]
        Reach::Tpm => Standing::OnRequest,
    }
}

fn parameters(reach: Reach) -> Vec<Parameters> {
    let kept: &[Protection] = match reach {
        Reach::File => Protection::ALL,
        #[cfg(feature = "openpgp-card")]
        Reach::Card => &[Protection::None],
        #[cfg(feature = "pkcs11")]
        Reach::Module => &[Protection::None],
        #[cfg(feature = "tpm")]
        Reach::Tpm => &[],
    };
    kept.iter().map(|kept| kept.parameters()).collect()
}

/// What gpg can do with the device's keys. Composites of ML-KEM it makes itself, where keys may be in
/// files; gpg-agent decrypts those by another protocol (`PKDECRYPT --kem`). Of a test key on a token the
/// owner's keyring would know nothing.
fn offered(gnupg: &Gnupg, device: &dyn Device, stack: StackName) -> Vec<Capability> {
    let composites = match device.reach() {
        Reach::File => stack == StackName::GNUPG,
        #[cfg(feature = "openpgp-card")]
        Reach::Card => false,
        #[cfg(feature = "pkcs11")]
        Reach::Module => false,
        #[cfg(feature = "tpm")]
        Reach::Tpm => false,
    };
    let own = gnupg
        .algorithms
        .iter()
        .filter(|algorithm| matches!(algorithm.family(), Family::KyberComposite(_)))
        .filter(|_| composites)
        .flat_map(|algorithm| Capability::of(*algorithm));
    let taken: fn(Family) -> bool = match device.reach() {
        Reach::File => |_| true,
        #[cfg(feature = "openpgp-card")]
        Reach::Card => |_| true,
        #[cfg(feature = "pkcs11")]
        Reach::Module => token_link::takes,
        #[cfg(feature = "tpm")]
        Reach::Tpm => |_| false,
    };
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
