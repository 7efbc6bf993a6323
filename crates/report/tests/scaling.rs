//! What is said of concurrency, from records made by hand: threads of a test would share its clock.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

use std::time::Duration;

use keymark_bench::case::StackName;
use keymark_bench::clock::Timestamp;
use keymark_bench::environment::Environment;
use keymark_bench::operation::Operation;
use keymark_bench::plan::{Plan, Settings};
use keymark_bench::record::{CaseRecord, Ending, Record, RunId, RunState, SCHEMA};
use keymark_bench::sample::{Block, CpuTime, Outcome, Sample};
use keymark_bench::stop::{Precision, StopRule, Stopped};
use keymark_report::analysis::{Analysis, Limit};
use keymark_report::table::{self, Style};
use keymark_testkit::CaseBuilder;

const BLOCKS: u32 = 20;
const OPERATIONS: u32 = 10;

fn case(algorithm: &str, stack: StackName, concurrency: u32) -> CaseBuilder {
    keymark_testkit::case(algorithm)
        .operation(Operation::Sign)
        .stack(stack)
        .concurrency(concurrency)
        .input_bytes(40)
}

/// Blocks of workers that are busy all the time, with operations of about so many microseconds.
fn measured(case: CaseBuilder, microseconds: f64) -> CaseRecord {
    let case = case.build();
    let cpu = (case.stack == StackName::Gnupg)
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
        Block { round, samples }
    };
    CaseRecord {
        ending: Some(Ending {
            stopped: Stopped::RuleMet,
            reason: None,
        }),
        blocks: (0..BLOCKS).map(block).collect(),
        ..CaseRecord::new(case)
    }
}

/// Through gpg, an operation alone takes 10 ms; with more workers, what the scalability law says.
fn by_the_law(algorithm: &str, sigma: f64, kappa: f64) -> impl Iterator<Item = CaseRecord> {
    [1, 2, 4, 8, 16].into_iter().map(move |c| {
        let n = f64::from(c);
        let stretch = 1.0 + sigma * (n - 1.0) + kappa * n * (n - 1.0);
        measured(case(algorithm, StackName::Gnupg, c), 10_000.0 * stretch)
    })
}

fn record(cases: Vec<CaseRecord>) -> Record {
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

/// The agent takes a tenth of the time for one key, and six tenths for the other.
fn two_keys() -> Record {
    let agents = [
        measured(case("ed25519", StackName::Agent, 1), 1_000.0),
        measured(case("rsa4096", StackName::Agent, 1), 6_000.0),
    ];
    let parallel = by_the_law("ed25519", 0.05, 0.02).chain(by_the_law("rsa4096", 0.6, 0.0));
    record(agents.into_iter().chain(parallel).collect())
}

#[test]
fn the_table_of_what_concurrency_gains() {
    let analysis = Analysis::of(&two_keys());
    insta::assert_snapshot!("scaling", table::scaling(&analysis.scaling, Style::Text));
    insta::assert_snapshot!(
        "scaling_markdown",
        table::scaling(&analysis.scaling, Style::Markdown)
    );
}

#[test]
fn the_law_and_the_limits_are_found_again() {
    let analysis = Analysis::of(&two_keys());
    let [retrograde, serial] = &analysis.scaling[..] else {
        panic!("{:?}", analysis.scaling)
    };
    assert_eq!(retrograde.limit(), Some(Limit::Cores));
    assert_eq!(serial.limit(), Some(Limit::Agent));
    let law = retrograde.law.as_ref().unwrap();
    assert!((law.sigma.value - 0.05).abs() < 0.02, "{:?}", law.sigma);
    assert!((law.kappa.value - 0.02).abs() < 0.005, "{:?}", law.kappa);
    // √((1 − σ) / κ) is 6.9.
    let best = retrograde.best_concurrency().unwrap();
    assert!((best - 6.9).abs() < 0.5, "{best}");
    assert_eq!(serial.best_concurrency(), None, "it never falls");
}

#[test]
fn an_open_loop_and_a_single_level_scale_nothing() {
    let open = case("ed25519", StackName::Gnupg, 4).rate("10/s");
    let alone = measured(case("ed25519", StackName::Gnupg, 1), 10_000.0);
    let analysis = Analysis::of(&record(vec![alone, measured(open, 20_000.0)]));
    assert_eq!(analysis.scaling, []);
}

#[test]
fn a_precision_that_time_did_not_allow_is_said_with_what_was_reached() {
    let mut late = record(vec![
        measured(case("rsa2048", StackName::Raw, 1), 500.0),
        measured(case("rsa4096", StackName::Raw, 1), 3_000.0),
    ]);
    late.cases[1].blocks.truncate(8);
    let target: Precision = "0.01%".parse().unwrap();
    late.plan.settings.stop = StopRule::Precision {
        target,
        max_time: None,
    };
    let mut warnings = |late_cases: usize| {
        for case in &mut late.cases[..late_cases] {
            case.ending.as_mut().unwrap().stopped = Stopped::OutOfTime;
        }
        Analysis::of(&late).warnings(&late.plan).remove(0)
    };
    insta::assert_snapshot!("late", [warnings(1), warnings(2)].join("\n"));
}
