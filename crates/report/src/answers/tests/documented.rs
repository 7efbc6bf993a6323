//! What is said of the runs that the documents show, with times like those of a quiet machine.

use super::*;
use keymark_testkit::record::{measured, signing};

const CPU: &str = "software";

/// What a private-key operation takes by itself, in microseconds: in OpenSSL, and in libgcrypt.
fn costs(algorithm: &str) -> [u64; 2] {
    match algorithm {
        "rsa2048" => [300, 4_000],
        "rsa3072" => [800, 11_000],
        "rsa4096" => [1_800, 23_000],
        "dsa3072" => [700, 1_600],
        "cv25519" => [40, 190],
        "ed25519" => [44, 360],
        "nistp256" => [22, 930],
        "nistp521" => [210, 3_400],
        "brainpoolp512r1" => [950, 6_500],
        "secp256k1" => [660, 900],
        "nistp384" => [700, 1_900],
        "slhdsa128s" => [320_000, 320_000],
        "mldsa65" => [1_200, 1_200],
        "mlkem768" => [55, 55],
        "mlkem1024" => [80, 80],
        other => panic!("{other} has no cost"),
    }
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

fn elsewhere(device: &str, kind: Provenance, algorithm: &str, microseconds: u64) -> CaseRecord {
    let case = Case {
        operation: Operation::Sign,
        ..on(device, kind, algorithm, RAW)
    };
    took(case, microseconds)
}

/// The sentences, a line each; every one of them is sound, and the last one says how certain they are.
fn told(cases: Vec<CaseRecord>) -> String {
    assert!(says(cases.clone(), Topic::Certainty, "How certain: "));
    let said = said(cases).into_iter();
    said.map(|said| format!("{:?}: {}\n", said.topic, said.text))
        .collect()
}

#[test]
fn the_default_run() {
    let mut cases = Vec::new();
    for algorithm in ["rsa3072", "rsa4096", "cv25519", "nistp256"] {
        cases.extend(layers(Operation::Decrypt, algorithm));
    }
    for algorithm in ["rsa3072", "rsa4096", "ed25519", "nistp256"] {
        cases.extend(layers(Operation::Sign, algorithm));
    }
    for algorithm in ["rsa2048", "rsa4096", "ed25519", "nistp256", "mldsa65"] {
        cases.push(openssl(Operation::Sign, algorithm));
    }
    cases.push(openssl(Operation::Decapsulate, "mlkem768"));
    for (algorithm, microseconds) in [("rsa3072", 3_100), ("ed25519", 730)] {
        let login = does(Operation::Authenticate, algorithm, StackName::of("ssh"));
        cases.push(took(login, microseconds));
    }
    for (algorithm, microseconds) in [("rsa2048", 700), ("nistp256", 50)] {
        cases.push(elsewhere(
            "softhsm",
            Provenance::Virtual,
            algorithm,
            microseconds,
        ));
    }
    insta::assert_snapshot!(told(cases));
}

#[test]
fn every_kind_of_key_through_gnupg() {
    let mut cases = Vec::new();
    for algorithm in ["rsa2048", "rsa4096", "cv25519", "nistp521"] {
        cases.extend(layers(Operation::Decrypt, algorithm));
        cases.push(openssl(Operation::Decrypt, algorithm));
    }
    let signing = [
        "rsa2048",
        "rsa4096",
        "dsa3072",
        "ed25519",
        "nistp521",
        "brainpoolp512r1",
        "secp256k1",
    ];
    for algorithm in signing {
        cases.extend(layers(Operation::Sign, algorithm));
        cases.push(openssl(Operation::Sign, algorithm));
    }
    insta::assert_snapshot!(told(cases));
}

#[test]
fn keycards_of_an_article() {
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
    insta::assert_snapshot!(told(cases));
}

#[test]
fn logins_with_ssh() {
    let agents = [("openssh", 0, 600), ("gpg-agent", 1, 250)];
    let mut cases = Vec::new();
    for algorithm in ["rsa3072", "ed25519"] {
        let case = |stack| does(Operation::Authenticate, algorithm, stack);
        cases.push(took(case(RAW), costs(algorithm)[0]));
        for (agent, of, more) in agents {
            let through = with(
                case(StackName::of("ssh")),
                Parameters::from([("agent", agent)]),
            );
            cases.push(took(through, costs(algorithm)[of] + more));
        }
    }
    insta::assert_snapshot!(told(cases));
}

#[test]
fn tokens_on_this_cpu() {
    let mut cases = Vec::new();
    for (algorithm, times) in [
        ("rsa2048", [700, 900, 2_500]),
        ("nistp256", [50, 90, 1_900]),
    ] {
        cases.push(openssl(Operation::Sign, algorithm));
        for (device, time) in ["softhsm", "kryoptic", "swtpm"].into_iter().zip(times) {
            cases.push(elsewhere(device, Provenance::Virtual, algorithm, time));
        }
    }
    insta::assert_snapshot!(told(cases));
}

#[test]
fn one_process_for_each_operation() {
    let mut cases = Vec::new();
    for (algorithm, key) in [("rsa2048", 300), ("nistp256", 22)] {
        cases.push(openssl(Operation::Sign, algorithm));
        for (way, more) in [("file", 3_800), ("engine", 9_000), ("provider", 14_000)] {
            let own = Case {
                device: DeviceName::new(if way == "file" { CPU } else { "softhsm" }),
                ..does(Operation::Sign, algorithm, StackName::of("openssl"))
            };
            cases.push(took(
                with(own, Parameters::from([("key", way)])),
                key + more,
            ));
        }
    }
    insta::assert_snapshot!(told(cases));
}

#[test]
fn certificates_of_a_server() {
    let cases = vec![
        served("rsa2048", "x25519", None, 100, 500_000),
        served("rsa4096", "x25519", None, 40, 3_000_000),
        served("nistp256", "x25519", None, 200, 30_000),
    ];
    insta::assert_snapshot!(told(cases));
}

#[test]
fn the_complete_plan() {
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
        cases.push(elsewhere("softhsm", Provenance::Virtual, algorithm, time));
    }
    cases.push(openssl(Operation::Decapsulate, "mlkem768"));
    cases.push(openssl(Operation::Sign, "mldsa65"));
    insta::assert_snapshot!(told(cases));
}

