//! The runner's finer rules: what counts, when a case stops, who is told what.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use keymark_bench::case::CaseId;
use keymark_bench::clock::{Clock, Harness, Timestamp};
use keymark_bench::plan::Settings;
use keymark_bench::record::CaseRecord;
use keymark_bench::runner::{Observer, Runner, Stacks};
use keymark_bench::sample::{Block, Sample};
use keymark_bench::stop::Stopped;

use super::setup::{
    Listener, MS, Told, case, drive, plan, precision, run, runs, steady, stopped, takes,
};

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
    let (measured, _) = run(&plan(&[case("ed25519")], settings), |_| {
        // Five warm up, and a sixth shows what an operation costs.
        let pairs = [MS * 7, MS * 2].repeat(20);
        takes([vec![MS * 9; 6], pairs].concat())
    });
    assert_eq!(latencies(&measured.cases[0]), [MS * 2; 20]);
}

#[test]
fn long_operations_are_not_led_in() {
    let counted = || (1..=20).map(|i| MS * (20 + i));
    let (measured, _) = run(&plan(&[case("ed25519")], runs(20)), move |_| {
        takes([MS * 20; 3].into_iter().chain(counted()))
    });
    assert_eq!(latencies(&measured.cases[0]), counted().collect::<Vec<_>>());
}

#[test]
fn latencies_that_never_differ_take_no_more_blocks_than_must_be() {
    let (measured, _) = run(&plan(&[case("ed25519")], precision("1%", None)), steady);
    let record = &measured.cases[0];
    assert_eq!(stopped(record), Stopped::RuleMet);
    // Two seconds are watched: the last block alone reaches beyond them.
    let ends = |block: &Block| block.samples.last().map(|sample| sample.end);
    let begun = record.blocks[0].samples[0].start;
    let watched = |blocks: &[Block]| blocks.last().and_then(ends).unwrap().since(begun);
    let (last, before) = record.blocks.split_last().unwrap();
    assert!(before.len() >= 20, "{}", before.len());
    assert!(watched(before) < Duration::from_secs(2));
    assert!(ends(last).unwrap().since(begun) >= Duration::from_secs(2));
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
        let mut blocks = first.blocks();
        blocks.retain(|(of, _)| *of == CaseId(id));
        let blocks: Vec<Block> = blocks.into_iter().map(|(_, block)| block.clone()).collect();
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
    let measured = runner.run(&plan(&[], runs(1)), &Stacks::new(), &mut ());
    let Harness {
        clock_resolution_ns,
        clock_reading_ns,
        loop_ns,
    } = measured.harness;
    assert_eq!((clock_resolution_ns, clock_reading_ns), (10, 10));
    assert_eq!(loop_ns, 9, "1999 gaps of 10 ns between 2000 samples");
}
