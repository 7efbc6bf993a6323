//! Open loops against what queueing theory says of them: M/D/1 on a clock that only the fake moves.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use keymark_bench::case::Case;
use keymark_bench::record::CaseRecord;
use keymark_bench::stop::Stopped;
use keymark_testkit::fake;

use super::setup::{MS, case, drive, jittery, plan, precision, runs, steady, stopped};

/// Arrivals at that rate; every operation takes a millisecond. Another case is measured between the blocks.
fn record(rate: &str, number: u32) -> CaseRecord {
    let open: Case = fake::case("ed25519").rate(rate).build();
    let plan = plan(&[open, case("rsa2048")], runs(number));
    let mut measured = drive(&plan, steady, &AtomicBool::new(false), &mut ());
    measured.cases.remove(0)
}

/// Of all blocks, in nanoseconds.
fn watched(record: &CaseRecord) -> u64 {
    let blocks = record.blocks.iter();
    blocks.map(|block| block.queue.unwrap().length_ns).sum()
}

fn mean_latency(record: &CaseRecord) -> Duration {
    let latencies = record.samples().map(|sample| sample.latency());
    let number = u32::try_from(record.samples().count()).unwrap();
    latencies.sum::<Duration>() / number
}

#[test]
fn latency_is_what_pollaczek_and_khinchine_say() {
    for (rate, utilisation) in [("500/s", 0.5), ("800/s", 0.8)] {
        let record = record(rate, 100_000);
        // W = S + ρS/2(1−ρ) for a constant service time S (Kleinrock, Queueing Systems I, 1975, eq. 5.63).
        let expected = 1e-3 * (1.0 + utilisation / (2.0 * (1.0 - utilisation)));
        let seen = mean_latency(&record).as_secs_f64();
        assert!(
            (seen / expected - 1.0).abs() < 0.05,
            "ρ = {utilisation}: {seen} s for {expected} s"
        );
        let watched = watched(&record);
        let served = record.samples().count() as f64 / (watched as f64 / 1e9);
        assert!(
            (served / (utilisation * 1e3) - 1.0).abs() < 0.02,
            "{served}/s"
        );
    }
}

#[test]
fn a_queue_that_grows_is_seen_to_grow() {
    // 25 % more arrives than is served.
    let record = record("1250/s", 20_000);
    let waiting: Vec<u64> = record
        .blocks
        .iter()
        .map(|block| block.queue.unwrap().waiting)
        .collect();
    let (first, last) = (waiting[0], waiting[waiting.len() - 1]);
    // 20 s of service, in which a quarter as many again arrives.
    assert!(last > first + 3_000, "{first} to {last}");
    let ends: Vec<_> = record.samples().map(|sample| sample.latency()).collect();
    assert!(ends[ends.len() - 1] > MS * 3_000);
}

#[test]
fn a_time_limit_is_kept_whatever_arrives() {
    let limit = Duration::from_secs(20);
    let open = fake::case("ed25519").rate("2/s").build();
    let settings = precision("0.01%", Some(limit));
    let plan = plan(&[open], settings);
    let measured = drive(&plan, jittery, &AtomicBool::new(false), &mut ());
    let record = &measured.cases[0];
    assert_eq!(stopped(record), Stopped::OutOfTime);
    let watched = watched(record);
    let watched = Duration::from_nanos(watched);
    assert!(watched >= limit / 2, "{watched:?}");
    let measuring = measured.spent.measuring;
    assert!(measuring <= limit + Duration::from_secs(1), "{measuring:?}");
}

#[test]
fn blocks_without_an_arrival_count_with_their_time() {
    // One in two blocks of half a second has none.
    let record = record("1.4/s", 300);
    assert!(record.blocks.iter().any(|block| block.samples.is_empty()));
    let watched = watched(&record);
    let rate = record.samples().count() as f64 / (watched as f64 / 1e9);
    // Standard deviation of 300 arrivals: 6 %.
    assert!((rate / 1.4 - 1.0).abs() < 0.18, "{rate}/s");
}
