//! From a selection to the validated matrix of cases of one run.

use std::num::NonZeroU32;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::algorithm::Algorithm;
use crate::baseline::Baseline;
use crate::case::{Case, DeviceName, Load, Pacing, Protection, Provenance, StackName, StoreKind};
use crate::operation::Operation;
use crate::stop::{Precision, StopRule};
use crate::store::Capability;

/// Which algorithms are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AlgorithmChoice {
    /// These, by name; one that nothing here offers is an error.
    Listed(Vec<Algorithm>),
    /// Everything on offer.
    All,
    /// The longest of each kind on offer.
    Longest,
}

/// What the user asked for. An axis that is `None` was not named: everything on offer fits.
#[derive(Debug, Clone)]
pub struct Selection {
    /// Which algorithms.
    pub algorithms: AlgorithmChoice,
    /// Which operations.
    pub operations: Option<Vec<Operation>>,
    /// Which devices.
    pub devices: Option<Vec<DeviceName>>,
    /// Through which stacks.
    pub stacks: Option<Vec<StackName>>,
    /// At which concurrencies.
    pub concurrency: Vec<NonZeroU32>,
    /// Closed or open loop.
    pub pacing: Pacing,
    /// How keys are kept.
    pub protection: Vec<Protection>,
    /// Length of the message in bytes; each operation has its default.
    pub input_bytes: Option<u32>,
    /// How often each case stands in the plan.
    pub replicas: NonZeroU32,
}

impl Default for Selection {
    fn default() -> Self {
        Self {
            algorithms: AlgorithmChoice::All,
            operations: None,
            devices: None,
            stacks: None,
            concurrency: vec![NonZeroU32::MIN],
            pacing: Pacing::Closed,
            protection: vec![Protection::None],
            input_bytes: None,
            replicas: NonZeroU32::MIN,
        }
    }
}

/// What one device offers through one stack.
#[derive(Debug, Clone)]
pub struct Offer {
    /// The device.
    pub device: DeviceName,
    /// Its kind.
    pub store: StoreKind,
    /// The kind of figure it yields.
    pub provenance: Provenance,
    /// The way to it.
    pub stack: StackName,
    /// What can be asked.
    pub capabilities: Vec<Capability>,
    /// The ways of keeping keys that make a difference there.
    pub protections: Vec<Protection>,
}

/// In which order cases are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Rounds over all cases, shuffled anew each round, so that drift hits all alike.
    Interleaved,
    /// One case after the other.
    Sequential,
}

/// How the cases of a plan are to be measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// When a case is done.
    pub stop: StopRule,
    /// Measuring time of the whole plan.
    pub time_limit: Option<Duration>,
    /// Operations each worker does first, uncounted.
    pub warmup: u32,
    /// Interleaved or not.
    pub order: Order,
    /// Seed of everything random.
    pub seed: u64,
    /// What ratios are taken to.
    pub baseline: Baseline,
    /// How long users tolerate one operation to take.
    pub tolerance: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            stop: StopRule::Precision {
                target: Precision::ONE_PERCENT,
                max_time: None,
            },
            time_limit: Some(Duration::from_secs(90)),
            warmup: 2,
            order: Order::Interleaved,
            seed: 0,
            baseline: Baseline::default(),
            tolerance: Duration::from_secs(2),
        }
    }
}

/// The validated matrix of cases of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// In table order; a [`crate::case::CaseId`] is an index into this.
    pub cases: Vec<Case>,
    /// How they are measured.
    pub settings: Settings,
}

