//! `keymark service bench`

use std::path::PathBuf;

use itertools::iproduct;
use keymark_bench::store::Capability;
use keymark_bench::{Algorithm, Case, Operation, Parameters, StackName, StoreIdentity};
use keymark_stacks::inventory::Inventory;
use keymark_stacks::services;

use crate::args::ServiceBenchArguments;
use crate::exit::{Failure, Outcome};
use crate::load::{self, LoadRun};
use crate::user;

/// Numbers of workers unless some are named.
pub(super) const WORKERS: [u32; 2] = [1, 10];

pub(super) fn run(arguments: &ServiceBenchArguments, archive: Option<&PathBuf>) -> Outcome {
    let user = user::of_arguments(&arguments.run.card);
    let inventory = load::devices(&arguments.device, &user)?;
    let cases = cases(arguments, &inventory)?;
    let run = LoadRun {
        beside: Vec::new(),
        cases,
        inventory: &inventory,
        elsewhere: None,
        versions: Vec::new(),
        client: super::client(arguments.case_time),
        arguments: &arguments.run,
    };
    super::measure(run, super::installed(&arguments.service)?, archive)
}

/// Every service with every device and key, every parameter that it has, and every load.
fn cases(arguments: &ServiceBenchArguments, inventory: &Inventory) -> Result<Vec<Case>, Failure> {
    let loads = load::loads(&arguments.load, &WORKERS)?;
    let parameters = |service: StackName| -> Vec<Parameters> {
        let known = services::dimensions(service);
        let chosen = arguments.parameter.as_ref();
        match chosen.filter(|choice| known.contains(&choice.dimension)) {
            Some(choice) => choice
                .words
                .iter()
                .map(|word| Parameters::of(&choice.dimension, word))
                .collect(),
            None => vec![Parameters::NONE],
        }
    };
    let (services, devices) = (&arguments.service, &inventory.devices);
    let keys = iproduct!(services, devices, &arguments.algorithm);
    let each = keys.flat_map(|(service, found, algorithm)| {
        iproduct!(parameters(*service), &loads).map(|(parameters, load)| Case {
            parameters,
            load: *load,
            ..case(&found.identity, *service, *algorithm)
        })
    });
    Ok(each.collect())
}

/// Case of one client.
pub(super) fn case(identity: &StoreIdentity, service: StackName, algorithm: Algorithm) -> Case {
    Case {
        stack: service,
        ..identity.case(Capability {
            algorithm,
            operation: Operation::Sign,
        })
    }
}
