//! Records for this crate's tests.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::time::Duration;

use keymark_bench::algorithm::Algorithm;
use keymark_bench::case::{
    Case, DeviceName, Load, Pacing, Parameters, Provenance, StackName, StoreKind, Worker,
};
use keymark_bench::clock::{Harness, Timestamp};
use keymark_bench::environment::Environment;
use keymark_bench::error::ReturnCode;
use keymark_bench::key_use::{Calculator, FunctionCalls, OperationAlone, TokenCalls};
use keymark_bench::operation::Operation;
use keymark_bench::parts::{Part, PartMean, Parts};
use keymark_bench::plan::{Order, Plan, Settings};
use keymark_bench::record::{CaseRecord, Ending, PublishedMean, Record, RunId, RunState, SCHEMA};
use keymark_bench::sample::{Block, CpuTime, Outcome, Sample, Stretch};
use keymark_bench::series::{InSeries, SeriesId};
use keymark_bench::server_load::{
    Durations, LoadLimit, Saturation, Second, ServerLoad, Steady, Totals, Transaction, Tried,
    TriedDemand,
};
use keymark_bench::stop::{Precision, StopRule, Stopped};
use keymark_bench::store::StoreIdentity;
use keymark_stats::{Band, Seconds};
use proptest::prelude::*;
use proptest::sample::select;

/// A case of the software store.
pub(crate) fn case(algorithm: &str, stack: StackName) -> Case {
    let algorithm: Algorithm = algorithm.parse().unwrap();
    Case {
        device: DeviceName::software(),
        store: StoreKind::SOFTWARE,
        provenance: Provenance::Measured,
        algorithm,
        operation: algorithm.operations()[0],
        stack,
        parameters: Parameters::NONE,
        load: Load::single(),
        input_bytes: 16,
        replica: 0,
    }
}

pub(crate) fn cached() -> Parameters {
    Parameters::from([("protection", "cached")])
}

/// Samples of so many nanoseconds each, one after the other.
pub(crate) fn block(round: u32, latencies: &[u64]) -> Block {
    let mut clock = u64::from(round) * 1_000_000_000;
    let samples = latencies.iter().map(|latency| {
        let start = Timestamp(clock);
        clock += latency;
        let end = Timestamp(clock);
        Sample {
            worker: 0,
            scheduled: start,
            start,
            end,
            outcome: Outcome::Done,
            cpu: None,
        }
    });
    Block {
        round,
        samples: samples.collect(),
        queue: None,
        reference_ns: None,
    }
}

