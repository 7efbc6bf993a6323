//! `keymark service suite`: plans that answer a whole question.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;

use clap::ValueEnum;
use itertools::{Itertools, iproduct};
use keymark_bench::shipped::shipped;
use keymark_bench::{
    Algorithm, AlgorithmChoice, Case, Load, Operation, Plan, Selection, Settings, StackName,
};
use keymark_stacks::inventory::{Found, Inventory};
use keymark_stacks::registry;
use keymark_stores::device::Wish;
use serde::Deserialize;

use super::installed;
use crate::args::ServiceSuiteArguments;
use crate::exit::{Failure, Outcome};
use crate::load::LoadRun;
use crate::{output, user};

/// Suites by name.
static SUITES: LazyLock<BTreeMap<String, ServiceSuite>> =
    LazyLock::new(|| shipped(include_str!("../../../../../data/service-suites.toml")));

/// A suite, as its file has it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ServiceSuite {
    device: String,
    duration_s: u64,
    cases: Vec<ServiceSuiteCases>,
}

/// Cases of every key through every stack, with each number of workers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ServiceSuiteCases {
    stacks: Vec<StackName>,
    keys: Vec<Algorithm>,
    workers: Vec<NonZeroU32>,
}

pub(super) fn run(arguments: &ServiceSuiteArguments, archive: Option<&PathBuf>) -> Outcome {
    let name = arguments.suite.to_possible_value();
    let suite = name.and_then(|name| SUITES.get(name.get_name()));
    let suite = suite.ok_or_else(|| Failure::failed("data/service-suites.toml lacks the suite"))?;
    let user = user::of_arguments(&arguments.run.card);
    let driven: Vec<StackName> = registry::stacks().collect();
    let wish = Wish::Named(vec![suite.device.clone()]);
    let inventory = Inventory::look(Some(&driven), &wish, &user);
    let inventory = inventory.map_err(Failure::nothing_usable)?;
    let mut cases = suite.services(&inventory.devices, &driven);
    for service in cases.iter().map(|case| case.stack).unique().collect_vec() {
        if let Err(missing) = installed(&[service]) {
            output::note(&format!("leaving out {service}: {}", missing.message));
            cases.retain(|case| case.stack != service);
        }
    }
    let used = cases.iter().map(|case| case.stack).collect_vec();
    let usual = Duration::from_secs(suite.duration_s);
    let run = LoadRun {
        beside: suite.beside(&inventory, &driven)?,
        cases,
        inventory: &inventory,
        elsewhere: None,
        versions: Vec::new(),
        client: super::client(arguments.case_time.unwrap_or(usual)),
        arguments: &arguments.run,
    };
    super::measure(run, installed(&used)?, archive)
}

impl ServiceSuite {
    /// Cases through stacks that are no services, as far as they are on offer.
    fn beside(&self, inventory: &Inventory, driven: &[StackName]) -> Result<Vec<Case>, Failure> {
        let selection = |cases: &ServiceSuiteCases| {
            let stacks = cases.stacks.iter().copied();
            let stacks: Vec<StackName> = stacks.filter(|stack| driven.contains(stack)).collect();
            (!stacks.is_empty()).then(|| Selection {
                algorithms: AlgorithmChoice::Listed(cases.keys.clone()),
                operations: Some(vec![Operation::Sign]),
                stacks: Some(stacks),
                workers: cases.workers.clone(),
                ..Selection::default()
            })
        };
        let selections: Vec<Selection> = self.cases.iter().filter_map(selection).collect();
        let plan = Plan::build(&selections, &inventory.offers(), Settings::default());
        Ok(plan.map_err(Failure::nothing_usable)?.cases)
    }

    fn services(&self, devices: &[Found], driven: &[StackName]) -> Vec<Case> {
        let of_device = |found: &Found| {
            let each = self
                .cases
                .iter()
                .flat_map(|cases| iproduct!(&cases.stacks, &cases.keys, &cases.workers));
            let services = each.filter(|(stack, ..)| !driven.contains(stack));
            let case = |(stack, key, workers): (&StackName, &Algorithm, &NonZeroU32)| Case {
                load: Load::closed(*workers),
                ..super::case(&found.identity, *stack, *key)
            };
            services.map(case).collect::<Vec<Case>>()
        };
        devices.iter().flat_map(of_device).collect()
    }
}
