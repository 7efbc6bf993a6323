//! Closed and open loops against servers of the tests' own: what is counted, not how quick it is.

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use keymark_bench::clock::MonotonicClock;
use keymark_bench::runner::arrivals::Poisson;
use keymark_bench::server_load::{Durations, LoadLimit};
use keymark_bench::{Load, Pacing};
use keymark_load::{
    Certificate, KeyExchange, LoadProgress, LoadSettings, Measurement, NoSteadyState, Observer,
    Target, TlsVersion, run,
};
use keymark_stats::PerSecond;

use crate::support::{Behaviour, Server, all_well, load, p256, users};

fn target(server: &Server) -> Target {
    server.target(TlsVersion::V1_3, KeyExchange::EcdheP256)
}

fn whole(measured: &Measurement) -> Durations {
    let mut all = Durations::default();
    let seconds = measured.load.seconds.iter();
    seconds.for_each(|second| all.add(&second.whole));
    all
}

/// An open loop, and when its arrivals are due.
fn arrivals(rate: f64, most: u32, seconds: u64) -> (LoadSettings, Vec<Duration>) {
    let open = Load {
        pacing: Pacing::Open(rate.try_into().unwrap()),
        ..Load::single()
    };
    let settings = LoadSettings {
        most_in_flight: NonZeroU32::new(most).unwrap(),
        ..LoadSettings::new(open, Duration::from_secs(seconds))
    };
    let due = Poisson::new(rate, settings.seed, 0).take_while(|due| *due <= settings.duration);
    let due = due.collect();
    (settings, due)
}

#[test]
fn an_open_loop_counts_the_wait_behind_a_stall() {
    const STALL: Duration = Duration::from_millis(600);
    let server = Server::start(&p256(), Behaviour::StallOnce(STALL));
    // Fifty arrivals per second: some thirty are due during the stall, whether there is room for them or one is open at once.
    for most in [100, 1] {
        server.seen.0.store(0, Ordering::Relaxed);
        let (settings, due) = arrivals(50.0, most, 2);
        let measured = load(&target(&server), &settings);
        all_well(&measured);
        let whole = whole(&measured);
        let long = |than: Duration| -> u64 {
            let than = than.as_nanos() as u64;
            let buckets = whole.0.iter().filter(|(took, _)| *took > than);
            buckets.map(|(_, count)| count).sum()
        };
        // Arrivals in the first half of the stall wait for the other half at least, and each of them says so.
        let half = due[0] + STALL / 2;
        let in_half = due.iter().filter(|due| **due < half).count();
        assert!(in_half > 5, "{due:?}");
        let waited = long(STALL / 2);
        assert!(
            waited >= in_half as u64 - 1,
            "{most}: {waited} of {in_half}"
        );
        assert!(long(STALL * 9 / 10) >= 1);
        if most == 1 {
            let half = half.as_nanos() as u64;
            let first = measured
                .load
                .sample
                .iter()
                .filter(|it| it.scheduled_ns < half);
            let late = first.filter(|it| it.start_ns > it.scheduled_ns + 100_000_000);
            assert!(late.count() >= in_half - 2);
        }
    }
}

#[test]
fn a_closed_loop_does_not_see_them() {
    let stall = Duration::from_millis(600);
    let server = Server::start(&p256(), Behaviour::StallOnce(stall));
    let measured = load(&target(&server), &users(1, 1500));
    all_well(&measured);
    let whole = whole(&measured);
    let half = stall.as_nanos() as u64 / 2;
    let long = whole.0.iter().filter(|(took, _)| *took > half);
    // One, and what a busy machine may add.
    assert!((1..4).contains(&long.map(|(_, count)| count).sum::<u64>()));
}

#[test]
fn arrivals_that_never_began_are_told() {
    let server = Server::start(&p256(), Behaviour::Slow(Duration::from_millis(100)));
    let (settings, due) = arrivals(100.0, 2, 1);
    let measured = load(&target(&server), &settings);
    let begun = measured.load.totals.transactions + measured.load.cut_off;
    assert!(measured.failures.is_empty());
    assert_eq!(begun + measured.load.waiting, due.len() as u64);
    assert!(measured.load.waiting > 50);
}

