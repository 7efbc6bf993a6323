//! `keymark service`

mod suite;

use std::path::PathBuf;
use std::time::Duration;

use itertools::iproduct;
use keymark_bench::store::Capability;
use keymark_bench::{
    Algorithm, Case, Load, MonotonicClock, Operation, Parameters, StackName, StoreIdentity,
};
use keymark_load::{LoadSettings, Timeouts};
use keymark_stacks::inventory::Inventory;
use keymark_stacks::services::{
    self, InstalledServices, RFC3161, RunningAuthority, ServiceLoads, Services,
};
use keymark_stacks::tls::Address;
use keymark_stacks::tls::servers::SearchPath;

use crate::args::{ServiceBenchArguments, ServiceCommand};
use crate::exit::{Failure, Outcome};
use crate::load::{self, LoadRun};
use crate::{signals, user};

pub(super) fn run(command: &ServiceCommand, archive: Option<&PathBuf>) -> Outcome {
    match command {
        ServiceCommand::Bench(arguments) => match &arguments.remote.connect {
            Some(address) => connect(address, arguments, archive),
            None => bench(arguments, archive),
        },
        ServiceCommand::Suite(arguments) => suite::run(arguments, archive),
    }
}

/// Measures cases of services and shows the result.
fn measure(mut run: LoadRun<'_>, services: Services, archive: Option<&PathBuf>) -> Outcome {
    load::long_enough(run.client.duration)?;
    if let Services::Started(installed) = &services {
        run.versions.extend(installed.versions());
    }
    let inventory = run.inventory;
    run.run(archive, |record| {
        inventory.agree(&record.plan)?;
        Ok(Box::new(ServiceLoads {
            services,
            keys: load::keys(inventory, &load::opening(record))?,
            homes: Default::default(),
        }))
    })
}

/// Settings of a client that gives up after ten seconds.
fn client(duration: Duration) -> LoadSettings {
    const PATIENCE: Duration = Duration::from_secs(10);
    LoadSettings {
        timeouts: Timeouts {
            connect: PATIENCE,
            handshake: PATIENCE,
            whole: PATIENCE,
        },
        ..LoadSettings::new(Load::single(), duration)
    }
}

/// These services, none of them missing.
fn installed(stacks: &[StackName]) -> Result<Services, Failure> {
    let installed = InstalledServices::find(stacks, &SearchPath::usual());
    let installed = installed.map_err(Failure::nothing_usable)?;
    Ok(Services::Started(installed))
}

/// Numbers of workers unless some are named.
const WORKERS: [u32; 2] = [1, 10];

fn bench(arguments: &ServiceBenchArguments, archive: Option<&PathBuf>) -> Outcome {
    let user = user::of_arguments(&arguments.run.card);
    let inventory = load::devices(&arguments.device, &user)?;
    let cases = cases(arguments, &inventory)?;
    let run = LoadRun {
        beside: Vec::new(),
        cases,
        inventory: &inventory,
        elsewhere: None,
        versions: Vec::new(),
        client: client(arguments.case_time),
        arguments: &arguments.run,
    };
    measure(run, installed(&arguments.service)?, archive)
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
fn case(identity: &StoreIdentity, service: StackName, algorithm: Algorithm) -> Case {
    Case {
        stack: service,
        ..identity.case(Capability {
            algorithm,
            operation: Operation::Sign,
        })
    }
}

/// Measures a timestamping authority that runs already.
fn connect(
    address: &Address,
    arguments: &ServiceBenchArguments,
    archive: Option<&PathBuf>,
) -> Outcome {
    let remote = &arguments.remote;
    let addresses = load::own(address, remote.i_own_this_server)?;
    let (interrupt, _) = signals::listen()?;
    let clock = MonotonicClock::new();
    let known = (addresses.as_slice(), remote.authority.as_ref());
    let authority = RunningAuthority::reach(address, &remote.path, known, (&clock, &interrupt));
    let authority = authority.map_err(Failure::nothing_usable)?;
    let identity = address.identity();
    let loads = load::loads(&arguments.load, &WORKERS)?;
    let cases = loads.iter().map(|load| Case {
        load: *load,
        ..case(&identity, RFC3161, authority.algorithm)
    });
    let run = LoadRun {
        beside: Vec::new(),
        cases: cases.collect(),
        inventory: &load::devices(&[], &user::of_arguments(&arguments.run.card))?,
        elsewhere: Some(identity),
        versions: Vec::new(),
        client: client(arguments.case_time),
        arguments: &arguments.run,
    };
    measure(run, Services::Running(authority), archive)
}
