//! From selections to the matrix of cases.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

use std::num::NonZeroU32;
use std::time::Duration;

use keymark_bench::algorithm::Algorithm;
use keymark_bench::case::{Case, DeviceName, Pacing, Protection, Provenance, StackName, StoreKind};
use keymark_bench::operation::Operation;
use keymark_bench::plan::{AlgorithmChoice, Offer, Plan, PlanError, Selection, Settings};
use keymark_bench::stop::{Precision, StopRule};
use keymark_bench::store::Capability;

fn offer(stack: StackName, algorithms: &[&str]) -> Offer {
    let capabilities = algorithms
        .iter()
        .map(|name| name.parse::<Algorithm>().unwrap())
        .flat_map(Capability::of)
        .collect();
    let protections = match stack {
        StackName::Raw => vec![Protection::None],
        _ => vec![Protection::None, Protection::Cached],
    };
    Offer {
        device: DeviceName::software(),
        store: StoreKind::Software,
        provenance: Provenance::Measured,
        stack,
        capabilities,
        protections,
    }
}

fn offers() -> Vec<Offer> {
    vec![
        offer(
            StackName::Raw,
            &["rsa2048", "rsa4096", "ed25519", "mlkem768"],
        ),
        offer(StackName::Gnupg, &["rsa2048", "rsa4096", "ed25519"]),
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
            "rsa2048 decrypt software gnupg",
            "rsa2048 sign software raw",
            "rsa2048 sign software gnupg",
            "ed25519 sign software raw",
            "ed25519 sign software gnupg",
        ]
    );
}

#[test]
fn longest_takes_one_of_each_kind() {
    let selection = Selection {
        algorithms: AlgorithmChoice::Longest,
        operations: Some(vec![Operation::Sign]),
        stacks: Some(vec![StackName::Raw]),
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
        protection: vec![Protection::None, Protection::Cached],
        ..listed(&["ed25519"])
    };
    assert_eq!(
        build(selection).unwrap(),
        [
            "ed25519 sign software raw",
            "ed25519 sign software gnupg",
            "ed25519 sign software gnupg cached"
        ]
    );
}

#[test]
fn replicas_and_concurrency_multiply() {
    let four = NonZeroU32::new(4).unwrap();
    let selection = Selection {
        concurrency: vec![NonZeroU32::MIN, four],
        replicas: NonZeroU32::new(2).unwrap(),
        stacks: Some(vec![StackName::Raw]),
        ..listed(&["ed25519"])
    };
    assert_eq!(
        build(selection).unwrap(),
        [
            "ed25519 sign software raw",
            "ed25519 sign software raw #2",
            "ed25519 sign software raw c=4",
            "ed25519 sign software raw c=4 #2",
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
        stacks: Some(vec![StackName::Gnupg]),
        ..listed(&["mlkem768"])
    };
    assert_eq!(
        build(gnupg).unwrap_err().to_string(),
        "mlkem768 is not offered by gnupg here; it is by software through raw"
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
    assert_eq!(plan.expected_duration(&cost), Duration::from_secs(2));
    for case in &mut plan.cases {
        case.load.pacing = Pacing::Open("10/s".parse().unwrap());
    }
    let arrivals = Duration::from_millis(9_800) * 2;
    assert_eq!(plan.expected_duration(&cost), arrivals);
    plan.settings.stop = StopRule::Precision {
        target: Precision::ONE_PERCENT,
        max_time: None,
    };
    plan.settings.time_limit = Some(Duration::from_secs(7));
    assert_eq!(plan.expected_duration(&cost), Duration::from_secs(7));
}
