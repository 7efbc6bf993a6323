//! A record that makes each rule true, and one that makes it false; wording is in one snapshot (`wording.rs`).

mod keys;
mod loads;
mod published;
mod wording;

use std::num::NonZeroU32;

use keymark_bench::case::{
    Case, DeviceName, Load, Pacing, Parameters, Provenance, StackName, StoreKind,
};
use keymark_bench::key_use::{Calculator, OperationAlone};
use keymark_bench::layers::{Comparison as RateComparison, Times};
use keymark_bench::operation::Operation;
use keymark_bench::processor::Throttling;
use keymark_bench::record::{CaseRecord, Ending, PublishedMean, Record, RunState};
use keymark_bench::server_load::{
    Durations, Saturation, Second, ServerLoad, Steady, Tried, TriedDemand,
};
use keymark_stats::{Band, Estimate, Method, PerSecond, Ratio, Seconds, UslError};

use super::*;
use crate::analysis::{Bounds, Limit, Scaling};
use crate::charts::Axis;
use keymark_testkit::assert_says;
use keymark_testkit::layers::layers;
use keymark_testkit::record::{batch, block, case, mixed as record, server_load};

const RAW: StackName = StackName::RAW;
const GNUPG: StackName = StackName::GPG;

const COMPARISON: RateComparison = RateComparison {
    heading: "",
    times: Times::Cost,
    beside: |own| Some(own.clone().replaced("kex", "rsa")),
};

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

/// Blocks of about that number of microseconds, known to a few per cent.
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

fn run(cases: Vec<CaseRecord>) -> Record {
    let mut run = record("20260101-000000-0001");
    run.plan.cases = cases.iter().map(|case| case.case.clone()).collect();
    run.cases = cases;
    run
}

fn verdict(cases: Vec<CaseRecord>) -> Verdict {
    let run = run(cases);
    let analysis = Analysis::of(&run, &layers()).compared(&run, [COMPARISON].iter());
    let found = Verdict::of(&analysis, &run);
    for sentence in [found.headline()].into_iter().chain(found.because()) {
        assert!(
            sentence.ends_with('.') && !sentence.contains("  "),
            "{sentence}"
        );
    }
    found
}

/// Kinds of all findings, the main one first.
fn kinds(found: &Verdict) -> Vec<String> {
    let kinds = found
        .findings()
        .map(|finding| serde_json::to_value(finding).unwrap());
    kinds
        .map(|finding| finding["kind"].as_str().unwrap().to_owned())
        .collect()
}

/// The finding of a kind as JSON, if there is one.
fn finding(cases: Vec<CaseRecord>, kind: &str) -> Option<serde_json::Value> {
    let found = verdict(cases);
    let mut all = found
        .findings()
        .map(|finding| serde_json::to_value(finding).unwrap());
    all.find(|finding| finding["kind"] == kind)
}

/// gpg with its layers, of which the key and the whole take these microseconds.
fn layered(key: u64, gpg: u64) -> Vec<CaseRecord> {
    vec![
        took(here("ed25519", RAW), 50),
        took(with(here("ed25519", RAW), library("libgcrypt")), key),
        took(here("ed25519", StackName::AGENT), key + 150),
        took(here("ed25519", GNUPG), gpg),
    ]
}

fn with_passphrase(microseconds: u64) -> Vec<CaseRecord> {
    let agent = here("cv25519", StackName::AGENT);
    let protection = Parameters::from([("protection", "cached")]);
    vec![
        took(agent.clone(), 300),
        took(with(agent, protection), microseconds),
        took(here("cv25519", GNUPG), 7_000),
    ]
}

/// A twin's RSA-4096 directly and through gpg, and a fast key.
fn slow_card(microseconds: u64) -> Vec<CaseRecord> {
    let mut alone = twin("twin:fst-01", "rsa4096");
    alone.stack = RAW;
    vec![
        took(alone, microseconds),
        took(twin("twin:fst-01", "rsa4096"), microseconds + 100_000),
        took(twin("twin:fst-01", "cv25519"), 108_000),
    ]
}

