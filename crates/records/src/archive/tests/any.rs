//! Records of any kind, at random.

use std::num::NonZeroU32;
use std::time::Duration;

use keymark_bench::algorithm::Algorithm;
use keymark_bench::case::{
    Case, DeviceName, Load, Pacing, Parameters, Provenance, StackName, StoreKind, Worker,
};
use keymark_bench::clock::{Harness, Timestamp};
use keymark_bench::environment::Environment;
use keymark_bench::error::ReturnCode;
use keymark_bench::operation::Operation;
use keymark_bench::parts::{Part, PartMean, Parts};
use keymark_bench::plan::{Order, Plan, Settings};
use keymark_bench::record::{CaseRecord, Ending, PublishedMean, Record, RunId, RunState};
use keymark_bench::sample::{Block, CpuTime, Outcome, Sample, Stretch};
use keymark_bench::series::{InSeries, SeriesId};
use keymark_bench::stop::{Precision, StopRule, Stopped};
use keymark_stats::{Band, Seconds};
use proptest::prelude::*;
use proptest::sample::select;

use keymark_testkit::record::{mixed, server_load};

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
        stack in select(vec![StackName::RAW, StackName::AGENT, StackName::GPG, StackName::of("ssh")]),
        (workers, worker, pacing) in (1_u32..5, select(Worker::ALL), pacings()),
        parameters in parameters(),
        (input_bytes, replica) in (any::<u32>(), 0_u32..3),
    ) -> Case {
        let load = Load { workers: NonZeroU32::new(workers).unwrap(), worker, pacing };
        let device = DeviceName::new(device);
        Case { device, store, provenance, algorithm, operation, stack, parameters, load, input_bytes, replica, strength: None }
    }
}

fn pacings() -> impl Strategy<Value = Pacing> {
    prop_oneof![
        Just(Pacing::Closed),
        (1e-3..1e6).prop_map(|rate: f64| Pacing::Open(rate.try_into().unwrap())),
        (1_u64..1 << 40).prop_map(|pause| Pacing::Thinking(Duration::from_nanos(pause))),
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
        message_bytes: None,
    })
}

fn case_records() -> impl Strategy<Value = CaseRecord> {
    cases().prop_flat_map(|case| {
        let samples = proptest::collection::vec(samples(case.workers()), 0..4);
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
                waiting: None,
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
        let environment = Environment { load_average, ..mixed("x").environment };
        let plan = Plan { cases: cases.iter().map(|case| case.case.clone()).collect(), settings };
        let started = jiff::Timestamp::from_nanosecond(nanoseconds.into()).unwrap();
        Record { id: RunId(id), started, state, series, plan, environment, harness, cases, ..mixed("x") }
    }
}
