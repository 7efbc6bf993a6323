//! Records made by hand: threads of a test would share its clock.

use std::time::Duration;

use keymark_bench::case::{Case, StackName};
use keymark_bench::clock::Timestamp;
use keymark_bench::environment::Environment;
use keymark_bench::operation::Operation;
use keymark_bench::plan::{Plan, Settings};
use keymark_bench::record::{CaseRecord, Ending, Record, RunId, RunState, SCHEMA};
use keymark_bench::sample::{Block, CpuTime, Outcome, Sample};
use keymark_bench::stop::Stopped;

const BLOCKS: u32 = 20;
const OPERATIONS: u32 = 10;

pub fn case(algorithm: &str, stack: StackName, concurrency: u32) -> Case {
    keymark_testkit::case(algorithm)
        .operation(Operation::Sign)
        .stack(stack)
        .concurrency(concurrency)
        .input_bytes(40)
        .build()
}

/// Blocks of workers that are busy all the time, with operations of about so many microseconds.
pub fn measured(case: Case, microseconds: f64) -> CaseRecord {
    let cpu = (case.stack == StackName::GNUPG)
        .then(|| CpuTime::new(Duration::from_millis(3), Duration::from_millis(1)));
    let worker = |round: u32, worker: u32| {
        let mut clock = u64::from(round) * 10_000_000_000;
        (0..OPERATIONS).map(move |operation| {
            // Up to a hundredth more or less, in a fixed disorder.
            let place = round * 7_919 + worker * 104_729 + operation * 1_299_709;
            let jitter = f64::from(place.wrapping_mul(0x9E37_79B9) >> 16) / 65_536.0 - 0.5;
            let start = Timestamp(clock);
            clock += (microseconds * (1.0 + jitter / 50.0) * 1e3) as u64;
            Sample {
                worker,
                scheduled: start,
                start,
                end: Timestamp(clock),
                outcome: Outcome::Done,
                cpu,
            }
        })
    };
    let block = |round| {
        let workers = 0..case.concurrency();
        let mut samples: Vec<Sample> = workers.flat_map(|number| worker(round, number)).collect();
        samples.sort_by_key(|sample| sample.end);
        Block {
            round,
            samples,
            queue: None,
            reference_ns: None,
        }
    };
    CaseRecord {
        ending: Some(Ending {
            stopped: Stopped::RuleMet,
            reason: None,
            code: None,
        }),
        blocks: (0..BLOCKS).map(block).collect(),
        ..CaseRecord::new(case)
    }
}

pub fn record(cases: Vec<CaseRecord>) -> Record {
    let plan = Plan {
        cases: cases.iter().map(|record| record.case.clone()).collect(),
        settings: Settings {
            seed: 3,
            ..Settings::default()
        },
    };
    Record {
        schema: SCHEMA,
        id: RunId("20260101-000000-0002".to_owned()),
        started: "2026-01-01T00:00:00Z".parse().unwrap(),
        state: RunState::Finished,
        series: None,
        plan,
        environment: Environment {
            cores: 4,
            ..Environment::default()
        },
        harness: None,
        stores: Vec::new(),
        cases,
    }
}
