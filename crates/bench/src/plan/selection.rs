//! Selection by the user, and the cases that the offers allow.

use std::collections::BTreeSet;
use std::num::NonZeroU32;

use super::{Offer, PlanError, Standing};
use crate::store::Capability;
use crate::{
    Algorithm, Case, DeviceName, Dimension, Load, Operation, Pacing, ParameterChoice, Parameters,
    StackName, Worker, admits,
};

/// Algorithms that are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AlgorithmChoice {
    /// These, by name; one that nothing here offers is an error.
    Listed(Vec<Algorithm>),
    /// Everything on offer.
    All,
    /// The longest of each kind on offer.
    Longest,
}

/// Selection by the user. An axis that is `None` was not named: everything on offer fits.
#[derive(Debug, Clone)]
pub struct Selection {
    /// Algorithms that are wanted.
    pub algorithms: AlgorithmChoice,
    /// Operations that are wanted.
    pub operations: Option<Vec<Operation>>,
    /// Devices that are wanted.
    pub devices: Option<Vec<DeviceName>>,
    /// Through which stacks.
    pub stacks: Option<Vec<StackName>>,
    /// Numbers of threads.
    pub workers: Vec<NonZeroU32>,
    /// Numbers of processes.
    pub processes: Vec<NonZeroU32>,
    /// Pacing of operations.
    pub pacing: Pacing,
    /// Parameters of stacks; a dimension that is not named has its usual word.
    pub parameters: Vec<ParameterChoice>,
    /// Length of the message in bytes; each operation has its default.
    pub input_bytes: Option<u32>,
    /// Number of copies of each case in the plan.
    pub replicas: NonZeroU32,
}

impl Default for Selection {
    fn default() -> Self {
        Self {
            algorithms: AlgorithmChoice::All,
            operations: None,
            devices: None,
            stacks: None,
            workers: vec![NonZeroU32::MIN],
            processes: Vec::new(),
            pacing: Pacing::Closed,
            parameters: Vec::new(),
            input_bytes: None,
            replicas: NonZeroU32::MIN,
        }
    }
}

impl Selection {
    /// Returns true if a device is among those that were asked for.
    pub fn wants_device(&self, device: &DeviceName) -> bool {
        let named = self.devices.as_ref();
        named.is_none_or(|named| named.contains(device))
    }

    fn offers<'a>(&'a self, offers: &'a [Offer]) -> impl Iterator<Item = &'a Offer> {
        offers.iter().filter(|offer| {
            self.wants_stack(offer.stack, offer.standing)
                && self.wants_device(&offer.device)
                && offer
                    .parameters
                    .iter()
                    .any(|set| self.admits(offer.dimensions, set))
        })
    }

    /// Returns true if a way to a device is wanted, by its parameters.
    pub fn wants_way(
        &self,
        stack: StackName,
        standing: Standing,
        (dimensions, parameters): (&[Dimension], &[Parameters]),
    ) -> bool {
        let wanted = |set: &Parameters| self.admits(dimensions, set);
        self.wants_stack(stack, standing)
            && (parameters.is_empty() || parameters.iter().any(wanted))
    }

    fn wants_stack(&self, stack: StackName, standing: Standing) -> bool {
        match (&self.stacks, standing) {
            (Some(stacks), _) => stacks.contains(&stack),
            (None, Standing::Usual) => true,
            (None, Standing::OnRequest) => false,
        }
    }

    fn admits(&self, dimensions: &[Dimension], set: &Parameters) -> bool {
        admits(&self.parameters, dimensions, set)
    }

    fn wants(&self, operation: Operation) -> bool {
        self.operations
            .as_ref()
            .is_none_or(|operations| operations.contains(&operation))
    }

    /// Returns the wanted capabilities of an offer, whatever the algorithm.
    fn wanted<'a>(&'a self, offer: &'a Offer) -> impl Iterator<Item = Capability> + 'a {
        let synonyms = offer.synonyms.iter().filter(|_| self.operations.is_some());
        let all = offer.capabilities.iter().chain(synonyms).copied();
        all.filter(|capability| self.wants(capability.operation))
    }

    /// Checks that everything named is on offer.
    pub(super) fn check(&self, offers: &[Offer]) -> Result<(), PlanError> {
        for device in self.devices.iter().flatten() {
            if !offers.iter().any(|offer| offer.device == *device) {
                return Err(PlanError::Impossible(format!(
                    "no device matches '{device}'; 'keymark devices' lists the available ones"
                )));
            }
        }
        self.check_processes(offers)?;
        let AlgorithmChoice::Listed(algorithms) = &self.algorithms else {
            return Ok(());
        };
        for &algorithm in algorithms {
            let offered = |offer: &&Offer| {
                self.wanted(offer)
                    .any(|capability| capability.algorithm == algorithm)
            };
            if !self.offers(offers).any(|offer| offered(&offer)) {
                return Err(self.unavailable(algorithm, offers, offered));
            }
        }
        Ok(())
    }

