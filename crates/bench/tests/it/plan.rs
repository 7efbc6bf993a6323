//! From selections to the matrix of cases.

use std::num::NonZeroU32;
use std::time::Duration;

use keymark_bench::algorithm::Algorithm;
use keymark_bench::case::{
    Case, DeviceName, Dimension, Pacing, ParameterChoice, Parameters, Provenance, Scope, StackName,
    StoreKind, Words, Worker,
};
use keymark_bench::operation::Operation;
use keymark_bench::plan::{AlgorithmChoice, Offer, Plan, Selection, Settings, Standing};
use keymark_bench::stop::{Precision, StopRule};
use keymark_bench::store::Capability;

const PROTECTION: Dimension = Dimension {
    name: "protection",
    kind: "protection",
    words: Words::Listed(&["none", "cached"]),
    usual: Some("none"),
    scope: Scope::Everywhere,
};
const LIBRARY: Dimension = Dimension {
    name: "library",
    kind: "library",
    words: Words::Listed(&["libgcrypt"]),
    usual: Some("openssl"),
    scope: Scope::Family,
};

fn choices(text: &str) -> Vec<ParameterChoice> {
    vec![ParameterChoice::named(text, &[PROTECTION, LIBRARY]).unwrap()]
}

fn offer(stack: StackName, algorithms: &[&str]) -> Offer {
    let capabilities = algorithms
        .iter()
        .map(|name| name.parse::<Algorithm>().unwrap())
        .flat_map(Capability::of)
        .collect();
    let (dimensions, parameters): (&[Dimension], _) = if stack == StackName::RAW {
        (&[LIBRARY], vec![Parameters::NONE])
    } else {
        let words = ["none", "cached"];
        let sets = words.map(|word| Parameters::of(&PROTECTION, word));
        (&[PROTECTION], sets.to_vec())
    };
    Offer {
        device: DeviceName::software(),
        store: StoreKind::SOFTWARE,
        provenance: Provenance::Measured,
        stack,
        capabilities,
        synonyms: Vec::new(),
        dimensions,
        parameters,
        workers: &[Worker::Thread],
        standing: Standing::Usual,
    }
}

fn offers() -> Vec<Offer> {
    vec![
        offer(
            StackName::RAW,
            &["rsa2048", "rsa4096", "ed25519", "mlkem768"],
        ),
        offer(StackName::GPG, &["rsa2048", "rsa4096", "ed25519"]),
    ]
}

fn listed(names: &[&str]) -> Selection {
    let algorithms = names.iter().map(|name| name.parse().unwrap()).collect();
    Selection {
        algorithms: AlgorithmChoice::Listed(algorithms),
        ..Selection::default()
    }
}

/// The cases of a selection among offers, in words.
fn build(selection: Selection, offers: &[Offer]) -> Result<Vec<String>, String> {
    let plan = Plan::build(&[selection], offers, Settings::default());
    let plan = plan.map_err(|error| error.to_string())?;
    Ok(plan.cases.iter().map(ToString::to_string).collect())
}

#[test]
fn the_matrix_holds_what_is_offered_in_table_order() {
    let four = NonZeroU32::new(4).unwrap();
    for (selection, expected) in [
        (
            listed(&["ed25519", "rsa2048"]),
            &[
                "rsa2048 decrypt software raw",
                "rsa2048 decrypt software gpg",
                "rsa2048 sign software raw",
                "rsa2048 sign software gpg",
                "ed25519 sign software raw",
                "ed25519 sign software gpg",
            ][..],
        ),
        (
            Selection {
                algorithms: AlgorithmChoice::Longest,
                operations: Some(vec![Operation::Sign]),
                stacks: Some(vec![StackName::RAW]),
                ..Selection::default()
            },
            &["rsa4096 sign software raw", "ed25519 sign software raw"],
        ),
        (
            Selection {
                parameters: choices("protection=none,cached"),
                ..listed(&["ed25519"])
            },
            &[
                "ed25519 sign software raw",
                "ed25519 sign software gpg",
                "ed25519 sign software gpg cached",
            ],
        ),
        (
            Selection {
                workers: vec![NonZeroU32::MIN, four],
                replicas: NonZeroU32::new(2).unwrap(),
                stacks: Some(vec![StackName::RAW]),
                ..listed(&["ed25519"])
            },
            &[
                "ed25519 sign software raw",
                "ed25519 sign software raw #2",
                "ed25519 sign software raw w=4",
                "ed25519 sign software raw w=4 #2",
            ],
        ),
    ] {
        assert_eq!(build(selection, &offers()).unwrap(), expected);
    }
}

#[test]
fn work_under_another_name_is_measured_only_for_who_names_it() {
    let authenticate = Capability::new("ed25519".parse().unwrap(), Operation::Authenticate);
    let offers = [Offer {
        synonyms: vec![authenticate],
        ..offer(StackName::RAW, &["ed25519"])
    }];
    let cases = |operations| {
        let selection = Selection {
            operations,
            ..listed(&["ed25519"])
        };
        build(selection, &offers).unwrap()
    };
    assert_eq!(cases(None), ["ed25519 sign software raw"]);
    assert_eq!(
        cases(Some(vec![Operation::Authenticate])),
        ["ed25519 authenticate software raw"]
    );
}

#[test]
fn a_stack_on_request_has_to_be_named() {
    let ssh = StackName::of("ssh");
    let mut offers = offers();
    offers.push(Offer {
        standing: Standing::OnRequest,
        ..offer(ssh, &["ed25519"])
    });
    let cases = |stacks| {
        let selection = Selection {
            stacks,
            ..listed(&["ed25519"])
        };
        build(selection, &offers).unwrap()
    };
    let (raw, gpg) = ("ed25519 sign software raw", "ed25519 sign software gpg");
    assert_eq!(cases(None), [raw, gpg]);
    let named = cases(Some(vec![ssh, StackName::RAW]));
    assert_eq!(named, [raw, "ed25519 sign software ssh"], "as offered");
}