/// A finished run with a bit of everything.
pub(crate) fn record(id: &str) -> Record {
    let mut open = case("ed25519", StackName::AGENT);
    open.load = Load {
        concurrency: NonZeroU32::new(4).unwrap(),
        worker: Worker::Thread,
        pacing: Pacing::Open(50.0.try_into().unwrap()),
    };
    open.parameters = cached();
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
    cases[0].ending = Some(Ending {
        stopped: Stopped::RuleMet,
        reason: None,
        code: None,
    });
    cases[1].blocks = vec![block(0, &[5_000_000, 6_000_000, 7_000_000])];
    cases[1].blocks[0].samples[1].cpu = Some(CpuTime {
        user_us: 12,
        system_us: 3,
    });
    cases[1].blocks[0].samples[2].outcome = Outcome::Wrong;
    let reason = "gpg --decrypt: exit status 2; see 'gpg -K'".to_owned();
    cases[1].ending = Some(Ending {
        stopped: Stopped::Failed,
        reason: Some(reason),
        code: None,
    });
    cases[2].blocks = vec![block(1, &[400])];
    cases[2].blocks[0].samples[0].outcome = Outcome::Failed;
    cases[2].blocks[0].samples[0].worker = 3;
    Record {
        schema: SCHEMA,
        id: RunId(id.to_owned()),
        started: "2026-11-21T04:50:27.5Z".parse().unwrap(),
        state: RunState::Finished,
        series: None,
        plan: Plan {
            cases: cases.iter().map(|case| case.case.clone()).collect(),
            settings: fixed(),
        },
        environment: environment(),
        harness: Some(Harness {
            clock_resolution_ns: 1,
            clock_reading_ns: 20,
            loop_ns: 30,
        }),
        stores: vec![StoreIdentity {
            device: DeviceName::software(),
            kind: StoreKind::SOFTWARE,
            provenance: Provenance::Measured,
            product: "OpenSSL".to_owned(),
            serial: None,
            versions: BTreeMap::from([("openssl".to_owned(), "3.5.4".to_owned())]),
            assumed: Vec::new(),
        }],
        cases: cases.into(),
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
pub(crate) fn head(record: &Record) -> Record {
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

fn samples(workers: u32) -> impl Strategy<Value = Sample> {
    let cpu = proptest::option::of((any::<u32>(), any::<u32>()));
    let times = (0_u64..1 << 62, 0_u64..1 << 40, 0_u64..1 << 40);
    (0..workers, times, select(Outcome::ALL), cpu).prop_map(
        |(worker, (due, wait, took), outcome, cpu)| Sample {
            worker,
            scheduled: Timestamp(due),
            start: Timestamp(due + wait),
            end: Timestamp(due + wait + took),
            outcome,
            cpu: cpu.map(|(user_us, system_us)| CpuTime { user_us, system_us }),
        },
    )
}

prop_compose! {
    fn cases()(
        device in "[^\\x00]{1,6}",
        store in select(vec![StoreKind::SOFTWARE, StoreKind::OPENPGP_CARD, StoreKind::of("pkcs11")]),
        provenance in select(Provenance::ALL),
        algorithm in select(Algorithm::all().collect::<Vec<_>>()),
        operation in select(Operation::ALL),
        stack in select(vec![StackName::RAW, StackName::AGENT, StackName::GNUPG, StackName::of("ssh")]),
        (concurrency, worker, pacing) in (1_u32..5, select(Worker::ALL), pacings()),
        parameters in parameters(),
        (input_bytes, replica) in (any::<u32>(), 0_u32..3),
    ) -> Case {
        let load = Load { concurrency: NonZeroU32::new(concurrency).unwrap(), worker, pacing };
        let device = DeviceName::new(device);
        Case { device, store, provenance, algorithm, operation, stack, parameters, load, input_bytes, replica }
    }
}

fn pacings() -> impl Strategy<Value = Pacing> {
    prop_oneof![
        Just(Pacing::Closed),
        (1e-3..1e6).prop_map(|rate: f64| Pacing::Open(rate.try_into().unwrap())),
        (1_u64..1 << 40).prop_map(|pause| Pacing::Thinking(Duration::from_nanos(pause))),
        proptest::option::of(1_u64..1 << 40).prop_map(|limit| Pacing::Saturating {
            p99: limit.map(Duration::from_nanos),
        }),
    ]
}

/// Any pairs: the core knows no words.
fn parameters() -> impl Strategy<Value = Parameters> {
    let pair = ("[a-z][a-z0-9-]{0,19}", "[a-z0-9][a-z0-9. -]{0,59}");
    proptest::collection::vec(pair, 0..=8).prop_map(|pairs| {
        let pairs = pairs.iter();
        pairs.fold(Parameters::NONE, |set, (name, word)| {
            set.replaced(name, word)
        })
    })
}

/// A load of three seconds, of which two were steady.
pub(crate) fn server_load() -> ServerLoad {
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
            from_s: 1,
            to_s: 3,
            part_ns: 1_000_000_000,
            completed: vec![3, 5],
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
        client_cpu_ns: 30_000_000,
        limit: LoadLimit::Elsewhere,
        drained_ns: Some(5_000_000),
        token_calls: Some(token_calls()),
        alone: Some(alone()),
        log: vec!["[warn] a line".to_owned()],
        saturation: Some(saturation()),
        killed_ns: Some(1_500_000_000),
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

fn endings() -> impl Strategy<Value = Ending> {
    let all = [
        Stopped::RuleMet,
        Stopped::OutOfTime,
        Stopped::Interrupted,
        Stopped::Failed,
    ];
    let code = proptest::option::of(("[A-Z_]{1,12}", any::<u32>()));
    let reason = proptest::option::of("[^\\x00]{0,8}");
    (select(all.to_vec()), reason, code).prop_map(|(stopped, reason, code)| Ending {
        stopped,
        reason,
        code: code.map(|(name, number)| ReturnCode::named(name, number)),
    })
}

fn case_records() -> impl Strategy<Value = CaseRecord> {
    cases().prop_flat_map(|case| {
        let samples = proptest::collection::vec(samples(case.concurrency()), 0..4);
        let stretch = (0_u64..1 << 63, 0_u64..1 << 63);
        let stretch = stretch.prop_map(|(length_ns, waiting)| Stretch { length_ns, waiting });
        let reference = proptest::option::of(0_u64..1 << 63);
        let block = (
            any::<u32>(),
            samples,
            proptest::option::of(stretch),
            reference,
        );
        let block = block.prop_map(|(round, samples, queue, reference_ns)| Block {
            round,
            samples,
            queue,
            reference_ns,
        });
        let published = (
            1e-9..1e3,
            proptest::option::of(0_u64..1 << 63),
            "[^\\x00]{0,8}",
            proptest::option::of((1e-9..1e3, 1e-9..1e3)),
        )
            .prop_map(|(mean, n, note, band)| PublishedMean {
                mean: Seconds(mean),
                n,
                note,
                band: band.map(|(low, high)| Band {
                    low: Seconds(low),
                    high: Seconds(high),
                }),
            });
        let figures = prop_oneof![
            proptest::collection::vec(block, 0..3).prop_map(|blocks| (blocks, None)),
            published.prop_map(|published| (Vec::new(), Some(published))),
        ];
        let conclusion = proptest::option::of((endings(), proptest::option::of(parts())));
        let loaded = any::<bool>();
        (figures, conclusion, loaded).prop_map(move |((blocks, published), conclusion, loaded)| {
            // A load is written down when it is over.
            let loaded = loaded && blocks.is_empty() && published.is_none() && conclusion.is_some();
            CaseRecord {
                case: case.clone(),
                ending: conclusion.as_ref().map(|(ending, _)| ending.clone()),
                blocks,
                published,
                parts: conclusion.and_then(|(_, parts)| parts),
                server_load: loaded.then(|| Box::new(server_load())),
            }
        })
    })
}

fn parts() -> impl Strategy<Value = Parts> {
    let mean = (1_u64..1_000_000, 0.0..1e3).prop_map(|(n, mean)| PartMean {
        n,
        mean_s: Seconds(mean),
    });
    proptest::collection::btree_map(proptest::sample::select(Part::ALL), mean, 1..4).prop_map(Parts)
}

prop_compose! {
    fn settings()(
        runs in proptest::option::of(1_u32..100_000),
        (target, max_time) in (1e-6..0.99, proptest::option::of(any::<Duration>())),
        (time_limit, tolerance) in (proptest::option::of(any::<Duration>()), any::<Duration>()),
        (warmup, seed, interleaved) in (any::<u32>(), any::<u64>(), any::<bool>()),
    ) -> Settings {
        let target = Precision::try_from(target).unwrap();
        Settings {
            stop: match runs {
                Some(runs) if runs % 3 == 0 => StopRule::For(Duration::from_millis(runs.into())),
                Some(runs) => StopRule::Runs(NonZeroU32::new(runs).unwrap()),
                None => StopRule::Precision { target, max_time },
            },
            order: if interleaved { Order::Interleaved } else { Order::Sequential },
            time_limit, warmup, seed, tolerance,
            ..Settings::default()
        }
    }
}

prop_compose! {
    fn series()(
        (id, against) in ("[0-9a-z-]{1,8}", proptest::option::of("[0-9a-z-]{1,8}")),
        (number, runs, pause) in (any::<u32>(), 1_u32..99, 0_u64..1 << 63),
    ) -> InSeries {
        let (id, against) = (SeriesId(id), against.map(SeriesId));
        InSeries { id, number, runs, pause: Duration::from_nanos(pause), against }
    }
}

prop_compose! {
    /// Small records of any kind.
    pub(crate) fn records()(
        id in "[0-9a-z-]{1,12}",
        nanoseconds in 0_i64..i64::MAX,
        state in select(&[RunState::Unfinished, RunState::Finished, RunState::Interrupted, RunState::Published][..]),
        settings in settings(),
        load_average in proptest::option::of(0.0..1e3),
        harness in proptest::option::of(any::<[u32; 3]>()),
        cases in proptest::collection::vec(case_records(), 0..4),
        series in proptest::option::of(series()),
    ) -> Record {
        let harness = harness.map(|[a, b, c]| Harness {
            clock_resolution_ns: a.into(), clock_reading_ns: b.into(), loop_ns: c.into(),
        });
        let environment = Environment { load_average, ..record("x").environment };
        let plan = Plan { cases: cases.iter().map(|case| case.case.clone()).collect(), settings };
        let started = jiff::Timestamp::from_nanosecond(nanoseconds.into()).unwrap();
        Record { id: RunId(id), started, state, series, plan, environment, harness, cases, ..record("x") }
    }
}
