//! What is here: key stores, the stacks to them, and what is missing.

mod cards;
mod driver;
mod open;
mod traced;

use keymark_bench::algorithm::{Algorithm, Family};
use keymark_bench::case::{DeviceName, Protection, Provenance, StackName};
use keymark_bench::error::Error;
use keymark_bench::operation::Operation;
use keymark_bench::plan::Offer;
use keymark_bench::store::{Capability, KeyStore, StoreIdentity};
use keymark_stacks::gnupg::Gnupg;
use keymark_stores::software::SoftwareStore;

pub(crate) use cards::Card;
pub(crate) use cards::CardChoice;
use cards::Looked;
pub(crate) use open::OpenStacks;
pub(crate) use traced::TracedCard;

/// One stack to one device, or why it is not to be had.
#[derive(Debug)]
pub(crate) struct Way {
    pub(crate) stack: StackName,
    pub(crate) found: Result<Vec<Capability>, Error>,
}

/// A device and the ways to it.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) identity: StoreIdentity,
    pub(crate) ways: Vec<Way>,
    pub(crate) kind: Kind,
}

/// What keymark does to reach a device.
#[derive(Debug)]
pub(crate) enum Kind {
    /// This CPU.
    Software,
    /// A card, there or made.
    Card(Card),
}

/// Which devices to look for.
#[derive(Debug, Clone)]
pub(crate) enum Wish {
    /// This CPU.
    Software,
    /// What the default plan compares: this CPU and the virtual card.
    Default,
    /// The card that is in a reader.
    Inserted,
    /// By name.
    Named(Vec<String>),
    /// Everything.
    All,
}

impl Wish {
    fn wants_software(&self) -> bool {
        match self {
            Self::Software | Self::Default | Self::All => true,
            Self::Inserted => false,
            Self::Named(names) => names.iter().any(|name| name == "software"),
        }
    }
}

/// What was found.
#[derive(Debug)]
pub(crate) struct Inventory {
    pub(crate) devices: Vec<Found>,
    /// Why cards in readers could not be looked for, if they were.
    pub(crate) no_readers: Option<Error>,
    /// Names that no device has.
    pub(crate) unknown: Vec<String>,
    gnupg: Option<Gnupg>,
}

impl Inventory {
    /// Looks round. Programs and readers are looked for only if they are wanted, so that a raw
    /// measurement starts at once.
    pub(crate) fn look(
        wanted: impl Fn(StackName) -> bool,
        wish: &Wish,
        choice: &CardChoice,
    ) -> Result<Self, Error> {
        let gnupg =
            (wanted(StackName::Agent) || wanted(StackName::Gnupg)).then(|| Gnupg::find(None));
        let mut devices = Vec::new();
        if wish.wants_software() {
            devices.push(software(gnupg.as_ref())?);
        }
        let Looked {
            cards,
            no_readers,
            unknown,
        } = cards::look(wish, choice)?;
        for card in cards {
            devices.push(card.found(gnupg.as_ref())?);
        }
        Ok(Self {
            devices,
            no_readers,
            unknown,
            gnupg: gnupg.and_then(Result::ok),
        })
    }

    /// What can be planned.
    pub(crate) fn offers(&self) -> Vec<Offer> {
        let ways = self
            .devices
            .iter()
            .flat_map(|device| device.ways.iter().map(move |way| (device, way)));
        ways.filter_map(|(device, way)| {
            Some(Offer {
                device: device.identity.device.clone(),
                store: device.identity.kind,
                provenance: device.identity.provenance,
                stack: way.stack,
                capabilities: way.found.as_ref().ok()?.clone(),
                protections: match (way.stack, &device.kind) {
                    (StackName::Agent | StackName::Gnupg, Kind::Software) => {
                        Protection::ALL.to_vec()
                    }
                    _ => vec![Protection::None],
                },
            })
        })
        .collect()
    }

    /// The names of all devices, for a selection that names none.
    pub(crate) fn names(&self) -> Vec<DeviceName> {
        let names = self.devices.iter().map(|device| &device.identity.device);
        names.cloned().collect()
    }

    /// What is missing, by device and stack.
    pub(crate) fn missing(&self) -> impl Iterator<Item = (&DeviceName, StackName, &Error)> {
        self.devices.iter().flat_map(|device| {
            let missing = device.ways.iter();
            missing.filter_map(|way| {
                let error = way.found.as_ref().err()?;
                Some((&device.identity.device, way.stack, error))
            })
        })
    }
}

/// This CPU, through its library and through GnuPG.
fn software(gnupg: Option<&Result<Gnupg, Error>>) -> Result<Found, Error> {
    let store = SoftwareStore::default();
    let mut identity = store.identity()?;
    debug_assert_eq!(identity.provenance, Provenance::Measured);
    let mut ways = vec![Way {
        stack: StackName::Raw,
        found: store.capabilities(),
    }];
    if let Some(gnupg) = gnupg {
        note_versions(&mut identity, gnupg);
        ways.extend(gnupg_ways(gnupg, |algorithm, stack| {
            // gpg-agent decrypts ML-KEM composites by another protocol (`PKDECRYPT --kem`).
            let spoken = stack == StackName::Gnupg
                || !matches!(algorithm.family(), Family::KyberComposite(_));
            if spoken {
                Capability::of(algorithm).collect()
            } else {
                Vec::new()
            }
        }));
    }
    Ok(Found {
        identity,
        ways,
        kind: Kind::Software,
    })
}

fn note_versions(identity: &mut StoreIdentity, gnupg: &Result<Gnupg, Error>) {
    let Ok(found) = gnupg else { return };
    let mut note = |name: &str, version: &str| {
        identity
            .versions
            .insert(name.to_owned(), version.to_owned());
    };
    note("gnupg", &found.version);
    if let Some(libgcrypt) = &found.libgcrypt {
        note("libgcrypt", libgcrypt);
    }
}

/// The stacks of GnuPG, with what `can` says of each algorithm that gpg offers.
fn gnupg_ways(
    gnupg: &Result<Gnupg, Error>,
    can: impl Fn(Algorithm, StackName) -> Vec<Capability>,
) -> Vec<Way> {
    let ways = [StackName::Agent, StackName::Gnupg].into_iter();
    ways.map(|stack| {
        let offered = |gnupg: &Gnupg| {
            let algorithms = gnupg.algorithms.iter();
            algorithms
                .flat_map(|algorithm| can(*algorithm, stack))
                .collect()
        };
        Way {
            stack,
            found: gnupg.as_ref().map(offered).map_err(Clone::clone),
        }
    })
    .collect()
}

/// What GnuPG asks of a card for a message: it authenticates for ssh only.
fn asked_by_gnupg(capability: &Capability) -> bool {
    matches!(capability.operation, Operation::Decrypt | Operation::Sign)
}