#[test]
fn overlapping_selections_hold_each_case_once() {
    let twice = [listed(&["ed25519"]), listed(&["ed25519"])];
    let plan = Plan::build(&twice, &offers(), Settings::default());
    assert_eq!(plan.unwrap().cases.len(), 2);
}

#[test]
fn what_cannot_be_had_is_said() {
    let usual = Selection::default;
    let token = Offer {
        capabilities: [Operation::Sign, Operation::Authenticate]
            .map(|operation| Capability::new("rsa2048".parse().unwrap(), operation))
            .to_vec(),
        ..offer(StackName::RAW, &[])
    };
    let decrypt = |name| Selection {
        operations: Some(vec![Operation::Decrypt]),
        ..listed(&[name])
    };
    for (selection, offers, expected) in [
        (
            decrypt("ed25519"),
            offers(),
            "ed25519 has no decrypt; it has: sign",
        ),
        (
            decrypt("rsa2048"),
            vec![token],
            "rsa2048 has no decrypt; it has: sign, authenticate",
        ),
        (
            Selection {
                stacks: Some(vec![StackName::GPG]),
                ..listed(&["mlkem768"])
            },
            offers(),
            "gpg does not offer mlkem768 here; it is offered by software through raw",
        ),
        (
            Selection {
                devices: Some(vec![DeviceName::new("yubikey")]),
                ..usual()
            },
            offers(),
            "no device matches 'yubikey'; 'keymark devices' lists the available ones",
        ),
        (
            Selection {
                operations: Some(vec![Operation::Handshake]),
                ..usual()
            },
            offers(),
            "nothing here offers this selection; 'keymark devices' lists what is available and what is missing",
        ),
    ] {
        assert_eq!(build(selection, &offers).unwrap_err(), expected);
    }
}

#[test]
fn the_expected_duration_is_bounded_by_the_plan() {
    let runs = StopRule::Runs(NonZeroU32::new(98).unwrap());
    let settings = Settings {
        stop: runs,
        time_limit: None,
        ..Settings::default()
    };
    let mut plan = Plan::build(&[listed(&["ed25519"])], &offers(), settings).unwrap();
    let cost = |_: &Case| Duration::from_millis(10);
    assert_eq!(plan.expected_duration(&cost), Duration::from_millis(1_960));
    // Three operations of each case, and a home for what is not asked here.
    let homes = plan
        .cases
        .iter()
        .filter(|case| case.stack != StackName::RAW);
    let homes = Duration::from_millis(500) * homes.count() as u32;
    assert_eq!(
        plan.expected_preparation(&cost),
        Duration::from_millis(60) + homes
    );
    plan.settings.warmup = u32::MAX;
    assert!(plan.expected_preparation(&cost) > Duration::from_secs(80_000_000));
    for case in &mut plan.cases {
        case.load.pacing = Pacing::Open("10/s".parse().unwrap());
    }
    let arrivals = Duration::from_millis(9_800) * 2;
    assert_eq!(plan.expected_duration(&cost), arrivals);
    plan.settings.stop = StopRule::Precision {
        target: Precision::USUAL,
        max_time: None,
    };
    plan.settings.time_limit = Some(Duration::from_secs(7));
    assert_eq!(plan.expected_duration(&cost), Duration::from_secs(7));
}

#[test]
fn processes_are_planned_where_they_can_be_and_refused_where_nothing_can() {
    let two = NonZeroU32::new(2).unwrap();
    let selection = |stacks| Selection {
        processes: vec![NonZeroU32::MIN, two],
        stacks,
        ..listed(&["ed25519"])
    };
    let mut offers = offers();
    let cases = |stacks, offers: &[Offer]| build(selection(stacks), offers);
    let refused = cases(None, &offers).unwrap_err();
    assert!(refused.starts_with("--processes needs"), "{refused}");
    offers[0].workers = Worker::ALL;
    assert_eq!(
        cases(None, &offers).unwrap(),
        [
            "ed25519 sign software raw",
            "ed25519 sign software raw p=1",
            "ed25519 sign software raw p=2",
            "ed25519 sign software gpg",
        ]
    );
    assert_eq!(
        cases(Some(vec![StackName::GPG]), &offers).unwrap_err(),
        "--processes needs a key that each process can open for itself: software through raw"
    );
}

#[test]
fn a_library_is_planned_only_where_it_is_named_and_has_the_algorithm() {
    let loaded = Offer {
        parameters: vec![Parameters::from([("library", "libgcrypt")])],
        ..offer(StackName::RAW, &["rsa2048", "ed25519"])
    };
    let mut offers = offers();
    offers.insert(1, loaded);
    let cases = |names: &[&str], parameters| {
        let selection = Selection {
            stacks: Some(vec![StackName::RAW]),
            operations: Some(vec![Operation::Sign, Operation::Decapsulate]),
            parameters,
            ..listed(names)
        };
        build(selection, &offers)
    };
    let unasked = cases(&["rsa2048"], Vec::new()).unwrap();
    assert_eq!(unasked, ["rsa2048 sign software raw"]);
    let both = choices("library=openssl,libgcrypt");
    assert_eq!(
        cases(&["ed25519", "mlkem768"], both).unwrap(),
        [
            "ed25519 sign software raw",
            "ed25519 sign software raw libgcrypt",
            "mlkem768 decapsulate software raw",
        ]
    );
    assert_eq!(
        cases(&["mlkem768"], choices("library=libgcrypt")).unwrap_err(),
        "raw with libgcrypt does not offer mlkem768 here; it is offered by software through raw"
    );
}
