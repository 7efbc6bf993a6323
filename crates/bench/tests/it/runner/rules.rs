//! The runner's finer rules: what counts, when a case stops, who is told what.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use keymark_bench::case::{Case, CaseId};
use keymark_bench::clock::{Clock, Harness, Timestamp};
use keymark_bench::plan::{Order, Plan, Settings};
use keymark_bench::record::CaseRecord;
use keymark_bench::runner::{Observer, Runner, Stacks};
use keymark_bench::sample::{Block, Outcome, Sample};
use keymark_bench::stop::Stopped;
use keymark_testkit::fake::{self, Script, ScriptedStep};

use super::setup::{
    Interrupting, MS, by_four, case, drive, jittery, plan, precision, runs, steady, stopped,
};

/// Everything an observer is told, in its order.
#[derive(Debug, PartialEq)]
enum Told {
    Preparing(CaseId),
    Measuring(usize),
    Block(CaseId, Block),
    Finished(CaseId, Box<CaseRecord>),
}

#[derive(Debug, Default)]
struct Listener(Vec<Told>);

impl Observer for Listener {
    fn preparing(&mut self, id: CaseId, _: &Case) {
        self.0.push(Told::Preparing(id));
    }
    fn measuring(&mut self, _: &Harness, ready: usize) {
        self.0.push(Told::Measuring(ready));
    }
    fn block(&mut self, id: CaseId, block: &Block) {
        self.0.push(Told::Block(id, block.clone()));
    }
    fn finished(&mut self, id: CaseId, record: &CaseRecord) {
        self.0.push(Told::Finished(id, Box::new(record.clone())));
    }
}

impl Listener {
    fn blocks(&self, wanted: u32) -> Vec<Block> {
        let mut blocks = Vec::new();
        for told in &self.0 {
            if let Told::Block(CaseId(id), block) = told
                && *id == wanted
            {
                blocks.push(block.clone());
            }
        }
        blocks
    }
}

fn run(plan: &Plan, script: impl Fn(&Case) -> Script + Send + Sync + 'static) -> Vec<CaseRecord> {
    drive(
        plan,
        script,
        &AtomicBool::new(false),
        &mut Listener::default(),
    )
    .cases
}

fn latencies(record: &CaseRecord) -> Vec<Duration> {
    record.samples().map(Sample::latency).collect()
}

/// Twenty blocks of one operation, each led in by one that is not counted.
#[test]
fn warm_up_and_lead_in_are_done_and_not_counted() {
    let settings = Settings {
        warmup: 5,
        ..runs(20)
    };
    let records = run(&plan(&[case("ed25519")], settings), |_| {
        // Five warm up, and a sixth shows what an operation costs.
        let warm_up = vec![ScriptedStep::Take(MS * 9); 6];
        let pairs = [ScriptedStep::Take(MS * 7), ScriptedStep::Take(MS * 2)].repeat(20);
        Script::Steps([warm_up, pairs].concat())
    });
    assert_eq!(latencies(&records[0]), [MS * 2; 20]);
}

#[test]
fn long_operations_are_not_led_in() {
    let counted = || (1..=20).map(|i| MS * (20 + i));
    let records = run(&plan(&[case("ed25519")], runs(20)), move |_| {
        let warm_up = [MS * 20; 3].into_iter();
        Script::Steps(warm_up.chain(counted()).map(ScriptedStep::Take).collect())
    });
    assert_eq!(latencies(&records[0]), counted().collect::<Vec<_>>());
}

#[test]
fn latencies_that_never_differ_take_no_more_blocks_than_must_be() {
    let records = run(&plan(&[case("ed25519")], precision("1%", None)), steady);
    assert_eq!(stopped(&records[0]), Stopped::RuleMet);
    // Two seconds are watched: the last block alone reaches beyond them.
    let ends = |block: &Block| block.samples.last().map(|sample| sample.end);
    let begun = records[0].blocks[0].samples[0].start;
    let watched = |blocks: &[Block]| blocks.last().and_then(ends).unwrap().since(begun);
    let (last, before) = records[0].blocks.split_last().unwrap();
    assert!(before.len() >= 20, "{}", before.len());
    assert!(watched(before) < Duration::from_secs(2));
    assert!(ends(last).unwrap().since(begun) >= Duration::from_secs(2));
}

#[test]
fn a_steady_case_stops_while_a_wild_one_goes_on() {
    let limit = Some(Duration::from_secs(20));
    let plan = plan(
        &[case("ed25519"), case("rsa2048")],
        precision("0.5%", limit),
    );
    let records = run(&plan, |case| match case.algorithm.name() {
        "ed25519" => jittery(case),
        // It wanders from block to block, by a factor of nine.
        _ => Script::Steps(
            [
                [ScriptedStep::Take(MS); 200],
                [ScriptedStep::Take(MS * 9); 200],
            ]
            .concat(),
        ),
    });
    assert_eq!(stopped(&records[0]), Stopped::RuleMet);
    assert_eq!(stopped(&records[1]), Stopped::OutOfTime);
    assert!(records[1].blocks.len() > 2 * records[0].blocks.len());
}

