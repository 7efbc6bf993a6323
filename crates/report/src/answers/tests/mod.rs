//! A record that makes each sentence true, and one that makes it false.

mod across;
mod documented;

use std::num::NonZeroU32;

use keymark_bench::case::{
    Case, DeviceName, Load, Pacing, Parameters, Provenance, StackName, StoreKind,
};
use keymark_bench::key_use::{Calculator, OperationAlone};
use keymark_bench::layers::{Comparison, Times};
use keymark_bench::operation::Operation;
use keymark_bench::record::{CaseRecord, Ending, PublishedMean, Record, RunState};
use keymark_bench::series::{InSeries, SeriesId};
use keymark_bench::server_load::{Durations, Saturation, ServerLoad, Steady, Tried, TriedDemand};
use keymark_bench::stop::Stopped;
use keymark_stats::{Band, Estimate, Method, PerSecond, Ratio, Seconds, UslError};

use super::*;
use crate::analysis::{Bounds, Scaling};
use crate::charts::Axis;
use keymark_testkit::layers::layers;
use keymark_testkit::record::{batch, block, case, mixed as record, server_load};

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

/// Whether there is such a sentence, which rests on rows of the record.
fn says(cases: Vec<CaseRecord>, topic: Topic, words: &str) -> bool {
    let number = cases.len();
    let said = said(cases);
    assert!(said.len() <= MOST, "{said:?}");
    assert_eq!(said.last().map(|last| last.topic), Some(Topic::Certainty));
    for statement in &said {
        assert!(
            statement.text.ends_with('.') && !statement.text.contains("  "),
            "{statement:?}"
        );
        assert!(
            statement.rows.iter().all(|id| (id.0 as usize) < number),
            "{statement:?}"
        );
        assert_eq!(
            statement.rows.is_empty(),
            statement.topic == Topic::Certainty,
            "{statement:?}"
        );
    }
    let found = said
        .iter()
        .any(|statement| statement.topic == topic && statement.text.contains(words));
    if !found {
        println!("{said:#?}");
    }
    found
}

#[test]
fn a_library_stands_out_that_takes_many_times_anothers_time() {
    let pair = |slow| {
        vec![
            took(here("rsa4096", RAW), 1_500),
            took(with(here("rsa4096", RAW), library("libgcrypt")), slow),
        ]
    };
    let words = "libgcrypt takes 13.3 times OpenSSL's time for rsa4096 decrypt on the same CPU (20.2 ms against 1.51 ms)";
    assert!(says(pair(20_000), Topic::Striking, words));
    assert!(!says(pair(2_500), Topic::Striking, "libgcrypt"));
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
    assert!(says(
        layers(80, 10_000),
        Topic::Striking,
        "With ed25519, gpg itself takes 99.2 % of the time or more"
    ));
    assert!(!says(layers(8_000, 10_000), Topic::Striking, "gpg itself"));
    assert!(says(
        layers(8_000, 10_000),
        Topic::Layers,
        "the key takes most of gpg's time (8.07 of 10.1 ms"
    ));
    assert!(says(
        layers(8_000, 10_000),
        Topic::Layers,
        "(OpenSSL takes 50.4 µs)"
    ));
    assert!(!says(layers(3_000, 10_000), Topic::Layers, "takes most"));
    assert!(says(
        layers(3_000, 10_000),
        Topic::Layers,
        "Of gpg's 10.1 ms the key takes 3.03 ms at most"
    ));
}

#[test]
fn a_passphrase_stands_out_where_it_takes_longer_than_all_else() {
    let keys = |cached| {
        let protection = Parameters::from([("protection", "cached")]);
        vec![
            took(here("cv25519", StackName::AGENT), 300),
            took(with(here("cv25519", StackName::AGENT), protection), cached),
            took(here("cv25519", GNUPG), 7_000),
        ]
    };
    assert!(says(
        keys(270_000),
        Topic::Striking,
        "With a cached passphrase an operation through agent takes 272 ms, without one 303 µs"
    ));
    assert!(!says(keys(500), Topic::Striking, "passphrase"));
    assert!(!says(keys(300), Topic::Layers, "passphrase"));
}

