//! The whole pipeline over the fake stack into snapshots: plan, run, record, analysis, tables.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use keymark_bench::case::{Case, DeviceName, Protection, Provenance, StackName, StoreKind};
use keymark_bench::clock::ManualClock;
use keymark_bench::environment::Environment;
use keymark_bench::plan::{AlgorithmChoice, Offer, Plan, Selection, Settings};
use keymark_bench::record::{Record, RunId, RunState, SCHEMA};
use keymark_bench::runner::{Observer, Runner, Stacks};
use keymark_bench::stop::StopRule;
use keymark_bench::store::{Capability, Stack};
use keymark_report::analysis::Analysis;
use keymark_report::compare::{compare, replicas};
use keymark_report::table::{self, Style};
use keymark_testkit::fake::{FakeStack, Script, Step};

const US: Duration = Duration::from_micros(1);
const TOLERANCE: Duration = Duration::from_secs(2);

struct Silent;
impl Observer for Silent {}

/// Operations a script is long; enough that no run begins again at the top in step.
const LENGTH: u32 = 997;

/// Durations around `microseconds`, up to a tenth longer, most of them near the middle.
fn about(microseconds: u32) -> Vec<Step> {
    // Weyl's sequence, mixed: the same numbers everywhere.
    let part = |i: u32| (i.wrapping_mul(0x9E37_79B9) ^ (i * i)).wrapping_mul(0x85EB_CA6B) >> 22;
    let bell = |i: u32| (0..4).map(|j| part(4 * i + j)).sum::<u32>();
    (0..LENGTH)
        .map(|i| Step::Take(US * microseconds + US * (microseconds * bell(i) / 10) / 4096))
        .collect()
}

/// Twice the time and more for what is longer, and for every layer.
fn script(case: &Case) -> Script {
    let arithmetic = match case.algorithm.name() {
        "rsa4096" => 3_000,
        "rsa2048" => 500,
        _ => 30,
    };
    let layer = match (case.stack, case.protection) {
        (StackName::Raw, _) => 0,
        (StackName::Agent, Protection::None) => 400,
        (StackName::Agent, Protection::Cached) => 90_000,
        _ => 6_000,
    };
    Script::Steps(about(arithmetic + layer))
}

fn offers() -> Vec<Offer> {
    let capabilities = |names: [&str; 3]| {
        let of = |name: &str| {
            let algorithm = name.parse().unwrap();
            let operations = keymark_bench::algorithm::Algorithm::operations;
            operations(algorithm)
                .iter()
                .map(move |&operation| Capability {
                    algorithm,
                    operation,
                })
                .collect::<Vec<_>>()
        };
        names.map(of).concat()
    };
    let stacks = [StackName::Raw, StackName::Agent, StackName::Gnupg];
    stacks
        .map(|stack| Offer {
            device: DeviceName::new("fake"),
            store: StoreKind::Fake,
            provenance: Provenance::Measured,
            stack,
            capabilities: capabilities(["rsa2048", "rsa4096", "ed25519"]),
            protections: if stack == StackName::Raw {
                vec![Protection::None]
            } else {
                Protection::ALL.to_vec()
            },
        })
        .to_vec()
}

fn run(selection: Selection, script: fn(&Case) -> Script) -> Record {
    let settings = Settings {
        stop: StopRule::Runs(NonZeroU32::new(200).unwrap()),
        time_limit: None,
        seed: 7,
        ..Settings::default()
    };
    let plan = Plan::build(&[selection], &offers(), settings).unwrap();
    let clock = Arc::new(ManualClock::default());
    let fake = |name| FakeStack::new(name, Arc::clone(&clock), Box::new(script));
    let stacks = [StackName::Raw, StackName::Agent, StackName::Gnupg].map(fake);
    let by_name: Stacks<'_> = stacks
        .iter()
        .map(|stack| ((DeviceName::new("fake"), stack.name()), stack as &dyn Stack))
        .collect();
    let interrupt = AtomicBool::new(false);
    let measured = Runner {
        clock: clock.as_ref(),
        interrupt: &interrupt,
    }
    .run(&plan, &by_name, &mut Silent);
    Record {
        schema: SCHEMA,
        id: RunId("20260101-000000-0001".to_owned()),
        started: "2026-01-01T00:00:00Z".parse().unwrap(),
        state: RunState::Finished,
        plan,
        environment: Environment {
            cores: 2,
            ..Environment::default()
        },
        harness: Some(measured.harness),
        stores: Vec::new(),
        cases: measured.cases,
    }
}

