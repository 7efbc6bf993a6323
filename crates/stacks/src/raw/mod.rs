//! The stack `raw`: the private-key operation of a key store, nothing around it.

pub mod worker;

use std::sync::Arc;
use std::time::Duration;

use keymark_bench::case::{Case, Parameters, StackName, Worker};
use keymark_bench::error::Error;
use keymark_bench::plan::Standing;
use keymark_bench::store::Capability;
use keymark_bench::workload::{Crew, Stack, Workload};
use keymark_stores::challenge::Challenge;
use keymark_stores::device::{Device, Reach, Run};
use keymark_stores::store::KeyStore;

use crate::provider::{StackFamily, StackProvider, Use, Way};

/// `raw`, on every device.
pub const FAMILY: StackFamily = StackFamily {
    stacks: &[StackName::RAW],
    standing: Standing::Usual,
    look: || Box::new(RawProvider),
    layers: || None,
};

#[derive(Debug)]
struct RawProvider;

impl StackProvider for RawProvider {
    fn ways(&self, device: &dyn Device) -> Vec<Way> {
        vec![Way {
            stack: StackName::RAW,
            found: Ok(device.capabilities().to_vec()),
            synonyms: device.synonyms().to_vec(),
            parameters: vec![Parameters::None],
            workers: match device.reach() {
                Reach::File => &[Worker::Thread, Worker::Process],
                #[cfg(feature = "openpgp-card")]
                Reach::Card => &[Worker::Thread],
            },
        }]
    }

    fn guess(&self, _: &Case) -> Duration {
        Duration::from_millis(1)
    }

    fn open(&self, uses: &[Use], run: &Run) -> Result<Vec<Box<dyn Stack>>, Error> {
        let open = |wanted: &Use| -> Box<dyn Stack> {
            Box::new(RawStack::new(Arc::clone(&wanted.store), run.seed))
        };
        Ok(uses.iter().map(open).collect())
    }
}

/// The stack, on one key store.
#[derive(Debug)]
pub struct RawStack {
    store: Arc<dyn KeyStore>,
    seed: u64,
}

impl RawStack {
    /// Measures keys of the store; messages are drawn with the seed.
    #[must_use]
    pub fn new(store: Arc<dyn KeyStore>, seed: u64) -> Self {
        Self { store, seed }
    }
}

impl Stack for RawStack {
    fn name(&self) -> StackName {
        StackName::RAW
    }

    fn prepare(&self, case: &Case) -> Result<Workload, Error> {
        let capability = Capability {
            algorithm: case.algorithm,
            operation: case.operation,
        };
        let key = self.store.key(capability)?;
        let public = self.store.public_key(&key)?;
        let challenge = Challenge::new(&public, case.operation, case.input_bytes, self.seed)?;
        let answers = self.store.answers(&key)?;
        let workers = 0..case.concurrency();
        let crew = match case.load.worker {
            Worker::Thread => {
                let handles = workers.map(|_| self.store.open(&key));
                Crew::Threads(handles.collect::<Result<_, _>>()?)
            }
            Worker::Process => {
                let access = self.store.access(&key)?;
                let processes = workers.map(|_| worker::start(&access, capability));
                Crew::Processes(processes.collect::<Result<_, _>>()?)
            }
        };
        let check = challenge.verifier;
        Ok(Workload {
            crew,
            inputs: challenge.inputs,
            verifier: answers.form.checked(case.algorithm, case.operation, check),
            output_capacity: answers.capacity,
        })
    }
}
