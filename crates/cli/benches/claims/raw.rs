//! Throughput of the stack `raw` against a bare loop over the same libcrypto with the same key, as
//! `openssl speed -elapsed` runs one.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use keymark_bench::case::Case;
use keymark_bench::clock::{Clock, MonotonicClock};
use keymark_bench::plan::{Plan, Settings};
use keymark_bench::record::CaseRecord;
use keymark_bench::reference;
use keymark_bench::runner::{Observer, Runner, Stacks};
use keymark_bench::stop::StopRule;
use keymark_bench::workload::{KeyHandle, Stack};
use keymark_stacks::raw::RawStack;
use keymark_stats::{RunDependence, throughput};
use keymark_stores::software::SoftwareStore;

use super::figure::{Failure, Figure, Limit, in_turn};

const PAIRS: usize = 150;
/// Runs until one reports a rate.
const TRIES: u32 = 20;
/// Time of each half of a pair.
const HALF: Duration = Duration::from_millis(60);

/// Median of the throughput ratios, keymark's over the bare loop's.
pub(crate) fn measure(case: &Case) -> Result<Figure, Failure> {
    // One store: one key and the same messages for both sides.
    let stack = RawStack::new(Arc::new(SoftwareStore::default()), 0);
    let mut bare = stack.prepare(case)?;
    let clock = MonotonicClock::new();
    let inputs = Arc::clone(&bare.inputs);
    let mut output = vec![0; bare.output_capacity];
    let mut bare_loop = |operations: u32| -> Result<f64, Failure> {
        let handle: &mut dyn KeyHandle = bare.crew.handles()[0].as_mut();
        handle.arm(&inputs[0])?;
        let start = clock.now();
        for input in inputs.iter().cycle().take(operations as usize) {
            handle.perform(input, &mut output)?;
        }
        let elapsed = clock.now().since(start);
        Ok(f64::from(operations) / elapsed.as_secs_f64())
    };
    let rate = bare_loop(50)?;
    let operations = ((rate * HALF.as_secs_f64()) as u32).max(20);
    let own = |_| keymark(case, &stack, HALF);
    let ratio = in_turn(PAIRS, own, |_| bare_loop(operations))?;
    let name = format!(
        "raw throughput over a bare loop, {} {}, median of {PAIRS} pairs",
        case.algorithm, case.operation
    );
    Ok(Figure::new(name, ratio, Limit::AtLeast(0.99), ""))
}

/// Operations per second as a run of the case reports them, again where a lock let only one of two workers in and the run
/// reports none.
pub(crate) fn keymark(case: &Case, stack: &RawStack, time: Duration) -> Result<f64, Failure> {
    watched(case, stack, time, &mut ())
}

pub(crate) fn watched(
    case: &Case,
    stack: &RawStack,
    time: Duration,
    observer: &mut dyn Observer,
) -> Result<f64, Failure> {
    for _ in 0..TRIES {
        if let Some(rate) = reported(case, stack, time, observer)? {
            return Ok(rate);
        }
    }
    Err(format!("no rate is reported in {TRIES} tries").into())
}

fn reported(
    case: &Case,
    stack: &RawStack,
    time: Duration,
    observer: &mut dyn Observer,
) -> Result<Option<f64>, Failure> {
    let settings = Settings {
        stop: StopRule::For(time),
        time_limit: None,
        ..Settings::default()
    };
    let plan = Plan {
        cases: vec![case.clone()],
        settings,
    };
    let clock = MonotonicClock::new();
    let interrupt = AtomicBool::new(false);
    let stacks: Stacks<'_> = [((case.device.clone(), case.stack), stack as &dyn Stack)].into();
    let runner = Runner {
        reference: reference::calculate,
        clock: &clock,
        interrupt: &interrupt,
    };
    let measured = runner.run(&plan, &stacks, observer);
    let record: &CaseRecord = measured.cases.first().ok_or("no case")?;
    if let Some(reason) = record.failure() {
        return Err(reason.into());
    }
    let windows: Vec<_> = record
        .blocks
        .iter()
        .filter_map(|block| block.window(case.workers()))
        .collect();
    Ok(throughput(&windows, &RunDependence::default(), 0).map(|rate| rate.value.0))
}
