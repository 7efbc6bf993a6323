//! Records made by hand: threads of a test would share its clock.

use std::time::Duration;

use keymark_bench::{
    Batch, Block, Case, CaseRecord, CpuTime, Ending, Environment, Operation, Plan, PublishedMean,
    Record, RunId, RunState, SCHEMA, Sample, ServerLoad, Settings, StackName, Stopped,
    StoreIdentity, Timestamp,
};
use keymark_stats::Seconds;

/// A case of the software store.
pub fn case(algorithm: &str, stack: StackName) -> Case {
    crate::case(algorithm).stack(stack).build()
}

/// A signature of the software store by that number of workers.
pub fn signing(algorithm: &str, stack: StackName, workers: u32) -> Case {
    let case = crate::case(algorithm).operation(Operation::Sign);
    case.stack(stack).workers(workers).input_bytes(40).build()
}

/// Samples of that number of nanoseconds each, one after the other.
pub fn block(round: u32, latencies: &[u64]) -> Block {
    let mut clock = u64::from(round) * 1_000_000_000;
    let samples = latencies.iter().map(|latency| {
        let start = Timestamp(clock);
        clock += latency;
        Sample::done(0, start, Timestamp(clock))
    });
    Block {
        round,
        samples: samples.collect(),
        ..Block::default()
    }
}

/// Blocks of workers that are busy all the time, with operations of about that number of microseconds.
pub fn measured(case: Case, microseconds: f64) -> CaseRecord {
    let cpu = (case.stack == StackName::GPG)
        .then(|| CpuTime::new(Duration::from_millis(3), Duration::from_millis(1)));
    let worker = |round: u32, worker: u32| {
        let mut clock = u64::from(round) * 10_000_000_000;
        (0..10).map(move |operation| {
            // Up to a hundredth more or less, in a fixed disorder.
            let place = round * 7_919 + worker * 104_729 + operation * 1_299_709;
            let jitter = f64::from(place.wrapping_mul(0x9E37_79B9) >> 16) / 65_536.0 - 0.5;
            let start = Timestamp(clock);
            clock += (microseconds * (1.0 + jitter / 50.0) * 1e3) as u64;
            Sample {
                cpu,
                ..Sample::done(worker, start, Timestamp(clock))
            }
        })
    };
    let block = |round| {
        let workers = 0..case.workers();
        let mut samples: Vec<Sample> = workers.flat_map(|number| worker(round, number)).collect();
        samples.sort_by_key(|sample| sample.end);
        Block {
            round,
            samples,
            ..Block::default()
        }
    };
    CaseRecord {
        ending: Some(Stopped::RuleMet.into()),
        blocks: (0..20).map(block).collect(),
        ..CaseRecord::new(case)
    }
}

/// A case that failed for that reason before anything was measured.
pub fn failed(case: Case, reason: &str) -> CaseRecord {
    CaseRecord {
        ending: Some(Ending::failed(reason)),
        ..CaseRecord::new(case)
    }
}

/// A case with its published time in seconds.
pub fn published(case: Case, seconds: f64) -> CaseRecord {
    CaseRecord {
        published: Some(PublishedMean::from(Seconds(seconds))),
        ..CaseRecord::new(case)
    }
}

/// A finished run of these cases, on four cores, which says nothing else of itself.
pub fn of(cases: Vec<CaseRecord>) -> Record {
    Record {
        schema: SCHEMA,
        id: RunId("20260101-000000-0002".to_owned()),
        started: "2026-01-01T00:00:00Z".parse().unwrap(),
        state: RunState::Finished,
        series: None,
        plan: Plan {
            cases: cases.iter().map(|record| record.case.clone()).collect(),
            settings: Settings {
                seed: 3,
                ..Settings::default()
            },
        },
        environment: Environment {
            cores: 4,
            ..Environment::default()
        },
        harness: None,
        stores: Vec::new(),
        cases,
    }
}

/// A finished run with a bit of everything. Its settings are not the defaults, which may change: the golden archive
/// holds these.
pub fn mixed(id: &str) -> Record {
    let record: Record =
        serde_json::from_str(include_str!("../fixtures/mixed_record.json")).unwrap();
    Record {
        id: RunId(id.to_owned()),
        ..record
    }
}

/// The record as it is when the run starts.
pub fn head(record: &Record) -> Record {
    let cases = record
        .cases
        .iter()
        .map(|case| CaseRecord::new(case.case.clone()))
        .collect();
    Record {
        cases,
        harness: None,
        ..record.clone()
    }
}

/// The store of a case, which is that product.
pub fn store(case: &Case, product: &str) -> StoreIdentity {
    StoreIdentity::new(case.device.clone(), case.store, case.provenance, product)
}

/// Returns a batch of that many transactions in that time.
pub const fn batch(round: u32, completed: u64, length_ns: u64) -> Batch {
    Batch {
        completed,
        length_ns,
        round,
    }
}

/// A load of three seconds, of which two were steady.
pub fn server_load() -> ServerLoad {
    serde_json::from_str(include_str!("../fixtures/server_load.json")).unwrap()
}
