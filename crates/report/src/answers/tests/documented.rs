//! What is said of the runs that the documents show, with times like those of a quiet machine.

use super::*;

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
        "mldsa65" => [1_200, 1_200],
        "mlkem768" => [55, 55],
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
