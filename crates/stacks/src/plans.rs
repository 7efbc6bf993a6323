//! Plans: the default plan for everybody, and the complete one (`data/plans.toml`).

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::LazyLock;

use keymark_bench::shipped::shipped;
use keymark_bench::store::Capability;
use keymark_bench::words;
use keymark_bench::{
    Algorithm, AlgorithmChoice, Offer, Operation, ParameterChoice, Selection, StackName, StoreKind,
};
use serde::Deserialize;

use crate::registry;

words! {
    /// A plan with a name.
    #[derive(Default)]
    pub enum NamedPlan("plan") {
        /// Questions of a user of GnuPG, ssh and a web server, in 75 seconds.
        #[default]
        Default = "default",
        /// More keys in both libraries, in parallel, and on the virtual card.
        Complete = "complete",
    }
}

/// Keys of one kind of device through some stacks.
#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct PlanLine {
    store: StoreKind,
    stacks: Vec<StackName>,
    keys: Vec<Algorithm>,
    operations: Vec<Operation>,
    /// Each as behind `--parameter`.
    parameters: Vec<String>,
    workers: Vec<NonZeroU32>,
}

impl Default for PlanLine {
    fn default() -> Self {
        Self {
            store: StoreKind::SOFTWARE,
            stacks: vec![StackName::RAW],
            keys: Vec::new(),
            operations: vec![Operation::Decrypt, Operation::Sign],
            parameters: Vec::new(),
            workers: vec![NonZeroU32::MIN],
        }
    }
}

/// Plans by name.
static PLANS: LazyLock<BTreeMap<String, Vec<PlanLine>>> =
    LazyLock::new(|| shipped(include_str!("../../../data/plans.toml")));

impl NamedPlan {
    fn lines(self) -> &'static [PlanLine] {
        PLANS.get(self.word()).map_or(&[], Vec::as_slice)
    }

    /// The stacks that it wants.
    pub fn stacks(self) -> Vec<StackName> {
        let stacks = self.lines().iter().flat_map(|line| &line.stacks);
        stacks.copied().collect()
    }

    /// Returns the selections that are on offer.
    pub fn selections(self, common: &Selection, offers: &[Offer]) -> Vec<Selection> {
        let lines = self.lines().iter();
        lines
            .flat_map(|line| of_line(line, common, offers))
            .collect()
    }
}

/// Returns a selection for each device, stack and operation: not every stack has every key.
fn of_line(line: &PlanLine, common: &Selection, offers: &[Offer]) -> Vec<Selection> {
    let libgcrypt_is_wanted = |offer: &Offer| {
        // What lies under GnuPG's stacks concerns nobody who has no GnuPG: then it is the usual library's time.
        let layers = line.stacks.contains(&StackName::GPG) && offer.stack == StackName::RAW;
        !layers || offers.iter().any(|other| other.stack == StackName::GPG)
    };
    let mut found = Vec::new();
    let of_line = |offer: &&Offer| offer.store == line.store && line.stacks.contains(&offer.stack);
    for offer in offers.iter().filter(of_line) {
        let parameters = line
            .parameters
            .iter()
            .filter(|_| libgcrypt_is_wanted(offer));
        let parameters: Vec<ParameterChoice> = parameters
            .filter_map(|text| registry::choice(text).ok())
            .collect();
        for operation in &line.operations {
            let offered = |algorithm: &&Algorithm| {
                let wanted = Capability::new(**algorithm, *operation);
                offer.capabilities.contains(&wanted)
            };
            let keys: Vec<Algorithm> = line.keys.iter().filter(offered).copied().collect();
            if keys.is_empty() {
                continue;
            }
            found.push(Selection {
                algorithms: AlgorithmChoice::Listed(keys),
                operations: Some(vec![*operation]),
                devices: Some(vec![offer.device.clone()]),
                stacks: Some(vec![offer.stack]),
                workers: line.workers.clone(),
                parameters: parameters.clone(),
                ..common.clone()
            });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_plan_names_what_there_is() {
        assert_eq!(PLANS.len(), NamedPlan::ALL.len());
        for line in NamedPlan::ALL.iter().flat_map(|plan| plan.lines()) {
            let known: Vec<StackName> = registry::stacks().collect();
            assert!(
                line.stacks.iter().all(|stack| known.contains(stack)),
                "{line:?}"
            );
            for text in &line.parameters {
                registry::choice(text).unwrap();
            }
            for operation in &line.operations {
                assert!(line.keys.iter().any(|key| key.has(*operation)), "{line:?}");
            }
        }
    }
}
