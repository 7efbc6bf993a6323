//! The whole pipeline over the fake stack into snapshots: plan, run, record, analysis, document, text.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use keymark_bench::case::{
    Case, DeviceName, Dimension, ParameterChoice, Parameters, Provenance, Scope, StackName,
    StoreKind, Words, Worker,
};
use keymark_bench::clock::ManualClock;
use keymark_bench::environment::Environment;
use keymark_bench::plan::{AlgorithmChoice, Offer, Plan, Selection, Settings, Standing};
use keymark_bench::record::{Record, RunId, RunState, SCHEMA};
use keymark_bench::runner::{Runner, Stacks};
use keymark_bench::stop::StopRule;
use keymark_bench::store::Capability;
use keymark_bench::workload::Stack;
use keymark_report::analysis::{Analysis, Row};
use keymark_report::compare::{Comparison, Criteria, Judgement, Side};
use keymark_report::document::Document;
use keymark_report::render::Width;
use keymark_stats::BetweenRuns;
use keymark_testkit::fake::{FakeStack, Script, ScriptedStep};
use keymark_testkit::layers::layers;

use crate::plain;

const US: Duration = Duration::from_micros(1);

/// Operations a script is long; enough that no run begins again at the top in step.
const LENGTH: u32 = 997;

/// Durations around `microseconds`, up to a tenth longer, most of them near the middle.
fn about(microseconds: u32) -> Vec<ScriptedStep> {
    // Weyl's sequence, mixed: the same numbers everywhere.
    let part = |i: u32| (i.wrapping_mul(0x9E37_79B9) ^ (i * i)).wrapping_mul(0x85EB_CA6B) >> 22;
    let bell = |i: u32| (0..4).map(|j| part(4 * i + j)).sum::<u32>();
    (0..LENGTH)
        .map(|i| ScriptedStep::Take(US * microseconds + US * (microseconds * bell(i) / 10) / 4096))
        .collect()
}

/// Twice the time and more for what is longer, and for every layer.
fn script(case: &Case) -> Script {
    let arithmetic = match case.algorithm.name() {
        "rsa4096" => 3_000,
        "rsa2048" => 500,
        _ => 30,
    };
    let layer = match (case.stack, case.parameters.is_empty()) {
        (StackName::RAW, _) => 0,
        (StackName::AGENT, true) => 400,
        (StackName::AGENT, false) => 90_000,
        _ => 6_000,
    };
    Script::Steps(about(arithmetic + layer))
}