/// Each kind of finding, with a record that makes it true and one that does not.
#[test]
fn rules_find_what_is_so_and_nothing_else() {
    let libraries = |slow| {
        let libgcrypt = with(here("rsa4096", RAW), library("libgcrypt"));
        vec![took(here("rsa4096", RAW), 1_500), took(libgcrypt, slow)]
    };
    let open = |microseconds| {
        let mut open = here("rsa2048", RAW);
        open.load.pacing = Pacing::Open(50.0.try_into().unwrap());
        vec![took(open, microseconds), took(here("rsa4096", RAW), 500)]
    };
    let one_sample = CaseRecord {
        blocks: vec![block(0, &[3_000_000_000])],
        ..CaseRecord::new(here("rsa4096", RAW))
    };
    let through = |keys: [&str; 2]| {
        let stacks = [(StackName::of("openssl"), 700), (StackName::AGENT, 600)];
        let cases = keys.into_iter().zip(stacks);
        let cases = cases.map(|(key, (stack, time))| took(here(key, stack), time));
        cases.collect::<Vec<_>>()
    };
    let virtual_card = ["rsa2048", "rsa4096"].map(|key| {
        let card = on("virtual", Provenance::Virtual, key, GNUPG);
        took(card, 10)
    });
    let virtual_card = [
        vec![took(here("rsa2048", GNUPG), 9_000)],
        virtual_card.into(),
    ]
    .concat();
    let alone = || vec![took(here("ed25519", GNUPG), 10_000)];
    let keys = ["rsa3072", "rsa4096"].map(|key| took(here(key, StackName::AGENT), 700));
    for (kind, so, not_so) in [
        ("libraries", libraries(20_000), libraries(2_500)),
        ("key_shares", layered(80, 10_000), alone()),
        ("passphrase", with_passphrase(500), with_passphrase(300)),
        ("overloaded", open(30_000), open(500)),
        ("too_slow", slow_card(8_100_000), slow_card(1_000_000)),
        ("too_slow", slow_card(2_100_000), vec![one_sample]),
        ("predictions", vec![predicted("stm32f405", 1.3)], alone()),
        ("keys", keys.into(), virtual_card.clone()),
        ("cases", virtual_card, alone()),
        ("cases", through(["rsa2048", "rsa3072"]), alone()),
        ("programs", through(["rsa2048"; 2]), alone()),
        ("single", alone(), layered(80, 10_000)),
    ] {
        assert!(kinds(&verdict(so)).contains(&kind.to_owned()), "{kind}");
        let found = kinds(&verdict(not_so));
        assert!(!found.contains(&kind.to_owned()), "{kind}: {found:?}");
    }
}

#[test]
fn findings_have_their_rows() {
    let classes = |key| {
        let found = finding(layered(key, 10_000), "key_shares").unwrap();
        ["hidden", "dominant", "between"].map(|class| found[class].as_array().unwrap().len())
    };
    assert_eq!(classes(80), [1, 0, 0]);
    assert_eq!(classes(8_000), [0, 1, 0]);
    assert_eq!(classes(3_000), [0, 0, 1]);
    let costly = finding(with_passphrase(270_000), "passphrase").unwrap();
    let rows = [0, 1].map(|place| costly["pairs"][0][place]["row"].as_u64());
    assert_eq!(rows, [Some(1), Some(0)]);
    assert_eq!(costly["keycard"], 0.135, "a keycard is faster");
    let cheap = finding(with_passphrase(500), "passphrase").unwrap();
    assert_eq!(cheap["keycard"], serde_json::Value::Null);
    // A slow key is named once, with one that is not.
    let slow = finding(slow_card(8_100_000), "too_slow").unwrap();
    assert_eq!(slow["cases"].as_array().unwrap().len(), 1);
    assert_eq!(slow["cases"][0]["evidence"]["row"], 1);
    assert_eq!(slow["cases"][0]["instead"]["algorithm"], "cv25519");
}

