//! The wording of verdicts, in one snapshot: runs like those of the documents on a quiet machine, and comparisons.

use keymark_bench::record::RunId;
use keymark_bench::series::{InSeries, SeriesId};
use keymark_stats::BetweenRuns;

use super::loads::{resumed, served};
use super::*;
use crate::compare::{Criteria, Side};
use keymark_testkit::record::{measured, signing};

/// What a private-key operation takes by itself, in microseconds: in OpenSSL, and in libgcrypt.
const COSTS: [(&str, [u64; 2]); 9] = [
    ("rsa2048", [300, 4_000]),
    ("rsa4096", [1_800, 23_000]),
    ("dsa3072", [700, 1_600]),
    ("cv25519", [40, 190]),
    ("ed25519", [44, 360]),
    ("nistp521", [210, 3_400]),
    ("nistp256", [22, 930]),
    ("mldsa65", [1_200; 2]),
    ("mlkem768", [55; 2]),
];

fn costs(algorithm: &str) -> [u64; 2] {
    let mut known = COSTS.iter();
    known.find(|(name, _)| *name == algorithm).unwrap().1
}

fn does(operation: Operation, algorithm: &str, stack: StackName) -> Case {
    Case {
        operation,
        ..here(algorithm, stack)
    }
}

/// On this CPU in OpenSSL.
fn openssl(operation: Operation, algorithm: &str) -> CaseRecord {
    took(does(operation, algorithm, RAW), costs(algorithm)[0])
}

/// In libgcrypt, through the agent, and through gpg.
fn layers(operation: Operation, algorithm: &str) -> Vec<CaseRecord> {
    let key = costs(algorithm)[1];
    let case = |stack| does(operation, algorithm, stack);
    vec![
        took(with(case(RAW), library("libgcrypt")), key),
        took(case(StackName::AGENT), key + 140),
        took(case(GNUPG), key + 5_600),
    ]
}

fn keycards_of_an_article() -> Vec<CaseRecord> {
    let times = [
        ("twin:fst-01", "rsa2048", 1_260_000),
        ("twin:fst-01", "rsa4096", 8_200_000),
        ("twin:fst-01", "cv25519", 112_000),
        ("twin:nitrokey-pro", "rsa2048", 606_000),
        ("twin:nitrokey-pro", "rsa4096", 3_120_000),
        ("twin:yubikey-4", "rsa2048", 156_000),
        ("twin:yubikey-4", "rsa4096", 845_000),
        ("twin:yubikey-neo", "rsa2048", 732_000),
    ];
    let mut cases: Vec<CaseRecord> = ["rsa2048", "rsa4096", "cv25519"]
        .map(|algorithm| took(here(algorithm, GNUPG), costs(algorithm)[1] + 5_740))
        .into();
    cases.extend(times.map(|(device, algorithm, time)| took(twin(device, algorithm), time)));
    cases
}

fn certificates_of_a_server() -> Vec<CaseRecord> {
    vec![
        served("rsa2048", "x25519", 100, 500_000),
        served("rsa4096", "x25519", 40, 3_000_000),
        served("nistp256", "x25519", 200, 30_000),
    ]
}

fn the_complete_plan() -> Vec<CaseRecord> {
    let mut cases = Vec::new();
    for algorithm in ["rsa2048", "rsa4096", "nistp521", "cv25519"] {
        cases.extend(layers(Operation::Decrypt, algorithm));
        cases.push(openssl(Operation::Decrypt, algorithm));
    }
    for algorithm in ["rsa2048", "rsa4096", "dsa3072", "nistp521", "ed25519"] {
        cases.extend(layers(Operation::Sign, algorithm));
        cases.push(openssl(Operation::Sign, algorithm));
    }
    let cached = with(
        does(Operation::Decrypt, "cv25519", StackName::AGENT),
        Parameters::from([("protection", "cached")]),
    );
    cases.push(took(cached, 270_000));
    for stack in [RAW, GNUPG] {
        let card = |algorithm| on("virtual", Provenance::Virtual, algorithm, stack);
        cases.push(took(card("rsa4096"), 17_000));
        cases.push(took(card("cv25519"), 9_000));
    }
    for (algorithm, time) in [("rsa2048", 700), ("nistp256", 50)] {
        let mut token = on("softhsm", Provenance::Virtual, algorithm, RAW);
        token.operation = Operation::Sign;
        cases.push(took(token, time));
    }
    cases.push(openssl(Operation::Decapsulate, "mlkem768"));
    cases.push(openssl(Operation::Sign, "mldsa65"));
    cases
}