#[test]
fn more_arrives_than_is_served() {
    let open = |microseconds| {
        let mut open = here("rsa2048", RAW);
        open.load.pacing = Pacing::Open(50.0.try_into().unwrap());
        took(open, microseconds)
    };
    let other = || took(here("rsa4096", RAW), 500);
    assert!(says(
        vec![open(30_000), other()],
        Topic::Striking,
        "the queue grows: rsa2048 decrypt software raw 50/s"
    ));
    assert!(!says(vec![open(500), other()], Topic::Striking, "queue"));
}

#[test]
fn a_card_may_be_slower_than_its_article() {
    let card = |microseconds| {
        vec![took(
            on("nitrokey-pro-0001", Provenance::Measured, "rsa2048", GNUPG),
            microseconds,
        )]
    };
    assert!(says(
        card(1_200_000),
        Topic::Striking,
        "times as long for rsa2048 decrypt as was published"
    ));
    assert!(!says(card(620_000), Topic::Striking, "published"));
}

#[test]
fn the_fastest_device_is_named_where_it_is_told_from_the_others() {
    let cards = |second| {
        vec![
            took(here("rsa2048", GNUPG), 16_000),
            took(twin("twin:fst-01", "rsa2048"), 1_260_000),
            took(twin("twin:yubikey-4", "rsa2048"), second),
        ]
    };
    let words = "Fastest device besides this CPU to decrypt through gnupg: twin:yubikey-4 with rsa2048 (161 ms).";
    assert!(says(cards(160_000), Topic::Devices, words));
    assert!(says(
        cards(160_000),
        Topic::Devices,
        "Even the fastest takes 10.0 times this CPU's time (rsa2048 decrypt)"
    ));
    assert!(!says(cards(1_262_000), Topic::Devices, words));
    assert!(says(
        cards(1_262_000),
        Topic::Devices,
        "twin:fst-01 and twin:yubikey-4 (alike)"
    ));
    let vague = vec![
        took(twin("twin:fst-01", "rsa2048"), 1_000_000),
        varied(twin("twin:yubikey-4", "rsa2048"), 1_000_000),
    ];
    assert!(!says(vague, Topic::Devices, "(alike)"));
}

#[test]
fn one_device_stands_beside_the_cpu() {
    let beside = |microseconds| {
        vec![
            took(here("rsa2048", RAW), 500),
            took(on("hsm", Provenance::Virtual, "rsa2048", RAW), microseconds),
        ]
    };
    assert!(says(
        beside(1_000),
        Topic::Tokens,
        "To decrypt directly, hsm (virtual) takes 2.00 times this CPU's time with rsa2048 (1.01 ms)."
    ));
    assert!(says(
        beside(500),
        Topic::Tokens,
        "hsm (virtual) takes as long as this CPU with rsa2048"
    ));
    let real = vec![
        took(here("rsa2048", RAW), 500),
        took(here("nistp256", RAW), 500),
        took(on("hsm", Provenance::Measured, "rsa2048", RAW), 500),
        took(on("hsm", Provenance::Measured, "nistp256", RAW), 2_000),
    ];
    assert!(says(
        real,
        Topic::Devices,
        "hsm takes as long as this CPU with rsa2048 (504 µs) and 4.00 times this CPU's time with nistp256 (2.02 ms)."
    ));
    let only = vec![
        took(here("rsa2048", RAW), 500),
        took(here("rsa4096", RAW), 900),
    ];
    assert!(!says(only, Topic::Devices, ""));
}

#[test]
fn a_virtual_card_is_in_no_ranking() {
    let card = |algorithm, microseconds| {
        took(
            on("virtual", Provenance::Virtual, algorithm, GNUPG),
            microseconds,
        )
    };
    let cases = || {
        vec![
            took(here("rsa2048", GNUPG), 9_000),
            card("rsa2048", 10),
            card("rsa4096", 20),
        ]
    };
    assert!(
        said(cases())
            .iter()
            .all(|statement| !statement.text.contains("virtual card")
                && !statement.text.contains("fastest"))
    );
    assert!(!says(cases(), Topic::Devices, ""));
    assert!(!says(cases(), Topic::Keys, ""));
}

