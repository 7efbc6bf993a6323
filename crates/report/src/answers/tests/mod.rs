//! A record that makes each sentence true, and one that makes it false; wording is in one snapshot (`wording.rs`).

mod published;
mod servers;
mod wording;
mod workers;

use std::num::NonZeroU32;

use keymark_bench::case::{Case, DeviceName, Load, Pacing, Parameters};
use keymark_bench::case::{Provenance, StackName, StoreKind};
use keymark_bench::key_use::{Calculator, OperationAlone};
use keymark_bench::layers::{Comparison, Times};
use keymark_bench::operation::Operation;
use keymark_bench::record::{CaseRecord, Ending, PublishedMean, Record, RunState};
use keymark_bench::series::{InSeries, SeriesId};
use keymark_bench::server_load::{Durations, Saturation, ServerLoad, Steady, Tried, TriedDemand};
use keymark_stats::{Band, Estimate, Method, PerSecond, Ratio, Seconds, UslError};

use super::*;
use crate::analysis::{Bounds, Scaling};
use crate::charts::Axis;
use keymark_testkit::layers::layers;
use keymark_testkit::record::{batch, block, case, mixed as record, server_load};
use keymark_testkit::{assert_says, assert_silent};

const RAW: StackName = StackName::RAW;
const GNUPG: StackName = StackName::GNUPG;

const COMPARISONS: [Comparison; 2] = [
    Comparison {
        heading: "",
        times: Times::Cost,
        beside: |own| Some(own.clone().replaced("kex", "rsa")),
    },
    Comparison {
        heading: "",
        times: Times::Gain,
        beside: |own| {
            own.get("arrangement")?;
            Some(own.clone().replaced("arrangement", "1 server round-robin"))
        },
    },
];

fn library(word: &str) -> Parameters {
    Parameters::from([("library", word)])
}

fn on(device: &str, provenance: Provenance, algorithm: &str, stack: StackName) -> Case {
    let store = match device {
        "software" => StoreKind::SOFTWARE,
        "virtual" => StoreKind::OPENPGP_CARD,
        _ => StoreKind::PKCS11,
    };
    Case {
        device: DeviceName::new(device),
        store,
        provenance,
        ..case(algorithm, stack)
    }
}

fn here(algorithm: &str, stack: StackName) -> Case {
    on("software", Provenance::Measured, algorithm, stack)
}

fn twin(device: &str, algorithm: &str) -> Case {
    on(device, Provenance::Twin, algorithm, GNUPG)
}

fn with(case: Case, parameters: Parameters) -> Case {
    Case { parameters, ..case }
}

/// Blocks of about so many microseconds, known to a few per cent.
fn took(case: Case, microseconds: u64) -> CaseRecord {
    let latencies =
        |round: u64| [0, 1, 2].map(|step| microseconds * (1000 + (round * 7 + step * 3) % 20));
    CaseRecord {
        blocks: (0..12)
            .map(|round| block(round, &latencies(u64::from(round))))
            .collect(),
        ..CaseRecord::new(case)
    }
}