fn all() -> Selection {
    Selection {
        protection: Protection::ALL.to_vec(),
        ..Selection::default()
    }
}

#[test]
fn the_tables_of_a_run() {
    let record = run(all(), script);
    let analysis = Analysis::of(&record);
    insta::assert_snapshot!("rows", table::rows(&analysis.rows, TOLERANCE, Style::Text));
    insta::assert_snapshot!(
        "rows_markdown",
        table::rows(&analysis.rows[..2], TOLERANCE, Style::Markdown)
    );
    insta::assert_snapshot!(
        "breakdowns",
        table::breakdowns(&analysis.breakdowns, Style::Text)
    );
    insta::assert_snapshot!("lost", analysis.lost_in_overhead().unwrap());
    insta::assert_snapshot!("threads", analysis.threads().join("\n"));
    let mut csv = Vec::new();
    table::csv(&analysis.rows[..2], &mut csv).unwrap();
    insta::assert_snapshot!("csv", String::from_utf8(csv).unwrap());
}

#[test]
fn the_same_record_is_analysed_alike_every_time() {
    let record = run(all(), script);
    assert_eq!(Analysis::of(&record), Analysis::of(&record));
}

#[test]
fn failures_and_doubts_are_said() {
    let record = run(all(), |case| match (case.algorithm.name(), case.stack) {
        ("rsa4096", StackName::Gnupg) => Script::Steps(vec![Step::Fail(US)]),
        ("rsa2048", StackName::Raw) => Script::Unprepared("no such key".to_owned()),
        // Two groups, far apart.
        ("ed25519", StackName::Raw) => {
            let pairs = about(30).into_iter().zip(about(90));
            let mixed = (0u32..).zip(pairs).map(
                |(i, (one, other))| {
                    if i * i % 101 < 40 { other } else { one }
                },
            );
            Script::Steps(mixed.collect())
        }
        _ => script(case),
    });
    let analysis = Analysis::of(&record);
    insta::assert_snapshot!("warnings", analysis.warnings(&record.plan).join("\n"));
    insta::assert_snapshot!(
        "rows_with_failures",
        table::rows(&analysis.rows, Duration::from_micros(450), Style::Text)
    );
}

#[test]
fn a_slower_run_is_called_slower_and_an_equal_one_is_not() {
    let raw = Selection {
        stacks: Some(vec![StackName::Raw]),
        ..Selection::default()
    };
    let before = run(raw.clone(), script);
    let same = run(raw.clone(), script);
    let slower = run(raw, |case| match case.algorithm.name() {
        "rsa4096" => Script::Steps(about(3_300)),
        _ => script(case),
    });
    insta::assert_snapshot!(
        "compared",
        table::pairs(&compare(&before, &slower), Style::Text)
    );
    assert!(
        compare(&before, &same)
            .iter()
            .all(|pair| !pair.slower_than(0.0))
    );
    let pairs = compare(&before, &slower);
    assert!(
        pairs
            .iter()
            .all(|pair| pair.slower_than(0.05) == (pair.old.algorithm.name() == "rsa4096"))
    );
}

#[test]
fn copies_within_a_plan_are_paired() {
    let twice = Selection {
        algorithms: AlgorithmChoice::Listed(vec!["ed25519".parse().unwrap()]),
        stacks: Some(vec![StackName::Raw, StackName::Agent]),
        replicas: NonZeroU32::new(2).unwrap(),
        ..Selection::default()
    };
    let pairs = replicas(&run(twice, script));
    assert_eq!(pairs.len(), 2);
    insta::assert_snapshot!("replicas", table::pairs(&pairs, Style::Text));
}