#[test]
fn what_is_too_slow_is_said_with_a_key_that_is_not() {
    let card = |long| {
        vec![
            took(twin("twin:fst-01", "rsa4096"), long),
            took(twin("twin:fst-01", "cv25519"), 108_000),
        ]
    };
    let words = "Too slow for the 2 s that users tolerate: rsa4096 decrypt on twin:fst-01 (8.27 s; there cv25519 takes 109 ms).";
    assert!(says(card(8_200_000), Topic::Patience, words));
    assert!(!says(card(1_000_000), Topic::Patience, "Too slow"));
    assert!(says(
        card(1_000_000),
        Topic::Patience,
        "50 messages takes 5.45 s with cv25519 and 50.4 s with rsa4096"
    ));
    assert!(says(
        card(108_000),
        Topic::Patience,
        "takes 5.45 s, whatever the key"
    ));
    assert!(!says(
        vec![took(here("rsa4096", RAW), 500)],
        Topic::Patience,
        "thread"
    ));
    assert!(says(
        vec![took(here("rsa4096", RAW), 500)],
        Topic::Patience,
        "Nothing takes longer than the 2 s"
    ));
    let one = CaseRecord {
        blocks: vec![block(0, &[3_000_000_000])],
        ..CaseRecord::new(here("rsa4096", RAW))
    };
    assert!(
        !says(vec![one], Topic::Patience, ""),
        "one sample bounds nothing"
    );
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
    let words = "To decrypt through gnupg, cv25519 is fastest (5.04 ms): rsa2048 takes 1.40 times as long and is weaker \
                 (112-bit against 128-bit security), rsa4096 4.80 times.";
    assert!(says(keys(5_000, 7_000), Topic::Keys, words));
    assert!(!says(keys(7_000, 7_000), Topic::Keys, "fastest"));
    assert!(says(
        keys(7_000, 7_000),
        Topic::Keys,
        "no clear difference between"
    ));
    assert!(
        says(
            keys(7_000, 7_000),
            Topic::Keys,
            "rsa2048 is the weakest of them (112-bit security)"
        ) || says(
            keys(7_000, 7_000),
            Topic::Keys,
            "cv25519 is the strongest of them (128-bit security)"
        )
    );
    let stronger = vec![
        took(here("rsa2048", RAW), 300),
        took(here("nistp521", RAW), 900),
    ];
    assert!(says(
        stronger,
        Topic::Keys,
        "nistp521 takes 3.00 times as long but is stronger (256-bit security)"
    ));
    let longer = "A longer key costs: rsa4096 takes 3.43 times as long as rsa2048 to decrypt (24.2 ms against 7.06 ms).";
    assert!(says(keys(5_000, 7_000), Topic::Keys, longer));
    assert!(!says(keys(5_000, 24_000), Topic::Keys, "A longer key"));
}