    fn check_processes(&self, offers: &[Offer]) -> Result<(), PlanError> {
        let possible = |offer: &Offer| offer.workers.contains(&Worker::Process);
        if self.processes.is_empty() || self.offers(offers).any(possible) {
            return Ok(());
        }
        let able = offers.iter().filter(|offer| possible(offer));
        let able: BTreeSet<_> = able
            .map(|offer| format!("{} through {}", offer.device, offer.stack))
            .collect();
        let able = Vec::from_iter(able);
        let able = if able.is_empty() {
            "nothing that you selected does".to_owned()
        } else {
            join(&able)
        };
        Err(PlanError::Impossible(format!(
            "--processes needs a key that each process can open for itself: {able}"
        )))
    }

    /// Why nothing selected offers the algorithm: what is here has other operations of it, or none.
    fn unavailable(
        &self,
        algorithm: Algorithm,
        offers: &[Offer],
        offered: impl Fn(&&Offer) -> bool,
    ) -> PlanError {
        let name = |offer: &Offer| {
            let only = match offer.parameters.as_slice() {
                [only] => only.remark(),
                _ => None,
            };
            let remark = only.map(|word| format!(" {word}")).unwrap_or_default();
            format!("{} through {}{remark}", offer.device, offer.stack)
        };
        let elsewhere: Vec<_> = offers.iter().filter(&offered).map(name).collect();
        let mut has: Vec<Operation> = self
            .offers(offers)
            .flat_map(|offer| offer.capabilities.iter().chain(&offer.synonyms))
            .filter(|capability| capability.algorithm == algorithm)
            .map(|capability| capability.operation)
            .collect();
        has.sort_unstable();
        has.dedup();
        if elsewhere.is_empty() && !has.is_empty() {
            let asked = self.operations.iter().flatten().map(ToString::to_string);
            let asked = asked.collect::<Vec<_>>().join(" or ");
            let has = join(&has);
            return PlanError::Impossible(format!("{algorithm} has no {asked}; it has: {has}"));
        }
        let where_else = if elsewhere.is_empty() {
            "nothing else here does either; 'keymark devices' shows what is missing".to_owned()
        } else {
            format!("it is offered by {}", elsewhere.join(", "))
        };
        PlanError::NotOffered(format!(
            "{} does not offer {algorithm} here; {where_else}",
            self.asked()
        ))
    }

    /// The stacks that were looked at, and the words that were named in place of usual ones.
    fn asked(&self) -> String {
        let stacks = match &self.stacks {
            Some(stacks) => join(stacks),
            None => "any stack".to_owned(),
        };
        let unusual = self
            .parameters
            .iter()
            .find(|one| one.dimension.usual.is_some() && !one.has_usual());
        match unusual {
            Some(choice) => format!("{stacks} with {}", choice.words.join(", ")),
            None => stacks,
        }
    }

    pub(super) fn cases<'a>(&'a self, offers: &'a [Offer]) -> impl Iterator<Item = Case> + 'a {
        let longest = self.longest(offers);
        self.offers(offers).flat_map(move |offer| {
            let longest = longest.clone();
            self.wanted(offer)
                .filter(move |capability| match &self.algorithms {
                    AlgorithmChoice::Listed(listed) => listed.contains(&capability.algorithm),
                    AlgorithmChoice::All => true,
                    AlgorithmChoice::Longest => longest.contains(&capability.algorithm),
                })
                .flat_map(move |capability| self.variants(offer, capability))
        })
    }

    /// Returns a capability with every wanted set of parameters, under every load, in every replica.
    fn variants(&self, offer: &Offer, capability: Capability) -> Vec<Case> {
        let mut cases = Vec::new();
        for parameters in offer
            .parameters
            .iter()
            .filter(|set| self.admits(offer.dimensions, set))
        {
            for (workers, worker) in self.workers(offer) {
                for replica in 0..self.replicas.get() {
                    cases.push(Case {
                        device: offer.device.clone(),
                        store: offer.store,
                        provenance: offer.provenance,
                        algorithm: capability.algorithm,
                        operation: capability.operation,
                        stack: offer.stack,
                        parameters: parameters.clone(),
                        load: Load {
                            workers,
                            worker,
                            pacing: self.pacing,
                        },
                        input_bytes: self
                            .input_bytes
                            .unwrap_or(default_input_bytes(capability.operation)),
                        replica,
                        strength: None,
                    });
                }
            }
        }
        cases
    }

    /// Returns numbers and kinds of workers that are wanted and possible.
    fn workers<'a>(&'a self, offer: &'a Offer) -> impl Iterator<Item = (NonZeroU32, Worker)> + 'a {
        let threads = self.workers.iter().map(|&number| (number, Worker::Thread));
        let processes = self
            .processes
            .iter()
            .map(|&number| (number, Worker::Process));
        let wanted = threads.chain(processes);
        wanted.filter(|(_, worker)| offer.workers.contains(worker))
    }

    fn longest(&self, offers: &[Offer]) -> Vec<Algorithm> {
        let all: Vec<Algorithm> = self
            .offers(offers)
            .flat_map(|offer| self.wanted(offer))
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

/// Returns the length of inputs as in the published harnesses: crypto-bench decrypts 16 bytes, the timestamping table
/// signs 40.
pub const fn default_input_bytes(operation: Operation) -> u32 {
    if operation.signs() { 40 } else { 16 }
}

fn join<T: ToString>(items: &[T]) -> String {
    items
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}
