//! How cases end, and in which order they are visited.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use keymark_bench::case::{Case, CaseId, StackName};
use keymark_bench::plan::{Order, Settings};
use keymark_bench::sample::Outcome;
use keymark_bench::stop::Stopped;
use keymark_testkit::fake::{self, Script, ScriptedStep};

use super::setup::{
    Interrupting, Listener, MS, Told, by_four, case, drive, jittery, plan, precision, run, runs,
    steady, stopped, takes,
};

/// Operations of a millisecond, and then others for ever.
fn then(operations: usize, others: &[ScriptedStep]) -> Script {
    Script::Steps([&vec![ScriptedStep::Take(MS); operations], others].concat())
}

#[test]
fn a_number_of_runs_is_kept_to_the_operation() {
    let plan = plan(&[case("ed25519"), case("rsa2048")], runs(57));
    let (measured, log) = run(&plan, steady);
    for record in &measured.cases {
        assert_eq!(
            record.samples().count(),
            57,
            "neither warm-up nor lead-in counts"
        );
        assert!(record.samples().all(|sample| sample.latency() == MS));
        assert!(
            record.blocks.len() >= 20,
            "spread over time: {} blocks",
            record.blocks.len()
        );
        assert_eq!(stopped(record), Stopped::RuleMet);
    }
    assert!(log.0.contains(&Told::Measuring(2)));
    assert_eq!(log.finished().len(), 2);
    assert!(!measured.interrupted);
}

#[test]
fn several_workers_share_the_number_of_runs() {
    let (measured, _) = run(&plan(&[by_four("ed25519")], runs(40)), steady);
    let record = &measured.cases[0];
    assert_eq!(record.samples().count(), 40);
    assert!(record.samples().all(|sample| sample.worker < 4));
    for block in &record.blocks {
        assert!(block.samples.is_sorted_by_key(|sample| sample.end));
    }
}

#[test]
fn precision_stops_a_steady_case_and_says_when_it_cannot_be_reached() {
    let (measured, _) = run(&plan(&[case("ed25519")], precision("1%", None)), jittery);
    assert_eq!(stopped(&measured.cases[0]), Stopped::RuleMet);
    assert!(
        measured.cases[0].blocks.len() >= 20,
        "too few blocks say nothing"
    );

    let limit = Some(Duration::from_millis(500));
    let (measured, _) = run(
        &plan(&[case("ed25519")], precision("0.0001%", limit)),
        jittery,
    );
    assert_eq!(stopped(&measured.cases[0]), Stopped::OutOfTime);
    let samples: Vec<_> = measured.cases[0].samples().collect();
    let total = samples.last().unwrap().end.since(samples[0].start);
    assert!((490..=510).contains(&total.as_millis()), "{total:?}");
}

#[test]
fn every_case_keeps_its_time_however_many_workers_it_has() {
    let limit = Duration::from_secs(4);
    // A block of eight operations by each of four takes longer than the time that is left after the first.
    let slow = |_: &Case| takes([MS * 60, MS * 63]);
    let cases = [case("ed25519"), by_four("rsa2048")];
    let (measured, _) = run(&plan(&cases, precision("0.0001%", Some(limit))), slow);
    assert_eq!(
        measured.spent.preparing + measured.spent.measuring,
        measured.spent.total()
    );
    let measuring = measured.spent.measuring;
    assert!(measuring <= limit * 2 + limit * 2 / 5, "{measuring:?}");
    assert!(measuring >= limit * 2 - limit * 2 / 5, "{measuring:?}");
}

/// Runs these cases for a minute at most, of which one is never known well enough and the others are at once. Gives how
/// many blocks each has.
fn with_one_unknown(names: &[&str], unknown: &'static str) -> Vec<usize> {
    let settings = Settings {
        time_limit: Some(Duration::from_secs(60)),
        ..precision("1%", None)
    };
    let cases: Vec<Case> = names.iter().map(|name| case(name)).collect();
    let is_unknown = move |case: &Case| case.algorithm.name() == unknown;
    let (measured, _) = run(&plan(&cases, settings), move |case| {
        let second = if is_unknown(case) { 200 } else { 20 };
        takes([MS * 20, MS * second])
    });
    for record in &measured.cases {
        let expected = if is_unknown(&record.case) {
            Stopped::OutOfTime
        } else {
            Stopped::RuleMet
        };
        assert_eq!(stopped(record), expected, "{}", record.case);
    }
    let cases = measured.cases.iter();
    cases.map(|case| case.blocks.len()).collect()
}

#[test]
fn a_ratio_is_measured_for_as_long_as_both_its_sides_need() {
    let blocks = with_one_unknown(&["rsa2048", "rsa4096", "ed25519"], "rsa4096");
    assert!(blocks[0] >= blocks[1] && blocks[1] > 100, "{blocks:?}");
    assert!(blocks[2] < blocks[1], "{blocks:?}");
    let blocks = with_one_unknown(&["rsa2048", "rsa4096"], "rsa2048");
    assert!(blocks[1] >= blocks[0] && blocks[0] > 100, "{blocks:?}");
}