#[test]
fn a_key_that_is_hardly_known_is_ranked_nowhere() {
    let keys = vec![
        took(here("rsa2048", RAW), 300),
        took(here("rsa4096", RAW), 900),
        varied(here("cv25519", RAW), 300),
    ];
    assert!(says(
        keys,
        Topic::Keys,
        "rsa4096 takes 3.00 times as long but is stronger (128-bit security), cv25519 too uncertain to compare."
    ));
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

fn scaled(rates: &[(u32, f64)], agent: f64) -> Vec<Statement> {
    let run = run(vec![took(here("rsa4096", GNUPG), 10_000)]);
    let mut analysis = Analysis::of(&run, &layers());
    let [gnupg] = layers();
    let bottleneck = gnupg
        .bottleneck
        .map(|bottleneck| (bottleneck, Seconds(agent)));
    let first = rates[0].1;
    analysis.scaling = vec![Scaling {
        case: here("rsa4096", GNUPG),
        levels: rates
            .iter()
            .map(|(workers, rate)| (*workers, near(*rate, PerSecond)))
            .collect(),
        gains: rates
            .iter()
            .map(|(workers, rate)| (*workers, near(rate / first, Ratio)))
            .collect(),
        refused: None,
        finding: None,
        law: Err(UslError::TooFewLevels(3)),
        bounds: Some(Bounds {
            alone: Seconds(0.010),
            server: bottleneck,
            processor: Seconds(0.009),
            cores: 2,
        }),
    }];
    workers::workers(&analysis, 2)
}

#[test]
fn workers_are_useless_from_the_limit_on() {
    let text = |rates: &[(u32, f64)], agent| match scaled(rates, agent).as_slice() {
        [only] => (only.topic, only.text.clone()),
        other => panic!("{other:?}"),
    };
    let (topic, cores) = text(&[(1, 100.0), (2, 180.0), (4, 183.0)], 0.001);
    assert_eq!(topic, Topic::Workers);
    assert_eq!(
        cores,
        "With rsa4096 decrypt through gnupg, more than 2 workers are useless (1.83 times one worker's rate); the 2 \
         cores are busy: more cores or a faster key would help."
    );
    let (topic, agent) = text(&[(1, 100.0), (2, 108.0), (10, 109.0)], 0.009);
    assert_eq!(topic, Topic::Striking);
    assert!(
        agent.starts_with(
            "10 workers at once gain nothing with rsa4096 decrypt through gnupg (1.09 times"
        ),
        "{agent}"
    );
    assert!(
        agent.contains("a second agent or a faster key would help, more cores would not"),
        "{agent}"
    );
    let (_, near_the_bound) = text(&[(1, 100.0), (10, 160.0)], 0.006);
    assert!(
        near_the_bound.starts_with("10 workers do 1.60 times what one does")
            && near_the_bound.contains("a second agent or a faster key would help"),
        "{near_the_bound}"
    );
    let (topic, open) = text(&[(1, 100.0), (2, 150.0), (4, 190.0)], 0.001);
    assert_eq!(topic, Topic::Workers);
    assert!(
        open.starts_with("4 workers do 1.90 times what one does")
            && open.ends_with("more may do still more."),
        "{open}"
    );
}

fn served(
    algorithm: &str,
    kex: &str,
    arrangement: Option<&str>,
    a_part: u64,
    key_ns: u64,
) -> CaseRecord {
    let steady = Steady {
        stretches: vec![(1, 3)],
        batches: (0..20)
            .map(|part| batch(part, a_part + u64::from(part % 2), 100_000_000))
            .collect(),
    };
    let alone = OperationAlone {
        operation: Operation::Sign,
        by: Calculator::Libcrypto("3.5.4".to_owned()),
        durations: Durations(vec![(key_ns, 3)]),
    };
    let load = ServerLoad {
        steady: Some(steady),
        alone: Some(alone),
        token_calls: None,
        saturation: None,
        ..server_load()
    };
    let parameters = Parameters::from([("tls", "tls1.2"), ("kex", kex)]);
    let parameters = match arrangement {
        Some(word) => parameters.replaced("arrangement", word),
        None => parameters,
    };
    let key = case(algorithm, StackName::of("nginx"));
    let case = Case {
        operation: Operation::Handshake,
        load: Load::closed(NonZeroU32::new(8).unwrap()),
        strength: key.strength(),
        ..with(key, parameters)
    };
    CaseRecord {
        server_load: Some(Box::new(load)),
        ..CaseRecord::new(case)
    }
}

#[test]
fn servers_are_told_by_their_keys() {
    // A transaction takes 40/9 ms of the server's processor time.
    let pair = |rsa| {
        vec![
            served("rsa2048", "x25519", None, rsa, 3_000_000),
            served("nistp256", "x25519", None, 200, 100_000),
        ]
    };
    let words = "nginx (tls1.2 x25519 c=8) does 2005 handshakes a second with nistp256 (128-bit security); with rsa2048 (112-bit security) \
                 1005 (2.00 times fewer).";
    assert!(says(pair(100), Topic::Servers, words));
    assert!(says(pair(200), Topic::Servers, "2005, about the same"));
    assert!(says(
        pair(100),
        Topic::Servers,
        "the private key takes 67.5 % with rsa2048 and 2.25 % with nistp256"
    ));
    let second = "With a second certificate (nistp256 beside rsa2048), clients that know nistp256 could do 2.00 times as many";
    assert!(says(pair(100), Topic::Servers, second));
    assert!(!says(pair(200), Topic::Servers, "second certificate"));
    let mut found = served("rsa2048", "x25519", None, 100, 3_000_000);
    let tried = |users, rate| Tried {
        demand: TriedDemand::Users(users),
        rate,
        p99_ns: 1_000_000,
        failed: 0.0,
        unfinished: 0.0,
    };
    found.server_load.as_mut().unwrap().saturation = Some(Saturation {
        tried: vec![tried(4, 980.0), tried(16, 1005.0)],
        best_users: 16,
        knee_users: 4,
        rate_within_limit: None,
    });
    assert!(says(
        vec![found],
        Topic::Servers,
        "From 4 users (rsa2048, x25519) on, more gain less than 5 %."
    ));
    assert!(!says(pair(100), Topic::Servers, "on, more gain"));
}

/// What arrives at a given rate says nothing of what a server can do.
#[test]
fn servers_under_one_load_are_drawn_by_their_rates() {
    let mut arriving = served("rsa3072", "x25519", None, 50, 5_000_000);
    arriving.case.load.pacing = Pacing::Open("500/s".parse().unwrap());
    let run = run(vec![
        served("rsa2048", "x25519", None, 100, 3_000_000),
        served("nistp256", "x25519", None, 200, 100_000),
        arriving,
    ]);
    let chart = Analysis::of(&run, &[]).picture(&run).unwrap();
    assert!(
        chart
            .summary
            .contains("nistp256 handshake software nginx tls1.2 x25519 c=8: 2005/s ("),
        "{}",
        chart.summary
    );
    let Axis::Rows(groups) = &chart.panels[0].y else {
        panic!("no rows");
    };
    let rows = groups.iter().flat_map(|group| &group.rows);
    let rows = Vec::from_iter(rows.map(|row| row.value.as_str()));
    assert_eq!(rows, ["1005/s", "2005/s"]);
}

#[test]
fn servers_stand_beside_the_one_that_differs_in_one_thing() {
    let exchanges = |own| {
        vec![
            served("rsa2048", "x25519", None, own, 1_000),
            served("rsa2048", "rsa", None, 200, 1_000),
        ]
    };
    assert!(says(
        exchanges(100),
        Topic::Servers,
        "With rsa2048, a handshake costs 2.00 times as much with x25519 as with rsa."
    ));
    assert!(says(
        exchanges(200),
        Topic::Servers,
        "With rsa2048, x25519 and rsa are alike."
    ));
    let servers = |four| {
        vec![
            served(
                "rsa2048",
                "x25519",
                Some("1 server round-robin"),
                100,
                1_000,
            ),
            served(
                "rsa2048",
                "x25519",
                Some("4 servers round-robin"),
                four,
                1_000,
            ),
        ]
    };
    assert!(says(
        servers(300),
        Topic::Servers,
        "4 servers round-robin does 2.99 times the handshakes of 1 server"
    ));
    assert!(!says(servers(100), Topic::Servers, "times the handshakes"));
}

/// A part's RSA-4096, a share of whose cycles it waits for flash.
fn predicted(device: &str, seconds: f64, waiting: &str) -> CaseRecord {
    CaseRecord {
        published: Some(PublishedMean {
            mean: Seconds(seconds),
            n: None,
            note: format!("471 cycles at 72 MHz; {waiting}{WAITING}; multiply=umull"),
            band: Some(Band {
                low: Seconds(seconds * 0.97),
                high: Seconds(seconds * 1.03),
            }),
        }),
        ..CaseRecord::new(on(device, Provenance::Predicted, "rsa4096", RAW))
    }
}

#[test]
fn parts_that_keep_the_tolerance_are_told_from_those_that_do_not() {
    let parts = |slow| {
        [("stm32f405", 1.29), ("stm32f103", slow)]
            .map(|(part, seconds)| predicted(part, seconds, "4.55 %"))
            .into()
    };
    let words = "As predicted, rsa4096 decrypt takes no longer than 2 s on stm32f405 (1.29 s, 4.55 % of it waiting for \
                 flash); it takes too long on stm32f103 (6.55 s";
    assert!(says(parts(6.55), Topic::Predictions, words));
    assert!(!says(parts(1.5), Topic::Predictions, "too long"));
    assert!(says(
        parts(2.0),
        Topic::Predictions,
        "it may take longer than 2 s on stm32f103"
    ));
}

#[test]
fn without_figures_that_is_the_answer() {
    let text = |cases: Vec<CaseRecord>| {
        said(cases)
            .into_iter()
            .map(|statement| statement.text)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        text(Vec::new()),
        ["This run has no case, and so no answer."]
    );
    let empty = || CaseRecord::new(here("rsa2048", RAW));
    assert_eq!(
        text(vec![empty()]),
        ["This run has no figure: nothing measured in 1 case."]
    );
    let ending = Some(Ending {
        stopped: Stopped::Failed,
        reason: Some("the card is gone".to_owned()),
        code: None,
    });
    let failed = || CaseRecord {
        ending: ending.clone(),
        ..empty()
    };
    assert_eq!(
        text(vec![failed(), failed()]),
        ["This run has no figure: 2 of 2 cases failed."]
    );
    assert!(says(
        vec![took(here("ed25519", RAW), 50), failed()],
        Topic::Certainty,
        "1 of 2 cases failed"
    ));
}

#[test]
fn the_last_sentence_says_how_certain_the_others_are() {
    let cases = || {
        vec![
            took(here("ed25519", RAW), 50),
            took(twin("twin:fst-01", "cv25519"), 50),
        ]
    };
    assert!(says(
        cases(),
        Topic::Certainty,
        "How certain: of 2 means 1 measured, 1 twin; "
    ));
    assert!(says(
        cases(),
        Topic::Certainty,
        "another run may differ by more"
    ));
    let vague = || {
        vec![
            varied(here("ed25519", RAW), 50),
            varied(here("rsa2048", RAW), 50),
        ]
    };
    assert!(says(
        vague(),
        Topic::Certainty,
        "most of them hardly known at all"
    ));
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
    assert!(
        last.contains("the run ended early") && !last.contains("another run"),
        "{last}"
    );
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
        chosen(all.clone(), most)
            .into_iter()
            .map(|statement| statement.text)
            .collect::<String>()
    };
    assert_eq!(texts(5), "abcde");
    assert_eq!(texts(4), "abde");
    assert_eq!(texts(2), "ad");
}

