//! From selections to the matrix of cases.

use std::num::NonZeroU32;
use std::time::Duration;

use keymark_bench::algorithm::Algorithm;
use keymark_bench::case::{
    Case, DeviceName, Dimension, Pacing, ParameterChoice, Parameters, Provenance, Scope, StackName,
    StoreKind, Words, Worker,
};
use keymark_bench::operation::Operation;
use keymark_bench::plan::{AlgorithmChoice, Offer, Plan, PlanError, Selection, Settings, Standing};
use keymark_bench::stop::{Precision, StopRule};
use keymark_bench::store::Capability;

const PROTECTION: Dimension = Dimension {
    name: "protection",
    kind: "protection",
    words: Words::Listed(&["none", "cached"]),
    usual: Some("none"),
    scope: Scope::Everywhere,
};
const OF_RAW: &[Dimension] = &[
    Dimension {
        name: "library",
        kind: "library",
        words: Words::Listed(&["libgcrypt"]),
        usual: Some("openssl"),
        scope: Scope::Family,
    },
    Dimension {
        name: "scheme",
        kind: "scheme",
        words: Words::Listed(&["pss"]),
        usual: Some("pkcs1"),
        scope: Scope::Family,
    },
];

fn choices(text: &str) -> Vec<ParameterChoice> {
    let dimensions = [PROTECTION, OF_RAW[0], OF_RAW[1]];
    vec![ParameterChoice::named(text, &dimensions).unwrap()]
}

fn offer(stack: StackName, algorithms: &[&str]) -> Offer {
    let capabilities = algorithms
        .iter()
        .map(|name| name.parse::<Algorithm>().unwrap())
        .flat_map(Capability::of)
        .collect();
    let (dimensions, parameters): (&[Dimension], _) = if stack == StackName::RAW {
        (OF_RAW, vec![Parameters::NONE])
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

fn build(selection: Selection) -> Result<Vec<String>, PlanError> {
    let plan = Plan::build(&[selection], &offers(), Settings::default())?;
    Ok(plan.cases.iter().map(ToString::to_string).collect())
}

#[test]
fn the_matrix_holds_what_is_offered_in_table_order() {
    assert_eq!(
        build(listed(&["ed25519", "rsa2048"])).unwrap(),
        [
            "rsa2048 decrypt software raw",
            "rsa2048 decrypt software gpg",
            "rsa2048 sign software raw",
            "rsa2048 sign software gpg",
            "ed25519 sign software raw",
            "ed25519 sign software gpg",
        ]
    );
}

#[test]
fn longest_takes_one_of_each_kind() {
    let selection = Selection {
        algorithms: AlgorithmChoice::Longest,
        operations: Some(vec![Operation::Sign]),
        stacks: Some(vec![StackName::RAW]),
        ..Selection::default()
    };
    assert_eq!(
        build(selection).unwrap(),
        ["rsa4096 sign software raw", "ed25519 sign software raw"]
    );
}

#[test]
fn protection_doubles_only_what_it_changes() {
    let selection = Selection {
        parameters: choices("protection=none,cached"),
        ..listed(&["ed25519"])
    };
    assert_eq!(
        build(selection).unwrap(),
        [
            "ed25519 sign software raw",
            "ed25519 sign software gpg",
            "ed25519 sign software gpg cached"
        ]
    );
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
        let plan = Plan::build(&[selection], &offers, Settings::default()).unwrap();
        plan.cases
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
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
        let plan = Plan::build(&[selection], &offers, Settings::default()).unwrap();
        plan.cases.iter().map(|case| case.stack).collect::<Vec<_>>()
    };
    assert_eq!(cases(None), [StackName::RAW, StackName::GPG]);
    assert_eq!(
        cases(Some(vec![ssh, StackName::RAW])),
        [StackName::RAW, ssh],
        "in the order of the offers"
    );
}

#[test]
fn what_an_offer_lacks_is_said_from_the_offers() {
    let token = [Offer {
        capabilities: [Operation::Sign, Operation::Authenticate]
            .map(|operation| Capability {
                algorithm: "rsa2048".parse().unwrap(),
                operation,
            })
            .to_vec(),
        ..offer(StackName::RAW, &[])
    }];
    let selection = |operation| Selection {
        operations: Some(vec![operation]),
        ..listed(&["rsa2048"])
    };
    let build = |operation| Plan::build(&[selection(operation)], &token, Settings::default());
    assert_eq!(build(Operation::Authenticate).unwrap().cases.len(), 1);
    assert_eq!(
        build(Operation::Decrypt).unwrap_err().to_string(),
        "rsa2048 has no decrypt; it has: sign, authenticate"
    );
}

#[test]
fn replicas_and_concurrency_multiply() {
    let four = NonZeroU32::new(4).unwrap();
    let selection = Selection {
        workers: vec![NonZeroU32::MIN, four],
        replicas: NonZeroU32::new(2).unwrap(),
        stacks: Some(vec![StackName::RAW]),
        ..listed(&["ed25519"])
    };
    assert_eq!(
        build(selection).unwrap(),
        [
            "ed25519 sign software raw",
            "ed25519 sign software raw #2",
            "ed25519 sign software raw w=4",
            "ed25519 sign software raw w=4 #2",
        ]
    );
}

#[test]
fn overlapping_selections_hold_each_case_once() {
    let plan = Plan::build(
        &[listed(&["ed25519"]), listed(&["ed25519"])],
        &offers(),
        Settings::default(),
    )
    .unwrap();
    assert_eq!(plan.cases.len(), 2);
}

#[test]
fn what_cannot_be_had_is_said() {
    let decrypt = Selection {
        operations: Some(vec![Operation::Decrypt]),
        ..listed(&["ed25519"])
    };
    assert_eq!(
        build(decrypt).unwrap_err().to_string(),
        "ed25519 has no decrypt; it has: sign"
    );

    let gnupg = Selection {
        stacks: Some(vec![StackName::GPG]),
        ..listed(&["mlkem768"])
    };
    assert_eq!(
        build(gnupg).unwrap_err().to_string(),
        "gpg does not offer mlkem768 here; it is offered by software through raw"
    );

    let device = Selection {
        devices: Some(vec![DeviceName::new("yubikey")]),
        ..Selection::default()
    };
    assert_eq!(
        build(device),
        Err(PlanError::UnknownDevice(DeviceName::new("yubikey")))
    );

    let nothing = Selection {
        operations: Some(vec![Operation::Handshake]),
        ..Selection::default()
    };
    assert_eq!(build(nothing), Err(PlanError::Nothing));
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
    let build =
        |stacks, offers: &[Offer]| Plan::build(&[selection(stacks)], offers, Settings::default());
    let refused = build(None, &offers).unwrap_err();
    assert!(matches!(refused, PlanError::NoProcesses(_)), "{refused}");
    offers[0].workers = Worker::ALL;
    let ways: Vec<String> = build(None, &offers)
        .unwrap()
        .cases
        .iter()
        .map(Case::way)
        .collect();
    assert_eq!(ways, ["raw", "raw p=1", "raw p=2", "gpg"]);
    let refused = build(Some(vec![StackName::GPG]), &offers).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "--processes needs a key that each process can open for itself: software through raw"
    );
}