#[test]
fn in_sequential_order_each_case_gets_its_part_of_the_plans_time() {
    let settings = Settings {
        order: Order::Sequential,
        time_limit: Some(Duration::from_secs(4)),
        ..precision("0.0001%", None)
    };
    let cases = ["ed25519", "rsa2048", "nistp256", "cv25519"].map(case);
    for record in run(&plan(&cases, settings), jittery) {
        assert_eq!(stopped(&record), Stopped::OutOfTime);
        let (first, last) = (record.samples().next(), record.samples().last());
        let span = last.unwrap().end.since(first.unwrap().start);
        assert!((900..1_100).contains(&span.as_millis()), "{span:?}");
    }
}

#[test]
fn observers_are_told_everything_in_the_order_of_time() {
    let plan = plan(&[case("ed25519"), case("rsa2048")], runs(20));
    let (mut first, mut second) = (Listener::default(), Listener::default());
    let mut both: Vec<&mut dyn Observer> = vec![&mut first, &mut second];
    let measured = drive(&plan, steady, &AtomicBool::new(false), &mut both);
    assert_eq!(first.0, second.0, "every observer is told");

    let told = &first.0;
    assert_eq!(told[..2], [0, 1].map(|id| Told::Preparing(CaseId(id))));
    assert_eq!(told[2], Told::Measuring(2));
    for (id, record) in (0..).zip(&measured.cases) {
        let blocks = first.blocks(id);
        assert_eq!(blocks, record.blocks);
        assert!(blocks.is_sorted_by_key(|block| block.round));
        assert!(blocks.is_sorted_by_key(|block| block.samples[0].start));
        let of = |what: &Told| matches!(what, Told::Block(of, _) if *of == CaseId(id));
        let last = told.iter().rposition(of).unwrap();
        assert_eq!(
            told[last + 1],
            Told::Finished(CaseId(id), Box::new(record.clone())),
            "finished after its last block"
        );
    }
}

#[test]
fn a_case_that_failed_leaves_the_rounds_to_the_others() {
    let plan = plan(&[case("ed25519"), case("rsa2048")], runs(40));
    let mut listener = Listener::default();
    let script = |case: &Case| match case.algorithm.name() {
        // Three warm up; a block is one lead-in and two that count.
        "ed25519" => Script::Steps(
            [
                vec![ScriptedStep::Take(MS); 8],
                vec![ScriptedStep::Fail(MS)],
            ]
            .concat(),
        ),
        _ => steady(case),
    };
    let measured = drive(&plan, script, &AtomicBool::new(false), &mut listener);
    assert_eq!(stopped(&measured.cases[0]), Stopped::Failed);
    assert_eq!(stopped(&measured.cases[1]), Stopped::RuleMet);
    assert_eq!(
        (listener.blocks(0).len(), listener.blocks(1).len()),
        (2, 20)
    );
}

#[test]
fn a_case_that_fails_before_any_sample_of_a_block_still_fails() {
    let plan = plan(&[case("ed25519"), case("rsa2048")], runs(20));
    let records = run(&plan, |case| match case.algorithm.name() {
        // Three warm up; the fourth leads the first block in.
        "ed25519" => Script::Steps(
            [
                vec![ScriptedStep::Take(MS); 3],
                vec![ScriptedStep::Fail(MS)],
            ]
            .concat(),
        ),
        _ => steady(case),
    });
    assert_eq!(records[0].failure(), Some("FAKE failed: scripted failure"));
    assert_eq!((records[0].samples().count(), records[0].failed()), (0, 1));
    assert_eq!(stopped(&records[1]), Stopped::RuleMet);
}

#[test]
fn workers_that_fail_while_leading_in_do_not_hang_the_others() {
    let records = run(&plan(&[by_four("ed25519")], runs(100)), |_| {
        Script::Steps(vec![ScriptedStep::Take(MS), ScriptedStep::Fail(MS)])
    });
    assert_eq!(stopped(&records[0]), Stopped::Failed);
    assert_eq!(records[0].failure(), Some("FAKE failed: scripted failure"));
}

