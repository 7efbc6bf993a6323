//! Records made by hand: threads of a test would share its clock.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::time::Duration;

use keymark_bench::case::{Case, StackName};
use keymark_bench::clock::{Harness, Timestamp};
use keymark_bench::environment::Environment;
use keymark_bench::key_use::{Calculator, FunctionCalls, OperationAlone, TokenCalls};
use keymark_bench::operation::Operation;
use keymark_bench::plan::{Order, Plan, Settings};
use keymark_bench::record::{CaseRecord, Ending, PublishedMean, Record, RunId, RunState, SCHEMA};
use keymark_bench::sample::{Block, CpuTime, Outcome, Sample};
use keymark_bench::server_load::{
    Batch, Durations, LoadLimit, Saturation, Second, ServerLoad, Steady, Totals, Transaction,
    Tried, TriedDemand,
};
use keymark_bench::stop::{StopRule, Stopped};
use keymark_bench::store::StoreIdentity;
use keymark_stats::Seconds;

/// A case of the software store.
pub fn case(algorithm: &str, stack: StackName) -> Case {
    crate::case(algorithm).stack(stack).build()
}

/// A signature of the software store by so many workers.
pub fn signing(algorithm: &str, stack: StackName, workers: u32) -> Case {
    let case = crate::case(algorithm).operation(Operation::Sign);
    case.stack(stack)
        .concurrency(workers)
        .input_bytes(40)
        .build()
}

/// Samples of so many nanoseconds each, one after the other.
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