#[test]
fn two_builds_of_a_library_are_compared_key_by_key() {
    let build = |algorithm, name| with(here(algorithm, RAW), library(name));
    let compared = |baseline: &str, slower| {
        let mut run = run(vec![
            took(build("rsa2048", "openssl-a"), 1_000),
            took(build("rsa2048", "openssl-b"), slower),
            took(build("ed25519", "openssl-a"), 60),
            took(build("ed25519", "openssl-b"), 60),
        ]);
        run.plan.settings.baseline = baseline.parse().unwrap();
        Verdict::of(&Analysis::of(&run, &layers()), &run)
    };
    let found = compared("library=openssl-a", 1_100);
    let Finding::AgainstBaseline { baseline, ratios } = &found.finding else {
        panic!("{found:?}");
    };
    let ratios = ratios.iter().map(|of| {
        let (low, high) = of.ratio.low.zip(of.ratio.high).unwrap();
        let apart = low.0 > 1.0 || high.0 < 1.0;
        (of.evidence.row.0, of.evidence.program.as_str(), apart)
    });
    let ratios: Vec<_> = ratios.collect();
    assert_eq!(baseline, "openssl-a");
    assert_eq!(ratios, [(1, "openssl-b", true), (3, "openssl-b", false)]);
    assert_says(
        &found.headline(),
        ["1.10× to decrypt with rsa2048; no difference shown (±0.1 %) to sign with ed25519."],
    );
    let unnamed = kinds(&compared("", 1_100));
    assert!(!unnamed.contains(&"against_baseline".to_owned()));
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
        let found = finding(cases.into(), "predictions").unwrap();
        let parts = found["keys"][0]["parts"].as_array().unwrap().clone();
        let tolerable = parts.iter().map(|part| part["tolerable"].as_bool());
        tolerable.collect::<Vec<_>>()
    };
    assert_eq!(parts(6.55), [Some(true), Some(false)]);
    assert_eq!(parts(1.5), [Some(true), Some(true)]);
    assert_eq!(parts(2.0), [Some(true), None]);
}

#[test]
fn without_figures_that_is_the_verdict() {
    let empty = || CaseRecord::new(here("rsa2048", RAW));
    let failed = || CaseRecord {
        ending: Some(Ending::failed("the card is gone")),
        ..empty()
    };
    for (cases, failures) in [
        (Vec::new(), 0),
        (vec![empty()], 0),
        (vec![failed(), failed()], 2),
    ] {
        let number = cases.len();
        let found = finding(cases, "nothing").unwrap();
        assert_eq!(found["cases"], number);
        assert_eq!(found["failed"].as_array().unwrap().len(), failures);
    }
}

#[test]
fn certainty_counts_figures_by_kind() {
    let failed = CaseRecord {
        ending: Some(Ending::failed("the card is gone")),
        ..CaseRecord::new(here("rsa2048", RAW))
    };
    let twin = took(twin("twin:fst-01", "cv25519"), 50);
    let mut early = run(vec![took(here("ed25519", RAW), 50), twin, failed]);
    let of = |record: &Record| {
        let found = Verdict::of(&Analysis::of(record, &[]), record);
        found.certainty.unwrap()
    };
    let certainty = of(&early);
    assert_eq!(
        (
            certainty.measured,
            certainty.simulated,
            certainty.failed,
            certainty.early
        ),
        (1, 1, 1, false)
    );
    early.state = RunState::Interrupted;
    assert!(of(&early).early);
    assert_eq!(certainty.cautions, []);
    early.environment.emulated_on = Some("x86_64".to_owned());
    early.environment.throttling = vec![Throttling::UnderVoltage];
    let verdict = Verdict::of(&Analysis::of(&early, &[]), &early);
    let said = verdict.certainty().unwrap();
    assert_says(
        &said,
        ["Emulated on x86_64: do not publish.", "under-voltage"],
    );
    assert_eq!(verdict.certainty.unwrap().cautions.len(), 2);
}
