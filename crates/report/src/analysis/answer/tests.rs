use keymark_bench::case::{Pacing, StackName};
use keymark_bench::record::{CaseRecord, RunId};
use keymark_bench::series::{InSeries, SeriesId};
use keymark_testkit::{assert_says, assert_silent};

use super::*;
use keymark_testkit::record::{block, case, failed, mixed as record, published};

fn on(device: &str, provenance: Provenance, algorithm: &str, stack: StackName) -> Case {
    let store = match device {
        "software" => StoreKind::SOFTWARE,
        _ => StoreKind::of("pkcs11"),
    };
    Case {
        device: DeviceName::new(device),
        store,
        provenance,
        ..case(algorithm, stack)
    }
}

/// Blocks of about so many microseconds.
fn measured(case: Case, microseconds: u64) -> CaseRecord {
    let latencies = |round: u64| {
        let each = (0..10).map(|i| microseconds * 1_000 + (i * 7 + round * 3) % 11);
        each.collect::<Vec<u64>>()
    };
    CaseRecord {
        blocks: (0..30)
            .map(|round| block(round, &latencies(u64::from(round))))
            .collect(),
        ..CaseRecord::new(case)
    }
}

fn run(cases: Vec<CaseRecord>) -> Record {
    let mut run = record("20260101-000000-0001");
    run.plan.cases = cases.iter().map(|case| case.case.clone()).collect();
    run.cases = cases;
    run
}

fn answer(cases: Vec<CaseRecord>) -> Vec<String> {
    let run = run(cases);
    Analysis::of(&run, &[]).answer(&run, 0)
}

const GONE: &str = "the card is gone";
const HERE: Provenance = Provenance::Measured;

#[test]
fn devices_are_compared_where_they_do_the_same() {
    let raw = StackName::RAW;
    let said = answer(vec![
        measured(on("software", HERE, "rsa2048", raw), 500),
        measured(on("software", HERE, "ed25519", raw), 50),
        measured(
            on("twin:fst-01", Provenance::Twin, "rsa2048", raw),
            1_000_000,
        ),
        measured(on("twin:fst-01", Provenance::Twin, "ed25519", raw), 100),
        measured(
            on("twin:fst-01", Provenance::Twin, "rsa4096", raw),
            8_000_000,
        ),
        // Another way is another thing.
        measured(
            on("fake", Provenance::Virtual, "rsa2048", StackName::GNUPG),
            1,
        ),
    ]);
    assert_eq!(
        said[0],
        "software is the fastest device for each of the 2 operations that several devices performed."
    );
    assert_eq!(
        said[1],
        "Against the CPU, twin:fst-01 takes 2.00 to 2000 times as long; over the 2 s that users tolerate: \
         rsa4096 decrypt twin:fst-01 raw (8.00 s)."
    );
    assert!(
        said[2].starts_with("How certain: of 6 means 2 measured, 1 virtual, 3 twin; "),
        "{}",
        said[2]
    );
    assert_says(&said[2], ["one run"]);
    assert_eq!(said.len(), 3);
}

#[test]
fn what_is_not_told_apart_has_no_winner() {
    let raw = StackName::RAW;
    let said = answer(vec![
        measured(on("software", HERE, "rsa2048", raw), 500),
        measured(on("hsm", HERE, "rsa2048", raw), 500),
        measured(on("software", HERE, "ed25519", raw), 90),
        measured(on("hsm", HERE, "ed25519", raw), 80),
    ]);
    assert_eq!(
        said[0],
        "The fastest device is hsm for ed25519 sign; for rsa2048 decrypt the two fastest are not distinguishable."
    );
    assert_says(&said[1], ["hsm takes 0.889 to 1.00 times as long"]);
}