/// Two offers of one stack: what the built-in library has, and what another has.
fn with_libgcrypt() -> Vec<Offer> {
    let loaded = Offer {
        parameters: vec![Parameters::from([("library", "libgcrypt")])],
        ..offer(StackName::RAW, &["rsa2048", "ed25519"])
    };
    let mut offers = offers();
    offers.insert(1, loaded);
    offers
}

fn of_libraries(names: &[&str], libraries: &str) -> Result<Vec<String>, PlanError> {
    let selection = Selection {
        stacks: Some(vec![StackName::RAW]),
        operations: Some(vec![Operation::Sign, Operation::Decapsulate]),
        parameters: choices(libraries),
        ..listed(names)
    };
    let plan = Plan::build(&[selection], &with_libgcrypt(), Settings::default())?;
    Ok(plan.cases.iter().map(ToString::to_string).collect())
}

#[test]
fn a_library_is_planned_only_where_it_is_named_and_has_the_algorithm() {
    let plan = Plan::build(
        &[listed(&["rsa2048"])],
        &with_libgcrypt(),
        Settings::default(),
    );
    let cases = plan.unwrap().cases;
    assert!(cases.iter().all(|case| case.parameters.is_empty()));
    let both = "library=openssl,libgcrypt";
    assert_eq!(
        of_libraries(&["ed25519", "mlkem768"], both).unwrap(),
        [
            "ed25519 sign software raw",
            "ed25519 sign software raw libgcrypt",
            "mlkem768 decapsulate software raw",
        ]
    );
    let error = of_libraries(&["mlkem768"], "library=libgcrypt").unwrap_err();
    assert_eq!(
        error.to_string(),
        "raw with libgcrypt does not offer mlkem768 here; it is offered by software through raw"
    );
}

#[test]
fn a_scheme_is_planned_only_where_it_is_named_and_offered() {
    let by_pss = Offer {
        parameters: vec![Parameters::from([("scheme", "pss")])],
        ..offer(StackName::RAW, &["rsa2048"])
    };
    let mut offers = offers();
    offers.insert(1, by_pss);
    let planned = |names: &[&str], schemes: &str| {
        let selection = Selection {
            stacks: Some(vec![StackName::RAW]),
            operations: Some(vec![Operation::Sign]),
            parameters: choices(schemes),
            ..listed(names)
        };
        let plan = Plan::build(&[selection], &offers, Settings::default())?;
        Ok::<Vec<String>, PlanError>(plan.cases.iter().map(ToString::to_string).collect())
    };
    let unasked = Plan::build(&[listed(&["rsa2048"])], &offers, Settings::default());
    let unasked = unasked.unwrap().cases;
    assert!(unasked.iter().all(|case| case.parameters.is_empty()));
    assert_eq!(
        planned(&["rsa2048"], "scheme=pkcs1,pss").unwrap(),
        ["rsa2048 sign software raw", "rsa2048 sign software raw pss"]
    );
    assert_eq!(
        planned(&["ed25519"], "scheme=pss").unwrap_err().to_string(),
        "raw with pss does not offer ed25519 here; it is offered by software through raw, software through gpg"
    );
}
