//! What is here: key stores, the stacks to them, and what is missing.

use std::sync::Arc;

use keymark_bench::algorithm::Algorithm;
use keymark_bench::case::{Case, DeviceName, Protection, Provenance, StackName, StoreKind};
use keymark_bench::error::Error;
use keymark_bench::plan::{Offer, Plan};
use keymark_bench::runner::Stacks;
use keymark_bench::store::{Capability, KeyStore, Stack, StoreIdentity};
use keymark_stacks::gnupg::Gnupg;
use keymark_stacks::gnupg::agent::AgentStack;
use keymark_stacks::gnupg::keys::GnupgKeys;
use keymark_stacks::gnupg::process::GnupgStack;
use keymark_stores::challenge::Challenge;
use keymark_stores::raw::{Generated, KeySource, RawStack};
use keymark_stores::software::SoftwareStore;
use keymark_stores::test_key::TestKey;

/// One stack to one device, or why it is not to be had.
#[derive(Debug)]
pub(crate) struct Way {
    pub(crate) stack: StackName,
    pub(crate) found: Result<Vec<Capability>, Error>,
}

/// This CPU and the ways to it.
#[derive(Debug)]
pub(crate) struct Inventory {
    pub(crate) identity: StoreIdentity,
    pub(crate) ways: Vec<Way>,
    gnupg: Option<Gnupg>,
}

impl Inventory {
    /// Looks round. Programs are looked for only if their stack is wanted, so that a raw
    /// measurement starts at once.
    pub(crate) fn look(wanted: impl Fn(StackName) -> bool) -> Result<Self, Error> {
        let store = SoftwareStore::default();
        let mut identity = store.identity()?;
        let mut ways = vec![Way {
            stack: StackName::Raw,
            found: store.capabilities(),
        }];
        let mut gnupg = None;
        if wanted(StackName::Agent) || wanted(StackName::Gnupg) {
            let found = Gnupg::find(None);
            if let Ok(found) = &found {
                identity
                    .versions
                    .insert("gnupg".to_owned(), found.version.clone());
                if let Some(libgcrypt) = &found.libgcrypt {
                    identity
                        .versions
                        .insert("libgcrypt".to_owned(), libgcrypt.clone());
                }
            }
            for stack in [StackName::Agent, StackName::Gnupg] {
                let offered = found
                    .as_ref()
                    .map(|found| offered(found, stack))
                    .map_err(Clone::clone);
                ways.push(Way {
                    stack,
                    found: offered,
                });
            }
            gnupg = found.ok();
        }
        Ok(Self {
            identity,
            ways,
            gnupg,
        })
    }

    /// What can be planned.
    pub(crate) fn offers(&self) -> Vec<Offer> {
        let offer = |way: &Way| {
            let capabilities = way.found.as_ref().ok()?.clone();
            Some(Offer {
                device: self.identity.device.clone(),
                store: StoreKind::Software,
                provenance: Provenance::Measured,
                stack: way.stack,
                capabilities,
                protections: match way.stack {
                    StackName::Raw => vec![Protection::None],
                    _ => Protection::ALL.to_vec(),
                },
            })
        };
        self.ways.iter().filter_map(offer).collect()
    }

    /// The stacks a plan needs.
    pub(crate) fn open(&self, plan: &Plan) -> Result<OpenStacks, Error> {
        let keys = match &self.gnupg {
            Some(gnupg) if plan.cases.iter().any(|case| case.stack != StackName::Raw) => {
                Some(Arc::new(GnupgKeys::new(gnupg.clone())?))
            }
            _ => None,
        };
        let shared = plan
            .cases
            .iter()
            .filter(|case| case.stack != StackName::Raw);
        let source = RawKeys {
            gnupg: keys.clone(),
            shared: shared.map(|case| case.algorithm).collect(),
            generated: Generated::new(plan.settings.seed),
        };
        let mut stacks: Vec<Box<dyn Stack>> = vec![Box::new(RawStack::new(Arc::new(source)))];
        if let Some(keys) = keys {
            stacks.push(Box::new(AgentStack::new(Arc::clone(&keys))));
            stacks.push(Box::new(GnupgStack::new(keys)));
        }
        Ok(OpenStacks {
            device: self.identity.device.clone(),
            stacks,
        })
    }
}

/// gpg-agent decrypts ML-KEM composites by another protocol (`PKDECRYPT --kem`), not spoken here.
fn offered(gnupg: &Gnupg, stack: StackName) -> Vec<Capability> {
    use keymark_bench::algorithm::Family;
    let spoken = |algorithm: &Algorithm| {
        stack == StackName::Gnupg || !matches!(algorithm.family(), Family::KyberComposite(_))
    };
    let algorithms = gnupg.algorithms.iter().copied().filter(spoken);
    algorithms.flat_map(Capability::of).collect()
}

/// Stacks in use; dropping them ends their programs.
pub(crate) struct OpenStacks {
    device: DeviceName,
    stacks: Vec<Box<dyn Stack>>,
}

impl OpenStacks {
    pub(crate) fn by_name(&self) -> Stacks<'_> {
        self.stacks
            .iter()
            .map(|stack| ((self.device.clone(), stack.name()), stack.as_ref()))
            .collect()
    }
}

/// The raw stack uses GnuPG's keys and messages for what is measured through GnuPG too.
struct RawKeys {
    gnupg: Option<Arc<GnupgKeys>>,
    shared: Vec<Algorithm>,
    generated: Generated,
}

impl KeySource for RawKeys {
    fn exercise(&self, case: &Case) -> Result<(Arc<TestKey>, Challenge), Error> {
        match &self.gnupg {
            Some(gnupg) if self.shared.contains(&case.algorithm) => gnupg.exercise(case),
            _ => self.generated.exercise(case),
        }
    }
}