#[test]
fn one_device_has_its_fastest_and_slowest_operation() {
    let said = answer(vec![
        measured(on("software", HERE, "rsa2048", StackName::RAW), 500),
        measured(on("software", HERE, "ed25519", StackName::RAW), 50),
    ]);
    assert_eq!(
        said[0],
        "No operation was measured on two devices; the fastest is ed25519 sign software raw at 50.0 µs, the \
         slowest rsa2048 decrypt software raw at 500 µs."
    );
    assert_eq!(
        said[1],
        "Only the CPU was measured; no operation takes longer than the 2 s that users tolerate."
    );
}

#[test]
fn without_figures_that_is_the_answer() {
    assert_eq!(
        answer(Vec::new()),
        ["This run has no case, and so no answer."]
    );
    let nothing = CaseRecord::new(case("rsa2048", StackName::RAW));
    assert_eq!(
        answer(vec![nothing]),
        ["This run has no figure: nothing measured in 1 case."]
    );
    let failures = ["rsa2048", "rsa4096"].map(|name| failed(case(name, StackName::RAW), GONE));
    assert_eq!(
        answer(failures.into()),
        ["This run has no figure: 2 of 2 cases failed."]
    );
}

#[test]
fn a_single_sample_is_not_bounded_and_not_judged() {
    let only = CaseRecord {
        blocks: vec![block(0, &[3_000_000_000])],
        ..CaseRecord::new(case("rsa2048", StackName::RAW))
    };
    let said = answer(vec![only, failed(case("rsa4096", StackName::RAW), GONE)]);
    assert!(
        said[0].starts_with("One operation was measured without load"),
        "{}",
        said[0]
    );
    assert!(
        said[1].ends_with("too little is known of 1 case to say."),
        "{}",
        said[1]
    );
    assert_says(
        &said[2],
        ["no mean is bounded on both sides", "1 of 2 cases failed"],
    );
}

#[test]
fn published_figures_are_called_that_and_are_no_run() {
    let published = |device: &str, seconds| {
        let gnupg = on(device, Provenance::Published, "rsa2048", StackName::GNUPG);
        let store = StoreKind::REPORTED;
        published(Case { store, ..gnupg }, seconds)
    };
    let said = answer(vec![published("CPU", 0.016), published("FST-01", 1.26)]);
    assert_eq!(
        said[0],
        "CPU (published) is the fastest device for rsa2048 decrypt."
    );
    assert!(
        said[1].starts_with("Against the CPU, FST-01 (published) takes 78.8 times"),
        "{}",
        said[1]
    );
    assert_eq!(said[2], "How certain: all 2 means are published.");
}

#[test]
fn a_series_and_a_run_that_ended_early_are_told() {
    let mut run = run(vec![measured(case("rsa2048", StackName::RAW), 500)]);
    run.series = Some(InSeries {
        id: SeriesId("20260101-000000-0002".to_owned()),
        number: 0,
        runs: 5,
        pause: std::time::Duration::ZERO,
        against: None,
    });
    run.id = RunId("x".to_owned());
    run.state = RunState::Interrupted;
    let said = Analysis::of(&run, &[]).answer(&run, 2);
    assert_says(&said[2], ["the run ended early; 2 warnings at the end"]);
    assert_silent(&said[2], ["one run"]);
}

#[test]
fn many_are_counted() {
    let many: Vec<CaseRecord> = (0..9)
        .map(|i| {
            measured(
                on(&format!("token-{i}"), HERE, "rsa2048", StackName::RAW),
                3_000_000 + i,
            )
        })
        .collect();
    let said = answer(many);
    assert_says(&said[1], ["token-3 raw (3.00 s) and 5 more."]);
}

#[test]
fn an_open_loop_alone_is_no_comparison() {
    let mut open = case("rsa2048", StackName::RAW);
    open.load.pacing = Pacing::Open(50.0.try_into().unwrap());
    let said = answer(vec![measured(open, 500)]);
    assert_eq!(
        said[0],
        "No operation was measured without load; there are 1 figures under load."
    );
}