/// Why there is no plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// The algorithm does not have the operation.
    #[error("{algorithm} has no {asked}; it has: {has}")]
    LacksOperation {
        /// As named.
        algorithm: Algorithm,
        /// As asked.
        asked: String,
        /// What there is.
        has: String,
    },
    /// Nothing selected offers the algorithm.
    #[error("{algorithm} is not offered by {asked} here; {where_else}")]
    NotOffered {
        /// As named.
        algorithm: Algorithm,
        /// Devices and stacks that were looked at.
        asked: String,
        /// Where it can be had.
        where_else: String,
    },
    /// A device that is not here.
    #[error("no device called '{0}' is here; 'keymark devices' lists those that are")]
    UnknownDevice(DeviceName),
    /// Nothing at all fits.
    #[error(
        "nothing here offers what was asked for; 'keymark devices' lists what there is and what is missing"
    )]
    Nothing,
}

impl Plan {
    /// The union of the selections' cases that the offers allow.
    ///
    /// # Errors
    /// When a selection names something that cannot be had, or nothing is left.
    pub fn build(
        selections: &[Selection],
        offers: &[Offer],
        settings: Settings,
    ) -> Result<Self, PlanError> {
        let mut cases: Vec<Case> = Vec::new();
        for selection in selections {
            selection.check(offers)?;
            for case in selection.cases(offers) {
                if !cases.contains(&case) {
                    cases.push(case);
                }
            }
        }
        if cases.is_empty() {
            return Err(PlanError::Nothing);
        }
        cases.sort_by(|a, b| {
            let key = |case: &Case| {
                let Case {
                    operation,
                    algorithm,
                    stack,
                    protection,
                    replica,
                    ..
                } = case;
                let place = Algorithm::all().position(|known| known == *algorithm);
                (
                    *operation,
                    place,
                    case.device.clone(),
                    *stack,
                    *protection,
                    case.concurrency(),
                    *replica,
                )
            };
            key(a).cmp(&key(b))
        });
        Ok(Self { cases, settings })
    }

    /// How long measuring is expected to take, given what one operation of a case costs.
    /// Preparation (key generation) is not included; with a precision rule this is an upper bound.
    #[must_use]
    pub fn expected_duration(&self, cost: &dyn Fn(&Case) -> Duration) -> Duration {
        let total: Duration = self
            .cases
            .iter()
            .map(|case| match self.settings.stop {
                StopRule::Runs(runs) => {
                    let per_worker = runs.get().div_ceil(case.concurrency());
                    let working = cost(case) * (per_worker + self.settings.warmup);
                    match case.load.pacing {
                        Pacing::Closed => working,
                        // Arrivals are waited for.
                        Pacing::Open(rate) => {
                            let arriving = f64::from(runs.get()) / rate.per_second();
                            working
                                .max(Duration::try_from_secs_f64(arriving).unwrap_or(Duration::MAX))
                        }
                    }
                }
                StopRule::Precision { max_time, .. } => {
                    max_time.unwrap_or(Duration::MAX / 1_000_000)
                }
            })
            .fold(Duration::ZERO, Duration::saturating_add);
        self.settings
            .time_limit
            .map_or(total, |limit| total.min(limit))
    }
}

impl Selection {
    fn offers<'a>(&'a self, offers: &'a [Offer]) -> impl Iterator<Item = &'a Offer> {
        offers.iter().filter(|offer| {
            self.devices
                .as_ref()
                .is_none_or(|devices| devices.contains(&offer.device))
                && self
                    .stacks
                    .as_ref()
                    .is_none_or(|stacks| stacks.contains(&offer.stack))
        })
    }

    fn wants(&self, operation: Operation) -> bool {
        self.operations
            .as_ref()
            .is_none_or(|operations| operations.contains(&operation))
    }

