//! Operations of one worker outside of a plan.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::Runner;
use super::block::{self, Buffers};
use super::worker_loop::Budget;
use crate::runner::workload::Workload;
use crate::{Clock, Error};

/// The operations of one worker that nobody else disturbs, in one block of at most that time and number. What each took; of
/// several, one that finds caches cold comes before them.
///
/// # Errors
/// When one of them fails, or its result is wrong.
pub fn measure_alone(
    clock: &dyn Clock,
    workload: &mut Workload,
    time: Duration,
    operations: u64,
) -> Result<Vec<Duration>, Error> {
    let runner = Runner {
        clock,
        reference: || (),
        interrupt: &AtomicBool::new(false),
    };
    let budget = Budget {
        time,
        operations,
        lead_in: u32::from(operations > 1),
        ..Budget::unlimited()
    };
    let mut buffers = Buffers::default();
    let measured = block::measure(&runner, workload, &mut buffers, budget, 0, &mut None, None);
    match measured.failure {
        Some(failure) => Err(Error::call(
            "measuring an operation alone",
            failure.reason.unwrap_or_default(),
            "",
        )),
        None => Ok(measured
            .block
            .samples
            .iter()
            .map(|sample| sample.end.since(sample.start))
            .collect()),
    }
}
