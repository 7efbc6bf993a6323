//! What workers do around their operations: enter and leave, and think.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use keymark_testkit::fake;

use super::setup::{MS, by_four, case, drive, drive_on, plan, runs, scripted, steady};

#[test]
fn handles_are_entered_for_their_blocks_only() {
    let (clock, stack) = scripted(steady);
    let plan = plan(&[by_four("ed25519"), case("rsa2048")], runs(40));
    let interrupt = AtomicBool::new(false);
    let measured = drive_on(&stack, clock.as_ref(), &plan, &interrupt, &mut ());
    assert!(measured.cases.iter().all(|case| case.failure().is_none()));
    let (now, most) = stack.entered();
    assert_eq!(now, 0, "who enters leaves");
    assert!((1..=4).contains(&most), "of one case at a time: {most}");
    assert!(stack.times_entered() > 8, "anew for each block");
}

#[test]
fn users_think_before_each_operation_and_that_is_no_latency() {
    let longest = MS * 10;
    let thinking = fake::case("ed25519").think(longest).build();
    let interrupt = AtomicBool::new(false);
    let measured = drive(&plan(&[thinking], runs(200)), steady, &interrupt, &mut ());
    let samples: Vec<_> = measured.cases[0].samples().collect();
    assert_eq!(samples.len(), 200);
    assert!(samples.iter().all(|sample| sample.latency() == MS));
    // Between two samples of a block there is one pause.
    let pauses: Vec<Duration> = measured.cases[0]
        .blocks
        .iter()
        .flat_map(|block| block.samples.windows(2))
        .map(|pair| pair[1].start.since(pair[0].end))
        .collect();
    assert!(pauses.len() > 100, "{}", pauses.len());
    assert!(pauses.iter().all(|pause| *pause < longest));
    let mean = pauses.iter().sum::<Duration>() / u32::try_from(pauses.len()).unwrap();
    // Standard deviation of the mean: 10 ms/√12/√100 = 0.3 ms.
    assert!(mean.abs_diff(MS * 5) < MS * 5 / 4, "{mean:?}");
}