/// Blocks of workers that are busy all the time, with operations of about so many microseconds.
pub fn measured(case: Case, microseconds: f64) -> CaseRecord {
    let cpu = (case.stack == StackName::GNUPG)
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
        let workers = 0..case.concurrency();
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

/// A case of which somebody says how many seconds it took.
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

/// A finished run with a bit of everything.
pub fn mixed(id: &str) -> Record {
    let open = crate::case("ed25519").stack(StackName::AGENT);
    let open = open.concurrency(4).rate("50/s").cached().build();
    let mut cases = [
        case("rsa2048", StackName::RAW),
        case("rsa4096", StackName::GNUPG),
        open,
    ]
    .map(CaseRecord::new);
    cases[0].blocks = vec![
        block(0, &[100, 200, 300]),
        block(1, &[150]),
        Block {
            round: 2,
            ..Block::default()
        },
    ];
    cases[0].ending = Some(Stopped::RuleMet.into());
    cases[1].blocks = vec![block(0, &[5_000_000, 6_000_000, 7_000_000])];
    cases[1].blocks[0].samples[1].cpu = Some(CpuTime {
        user_us: 12,
        system_us: 3,
    });
    cases[1].blocks[0].samples[2].outcome = Outcome::Wrong;
    let reason = "gpg --decrypt: exit status 2; see 'gpg -K'";
    cases[1].ending = Some(Ending::failed(reason));
    cases[2].blocks = vec![block(1, &[400])];
    cases[2].blocks[0].samples[0].outcome = Outcome::Failed;
    cases[2].blocks[0].samples[0].worker = 3;
    let versions = BTreeMap::from([("openssl".to_owned(), "3.5.4".to_owned())]);
    let store = StoreIdentity {
        versions,
        ..store(&cases[0].case, "OpenSSL")
    };
    let mut record = of(cases.into());
    record.plan.settings = fixed();
    Record {
        id: RunId(id.to_owned()),
        started: "2026-11-21T04:50:27.5Z".parse().unwrap(),
        environment: environment(),
        harness: Some(Harness {
            clock_resolution_ns: 1,
            clock_reading_ns: 20,
            loop_ns: 30,
        }),
        stores: vec![store],
        ..record
    }
}

fn environment() -> Environment {
    Environment {
        cpu_model: Some("AMD EPYC".to_owned()),
        cores: 2,
        load_average: Some(0.1),
        keymark: "0.1.0".to_owned(),
        ..Environment::default()
    }
}

/// Not the defaults, which may change: the golden archive holds these.
fn fixed() -> Settings {
    Settings {
        stop: StopRule::Runs(NonZeroU32::new(3).unwrap()),
        time_limit: Some(Duration::from_millis(1_500)),
        warmup: 1,
        order: Order::Sequential,
        seed: u64::MAX,
        baseline: "rsa2048".parse().unwrap(),
        tolerance: Duration::from_secs(2),
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

/// So many transactions in that time.
pub const fn batch(round: u32, completed: u64, length_ns: u64) -> Batch {
    Batch {
        completed,
        length_ns,
        round,
    }
}

/// A load of three seconds, of which two were steady.
pub fn server_load() -> ServerLoad {
    let durations = |each: &[(u64, u64)]| Durations(each.to_vec());
    let second = |whole: &[(u64, u64)]| Second {
        connect: durations(&[(60_000, 3)]),
        handshake: durations(&[(900_000, 2), (1_000_000, 1)]),
        first_byte: durations(&[(90_000, 3)]),
        whole: durations(whole),
        failures: BTreeMap::from([("handshake timeout".to_owned(), 1)]),
    };
    ServerLoad {
        server: BTreeMap::from([("program".to_owned(), "nginx 1.22.1".to_owned())]),
        client: "rustls".to_owned(),
        seed: 7,
        elapsed_ns: 3_000_000_000,
        steady: Some(Steady {
            stretches: vec![(1, 3)],
            batches: vec![batch(0, 3, 1_000_000_000), batch(0, 5, 1_000_000_000)],
        }),
        unsteady: None,
        seconds: vec![
            second(&[(9_000_000, 1)]),
            second(&[(1_100_000, 2), (1_200_000, 1)]),
            second(&[(1_100_000, 4), (1_300_000, 1)]),
        ],
        sample: vec![Transaction {
            scheduled_ns: 0,
            start_ns: 10,
            connect_ns: 60_000,
            handshake_ns: 900_000,
            first_byte_ns: 90_000,
            whole_ns: 1_100_000,
        }],
        totals: Totals {
            transactions: 9,
            failed: 3,
            bytes: 36_864,
            time_ns: 18_100_000,
            longest_ns: 9_000_000,
            shortest_ns: 1_100_000,
        },
        cut_off: 2,
        waiting: 0,
        server_cpu_ns: Some(40_000_000),
        service_cpu: None,
        client_cpu_ns: 30_000_000,
        limit: LoadLimit::Elsewhere,
        drained_ns: Some(5_000_000),
        token_calls: Some(token_calls()),
        alone: Some(alone()),
        log: vec!["[warn] a line".to_owned()],
        saturation: Some(saturation()),
        killed_ns: Some(1_500_000_000),
        clients: std::collections::BTreeMap::new(),
    }
}

fn token_calls() -> TokenCalls {
    let sign = FunctionCalls {
        calls: 12,
        failed: 1,
        total_ns: 6_000_000,
        waited_ns: 1_200_000,
        durations: Durations(vec![(400_000, 6), (600_000, 6)]),
        of_operation: true,
    };
    TokenCalls {
        handshakes: 12,
        processes: 2,
        functions: BTreeMap::from([("C_Sign".to_owned(), sign)]),
    }
}

fn alone() -> OperationAlone {
    OperationAlone {
        operation: Operation::Sign,
        by: Calculator::Token,
        durations: Durations(vec![(390_000, 2), (410_000, 2)]),
    }
}

fn saturation() -> Saturation {
    Saturation {
        tried: vec![
            Tried {
                demand: TriedDemand::Users(4),
                rate: 3.0,
                p99_ns: 1_300_000,
                failed: 0.25,
                unfinished: 0.0,
            },
            Tried {
                demand: TriedDemand::Rate(2.5),
                rate: 2.4,
                p99_ns: 1_200_000,
                failed: 0.0,
                unfinished: 0.01,
            },
        ],
        best_users: 4,
        knee_users: 2,
        rate_within_limit: Some(2.5),
    }
}