/// The same with durations from nothing to four times as much.
fn varied(case: Case, microseconds: u64) -> CaseRecord {
    let latency = |round: u32| {
        if round.is_multiple_of(3) {
            microseconds * 3000
        } else {
            microseconds * 10
        }
    };
    CaseRecord {
        blocks: (0..4)
            .map(|round| block(round, &[latency(round)]))
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

fn said(cases: Vec<CaseRecord>) -> Vec<Statement> {
    let run = run(cases);
    answers(
        &Analysis::of(&run, &layers()).compared(&run, COMPARISONS.iter()),
        &run,
    )
}

/// Returns the rows of each sentence of a topic, after a check of the whole answer.
fn rows(cases: Vec<CaseRecord>, topic: Topic) -> Vec<Vec<u32>> {
    let number = cases.len();
    let said = said(cases);
    assert!(said.len() <= MOST, "{said:?}");
    assert_eq!(said.last().map(|last| last.topic), Some(Topic::Certainty));
    for one in &said {
        assert!(
            one.text.ends_with('.') && !one.text.contains("  "),
            "{one:?}"
        );
        assert!(
            one.rows.iter().all(|id| (id.0 as usize) < number),
            "{one:?}"
        );
        assert_eq!(
            one.rows.is_empty(),
            one.topic == Topic::Certainty,
            "{one:?}"
        );
    }
    let of_topic = said.iter().filter(|one| one.topic == topic);
    let rows = of_topic.map(|one| one.rows.iter().map(|id| id.0).collect());
    rows.collect()
}

/// The first sentence of a topic.
fn text(cases: Vec<CaseRecord>, topic: Topic) -> String {
    let said = said(cases).into_iter();
    { said }
        .find(|one| one.topic == topic)
        .map(|one| one.text)
        .unwrap_or_default()
}

const NONE: [Vec<u32>; 0] = [];

#[test]
fn libraries_differ_strikingly() {
    let pair = |slow| {
        vec![
            took(here("rsa4096", RAW), 1_500),
            took(with(here("rsa4096", RAW), library("libgcrypt")), slow),
        ]
    };
    assert_eq!(rows(pair(20_000), Topic::Striking), [[0, 1]]);
    assert_eq!(rows(pair(2_500), Topic::Striking), NONE);
}

#[test]
fn a_program_hides_the_key_or_the_key_takes_most() {
    let layers = |key, gpg| {
        vec![
            took(here("ed25519", RAW), 50),
            took(with(here("ed25519", RAW), library("libgcrypt")), key),
            took(here("ed25519", StackName::AGENT), key + 150),
            took(here("ed25519", GNUPG), gpg),
        ]
    };
    let all = vec![0, 1, 2, 3];
    assert_eq!(
        rows(layers(80, 10_000), Topic::Striking),
        std::slice::from_ref(&all)
    );
    // OpenSSL is 160 times faster.
    let striking = rows(layers(8_000, 10_000), Topic::Striking);
    assert_eq!(striking, [[0, 1]]);
    assert_eq!(
        rows(layers(8_000, 10_000), Topic::Layers),
        std::slice::from_ref(&all)
    );
    assert_says(
        &text(layers(8_000, 10_000), Topic::Layers),
        ["8.07 of 10.1 ms", "50.4 µs"],
    );
    assert_eq!(rows(layers(3_000, 10_000), Topic::Layers), [all]);
    assert_says(
        &text(layers(3_000, 10_000), Topic::Layers),
        ["3.03 ms at most"],
    );
}

#[test]
fn a_passphrase_stands_out_where_it_costs_much() {
    let keys = |cached| {
        let protection = Parameters::from([("protection", "cached")]);
        vec![
            took(here("cv25519", StackName::AGENT), 300),
            took(with(here("cv25519", StackName::AGENT), protection), cached),
            took(here("cv25519", GNUPG), 7_000),
        ]
    };
    let said = text(keys(270_000), Topic::Striking);
    assert_says(&said, ["agent", "272 ms", "303 µs"]);
    assert_eq!(rows(keys(500), Topic::Striking), NONE);
    assert_eq!(rows(keys(500), Topic::Layers)[0], [0, 1]);
    assert_eq!(rows(keys(300), Topic::Layers), NONE);
}

#[test]
fn queues_that_grow_are_named() {
    let open = |microseconds| {
        let mut open = here("rsa2048", RAW);
        open.load.pacing = Pacing::Open(50.0.try_into().unwrap());
        vec![took(open, microseconds), took(here("rsa4096", RAW), 500)]
    };
    assert_eq!(rows(open(30_000), Topic::Striking), [[0]]);
    assert_eq!(rows(open(500), Topic::Striking), NONE);
}

#[test]
fn the_fastest_device_is_named_where_intervals_are_apart() {
    let cards = |second| {
        vec![
            took(here("rsa2048", GNUPG), 16_000),
            took(twin("twin:fst-01", "rsa2048"), 1_260_000),
            took(twin("twin:yubikey-4", "rsa2048"), second),
        ]
    };
    assert_eq!(
        rows(cards(160_000), Topic::Devices),
        [vec![1, 2], vec![0, 2]]
    );
    assert_says(
        &text(cards(160_000), Topic::Devices),
        ["twin:yubikey-4 with rsa2048 (161 ms)"],
    );
    assert_says(&text(cards(1_262_000), Topic::Devices), ["(alike)"]);
    let vague = vec![
        took(twin("twin:fst-01", "rsa2048"), 1_000_000),
        varied(twin("twin:yubikey-4", "rsa2048"), 1_000_000),
    ];
    assert_silent(&text(vague, Topic::Devices), ["(alike)"]);
}

#[test]
fn one_device_stands_beside_the_cpu() {
    let beside = |provenance, microseconds| {
        vec![
            took(here("rsa2048", RAW), 500),
            took(on("hsm", provenance, "rsa2048", RAW), microseconds),
        ]
    };
    let said = |provenance, time, topic| text(beside(provenance, time), topic);
    assert_says(
        &said(Provenance::Virtual, 1_000, Topic::Tokens),
        ["2.00 times"],
    );
    assert_says(
        &said(Provenance::Virtual, 500, Topic::Tokens),
        ["as long as this CPU"],
    );
    assert_eq!(
        rows(beside(Provenance::Measured, 2_000), Topic::Devices),
        [[0, 1]]
    );
    let only = vec![
        took(here("rsa2048", RAW), 500),
        took(here("rsa4096", RAW), 900),
    ];
    assert_eq!(rows(only, Topic::Devices), NONE);
}

#[test]
fn a_virtual_card_is_in_no_ranking() {
    let card = |algorithm, microseconds| {
        let card = on("virtual", Provenance::Virtual, algorithm, GNUPG);
        took(card, microseconds)
    };
    let cases = vec![
        took(here("rsa2048", GNUPG), 9_000),
        card("rsa2048", 10),
        card("rsa4096", 20),
    ];
    assert_eq!(rows(cases.clone(), Topic::Devices), NONE);
    assert_eq!(rows(cases, Topic::Keys), NONE);
}

#[test]
fn slow_keys_are_named_once_with_one_that_is_not() {
    let card = |long, short| {
        let mut alone = twin("twin:fst-01", "rsa4096");
        alone.stack = RAW;
        vec![
            took(alone, long),
            took(twin("twin:fst-01", "rsa4096"), long + 100_000),
            took(twin("twin:fst-01", "cv25519"), short),
        ]
    };
    let slow = rows(card(8_100_000, 108_000), Topic::Patience);
    assert_eq!(slow, [vec![1, 2], vec![1, 2]], "and a thread");
    assert_eq!(
        rows(card(1_000_000, 108_000), Topic::Patience),
        [[1, 2]],
        "a thread"
    );
    assert_eq!(
        rows(vec![took(here("rsa4096", RAW), 500)], Topic::Patience),
        [[0]]
    );
    let one = CaseRecord {
        blocks: vec![block(0, &[3_000_000_000])],
        ..CaseRecord::new(here("rsa4096", RAW))
    };
    assert_eq!(
        rows(vec![one], Topic::Patience),
        NONE,
        "one sample bounds nothing"
    );
}

#[test]
fn a_thread_has_a_time_where_the_key_is_known() {
    let only = vec![took(twin("twin:fst-01", "rsa2048"), 1_300_000)];
    assert_says(&text(only, Topic::Patience), ["65.6 s with rsa2048"]);
    let vague = vec![varied(twin("twin:fst-01", "rsa2048"), 1_300_000)];
    assert_eq!(rows(vague, Topic::Patience), NONE);
}

#[test]
fn keys_are_ranked_with_their_strength() {
    let keys = |small, large| {
        vec![
            took(here("rsa2048", GNUPG), large),
            took(here("rsa4096", GNUPG), 24_000),
            took(here("cv25519", GNUPG), small),
        ]
    };
    let ranked = text(keys(5_000, 7_000), Topic::Keys);
    assert_says(
        &ranked,
        [
            "cv25519 is fastest (5.04 ms)",
            "1.40 times",
            "weaker (112-bit",
            "4.80 times",
        ],
    );
    assert_eq!(rows(keys(5_000, 7_000), Topic::Keys), [[0, 1, 2]]);
    let alike = text(keys(7_000, 7_000), Topic::Keys);
    assert_says(
        &alike,
        ["no clear difference", "rsa2048 (112-bit security)"],
    );
    assert_silent(&alike, ["fastest"]);
    let stronger = vec![
        took(here("rsa2048", RAW), 300),
        took(here("nistp521", RAW), 900),
        varied(here("cv25519", RAW), 300),
    ];
    let said = text(stronger, Topic::Keys);
    assert_says(
        &said,
        ["3.00 times", "stronger (256-bit", "cv25519 too uncertain"],
    );
}

/// Estimates within one per cent.
fn near<T>(value: f64, of: fn(f64) -> T) -> Estimate<T> {
    let (low, high) = (Some(of(value * 0.99)), Some(of(value * 1.01)));
    Estimate {
        value: of(value),
        low,
        high,
        confidence: 0.95,
        method: Method::StudentT,
    }
}

/// A part's RSA-4096, which waits for flash in 4.55 % of its cycles.
fn predicted(device: &str, seconds: f64) -> CaseRecord {
    CaseRecord {
        published: Some(PublishedMean {
            band: Some(Band {
                low: Seconds(seconds * 0.97),
                high: Seconds(seconds * 1.03),
            }),
            waiting: Some(Ratio(0.0455)),
            ..PublishedMean::from(Seconds(seconds))
        }),
        ..CaseRecord::new(on(device, Provenance::Predicted, "rsa4096", RAW))
    }
}

#[test]
fn predicted_parts_are_judged_by_their_bands() {
    let parts = |slow| {
        let parts = [("stm32f405", 1.29), ("stm32f103", slow)];
        let cases = parts.map(|(part, seconds)| predicted(part, seconds));
        text(cases.into(), Topic::Predictions)
    };
    assert_says(
        &parts(6.55),
        [
            "no longer than 2 s on stm32f405 (1.29 s, 4.55 %",
            "too long on stm32f103",
        ],
    );
    assert_silent(&parts(1.5), ["too long"]);
    assert_says(&parts(2.0), ["may take longer than 2 s on stm32f103"]);
}

#[test]
fn without_figures_that_is_the_answer() {
    let empty = || CaseRecord::new(here("rsa2048", RAW));
    let failed = || CaseRecord {
        ending: Some(Ending::failed("the card is gone")),
        ..empty()
    };
    for (cases, words) in [
        (Vec::new(), "no case"),
        (vec![empty()], "nothing measured in 1 case"),
        (vec![failed(), failed()], "2 of 2 cases failed"),
    ] {
        let said = said(cases);
        assert_eq!(said.len(), 1);
        assert_says(&said[0].text, [words]);
    }
}

#[test]
fn the_last_sentence_says_how_certain_the_others_are() {
    let cases = || {
        let failed = CaseRecord {
            ending: Some(Ending::failed("the card is gone")),
            ..CaseRecord::new(here("rsa2048", RAW))
        };
        let twin = took(twin("twin:fst-01", "cv25519"), 50);
        vec![took(here("ed25519", RAW), 50), twin, failed]
    };
    let certain = text(cases(), Topic::Certainty);
    assert_says(
        &certain,
        ["1 measured, 1 twin", "1 of 3 cases failed", "another run"],
    );
    let vague = ["ed25519", "rsa2048"].map(|key| varied(here(key, RAW), 50));
    assert_says(
        &text(vague.into(), Topic::Certainty),
        ["most of them hardly known at all"],
    );
    let mut early = run(cases());
    early.state = RunState::Interrupted;
    early.series = Some(InSeries {
        id: SeriesId("20260101-000000-0002".to_owned()),
        number: 0,
        runs: 5,
        pause: std::time::Duration::ZERO,
        against: None,
    });
    let said = answers(&Analysis::of(&early, &[]), &early);
    let last = &said.last().unwrap().text;
    assert_says(last, ["the run ended early"]);
    assert_silent(last, ["another run"]);
}

#[test]
fn each_topic_has_its_turn() {
    let statement = |topic, text: &str| Statement::new(topic, text.to_owned(), []);
    let all = vec![
        statement(Topic::Striking, "a"),
        statement(Topic::Striking, "b"),
        statement(Topic::Striking, "c"),
        statement(Topic::Keys, "d"),
        statement(Topic::Layers, "e"),
    ];
    let texts = |most| {
        let chosen = chosen(all.clone(), most).into_iter();
        chosen.map(|statement| statement.text).collect::<String>()
    };
    assert_eq!([5, 4, 2].map(texts), ["abcde", "abde", "ad"]);
}
