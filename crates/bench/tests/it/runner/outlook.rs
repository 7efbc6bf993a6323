//! Forecasts of a run come true.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use keymark_bench::case::{Case, CaseId};
use keymark_bench::clock::{Clock, Harness, ManualClock};
use keymark_bench::outlook::{Outlook, View};
use keymark_bench::plan::{Plan, Settings};
use keymark_bench::record::CaseRecord;
use keymark_bench::runner::Observer;
use keymark_bench::sample::Block;
use keymark_testkit::fake::Script;

use super::setup::{MS, case, drive_on, jittery, plan, precision, runs, scripted, takes};

/// Looks after every report, and a while later.
struct Watching {
    clock: Arc<ManualClock>,
    outlook: Outlook,
    seen: Vec<View>,
    /// Shortest and longest operation.
    bounds: Option<(Duration, Duration)>,
}

impl Watching {
    fn look(&mut self) {
        self.seen.push(self.outlook.at(self.clock.now()));
    }
}

impl Observer for Watching {
    fn preparing(&mut self, id: CaseId, _: &Case) {
        // A key takes half a second.
        self.clock.advance(500 * MS);
        self.outlook.prepare(id, self.clock.now());
        self.look();
    }
    fn measuring(&mut self, _: &Harness, _: usize) {
        self.outlook.measure(self.clock.now());
        self.look();
    }
    fn block(&mut self, id: CaseId, block: &Block) {
        self.outlook.add(id, block, self.clock.now());
        let (case, mean) = self.outlook.estimate().expect("a block was measured");
        assert_eq!(case, id);
        for latency in block.done().map(keymark_bench::Sample::latency) {
            let (least, most) = self.bounds.unwrap_or((latency, latency));
            self.bounds = Some((least.min(latency), most.max(latency)));
        }
        let (least, most) = self.bounds.expect("a block has operations");
        assert!(
            least <= mean && mean <= most,
            "{mean:?} of {least:?} to {most:?}"
        );
        self.look();
    }
    fn finished(&mut self, id: CaseId, _: &CaseRecord) {
        self.outlook.finish(id, self.clock.now());
        self.look();
    }
}

/// Runs a plan whose operations were expected to take that long and are checked for some time, and returns its views.
fn watched(
    plan: &Plan,
    script: fn(&Case) -> Script,
    expected: Duration,
    check: Duration,
) -> Vec<View> {
    let (clock, stack) = scripted(script);
    let stack = stack.checking(check);
    let mut watching = Watching {
        outlook: Outlook::new(plan, &|_| expected, clock.now()),
        clock: Arc::clone(&clock),
        seen: Vec::new(),
        bounds: None,
    };
    let interrupt = AtomicBool::new(false);
    drive_on(&stack, clock.as_ref(), plan, &interrupt, &mut watching);
    watching.seen
}

fn four(settings: Settings) -> Plan {
    plan(
        &["ed25519", "rsa2048", "rsa3072", "rsa4096"].map(case),
        settings,
    )
}

fn slow(_: &Case) -> Script {
    takes([200 * MS])
}

/// How long it was to take in all, by what was seen at each moment.
fn totals(seen: &[View]) -> impl Iterator<Item = f64> {
    let all = seen
        .iter()
        .map(|view| view.elapsed + view.left.unwrap_or_default());
    all.map(|all| all.as_secs_f64())
}

#[test]
fn what_was_expected_comes_to_pass() {
    let seen = watched(&four(runs(50)), slow, 200 * MS, Duration::ZERO);
    let took = seen.last().unwrap().elapsed.as_secs_f64();
    for total in totals(&seen) {
        assert!((total / took - 1.0).abs() < 0.1, "{total} of {took}");
    }
    let shares: Vec<f64> = seen.iter().map(View::share).collect();
    assert!(
        shares.windows(2).all(|pair| pair[1] >= pair[0] - 0.02),
        "{shares:?}"
    );
    assert!(
        shares[0] < 0.05 && *shares.last().unwrap() > 0.98,
        "{shares:?}"
    );
}

#[test]
fn what_takes_ten_times_as_long_is_found_out_on_the_way() {
    let seen = watched(&four(runs(50)), slow, 20 * MS, Duration::ZERO);
    let took = seen.last().unwrap().elapsed.as_secs_f64();
    let half = seen
        .iter()
        .position(|view| view.elapsed.as_secs_f64() > took / 2.0);
    for total in totals(&seen[half.unwrap()..]) {
        assert!(
            total > 0.6 * took && total < 1.1 * took,
            "{total} of {took}"
        );
    }
}

#[test]
fn a_limit_bounds_what_is_left() {
    let settings = Settings {
        time_limit: Some(Duration::from_secs(20)),
        ..precision("0.01%", None)
    };
    let seen = watched(&four(settings), jittery, MS, Duration::ZERO);
    // Preparing takes half a second of each, and is over before a quarter of it all is.
    for total in totals(&seen) {
        assert!((21.0..24.5).contains(&total), "{total}");
    }
}

/// The bar is not at its end while a tenth of the time is left.
#[test]
fn checks_that_take_as_long_as_measuring_are_part_of_what_is_left() {
    let settings = Settings {
        time_limit: Some(Duration::from_secs(20)),
        ..precision("0.01%", None)
    };
    let seen = watched(&four(settings), slow, 200 * MS, 200 * MS);
    let took = seen.last().unwrap().elapsed.as_secs_f64();
    assert!(took > 35.0, "{took}");
    for view in &seen {
        let done = view.elapsed.as_secs_f64() / took;
        assert!(view.share() < 0.9 || done > 0.85, "{view:?} of {took}");
        assert!(view.left.is_some(), "{view:?}");
    }
}

#[test]
fn nothing_is_said_of_what_is_overdue() {
    let plan = four(runs(1));
    let clock = ManualClock::default();
    let outlook = Outlook::new(&plan, &|_| MS, clock.now());
    let expected = outlook.at(clock.now()).left.unwrap();
    clock.advance(expected * 3);
    let view = outlook.at(clock.now());
    assert!(view.left.is_none() && view.share() < 1.0, "{view:?}");
}