#[test]
fn what_is_slow_does_not_keep_the_others_waiting() {
    let settings = Settings {
        time_limit: Some(Duration::from_secs(60)),
        ..precision("0.0001%", None)
    };
    let cases = [case("ed25519"), case("rsa2048"), case("rsa4096")];
    let (measured, _) = run(&plan(&cases, settings), |case| {
        let slow = case.algorithm.to_string() == "rsa4096";
        let took = if slow { MS * 2_000 } else { MS * 20 };
        takes([took, took + MS])
    });
    let blocks = measured.cases.iter().map(|case| case.blocks.len());
    let blocks: Vec<usize> = blocks.collect();
    assert!(blocks[2] >= 8 && blocks[2] <= 12, "{blocks:?}");
    assert!(blocks[0] > 500 && blocks[1] > 500, "{blocks:?}");
    // Compared cases are neighbors: pairs of a round are milliseconds apart.
    let rounds = |case: usize| measured.cases[case].blocks.iter().map(|block| block.round);
    let shared = rounds(0).filter(|round| rounds(1).any(|other| other == *round));
    assert!(shared.count() > 500);
}

#[test]
fn the_plans_time_ends_every_case_and_none_is_left_without_a_sample() {
    let settings = Settings {
        time_limit: Some(MS * 30),
        ..precision("0.0001%", None)
    };
    let names = ["ed25519", "rsa2048", "nistp256", "cv25519"];
    let (measured, _) = run(&plan(&names.map(case), settings), jittery);
    for record in &measured.cases {
        assert_eq!(stopped(record), Stopped::OutOfTime);
        assert!(record.samples().count() > 0);
    }
}

#[test]
fn rounds_visit_every_case_in_an_order_that_only_the_seed_decides() {
    let cases = ["ed25519", "rsa2048", "nistp256", "cv25519", "dsa3072"].map(case);
    let visits = |seed| {
        let settings = Settings { seed, ..runs(40) };
        let (_, log) = run(&plan(&cases, settings), steady);
        let blocks = log.blocks().into_iter();
        blocks
            .map(|(id, block)| (id, block.round))
            .collect::<Vec<_>>()
    };
    let blocks = visits(1);
    assert_eq!(blocks, visits(1), "the same seed, the same order");
    assert_ne!(blocks, visits(2));
    let rounds: Vec<Vec<CaseId>> = blocks
        .chunk_by(|a, b| a.1 == b.1)
        .map(|round| round.iter().map(|(id, _)| *id).collect())
        .collect();
    assert!(
        rounds.windows(2).any(|pair| pair[0] != pair[1]),
        "shuffled anew"
    );
    for round in &rounds {
        let mut sorted = round.clone();
        sorted.sort();
        assert_eq!(sorted, (0..5).map(CaseId).collect::<Vec<_>>());
    }
}

#[test]
fn sequential_order_finishes_a_case_in_its_part_of_the_time_before_the_next() {
    let settings = Settings {
        order: Order::Sequential,
        time_limit: Some(Duration::from_secs(4)),
        ..precision("0.0001%", None)
    };
    let cases = ["ed25519", "rsa2048", "nistp256", "cv25519"].map(case);
    let (measured, log) = run(&plan(&cases, settings), jittery);
    assert!(log.blocks().is_sorted_by_key(|(id, _)| *id));
    for record in &measured.cases {
        assert_eq!(stopped(record), Stopped::OutOfTime);
        let (first, last) = (record.samples().next(), record.samples().last());
        let span = last.unwrap().end.since(first.unwrap().start);
        assert!((900..1_100).contains(&span.as_millis()), "{span:?}");
    }
}

#[test]
fn a_failing_case_ends_with_its_reason_and_the_others_go_on() {
    let cases = ["ed25519", "rsa2048", "nistp256"].map(case);
    let (measured, _) = run(&plan(&cases, runs(30)), |case| {
        let last = match case.algorithm.name() {
            "rsa2048" => ScriptedStep::Fail(MS),
            "nistp256" => ScriptedStep::Wrong(MS),
            _ => ScriptedStep::Take(MS),
        };
        // Three operations warm up, then each counted one is led in by one that is not: the
        // thirteenth counts.
        then(12, &[last])
    });
    let [fine, failed, wrong] = &measured.cases[..] else {
        panic!()
    };
    assert_eq!(
        (stopped(fine), fine.samples().count()),
        (Stopped::RuleMet, 30)
    );
    assert_eq!(stopped(failed), Stopped::Failed);
    assert_eq!(failed.failure(), Some("FAKE failed: scripted failure"));
    assert_eq!(
        (failed.failed(), failed.samples().last().unwrap().outcome),
        (1, Outcome::Failed)
    );
    assert!(
        !failed.latencies().is_empty(),
        "what was measured before is kept"
    );
    assert_eq!(wrong.failure(), Some("scripted wrong result"));
    assert_eq!(wrong.samples().last().unwrap().outcome, Outcome::Wrong);
    assert_eq!(
        wrong.latencies().durations().len() + 1,
        wrong.samples().count(),
        "a wrong result is no measurement"
    );
}