fn signed_commits() -> Vec<CaseRecord> {
    let commit = |algorithm, format, device: Option<(&str, Provenance)>, microseconds| {
        let mut case = does(Operation::Sign, algorithm, StackName::of("git"));
        if let Some((device, provenance)) = device {
            (case.device, case.provenance) = (DeviceName::new(device), provenance);
            case.store = StoreKind::OPENPGP_CARD;
        }
        let parameters = Parameters::from([("format", format)]);
        took(with(case, parameters), microseconds)
    };
    let mut cases = Vec::new();
    for algorithm in ["ed25519", "rsa4096"] {
        let [fast, slow] = costs(algorithm);
        cases.push(commit(algorithm, "unsigned", None, 7_000));
        cases.push(commit(algorithm, "openpgp", None, 17_000 + slow));
        cases.push(commit(algorithm, "ssh", None, 13_000 + fast));
    }
    let card = Some(("twin:yubikey-4", Provenance::Twin));
    cases.push(commit("rsa4096", "openpgp", card, 870_000));
    cases
}

fn several_workers() -> Vec<CaseRecord> {
    let levels = |workers| [("rsa4096", workers), ("dsa3072", workers)];
    let cases = [1, 4, 10].into_iter().flat_map(levels);
    let cases = cases.flat_map(|(algorithm, workers)| {
        let key = costs(algorithm)[1] as f64;
        let together = f64::from(workers);
        let whole = (key + 5_600.0).max(together * key);
        let whole = whole.max(together * (key + 5_600.0) / 2.0);
        [
            measured(
                signing(algorithm, StackName::AGENT, workers),
                together * key,
            ),
            measured(signing(algorithm, GNUPG, workers), whole),
        ]
    });
    cases.collect()
}

fn firmware_on_microcontrollers() -> Vec<CaseRecord> {
    let parts = [
        ("stm32f103", 6.55),
        ("stm32l432", 2.71),
        ("stm32f405", 1.29),
        ("stm32f405:umaal=off", 1.91),
    ];
    parts.map(|(part, seconds)| predicted(part, seconds)).into()
}

fn schemes_of_one_key() -> Vec<CaseRecord> {
    let schemes = [("pkcs1", 300), ("pss", 304), ("hashed", 301)];
    let cases = schemes.into_iter().flat_map(|(scheme, time)| {
        let own = |case| with(case, Parameters::from([("scheme", scheme)]));
        [
            took(own(does(Operation::Sign, "rsa2048", RAW)), time),
            took(
                own(on("softhsm", Provenance::Virtual, "rsa2048", RAW)),
                time + 400,
            ),
        ]
    });
    cases.collect()
}

fn an_hsm_that_is_loaded() -> Vec<CaseRecord> {
    let hsm = |workers: u32, microseconds: f64| {
        let mut case = twin("twin:nitrokey-hsm", "rsa2048");
        (case.stack, case.operation) = (RAW, Operation::Sign);
        case.load = Load::closed(NonZeroU32::new(workers).unwrap());
        measured(case, microseconds)
    };
    vec![hsm(1, 740_000.0), hsm(3, 2_220_000.0)]
}

fn key_exchanges_of_a_server() -> Vec<CaseRecord> {
    let rates = [("rsa", 67), ("dhe-2048", 6), ("ecdhe-p256", 97)];
    let cases = rates.map(|(kex, rate)| served("rsa2048", kex, rate, 300_000));
    cases.into()
}

fn resumed_sessions() -> Vec<CaseRecord> {
    vec![
        resumed(0, 700_000, 1_000_000),
        resumed(80, 700_000, 440_000),
    ]
}