    /// What was named must be there.
    fn check(&self, offers: &[Offer]) -> Result<(), PlanError> {
        for device in self.devices.iter().flatten() {
            if !offers.iter().any(|offer| offer.device == *device) {
                return Err(PlanError::UnknownDevice(device.clone()));
            }
        }
        let AlgorithmChoice::Listed(algorithms) = &self.algorithms else {
            return Ok(());
        };
        for &algorithm in algorithms {
            if !algorithm
                .operations()
                .iter()
                .any(|operation| self.wants(*operation))
            {
                let asked = self.operations.iter().flatten().map(ToString::to_string);
                return Err(PlanError::LacksOperation {
                    algorithm,
                    asked: asked.collect::<Vec<_>>().join(" or "),
                    has: join(algorithm.operations()),
                });
            }
            let offered = |offer: &&Offer| {
                offer.capabilities.iter().any(|capability| {
                    capability.algorithm == algorithm && self.wants(capability.operation)
                })
            };
            if !self.offers(offers).any(|offer| offered(&offer)) {
                return Err(self.not_offered(algorithm, offers, offered));
            }
        }
        Ok(())
    }

    fn not_offered(
        &self,
        algorithm: Algorithm,
        offers: &[Offer],
        offered: impl Fn(&&Offer) -> bool,
    ) -> PlanError {
        let name = |offer: &Offer| format!("{} through {}", offer.device, offer.stack);
        let elsewhere: Vec<_> = offers.iter().filter(&offered).map(name).collect();
        PlanError::NotOffered {
            algorithm,
            asked: match &self.stacks {
                Some(stacks) => join(stacks),
                None => "any stack".to_owned(),
            },
            where_else: if elsewhere.is_empty() {
                "nothing else here does either; 'keymark devices' says what is missing".to_owned()
            } else {
                format!("it is by {}", elsewhere.join(", "))
            },
        }
    }

    fn cases<'a>(&'a self, offers: &'a [Offer]) -> impl Iterator<Item = Case> + 'a {
        let longest = self.longest(offers);
        self.offers(offers).flat_map(move |offer| {
            let longest = longest.clone();
            offer
                .capabilities
                .iter()
                .filter(move |capability| {
                    self.wants(capability.operation)
                        && match &self.algorithms {
                            AlgorithmChoice::Listed(listed) => {
                                listed.contains(&capability.algorithm)
                            }
                            AlgorithmChoice::All => true,
                            AlgorithmChoice::Longest => longest.contains(&capability.algorithm),
                        }
                })
                .flat_map(move |capability| self.variants(offer, *capability))
        })
    }

    /// One capability under every load, protection and replica.
    fn variants(&self, offer: &Offer, capability: Capability) -> Vec<Case> {
        let mut cases = Vec::new();
        for &protection in self
            .protection
            .iter()
            .filter(|kind| offer.protections.contains(kind))
        {
            for &concurrency in &self.concurrency {
                for replica in 0..self.replicas.get() {
                    cases.push(Case {
                        device: offer.device.clone(),
                        store: offer.store,
                        provenance: offer.provenance,
                        algorithm: capability.algorithm,
                        operation: capability.operation,
                        stack: offer.stack,
                        load: Load {
                            concurrency,
                            pacing: self.pacing,
                        },
                        protection,
                        input_bytes: self
                            .input_bytes
                            .unwrap_or(default_input_bytes(capability.operation)),
                        replica,
                    });
                }
            }
        }
        cases
    }

    fn longest(&self, offers: &[Offer]) -> Vec<Algorithm> {
        let all: Vec<Algorithm> = self
            .offers(offers)
            .flat_map(|offer| &offer.capabilities)
            .filter(|capability| self.wants(capability.operation))
            .map(|capability| capability.algorithm)
            .collect();
        let is_longest = |algorithm: &Algorithm| {
            let (kind, length) = algorithm.length();
            !all.iter()
                .any(|other| other.length().0 == kind && other.length().1 > length)
        };
        all.iter().copied().filter(is_longest).collect()
    }
}

/// As in the published harnesses: crypto-bench decrypts 16 bytes, the timestamping table signs 40.
const fn default_input_bytes(operation: Operation) -> u32 {
    match operation {
        Operation::Sign | Operation::Authenticate => 40,
        _ => 16,
    }
}

fn join<T: ToString>(items: &[T]) -> String {
    items
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}
