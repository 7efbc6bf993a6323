//! The choice among keys.

use keymark_bench::record::CaseRecord;
use keymark_testkit::assert_says;
use keymark_testkit::record::failed;
use proptest::prelude::*;

use super::{
    Analysis, Case, Finding, GNUPG, KeyChoice, LEAST, Operation, Seconds, Verdict, block, case, run,
};

/// Durations of that number of microseconds, give or take that share.
fn took(case: Case, microseconds: u64, spread: f64) -> CaseRecord {
    let latency = |at: u64| {
        let share = spread * ((at * 7 % 12) as f64 / 6.0 - 1.0);
        (microseconds as f64 * 1000.0 * (1.0 + share)) as u64
    };
    let blocks = (0..12).map(|round| {
        let at = u64::from(round);
        block(round, &[latency(at), latency(at + 5), latency(at + 9)])
    });
    CaseRecord {
        blocks: blocks.collect(),
        ..CaseRecord::new(case)
    }
}

fn signs(algorithm: &str, microseconds: u64) -> CaseRecord {
    let case = Case {
        operation: Operation::Sign,
        ..case(algorithm, GNUPG)
    };
    took(case, microseconds, 0.02)
}

fn verdict(cases: Vec<CaseRecord>) -> Verdict {
    let record = run(cases);
    Verdict::of(&Analysis::of(&record, &[]), &record)
}

/// The only choice.
fn choice(cases: Vec<CaseRecord>) -> KeyChoice {
    let Finding::Keys { choices } = verdict(cases).finding else {
        panic!("no choice of keys");
    };
    choices.into_iter().next().unwrap()
}

fn chosen(cases: Vec<CaseRecord>) -> Option<String> {
    let chosen = choice(cases).chosen?;
    Some(chosen.algorithm.to_string())
}

#[test]
fn the_fastest_of_the_strong_keys_is_chosen_and_never_a_weak_one() {
    let keys = vec![
        signs("rsa2048", 1000),
        signs("nistp256", 7000),
        signs("rsa4096", 20_000),
    ];
    assert_eq!(chosen(keys.clone()).as_deref(), Some("nistp256"));
    let choice = choice(keys);
    assert_eq!(choice.weak[0].algorithm.to_string(), "rsa2048");
    let slower = &choice.slower[0];
    assert_eq!(slower.evidence.algorithm.to_string(), "rsa4096");
    assert!((slower.times.value.0 - 20.0 / 7.0).abs() < 0.05);
    assert_eq!(
        chosen(vec![signs("rsa1024", 10), signs("rsa2048", 20)]),
        None
    );
}

#[test]
fn of_keys_that_do_not_differ_the_strongest_is_chosen() {
    let equal = vec![signs("ed25519", 5000), signs("ed448", 5010)];
    assert_eq!(chosen(equal).as_deref(), Some("ed448"));
    let slower = vec![signs("ed25519", 5000), signs("ed448", 9000)];
    assert_eq!(chosen(slower).as_deref(), Some("ed25519"));
    let as_strong = choice(vec![signs("nistp256", 5010), signs("ed25519", 5000)]);
    assert_eq!(as_strong.chosen.unwrap().algorithm.to_string(), "ed25519");
    assert_eq!(as_strong.alike[0].algorithm.to_string(), "nistp256");
}

#[test]
fn what_failed_or_varies_without_bound_is_not_chosen() {
    let sign = |algorithm| Case {
        operation: Operation::Sign,
        ..case(algorithm, GNUPG)
    };
    let cases = vec![
        failed(sign("ed25519"), "no key"),
        signs("nistp256", 9000),
        signs("rsa3072", 12_000),
    ];
    assert_eq!(chosen(cases).as_deref(), Some("nistp256"));
    let wild = |algorithm, time| took(sign(algorithm), time, 1.0);
    let mut cases = vec![wild("ed25519", 5000), wild("nistp256", 6000)];
    for case in &mut cases {
        case.blocks.truncate(3);
    }
    assert_says(&verdict(cases).headline(), ["No recommendation"]);
}

/// A wide figure far below all others is faster by its interval; a wide one that overlaps them claims nothing.
#[test]
fn a_key_that_the_intervals_beat_is_not_chosen() {
    let key = |name: &str, milliseconds: [f64; 3]| {
        let [low, value, high] = milliseconds.map(|time| Seconds(time / 1000.0));
        let Finding::Single { mut evidence } = verdict(vec![signs(name, 1000)]).finding else {
            panic!("no single operation");
        };
        let mean = &mut evidence.mean;
        (mean.low, mean.value, mean.high) = (Some(low), value, Some(high));
        evidence
    };
    let rsa = key("rsa4096", [19.9, 20.0, 20.1]);
    let best = |wide: [f64; 3]| {
        let keys = [key("ed25519", wide), rsa.clone()];
        crate::verdict::keys::best(&keys)
            .unwrap()
            .algorithm
            .to_string()
    };
    assert_eq!(best([0.1, 0.5, 0.9]), "ed25519");
    assert_eq!(best([4.0, 19.5, 40.0]), "rsa4096");
}

proptest! {
    /// No recommended key is weak, and no strong key that differs by the intervals is faster.
    #[test]
    fn a_choice_is_strong_and_not_beaten(times in proptest::collection::vec(1_000_u64..50_000, 5)) {
        let names = ["rsa2048", "rsa3072", "ed25519", "nistp384", "brainpoolp512r1"];
        let cases = names.iter().zip(times).map(|(name, time)| signs(name, time)).collect();
        let choice = choice(cases);
        let chosen = choice.chosen.unwrap();
        prop_assert!(chosen.strength().unwrap() >= LEAST);
        for other in choice.alike.iter().chain(choice.slower.iter().map(|slower| &slower.evidence)) {
            let is_faster = other.mean.is_below(&chosen.mean);
            prop_assert!(!is_faster, "{} beats {}", other.algorithm, chosen.algorithm);
        }
        for slower in &choice.slower {
            prop_assert!(chosen.mean.is_below(&slower.evidence.mean));
        }
        for alike in &choice.alike {
            prop_assert!(!chosen.mean.is_below(&alike.mean));
        }
    }
}