/// Three operations warm up; each of the workers leads a block in with one.
#[test]
fn one_reason_is_enough_whenever_several_workers_fail() {
    for (operations, others, reason) in [
        (1, ScriptedStep::Fail(MS), "FAKE failed: scripted failure"),
        (5, ScriptedStep::Fail(MS), "FAKE failed: scripted failure"),
        (30, ScriptedStep::Wrong(MS), "scripted wrong result"),
    ] {
        let script = move |_: &Case| then(operations, &[others; 4]);
        let (measured, log) = run(&plan(&[by_four("ed25519")], runs(100)), script);
        let record = &measured.cases[0];
        assert_eq!(record.failure(), Some(reason));
        assert!((1..=4).contains(&record.failed()), "{}", record.failed());
        assert_eq!(log.finished().len(), 1);
    }
}

#[test]
fn a_case_that_fails_while_a_block_is_led_in_has_failed_without_a_sample() {
    let (measured, _) = run(&plan(&[case("ed25519")], runs(20)), |_| {
        then(3, &[ScriptedStep::Fail(MS)])
    });
    let record = &measured.cases[0];
    assert_eq!(record.failure(), Some("FAKE failed: scripted failure"));
    assert_eq!((record.samples().count(), record.failed()), (0, 1));
}

#[test]
fn a_case_that_cannot_be_made_ready_is_ended_with_the_reason() {
    let cases = [
        case("ed25519"),
        case("rsa2048"),
        // No such stack is there.
        fake::case("nistp256").stack(StackName::AGENT).build(),
        case("cv25519"),
    ];
    let (measured, log) = run(&plan(&cases, runs(5)), |case| match case.algorithm.name() {
        "rsa2048" => Script::Unprepared("no such key".to_owned()),
        "cv25519" => Script::Steps(vec![ScriptedStep::Wrong(MS)]),
        _ => steady(case),
    });
    assert_eq!(stopped(&measured.cases[0]), Stopped::RuleMet);
    let failures = measured.cases.iter().map(|case| case.failure());
    assert_eq!(
        failures.collect::<Vec<_>>(),
        [
            None,
            Some("prepare failed: no such key"),
            Some("fake through agent has no decrypt with nistp256"),
            Some("scripted wrong result"),
        ]
    );
    assert!(log.0.contains(&Told::Measuring(1)));
    assert_eq!(log.finished().len(), 4);
}

#[test]
fn an_interrupted_run_keeps_what_it_has() {
    for (order, counts) in [(Order::Interleaved, 2), (Order::Sequential, 1)] {
        let interrupt = AtomicBool::new(false);
        let mut observer = Interrupting::after(5, &interrupt);
        let settings = Settings {
            order,
            ..runs(1000)
        };
        let plan = plan(&[case("ed25519"), case("rsa2048")], settings);
        let measured = drive(&plan, steady, &interrupt, &mut observer);
        assert!(measured.interrupted);
        let cases = measured.cases.iter();
        let with_samples = cases.filter(|record| record.samples().count() > 0);
        assert_eq!(with_samples.count(), counts);
        for record in &measured.cases {
            assert_eq!(stopped(record), Stopped::Interrupted);
        }
        assert_eq!(observer.blocks, 5, "nothing is measured afterwards");
    }
}

#[test]
fn what_ctrl_c_broke_off_while_it_was_made_ready_has_not_failed() {
    let interrupt = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&interrupt);
    let script = move |case: &Case| match case.algorithm.name() {
        "rsa2048" => {
            flag.store(true, Ordering::Relaxed);
            Script::Unprepared("gpg was ended by Ctrl-C".to_owned())
        }
        _ => steady(case),
    };
    let plan = plan(&["ed25519", "rsa2048", "nistp256"].map(case), runs(10));
    let mut listener = Listener::default();
    let measured = drive(&plan, script, &interrupt, &mut listener);
    assert!(measured.interrupted);
    for record in &measured.cases {
        assert_eq!(stopped(record), Stopped::Interrupted);
        assert_eq!((record.failure(), record.failed()), (None, 0));
    }
    let begun = listener.0.contains(&Told::Preparing(CaseId(2)));
    assert!(!begun, "nothing new is begun");
}

#[test]
fn an_operation_that_writes_nothing_does_not_pass_by_the_last_blocks_result() {
    // The warm-up, a block that is right, and from then on nothing.
    let script = |_: &Case| {
        let right = vec![ScriptedStep::Take(MS * 200); 4];
        Script::Steps([right, vec![ScriptedStep::Nothing(MS * 200); 100]].concat())
    };
    let (measured, _) = run(&plan(&[case("ed25519")], runs(50)), script);
    let record = &measured.cases[0];
    assert_eq!(stopped(record), Stopped::Failed);
    assert_eq!(record.failure(), Some("scripted wrong result"));
}

#[test]
fn a_worker_that_panics_does_not_leave_the_others_waiting() {
    let script = |_: &Case| then(0, &[ScriptedStep::Panic]);
    let plan = plan(&[by_four("ed25519")], runs(50));
    let ended = std::panic::catch_unwind(|| run(&plan, script));
    assert!(ended.is_err(), "the panic comes through");
}