#[test]
fn a_thread_of_one_key_has_one_time() {
    let only = || vec![took(twin("twin:fst-01", "rsa2048"), 1_300_000)];
    assert!(says(
        only(),
        Topic::Patience,
        "messages takes 65.6 s with rsa2048."
    ));
    let vague = vec![varied(twin("twin:fst-01", "rsa2048"), 1_300_000)];
    assert!(!says(vague, Topic::Patience, "messages takes"));
}

#[test]
fn a_loss_that_may_be_a_gain_is_nothing() {
    let loss = scaled(&[(1, 100.0), (4, 99.0)], 0.001);
    assert!(loss[0].text.contains("gain nothing"), "{loss:?}");
    assert_eq!(loss[0].topic, Topic::Striking);
}

#[test]
fn what_each_operation_takes_stands_in_one_sentence() {
    let signing = |algorithm, microseconds| {
        let operation = Operation::Sign;
        let case = here(algorithm, GNUPG);
        took(Case { operation, ..case }, microseconds)
    };
    let keys = |ed25519| {
        vec![
            took(here("cv25519", GNUPG), 5_000),
            took(here("rsa4096", GNUPG), 24_000),
            signing("ed25519", ed25519),
            signing("rsa4096", 24_000),
        ]
    };
    let words = "To decrypt through gnupg, cv25519 is fastest (5.04 ms): rsa4096 takes 4.80 times as long; to sign, ed25519 \
                 is fastest (4.03 ms): rsa4096 takes 6.00 times as long.";
    assert!(says(keys(4_000), Topic::Keys, words));
    assert!(says(
        keys(24_000),
        Topic::Keys,
        "to sign, there is no clear difference between ed25519 and rsa4096"
    ));
}

#[test]
fn a_key_that_is_too_slow_is_named_once() {
    let card = |raw| {
        let mut alone = twin("twin:fst-01", "rsa4096");
        alone.stack = RAW;
        vec![
            took(alone, raw),
            took(twin("twin:fst-01", "rsa4096"), 8_200_000),
            took(twin("twin:fst-01", "rsa2048"), 2_500_000),
        ]
    };
    let words = "users tolerate: rsa4096 decrypt on twin:fst-01 (8.27 s), rsa2048 decrypt on twin:fst-01 (2.52 s).";
    assert!(says(card(8_100_000), Topic::Patience, words));
}

#[test]
fn a_picture_has_no_title_of_keys_that_it_does_not_show() {
    let run = run(vec![
        took(here("rsa2048", RAW), 300),
        took(here("rsa4096", RAW), 900),
    ]);
    let analysis = Analysis::of(&run, &[]);
    let drawn: Vec<_> = analysis.rows.iter().map(|row| row.id).collect();
    assert_eq!(
        keys::title(&analysis, &drawn).as_deref(),
        Some("rsa2048 is the fastest key to decrypt in OpenSSL")
    );
    assert_eq!(keys::title(&analysis, &[]), None);
}