/// Runs of a series, of cases of which each took a bit more or less than that number of microseconds in each.
fn series(name: &str, against: Option<&str>, cases: &[(Case, u64)]) -> Side {
    let one = |number: u32| {
        let cases = cases.iter().map(|(case, time)| {
            let disorder = (u64::from(number) * 7 + time) % 5;
            took(case.clone(), time * (1_000 + disorder) / 1_000)
        });
        let mut record = run(cases.collect());
        record.id = RunId(format!("{name}-{number}"));
        record.series = Some(InSeries {
            id: SeriesId(name.to_owned()),
            number,
            runs: 4,
            pause: std::time::Duration::ZERO,
            against: against.map(|other| SeriesId(other.to_owned())),
        });
        record
    };
    Side {
        name: name.to_owned(),
        runs: (0..4).map(one).collect(),
    }
}

fn signs(stack: StackName) -> Case {
    Case {
        operation: Operation::Sign,
        ..here("ed25519", stack)
    }
}

fn compared(sides: &[Side]) -> String {
    let comparison = Comparison::of(sides, BetweenRuns::ASSUMED, Criteria::default());
    Verdict::of_comparison(&comparison).unwrap().headline() + "\n"
}

fn comparisons() -> Vec<(&'static str, String)> {
    let cases = |agent| [(signs(RAW), 33), (signs(StackName::AGENT), agent)];
    let apart = [
        series("first", None, &cases(330)),
        series("second", None, &cases(300)),
    ];
    let cases = |gpg| [(signs(RAW), 3_300), (signs(GNUPG), gpg)];
    let in_turn = [
        series("first", Some("second"), &cases(4_500)),
        series("second", Some("first"), &cases(5_000)),
    ];
    let published = [("rsa4096", 8.22), ("cv25519", 0.135)].map(|(algorithm, seconds)| {
        let case = on("FST-01", Provenance::Published, algorithm, GNUPG);
        keymark_testkit::record::published(case, seconds)
    });
    let twins = [("rsa4096", 8_200_000), ("cv25519", 123_000)]
        .map(|(algorithm, time)| took(twin("twin:fst-01", algorithm), time));
    let side = |name: &str, cases: Vec<CaseRecord>| Side {
        name: name.to_owned(),
        runs: vec![run(cases)],
    };
    let article = [
        side("article", published.into()),
        side("last", twins.into()),
    ];
    vec![
        ("series at different times", compared(&apart)),
        ("programs that take turns", compared(&in_turn)),
        ("an article against a run", compared(&article)),
    ]
}

#[test]
fn wording() {
    type MadeRun = fn() -> Vec<CaseRecord>;
    let runs: [(&str, MadeRun); 10] = [
        ("keycards of an article", keycards_of_an_article),
        ("certificates of a server", certificates_of_a_server),
        ("the complete plan", the_complete_plan),
        ("signed commits", signed_commits),
        ("several workers", several_workers),
        ("firmware on microcontrollers", firmware_on_microcontrollers),
        ("schemes of one key", schemes_of_one_key),
        ("an hsm that is loaded", an_hsm_that_is_loaded),
        ("key exchanges of a server", key_exchanges_of_a_server),
        ("resumed sessions", resumed_sessions),
    ];
    let told = |(name, cases): (&'static str, MadeRun)| {
        let found = verdict(cases());
        let lines = found.lines().into_iter();
        let lines = lines.map(|line| format!("  {}: {} {}", line.name, line.keys, line.figures));
        let because = found
            .because()
            .into_iter()
            .map(|reason| format!("Why {reason}"));
        let certainty = found.certainty().map(|sure| format!("Sure? {sure}"));
        let all = [found.headline()].into_iter().chain(lines).chain(because);
        let all: Vec<String> = all.chain(certainty).collect();
        (name, all.join("\n") + "\n")
    };
    let all = runs.into_iter().map(told).chain(comparisons());
    let all: String = all
        .map(|(name, text)| format!("# {name}\n{text}\n"))
        .collect();
    insta::assert_snapshot!(all);
}