/// Ten at once keep two cores busy with DSA, and gpg-agent with RSA-4096.
#[test]
fn several_workers() {
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
    insta::assert_snapshot!(told(cases.collect()));
}

#[test]
fn firmware_on_microcontrollers() {
    let parts = [
        ("stm32f103", 6.55, "4.54 %"),
        ("stm32l432", 2.71, "0.3 %"),
        ("stm32l432:umaal=off", 4.04, "0.56 %"),
        ("stm32f405", 1.29, "0.13 %"),
        ("stm32f405:umaal=off", 1.91, "0.12 %"),
    ];
    let cases = parts.map(|(part, seconds, waiting)| predicted(part, seconds, waiting));
    insta::assert_snapshot!(told(cases.into()));
}

#[test]
fn signatures_that_are_timestamps() {
    let keys = [
        "rsa3072",
        "rsa4096",
        "nistp256",
        "nistp384",
        "ed25519",
        "mldsa65",
        "slhdsa128s",
    ];
    let cases = keys.map(|algorithm| openssl(Operation::Sign, algorithm));
    insta::assert_snapshot!(told(cases.into()));
}

#[test]
fn keys_that_are_encapsulated() {
    let cases =
        ["mlkem768", "mlkem1024"].map(|algorithm| openssl(Operation::Decapsulate, algorithm));
    insta::assert_snapshot!(told(cases.into()));
}

#[test]
fn schemes_of_one_key() {
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
    insta::assert_snapshot!(told(cases.collect()));
}

#[test]
fn an_hsm_that_is_loaded() {
    let hsm = |workers: u32, microseconds: f64| {
        let mut case = twin("twin:nitrokey-hsm", "rsa2048");
        (case.stack, case.operation) = (RAW, Operation::Sign);
        case.load = Load::closed(NonZeroU32::new(workers).unwrap());
        measured(case, microseconds)
    };
    insta::assert_snapshot!(told(vec![hsm(1, 740_000.0), hsm(3, 2_220_000.0)]));
    let two_at_once = vec![hsm(1, 740_000.0), hsm(3, 1_480_000.0)];
    assert!(!says(two_at_once, Topic::Striking, "gain nothing"));
}

#[test]
fn key_exchanges_of_a_server() {
    let rates = [("rsa", 67), ("dhe-2048", 6), ("ecdhe-p256", 97)];
    let cases = rates.map(|(kex, rate)| served("rsa2048", kex, None, rate, 300_000));
    insta::assert_snapshot!(told(cases.into()));
}

#[test]
fn several_servers() {
    let words = [("1 server", 13), ("2 servers", 27), ("4 servers", 53)];
    let cases = words.map(|(servers, rate)| {
        let arrangement = format!("{servers} round-robin");
        served("rsa2048", "x25519", Some(&arrangement), rate, 740_000)
    });
    insta::assert_snapshot!(told(cases.into()));
}
