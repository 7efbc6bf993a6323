//! `keymark service`

mod bench;
mod connect;
mod suite;

use std::path::PathBuf;
use std::time::Duration;

use keymark_bench::{Load, StackName};
use keymark_load::{LoadSettings, Timeouts};
use keymark_stacks::services::{InstalledServices, ServiceLoads, Services};
use keymark_stacks::tls::servers::SearchPath;

use crate::args::ServiceCommand;
use crate::exit::{Failure, Outcome};
use crate::load::{self, LoadRun};

pub(super) fn run(command: &ServiceCommand, archive: Option<&PathBuf>) -> Outcome {
    match command {
        ServiceCommand::Bench(arguments) => match &arguments.remote.connect {
            Some(address) => connect::run(address, arguments, archive),
            None => bench::run(arguments, archive),
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
