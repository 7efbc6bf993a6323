//! A plan over services, from the arguments that all such plans have to the tables.

use std::path::PathBuf;
use std::time::Duration;

use keymark_bench::reference;
use keymark_bench::runner::Runner;
use keymark_bench::{Case, MonotonicClock, Plan, StackName, StoreIdentity};
use keymark_stacks::inventory::Inventory;
use keymark_stacks::services::{Installed, Measuring, Services};
use keymark_stacks::tls::Keys;
use keymark_stacks::tls::servers::SearchPath;

use super::super::Outcome;
use crate::args::RunArguments;
use crate::exit::{Exit, Failure};
use crate::{frame, load, signals};

/// What is to be measured.
pub(super) struct Wanted<'a> {
    /// What is no service, and comes first.
    pub(super) beside: Vec<Case>,
    /// The services'.
    pub(super) cases: Vec<Case>,
    pub(super) services: Services,
    pub(super) inventory: &'a Inventory,
    /// A device that is not in the inventory.
    pub(super) elsewhere: Option<StoreIdentity>,
    pub(super) duration: Duration,
    pub(super) arguments: &'a RunArguments,
}

impl Wanted<'_> {
    /// Measures it and shows what came of it.
    pub(super) fn run(self, archive: Option<&PathBuf>) -> Outcome {
        load::long_enough(self.duration)?;
        let plan = Plan {
            cases: [self.beside.clone(), self.cases].concat(),
            settings: load::settings(self.duration, self.arguments),
        };
        if self.arguments.dry_run {
            load::dry_run(&plan.cases, self.duration);
            return Ok(Exit::Fine);
        }
        self.inventory.agree(&plan)?;
        let (interrupt, _) = signals::listen()?;
        let devices = self.inventory.devices.iter();
        let identities = devices.clone().map(|found| found.identity.clone());
        let identities = identities.chain(self.elsewhere);
        let mut record = frame::record(plan, identities.collect());
        if let Services::Started(installed) = &self.services {
            let versions = &mut record.environment.versions;
            versions.extend(installed.versions());
        }
        let opening = load::opening(&record);
        let open = |device| Keys::of(device, &opening).map_err(Failure::nothing_usable);
        let keys: Vec<Keys> = devices
            .map(|found| open(found.device.as_ref()))
            .collect::<Result<_, _>>()?;
        let first = Plan {
            cases: self.beside,
            settings: record.plan.settings.clone(),
        };
        let stacks = self.inventory.open(&first, &opening);
        let mut stacks = stacks.map_err(Failure::nothing_usable)?;
        let clock = MonotonicClock::new();
        let measuring = Measuring {
            services: &self.services,
            keys: &keys,
            homes: Default::default(),
            client: load::client(self.duration, &clock, &interrupt),
        };
        let how = (self.arguments, archive);
        Ok(load::measured(
            record,
            &interrupt,
            how,
            |record, seen, view| {
                if !first.cases.is_empty() {
                    let runner = Runner {
                        reference: reference::calculate,
                        clock: &clock,
                        interrupt: &interrupt,
                    };
                    let measured = runner.run(&first, &stacks.by_name(), seen);
                    record.harness = Some(measured.harness);
                    record.cases.splice(..first.cases.len(), measured.cases);
                }
                let mut kept = stacks.end();
                measuring.run(&record.plan, &mut record.cases, seen, view);
                kept.extend(keys.iter().filter_map(|keys| keys.restore().err()));
                kept
            },
        ))
    }
}

/// These services, none of them missing.
pub(super) fn installed(stacks: &[StackName]) -> Result<Services, Failure> {
    let installed = Installed::find(stacks, &SearchPath::usual());
    let installed = installed.map_err(Failure::nothing_usable)?;
    Ok(Services::Started(installed))
}