const KEPT: &[&str] = &["none", "cached"];
const PROTECTION: Dimension = Dimension {
    name: "protection",
    kind: "protection",
    words: Words::Listed(KEPT),
    usual: Some("none"),
    scope: Scope::Everywhere,
};

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
    let stacks = [StackName::RAW, StackName::AGENT, StackName::GPG];
    stacks
        .map(|stack| Offer {
            device: DeviceName::new("fake"),
            store: StoreKind::FAKE,
            provenance: Provenance::Measured,
            stack,
            capabilities: capabilities(["rsa2048", "rsa4096", "ed25519"]),
            synonyms: Vec::new(),
            dimensions: if stack == StackName::RAW {
                &[]
            } else {
                &[PROTECTION]
            },
            parameters: if stack == StackName::RAW {
                vec![Parameters::NONE]
            } else {
                let sets = KEPT.iter();
                sets.map(|word| Parameters::of(&PROTECTION, word)).collect()
            },
            workers: &[Worker::Thread],
            standing: Standing::Usual,
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
    let stacks = [StackName::RAW, StackName::AGENT, StackName::GPG].map(fake);
    let by_name: Stacks<'_> = stacks
        .iter()
        .map(|stack| ((DeviceName::new("fake"), stack.name()), stack as &dyn Stack))
        .collect();
    let interrupt = AtomicBool::new(false);
    let measured = Runner {
        reference: || (),
        clock: clock.as_ref(),
        interrupt: &interrupt,
    }
    .run(&plan, &by_name, &mut ());
    Record {
        schema: SCHEMA,
        id: RunId("20260101-000000-0001".to_owned()),
        started: "2026-01-01T00:00:00Z".parse().unwrap(),
        state: RunState::Finished,
        series: None,
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
        parameters: vec![ParameterChoice {
            dimension: PROTECTION,
            words: KEPT.to_vec(),
        }],
        ..Selection::default()
    }
}

fn document(record: &Record) -> Document {
    Analysis::of(record, &layers()).document(record, &[])
}

#[test]
fn the_report_of_a_run() {
    let record = run(all(), script);
    let document = document(&record);
    insta::assert_snapshot!("wide", plain(&document, Width::Unlimited));
    insta::assert_snapshot!("narrow", plain(&document, Width::Columns(100)));
}

#[test]
fn failures_and_doubts_are_said() {
    let mut record = run(all(), |case| match (case.algorithm.name(), case.stack) {
        ("rsa4096", StackName::GPG) => Script::Steps(vec![ScriptedStep::Fail(US)]),
        ("rsa2048", StackName::RAW) => Script::Unprepared("no such key".to_owned()),
        // Two groups, far apart.
        ("ed25519", StackName::RAW) => {
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
    record.plan.settings.tolerance = US * 450;
    let document = document(&record);
    let warnings: Vec<_> = document.warnings.iter().map(|w| w.text.as_str()).collect();
    insta::assert_snapshot!("warnings", warnings.join("\n"));
    insta::assert_snapshot!("with_failures", plain(&document, Width::Unlimited));
}

/// Operations done before a failure are no figure: its cause may also have slowed them.
#[test]
fn a_case_that_failed_in_part_has_no_figure() {
    let record = run(all(), |case| match (case.algorithm.name(), case.stack) {
        ("rsa4096", StackName::GPG) => {
            let done = about(30).into_iter().take(5);
            Script::Steps(done.chain([ScriptedStep::Fail(US)]).collect())
        }
        _ => script(case),
    });
    let analysis = Analysis::of(&record, &[]);
    let is_failed = |row: &&Row| row.failure.is_some();
    let failed: Vec<&Row> = analysis.rows.iter().filter(is_failed).collect();
    assert!(!failed.is_empty());
    for row in failed {
        assert!(
            record.cases[row.id.0 as usize].samples().count() > 0,
            "{}",
            row.case
        );
        assert_eq!(
            (&row.summary, row.throughput, row.ratio),
            (&None, None, None)
        );
    }
}

/// Runs of a series, a thousandth apart.
fn series(selection: &Selection, script: fn(&Case) -> Script) -> Vec<Record> {
    (0..3).map(|_| run(selection.clone(), script)).collect()
}

#[test]
fn a_slower_series_is_called_slower_and_an_equal_one_is_not() {
    let raw = Selection {
        stacks: Some(vec![StackName::RAW]),
        ..Selection::default()
    };
    let compared = |old: &[Record], new: &[Record]| {
        let sides = [("before", old), ("after", new)].map(|(name, runs)| Side {
            name: name.to_owned(),
            runs: runs.to_vec(),
        });
        Comparison::of(&sides, BetweenRuns::ASSUMED, Criteria::default())
    };
    let before = series(&raw, script);
    let same = series(&raw, script);
    let slower = series(&raw, |case| match case.algorithm.name() {
        "rsa4096" => Script::Steps(about(4_500)),
        _ => script(case),
    });
    let comparison = compared(&before, &slower);
    insta::assert_snapshot!(
        "compared",
        plain(&comparison.document(&[]), Width::Unlimited)
    );
    let alarms = comparison.slower_than(0.05).slower;
    assert_eq!(alarms.len(), 2, "{alarms:?}");
    assert!(
        alarms
            .iter()
            .all(|pair| pair.old.algorithm.name() == "rsa4096")
    );
    let equal = compared(&before, &same);
    assert_eq!(equal.slower_than(0.0), Judgement::default());
    let single = compared(&before[..1], &slower[..1]);
    insta::assert_snapshot!(
        "single_runs",
        plain(&single.document(&[]), Width::Columns(100))
    );
    let judged = single.slower_than(0.05);
    assert!(judged.slower.is_empty() && judged.undecided.len() == single.pairs.len());
}

#[test]
fn copies_within_a_plan_are_paired() {
    let twice = Selection {
        algorithms: AlgorithmChoice::Listed(vec!["ed25519".parse().unwrap()]),
        stacks: Some(vec![StackName::RAW, StackName::AGENT]),
        replicas: NonZeroU32::new(2).unwrap(),
        ..Selection::default()
    };
    let side = Side {
        name: "last".to_owned(),
        runs: vec![run(twice, script)],
    };
    let copies = Comparison::of_copies(&side, Criteria::default());
    assert_eq!(copies.pairs.len(), 2);
    let document = copies.document(&[]);
    insta::assert_snapshot!("replicas", plain(&document, Width::Unlimited));
    insta::assert_snapshot!("replicas_narrow", plain(&document, Width::Columns(100)));
}