#[test]
fn wrong_results_of_several_workers_end_the_case_once_and_count_as_no_measurement() {
    let plan = plan(&[by_four("ed25519")], runs(100));
    let mut listener = Listener::default();
    let script = |_: &Case| {
        Script::Steps(
            [
                vec![ScriptedStep::Take(MS); 30],
                vec![ScriptedStep::Wrong(MS); 4],
            ]
            .concat(),
        )
    };
    let measured = drive(&plan, script, &AtomicBool::new(false), &mut listener);
    let record = &measured.cases[0];
    assert_eq!(record.failure(), Some("scripted wrong result"));
    let wrong = record
        .samples()
        .filter(|sample| sample.outcome == Outcome::Wrong);
    let wrong = wrong.count();
    assert_eq!(record.failed(), wrong);
    assert_eq!(
        record.latencies().durations().len() + wrong,
        record.samples().count()
    );
    let ends = listener
        .0
        .iter()
        .filter(|told| matches!(told, Told::Finished(..)));
    assert_eq!(ends.count(), 1);
}

#[test]
fn cases_whose_turn_had_not_come_are_interrupted_too() {
    let flag = AtomicBool::new(false);
    let mut observer = Interrupting::after(2, &flag);
    let settings = Settings {
        order: Order::Sequential,
        ..runs(1000)
    };
    let cases = ["ed25519", "rsa2048", "nistp256"].map(case);
    let measured = drive(&plan(&cases, settings), steady, &flag, &mut observer);
    let counts: Vec<usize> = measured.cases.iter().map(|r| r.samples().count()).collect();
    assert!(counts[0] > 0 && counts[1..] == [0, 0], "{counts:?}");
    for record in &measured.cases {
        assert_eq!(stopped(record), Stopped::Interrupted);
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
        let Stopped::Interrupted = stopped(record) else {
            panic!("{record:?}")
        };
        assert_eq!((record.failure(), record.failed()), (None, 0));
    }
    assert!(
        !listener.0.contains(&Told::Preparing(CaseId(2))),
        "nothing new is begun"
    );
}

/// Three seconds of arrivals, for operations that take that number of milliseconds.
fn seconds_of_arrivals(rate: &str, milliseconds: u32) -> CaseRecord {
    let open = fake::case("ed25519").rate(rate).build();
    let limited = precision("0.0001%", Some(MS * 3_000));
    run(&plan(&[open], limited), move |_| {
        // A nanosecond off now and then: what never differs is known at once.
        let take = MS * milliseconds;
        Script::Steps(vec![
            ScriptedStep::Take(take),
            ScriptedStep::Take(take + MS / 100),
        ])
    })
    .remove(0)
}

#[test]
fn latencies_grow_for_as_long_as_arrivals_outpace_the_server() {
    let record = seconds_of_arrivals("100/s", 20);
    let latencies = latencies(&record);
    // Fifty are served a second; the queue fills for a fifth of the time.
    assert!((100..150).contains(&latencies.len()), "{}", latencies.len());
    let (early, late) = (latencies[latencies.len() / 4], *latencies.last().unwrap());
    assert!(late > Duration::from_millis(1_000), "{late:?}");
    assert!(late > early * 3 / 2, "{early:?}, then {late:?}");
    for sample in record.samples() {
        assert!(sample.end.since(sample.start) - MS * 20 <= MS / 100);
    }
}

#[test]
fn arrivals_do_not_depend_on_how_fast_they_are_served() {
    // Between two blocks the clock of the queue stops.
    let gaps = |record: &CaseRecord| -> Vec<Duration> {
        let within = record
            .blocks
            .iter()
            .flat_map(|block| block.samples.windows(2));
        within
            .map(|pair| pair[1].scheduled.since(pair[0].scheduled))
            .collect()
    };
    let (fast, slow) = (
        gaps(&seconds_of_arrivals("100/s", 1)),
        gaps(&seconds_of_arrivals("100/s", 20)),
    );
    // Each meets the same arrivals, in blocks that end elsewhere.
    let met = fast
        .iter()
        .take(40)
        .filter(|gap| slow.contains(gap))
        .count();
    assert!(met >= 25, "{met} of 40");
}

/// Ten nanoseconds pass with every reading.
#[derive(Debug, Default)]
struct Ticking(AtomicU64);

impl Clock for Ticking {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.fetch_add(10, Ordering::Relaxed))
    }
    fn wait_until(&self, _: Timestamp) {}
}

#[test]
fn the_harness_measures_its_clock_and_its_loop() {
    let runner = Runner {
        reference: || (),
        clock: &Ticking::default(),
        interrupt: &AtomicBool::new(false),
    };
    let measured = runner.run(
        &plan(&[], runs(1)),
        &Stacks::new(),
        &mut Listener::default(),
    );
    let Harness {
        clock_resolution_ns,
        clock_reading_ns,
        loop_ns,
    } = measured.harness;
    assert_eq!((clock_resolution_ns, clock_reading_ns), (10, 10));
    assert_eq!(loop_ns, 9, "1999 gaps of 10 ns between 2000 samples");
}
