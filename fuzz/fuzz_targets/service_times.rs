//! Mixtures of service times with any weights, and what operations meet at a token that takes them.

#![no_main]

use keymark_stats::{Demand, Distribution, PerSecond, Queue, Seconds, ServiceTimes};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let number = |octets: &[u8]| octets.try_into().map_or(f64::NAN, f64::from_be_bytes);
    let parts = data.chunks(16).take(8).map(|part| {
        let (time, weight) = part.split_at(part.len() / 2);
        (Seconds(number(time)), number(weight))
    });
    let parts: Vec<(Seconds, f64)> = parts.collect();
    let Some(times) = ServiceTimes::mixture(parts.iter().copied()) else {
        return;
    };
    let drawn = parts.iter().filter(|(_, weight)| *weight > 0.0);
    let drawn: Vec<f64> = drawn.map(|(time, _)| time.0).collect();
    for share in [0.0, 0.5, 0.99, 1.0] {
        assert!(drawn.contains(&times.level(share).0));
    }
    // Beyond what the command line takes, sums have no bound.
    if times.are_too_rare() || drawn.iter().any(|time| !(1e-9..=1e6).contains(time)) {
        return;
    }
    let (least, most) = drawn.iter().fold((f64::MAX, 0.0_f64), |(least, most), time| {
        (least.min(*time), most.max(*time))
    });
    let mean = times.mean().0;
    assert!(least * 0.999 <= mean && mean <= most * 1.001, "{least} {mean} {most}");
    let queue = Queue {
        times: &times,
        demand: Demand::Arrivals(PerSecond(0.01 / mean)),
        tokens: 1,
        distribution: Distribution::Shared,
        seed: 1,
    };
    let found = queue.response(None).expect("a token that is idle nearly always");
    let p99 = found.p99;
    assert!(p99.low.is_none_or(|low| 0.0 < low.0 && low <= p99.value), "{p99:?}");
    assert!(p99.high.is_none_or(|high| p99.value <= high), "{p99:?}");
});