#[test]
fn what_is_counted_agrees_with_itself() {
    let server = Server::start(&p256(), Behaviour::Serve);
    let mut settings = users(4, 2500);
    settings.threads = NonZeroU32::new(2).unwrap();
    settings.sample = 20;
    let measured = load(&target(&server), &settings);
    all_well(&measured);
    let done = measured.load.totals.transactions;
    let seconds: Vec<u64> = measured
        .load
        .seconds
        .iter()
        .map(|second| second.transactions())
        .collect();
    assert_eq!((seconds.len(), seconds.iter().sum()), (3, done));
    for second in &measured.load.seconds {
        for phase in [&second.connect, &second.handshake, &second.first_byte] {
            assert_eq!(phase.count(), second.whole.count());
        }
    }
    let steady = measured.steady().unwrap();
    assert_eq!(steady.stretches, [(1, 2)]);
    let in_batches: u64 = steady.batches.iter().map(|batch| batch.completed).sum();
    assert!((seconds[1] - 1..done).contains(&in_batches), "{steady:?}");
    let off = steady.rate().0 / seconds[1] as f64;
    assert!((0.5..2.0).contains(&off), "{steady:?}");
    assert_eq!(measured.load.sample.len(), 20);
    for one in &measured.load.sample {
        let parts = one.connect_ns + one.handshake_ns + one.first_byte_ns;
        assert!(parts <= one.whole_ns && one.scheduled_ns == one.start_ns);
    }
    let totals = measured.load.totals;
    assert_eq!((totals.transactions, totals.failed), (done, 0));
    let mean = totals.time_ns / done;
    assert!(totals.shortest_ns <= mean && mean <= totals.longest_ns);
    let concurrency = totals.time_ns as f64 / measured.load.elapsed_ns as f64;
    assert!(concurrency <= 4.01);
    assert!(measured.load.client_cpu_ns > 0);
    assert_ne!(measured.limit(), LoadLimit::Unknown);
    assert!(measured.load.cut_off <= 4);
    let record = measured.record(Default::default());
    assert!(record.client.starts_with("openssl 3."), "{}", record.client);
    assert_eq!(record.latencies().len() as u64, seconds[1]);
}

#[test]
fn users_think_between_transactions() {
    let server = Server::start(&p256(), Behaviour::Serve);
    let mut settings = users(10, 1500);
    settings.load.pacing = Pacing::Thinking(Duration::from_millis(200));
    let measured = load(&target(&server), &settings);
    all_well(&measured);
    // No user has more than one transaction in each pause of no length, nor fewer than in pauses of 200 ms and as much for
    // the handshake.
    assert!(
        (30..600).contains(&measured.load.totals.transactions),
        "{}",
        measured.load.totals.transactions
    );
    assert!(measured.settled.is_some());
}

struct Count(u32, LoadProgress);

impl Observer for Count {
    fn progress(&mut self, progress: &LoadProgress) {
        assert!(progress.transactions >= self.1.transactions);
        *self = Self(self.0 + 1, *progress);
    }
}

#[test]
fn it_is_told_how_it_goes_and_stopped_by_a_flag() {
    let server = Server::start(&p256(), Behaviour::Serve);
    let (clock, stop) = (MonotonicClock::new(), AtomicBool::new(false));
    let none = LoadProgress {
        elapsed: Duration::ZERO,
        left: Duration::ZERO,
        transactions: 0,
        failed: 0,
        rate: PerSecond(0.0),
    };
    let mut count = Count(0, none);
    let measured = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(1300));
            stop.store(true, Ordering::Relaxed);
        });
        let settings = users(2, 600_000);
        run(&target(&server), &settings, (&clock, &stop), &mut count).unwrap()
    });
    let elapsed = Duration::from_nanos(measured.load.elapsed_ns);
    assert!(elapsed < Duration::from_secs(60));
    assert!((1..=elapsed.as_millis() / 250).contains(&u128::from(count.0)));
    assert!(count.1.rate.0 > 0.0 && count.1.transactions > 0);
    assert!(count.1.transactions <= measured.load.totals.transactions);
}

#[test]
fn what_cannot_be_done_is_said_before_it_begins() {
    let server = Server::start(&p256(), Behaviour::Serve);
    let (clock, stop) = (MonotonicClock::new(), AtomicBool::new(false));
    let error = |target: &Target, settings: &LoadSettings| {
        let failed = run(target, settings, (&clock, &stop), &mut ());
        failed.unwrap_err().to_string()
    };
    let mut koblitz = server.target(TlsVersion::V1_3, KeyExchange::X25519);
    koblitz.expected.certificate = Certificate::Key("secp256k1".parse().unwrap());
    let lacking = error(&koblitz, &users(1, 1000));
    assert!(
        lacking.contains("does not support certificates with secp256k1"),
        "{lacking}"
    );
    assert!(error(&target(&server), &users(4_000_000_000, 1000)).contains("ulimit"));
    assert!(error(&target(&server), &users(1, 0)).contains("duration"));
    let nowhere =
        Server::start(&p256(), Behaviour::Serve).target(TlsVersion::V1_3, KeyExchange::X448);
    let measured = load(&nowhere, &users(1, 500));
    let none = measured.steady().unwrap_err();
    assert!(matches!(none, NoSteadyState::TooShort { .. }), "{none}");
}
